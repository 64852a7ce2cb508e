import type { IncomingMessage } from "node:http";
import type { UserInfo } from "../types/user-info.ts";

/**
 * Identifies the caller of a request; undefined when the credentials are missing or unknown. May throw an `unauthorized` error with a more
 * specific message.
 */
export type Authenticate = (request: IncomingMessage) => Promise<UserInfo | undefined>;

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?$/;

/**
 * Identifies every client as `user`. For plain HTTP on a loopback address only: the header `Host` must name such an address, so that a web
 * page cannot reach the server under the page's own host name.
 */
export function createLoopbackAuthentication(user: UserInfo): Authenticate {
  return async (request) => (LOOPBACK_HOST.test(request.headers.host ?? "") ? user : undefined);
}
