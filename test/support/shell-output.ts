/**
 * What a shell prints, to wait for.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";

/** No expectation: a block may build and install, on a machine that is slow and busy. */
const SILENCE_MS = 900_000;

/** Output of a running shell since it was last forgotten. */
export interface ShellOutput {
  /** Gives the output, once it holds `wanted`. Rejects with it when the shell ends before. */
  until(wanted: RegExp): Promise<string>;
  /** Output so far does not count any more. */
  forget(): void;
  /** Resolves when the shell has ended. */
  readonly ended: Promise<void>;
}

/** Reads a shell that was just started; carriage returns of a terminal are left out. */
export function readShell(shell: ChildProcess): ShellOutput {
  const ended = new Promise<void>((done) => shell.once("exit", () => done()));
  let printed = "";
  const readers = new Set<() => void>();
  shell.stdout!.on("data", (chunk: Buffer) => {
    printed += chunk.toString("utf8").replaceAll("\r", "");
    for (const read of readers) read();
  });
  return {
    ended,
    forget: () => void (printed = ""),
    async until(wanted) {
      let limit: NodeJS.Timeout | undefined;
      let read: (() => void) | undefined;
      try {
        return await new Promise<string>((resolve, reject) => {
          const fail = (why: string) => reject(new Error(`${why}, while waiting for ${wanted}:\n${printed}`));
          read = () => void (wanted.test(printed) && resolve(printed));
          readers.add(read);
          limit = setTimeout(() => fail(`Nothing for ${SILENCE_MS / 1000} s`), SILENCE_MS);
          void ended.then(() => fail("The shell ended"));
          read();
        });
      } finally {
        clearTimeout(limit);
        readers.delete(read!);
      }
    },
  };
}
