import { constants } from "node:os";
import { createInterface } from "node:readline/promises";
import { buffer } from "node:stream/consumers";
import { systemClock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import { EXIT_FAILED } from "./exit-codes.ts";
import { decodeText, readTextFile, unreadable } from "../files/text-file.ts";

/** The size of the screen that standard output is connected to. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** The outside world as a command sees it: one value, so that tests run commands in process. */
export interface Terminal {
  /** Writes text or bytes to standard output as they are. */
  out(text: string | Uint8Array): void;
  /** Writes one line to standard error. */
  err(line: string): void;
  /**
   * Reads the text of a file; `-` is standard input.
   *
   * @throws CONFIG_FILE, CONFIG_SYNTAX as `readTextFile`; USAGE if standard input is read a second time.
   */
  read(path: string): Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined if standard output is not a screen. */
  readonly screen: Screen | undefined;
  /** True if standard error shows colours: it is a screen, and NO_COLOR is not set. */
  readonly colours: boolean;
  /**
   * Returns a signal that aborts at the first SIGINT or SIGTERM. After the first call, the first of these signals no longer ends the
   * process by itself, but the second one does, and so does a stop that takes too long. Commands that end by themselves do not call it.
   */
  stopSignal(): AbortSignal;
  /** Asks the user a question and returns the line that they enter; undefined if the session is not interactive. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Calls `listener` at every SIGHUP, which then no longer ends the process. Returns a function that removes the listener. */
  onHangUp(listener: () => void): () => void;
}

/** Maximum time for a stop, in milliseconds. A kubelet kills the process after 30 s. */
const GRACE_MS = 25_000;

/** Creates the terminal of this process. Call it only once. */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  const { stdout, stderr, stdin, env } = process;
  surviveClosedPipes(stop);
  let listening = false;
  let stdinRead = false;
  return {
    out: (text) => void stdout.write(text),
    err: (line) => void stderr.write(`${line}\n`),
    async read(path) {
      if (path !== "-") return readTextFile(path);
      if (stdinRead) throw stdinTwice();
      stdinRead = true;
      return decodeText(await buffer(stdin).catch(rethrowUnreadable), "standard input");
    },
    env,
    ask: stdin.isTTY && stderr.isTTY ? askPerson : undefined,
    get screen() {
      return stdout.isTTY ? { columns: stdout.columns, rows: stdout.rows } : undefined;
    },
    colours: showsColours(stderr, env),
    stopSignal() {
      if (!listening) listenForStop(stop);
      listening = true;
      return stop.signal;
    },
    onHangUp(listener) {
      process.on("SIGHUP", listener);
      return () => void process.off("SIGHUP", listener);
    },
  };
}

/**
 * Reports whether a stream shows colours. NO_COLOR disables them if it is not empty (no-color.org).
 *
 * @example
 * showsColours({ isTTY: true }, { NO_COLOR: "1" }); // false
 */
export function showsColours({ isTTY }: { readonly isTTY?: boolean }, env: Terminal["env"]): boolean {
  return isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

/** Asks a question on standard error, because standard output may be redirected to a file. */
async function askPerson(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

/** Stops the command if the reader of its output ends, as `head` does; later output is discarded. A full disk is a failure. */
function surviveClosedPipes(stop: AbortController): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return stop.abort();
    process.stderr.write(`Cannot write to standard output: ${error.message}\n`);
    process.exit(EXIT_FAILED);
  });
  // A lost log must not end the sync, and there is no place left to report it.
  process.stderr.on("error", () => undefined);
}

function listenForStop(stop: AbortController): void {
  let asked = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const code = 128 + constants.signals[signal];
      if (asked) process.exit(code);
      asked = true;
      stop.abort();
      // Fires only if the process is still alive: the timer alone does not keep it alive.
      systemClock.schedule(GRACE_MS, () => {
        process.stderr.write(`Did not stop within ${GRACE_MS / 1000} s; exiting now\n`);
        process.exit(code);
      });
    });
  }
}

function stdinTwice(): EngineError {
  const hint = "Use - for one file only";
  return new EngineError("USAGE", "Cannot read standard input twice", { details: { hint } });
}

function rethrowUnreadable(error: unknown): never {
  throw unreadable("standard input", error);
}
