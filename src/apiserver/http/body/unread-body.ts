import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../base/clock.ts";

/** Maximum number of bytes of a body that are read and discarded. */
const BYTES_MAX = 16 * 1024 * 1024;
/** Maximum time for reading them, in milliseconds. */
const READ_FOR_MS = 5_000;

/**
 * Reads and discards the rest of a body, but at most 16 MiB and for at most 5 s. Closing a connection while the client is still sending would
 * reset the connection, and the client would not receive the response that explains the refusal.
 */
export function dropBody(request: IncomingMessage, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    let bytes = 0;
    const done = () => {
      timer.cancel();
      request.off("data", take).off("end", done).off("close", done);
      resolve();
    };
    const take = ({ length }: Buffer) => {
      bytes += length;
      if (bytes > BYTES_MAX) done();
    };
    const timer = clock.schedule(READ_FOR_MS, done, { keepAlive: true });
    request.on("data", take).once("end", done).once("close", done).resume();
  });
}
