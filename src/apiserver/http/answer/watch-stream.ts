import type { ServerResponse } from "node:http";
import { nextMacrotask } from "../../../base/clock.ts";
import type { Status } from "../../../kube/object/status.ts";
import { lineOf } from "./json-text.ts";
import type { WatchQueue, WatchRecord } from "../../verbs/watch/watch-queue.ts";

/** How the records of a watch become bytes, and how long to wait between two pieces of them. */
export interface WatchBodyOptions {
  readonly toLine: (record: WatchRecord) => Buffer;
  /** See `AnswerWriter`. */
  readonly drained: (response: ServerResponse) => Promise<void>;
}

/**
 * Writes a watch to a response, one JSON object per line, until the watch or the connection ends. While the connection is
 * full, no record is taken from the queue; this limits the cost of a slow reader.
 */
export async function streamWatch(response: ServerResponse, queue: WatchQueue, { toLine, drained }: WatchBodyOptions): Promise<void> {
  // The request's own "close" comes as soon as its body is read; only the response's means that the reader has disconnected.
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

/** Bytes of lines that are written at once, or one line. */
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
