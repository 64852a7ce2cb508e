import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Status } from "../../object/status.ts";
import { lineOf } from "../presentation/json-text.ts";
import type { WatchQueue, WatchRecord } from "./watch-queue.ts";

/**
 * Writes a watch to a response, one JSON object per line, until the watch or the connection ends. While the connection is
 * full nothing is taken from the queue, which bounds what a slow reader can cost.
 */
export async function streamWatch(response: ServerResponse, queue: WatchQueue, toLine: (record: WatchRecord) => Buffer): Promise<void> {
  // The request's own "close" comes as soon as its body is read; only the response's tells that the reader has gone.
  response.once("close", queue.end);
  response.writeHead(200, { "Content-Type": "application/json" });
  response.flushHeaders();
  for (let batch = await queue.take(); batch !== undefined; batch = await queue.take()) {
    if (response.destroyed) return;
    const writable = response.write(batch.length === 1 ? toLine(batch[0]!) : Buffer.concat(batch.map(toLine)));
    if (!writable) await drained(response);
  }
  response.end();
}

/** Resolves when the connection takes data again, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const ready = new AbortController();
  await Promise.race([once(response, "drain", { signal: ready.signal }), once(response, "close", { signal: ready.signal })]).catch(
    () => undefined,
  );
  ready.abort();
}

/** A watch that is accepted and then told in its first line why it can not be. */
export function streamError(response: ServerResponse, status: Status): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(lineOf({ type: "ERROR", object: status }));
}
