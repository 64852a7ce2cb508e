import type { ServerResponse } from "node:http";
import { nextMacrotask } from "../../../base/clock.ts";
import type { Status } from "../../../kube/object/status.ts";
import { lineOf } from "./json-text.ts";
import type { WatchQueue, WatchRecord } from "../../verbs/watch/watch-queue.ts";

/** Options for writing a watch. */
export interface WatchBodyOptions {
  readonly toLine: (record: WatchRecord) => Buffer;
  /** Waits until the written data was sent; see `AnswerWriter`. */
  readonly drained: (response: ServerResponse) => Promise<void>;
}

/**
 * Writes a watch to a response, one JSON object per line, until the watch or the connection ends. While written data waits to be sent, no
 * record is taken from the queue; this limits the memory that a slow client uses.
 */
export async function streamWatch(response: ServerResponse, queue: WatchQueue, { toLine, drained }: WatchBodyOptions): Promise<void> {
  // The request emits "close" as soon as its body is read. Only "close" of the response means that the client has disconnected.
  response.once("close", queue.end);
  response.writeHead(200, { "Content-Type": "application/json" });
  response.flushHeaders();
  for (let batch = await queue.take(); batch !== undefined; batch = await queue.take()) {
    for (const piece of piecesOf(batch, toLine)) {
      if (response.destroyed) return;
      response.write(piece);
      await drained(response);
      if (piece.length > PIECE_BYTES) await nextMacrotask();
    }
  }
  response.end();
}

/** Number of bytes after which collected lines are written. */
const PIECE_BYTES = 64 * 1024;

function* piecesOf(batch: readonly WatchRecord[], toLine: (record: WatchRecord) => Buffer): Iterable<Buffer> {
  let lines: Buffer[] = [];
  let bytes = 0;
  for (const record of batch) {
    const line = toLine(record);
    lines.push(line);
    bytes += line.length;
    if (bytes <= PIECE_BYTES) continue;
    yield lines.length === 1 ? line : Buffer.concat(lines);
    [lines, bytes] = [[], 0];
  }
  if (lines.length > 0) yield lines.length === 1 ? lines[0]! : Buffer.concat(lines);
}

/** Accepts a watch that cannot be served, and reports the reason in its first line. */
export function streamError(response: ServerResponse, status: Status): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(lineOf({ type: "ERROR", object: status }));
}
