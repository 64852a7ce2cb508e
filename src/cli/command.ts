import { Option } from "commander";
import type { Terminal } from "./terminal.ts";

/** Exit code of what did not work out: no match, an expression that fails, a cluster that refuses. */
export const EXIT_FAILED = 1;
/** Exit code of a command line that is wrong, and of a configuration that is. */
export const EXIT_USAGE = 2;
/** Exit code of a fault of the program. */
export const EXIT_INTERNAL = 3;

/** What a command gets besides its own options. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Sets the exit code; 0 when a command sets none. */
  exit(code: number): void;
}

/** The option of commands with structured output. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "form of the output").choices(["yaml", "json"]);
}

/** The end of a command's help. Every example works as it stands; `test/cli/examples.test.ts` runs those that need no cluster. */
export function examples(...commands: readonly string[]): string {
  const indented = commands.map((command) => `  ${command.replaceAll("\n", "\n    ")}`);
  return ["", commands.length > 1 ? "Examples:" : "Example:", ...indented].join("\n");
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Resolves when `signal` aborts. It does not keep the process alive; the servers that run meanwhile do. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
