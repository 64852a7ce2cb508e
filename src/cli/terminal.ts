import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { EngineError, messageOf } from "../base/errors.ts";

/** The outside world as a command sees it: one value, so that tests run commands in process. */
export interface Terminal {
  /** Writes text to standard output as it is. */
  out(text: string): void;
  /** Writes one line to standard error. */
  err(line: string): void;
  /** The text of a file; `-` is standard input. @throws CONFIG_FILE when it can not be read. */
  read(path: string): Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True when standard output is a screen that takes colours and cursor movements. */
  readonly interactive: boolean;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly stopped: AbortSignal;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return {
    out: (chunk) => void process.stdout.write(chunk),
    err: (line) => void process.stderr.write(`${line}\n`),
    read: readText,
    env: process.env,
    interactive: process.stdout.isTTY === true && !process.env["NO_COLOR"],
    stopped: stop.signal,
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await (path === "-" ? text(process.stdin) : readFile(path, "utf8"));
  } catch (error) {
    throw new EngineError("CONFIG_FILE", `Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  }
}
