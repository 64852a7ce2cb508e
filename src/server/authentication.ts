import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { UserInfo } from "./user-info.ts";

/** Finds out who makes a request; undefined when the credentials are missing or unknown. */
export type Authenticate = (request: IncomingMessage) => Promise<UserInfo | undefined>;

/** One token and whom it stands for. */
export interface TokenEntry {
  readonly token: string;
  readonly user: UserInfo;
}

/** Tokens in the `Authorization: Bearer` header. Comparison takes the same time for every wrong token. */
export function createTokenAuthentication(entries: readonly TokenEntry[]): Authenticate {
  const known = entries.map(({ token, user }) => ({ digest: digestOf(token), user }));
  return async (request) => {
    const token = /^Bearer +([^ ]+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    return known.find((entry) => timingSafeEqual(entry.digest, digest))?.user;
  };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?$/;

/**
 * Everybody who reaches the server is `user`. For plain HTTP on a loopback address only: the Host header must name one, so
 * that a web page can not reach the server under a name of its own.
 */
export function createLoopbackAuthentication(user: UserInfo): Authenticate {
  return async (request) => (LOOPBACK_HOST.test(request.headers.host ?? "") ? user : undefined);
}
