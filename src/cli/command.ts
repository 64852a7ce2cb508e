import { Option } from "commander";
import type { Terminal } from "./terminal.ts";

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

/** Resolves at the first stop signal. */
export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    // A signal alone does not keep the process alive; the servers that run meanwhile do.
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
