/**
 * Starts a process that runs for months with little memory. Both settings must be in effect when a process begins, so the process replaces
 * itself once, under the same process id, before anything else is loaded.
 *
 * @module
 */

/** The parts of a process that decide how it is started. `process` is one. */
export interface StartedProcess {
  readonly argv: readonly string[];
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  /** Undefined where the system cannot replace a process. */
  readonly execve?: ((file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never) | undefined;
  /** Present if a Node process has forked this one: its messages would not reach a replaced process. */
  readonly send?: unknown;
}

/** Settings for a process with little memory. */
export const LEAN = {
  /**
   * Limits half of the space for short-lived objects, in megabytes: by default, V8 takes up to 16 and never returns any of it. Also exposes
   * garbage collection for {@link giveBack}, because a process that does little after its start may never collect garbage.
   */
  options: ["--max-semi-space-size=2", "--expose-gc"],
  /** Limits the memory pools of glibc. By default, each thread has its own, and its memory is rarely returned. */
  env: { MALLOC_ARENA_MAX: "1" },
} as const;

/**
 * Replaces the process of a long-running command with one that has limited space for short-lived objects. It then does not return. It
 * returns if the process was already started in this way, has its own settings for that space, or cannot be replaced.
 */
export function startLean(started: StartedProcess): void {
  const { argv, execArgv, env, execPath, execve, send } = started;
  const decided = [...execArgv, env["NODE_OPTIONS"] ?? ""].some((option) => /semi[-_]space[-_]size/.test(option));
  if (argv[2] !== "run" || decided || execve === undefined || send !== undefined) return;
  const args = [execPath, ...LEAN.options, ...execArgv, ...argv.slice(1)];
  try {
    execve.call(started, execPath, args, { ...LEAN.env, ...env });
  } catch {
    // Not allowed, for example by Node's permission model. The process then only needs more memory.
  }
}

/**
 * Releases memory that was needed only at startup, for texts and lists of both clusters, and V8's reserve for more of them. Pauses the
 * process for about 50 ms with 1,000 objects. Does nothing in a process that {@link startLean} did not start.
 */
export function giveBack({ gc }: { readonly gc?: NodeJS.GCFunction | undefined } = globalThis): void {
  gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
