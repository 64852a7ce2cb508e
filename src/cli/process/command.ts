import { Option } from "commander";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import type { Terminal } from "./terminal.ts";

/** Context of a command besides its own options. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Sets the exit code; 0 when a command sets none. */
  exit(code: number): void;
  /** The kinds that can be synced. Default {@link SYNCED_KINDS}. */
  readonly kinds?: readonly SyncedKind[];
}

/** The option `-o` for commands with structured output. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "output format").choices(["yaml", "json"]);
}

/**
 * Formats the examples at the end of a command's help. Each works unchanged; `test/cli/examples.test.ts` runs those that need no cluster.
 */
export function examples(...commands: readonly string[]): string {
  const indented = commands.map((command) => `  ${command.replaceAll("\n", "\n    ")}`);
  return ["", commands.length > 1 ? "Examples:" : "Example:", ...indented].join("\n");
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return REPLACED.has(before) ? [value] : [...before, value];
}

const REPLACED = new WeakSet<readonly string[]>();

/** A default list for {@link collect}, which the first value replaces. */
export function replaceable(values: readonly string[]): string[] {
  const list = [...values];
  REPLACED.add(list);
  return list;
}

/** Resolves when `signal` aborts. The promise does not keep the process alive; open servers do. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
