/**
 * One shell, into which blocks of commands are pasted whole, as readers of a page do.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { readShell } from "./shell-output.ts";

/** 128 and the number of SIGINT: a shell's exit code for a command that Ctrl-C ended. */
const INTERRUPTED = 130;

/**
 * Runs what it reads, block by block with a zero byte behind each. Jobs are groups of processes, as in an interactive shell. ERR
 * is not raised within a list of commands, whose end is in `$?`.
 */
const READ_AND_RUN = `
exec 3<&0 </dev/null 2>&1
set -m
trap 'failed=$?' ERR
while IFS= read -r -d '' -u 3 block; do
  failed=0
  eval "$block"
  code=$?
  printf '\\n-- pasted %s: %s\\n' "$((pastes += 1))" "$((failed > 0 ? failed : code))"
done
for job in $(jobs -p); do kill -- "-$job" 2>/dev/null; done
wait
`;

/** Prelude of a shell. */
export interface PastedShellOptions {
  /** Where it begins. */
  readonly folder: string;
  /** Shell lines that run before the command of that name, of which `"$@"` are the words. Default: none. */
  readonly shims?: Readonly<Record<string, string>>;
  /** The Node that commands find first. Default: the one that runs this. */
  readonly node?: string;
}

/** The shell. Everything rejects with what was printed when a command fails. */
export interface PastedShell {
  /** Pastes a block, and gives what it printed until the shell takes further commands. What runs in the background goes on. */
  paste(block: string): Promise<string>;
  /** Gives what the shell and its jobs printed since the last block, once that holds `wanted`. */
  until(wanted: RegExp): Promise<string>;
  /** Pastes a block whose last command serves, presses Ctrl-C once `ready` was printed, and gives what it printed until it has ended. */
  interrupt(block: string, ready: RegExp): Promise<string>;
  /** Ends the shell and its jobs. */
  close(): Promise<void>;
}

/** Opens a shell. */
export function openPastedShell({ folder, shims = {}, node = process.execPath }: PastedShellOptions): PastedShell {
  const bin = mkdtempSync(join(tmpdir(), "endpoint-sync-shims-"));
  for (const [name, line] of Object.entries(shims)) {
    const real = spawnSync("bash", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\nexec "${real}" "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  // `npm run --silent` silences every npm below it; a user's shell has no such parent.
  const { npm_config_loglevel: _silent, ...inherited } = process.env;
  const env = { ...inherited, PATH: [bin, dirname(node), process.env["PATH"]].join(delimiter) };
  const shell = spawn("bash", ["-c", READ_AND_RUN], { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
  const { until, forget, ended } = readShell(shell);
  let pastes = 0;
  const paste = async (block: string): Promise<string> => {
    pastes += 1;
    const mark = `-- pasted ${pastes}`;
    forget();
    shell.stdin.write(`${block}\0`);
    const text = await until(new RegExp(`${mark}: \\d+\n`));
    const [, before = "", code] = new RegExp(`^([^]*)\n${mark}: (\\d+)\n`).exec(text)!;
    if (code !== "0") throw new Error(`Exit code ${code}:\n${block}\n${before}`);
    return before;
  };
  return {
    paste,
    until,
    async interrupt(block, ready) {
      await paste(`{ ${block.trimEnd()}\n} &\nserving=$!`);
      const said = await until(ready);
      const rest = await paste(`kill -INT -- -$serving; wait $serving || [ $? = ${INTERRUPTED} ]`);
      return said + rest;
    },
    async close() {
      shell.stdin.end();
      await ended;
      rmSync(bin, { recursive: true });
    },
  };
}
