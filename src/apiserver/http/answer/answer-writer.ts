import type { ServerResponse } from "node:http";
import { nextMacrotask } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";

/** Characters that are written at once. Longer texts are written in pieces. */
const PIECE_LENGTH = 64 * 1024;

/** How an answer begins. */
export interface AnswerHead {
  /** The HTTP status. */
  readonly code: number;
  readonly type: string;
  /** The caller of the answer: for each caller, only one answer at a time is written in pieces. */
  readonly caller: string;
}

/** Writes answers no faster than they are read. */
export interface AnswerWriter {
  /**
   * Writes a text whose parts are made while it is written. A short one is written at once. A long one waits for the caller's others,
   * lets other requests proceed after each piece, and keeps no more than one piece of it in memory. Undefined once it is written.
   */
  write(response: ServerResponse, head: AnswerHead, parts: Iterable<string>): Promise<void> | undefined;
  /** Writes a text at once whose larger part is encoded. */
  writeBytes(response: ServerResponse, head: Omit<AnswerHead, "caller">, text: readonly [string, Buffer]): void;
  /** Resolves when the written data is sent, or the connection is over. Ends a connection that is not read for too long. */
  drained(response: ServerResponse): Promise<void>;
}

/** @param readMs The maximum time in milliseconds in which a reader must receive one piece. */
export function createAnswerWriter({ clock, readMs }: { readonly clock: Clock; readonly readMs: number }): AnswerWriter {
  const turns = createTurns();
  const drained = (response: ServerResponse) =>
    new Promise<void>((resolve) => {
      if (response.destroyed || !response.writableNeedDrain) return resolve();
      const timer = clock.schedule(readMs, () => response.destroy());
      const done = () => {
        timer.cancel();
        response.off("drain", done).off("close", done);
        resolve();
      };
      response.once("drain", done).once("close", done);
    });
  const writePieces = async (response: ServerResponse, text: string) => {
    for (let from = 0; from < text.length && !response.destroyed;) {
      const to = endOfPiece(text, from);
      response.write(text.slice(from, to));
      from = to;
      await drained(response);
      await nextMacrotask();
    }
  };
  const writeLong = async (response: ServerResponse, { code, type, caller }: AnswerHead, first: string, rest: Iterator<string>) => {
    const leave = await turns.take(caller);
    try {
      if (!response.destroyed) response.writeHead(code, ["Content-Type", type]);
      for (let text = first; text !== "" && !response.destroyed; text = readPiece(rest)) await writePieces(response, text);
      response.end();
    } finally {
      leave();
    }
  };
  return {
    drained,
    writeBytes(response, { code, type }, [begin, rest]) {
      response.writeHead(code, ["Content-Type", type, "Content-Length", Buffer.byteLength(begin) + rest.length]);
      response.cork();
      response.write(begin);
      response.end(rest);
      response.uncork();
    },
    write(response, head, parts) {
      const rest = parts[Symbol.iterator]();
      const text = readPiece(rest);
      if (text.length > PIECE_LENGTH) return writeLong(response, head, text, rest);
      response.writeHead(head.code, ["Content-Type", head.type, "Content-Length", Buffer.byteLength(text)]);
      response.end(text);
      return undefined;
    },
  };
}

/** Parts until there is more than one piece of them, or none left. */
function readPiece(parts: Iterator<string>): string {
  let text = "";
  while (text.length <= PIECE_LENGTH) {
    const { done, value } = parts.next();
    if (done === true) break;
    text += value;
  }
  return text;
}

/** A character of two code units stays in one piece. */
function endOfPiece(text: string, from: number): number {
  const to = from + PIECE_LENGTH;
  return (text.codePointAt(to - 1) ?? 0) > 0xffff ? to + 1 : to;
}

/** One at a time for each name, in the order in which they ask. */
function createTurns(): { take(name: string): Promise<() => void> } {
  const last = new Map<string, Promise<void>>();
  return {
    async take(name) {
      const before = last.get(name);
      let leave = () => {};
      const over = new Promise<void>((resolve) => (leave = resolve));
      last.set(name, over);
      await before;
      return () => {
        leave();
        if (last.get(name) === over) last.delete(name);
      };
    },
  };
}
