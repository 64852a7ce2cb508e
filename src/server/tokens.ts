import { sha256Hex } from "../base/digest.ts";
import type { Chance } from "../base/chance.ts";
import type { Authenticate } from "./authentication.ts";
import type { UserInfo } from "./user-info.ts";

/** For whom a token stands. */
export interface TokenBearer {
  readonly user: UserInfo;
  /** Asked whenever the token is shown. Default: it holds as long as the process. */
  readonly holds?: () => Promise<boolean>;
}

/** Bearer tokens and for whom they stand. Only their digests are kept, and looking for one tells nothing about the others. */
export interface Tokens {
  add(token: string, bearer: TokenBearer): void;
  /** A new token. */
  issue(bearer: TokenBearer): string;
  /** Undefined for a token that is unknown or no longer holds. */
  identify(token: string): Promise<UserInfo | undefined>;
}

const TOKEN_BYTES = 32;

/**
 * No tokens yet.
 *
 * @example
 * const tokens = createTokens(systemChance);
 * await tokens.identify(tokens.issue({ user: { name: "jane", groups: [] } })); // { name: "jane", groups: [] }
 */
export function createTokens(chance: Pick<Chance, "bytes">): Tokens {
  // The time that a look-up takes depends on the digest, and nobody can choose a token for its digest's beginning.
  const bearers = new Map<string, TokenBearer>();
  const add = (token: string, bearer: TokenBearer) => void bearers.set(sha256Hex(token), bearer);
  return {
    add,
    issue(bearer) {
      const token = Buffer.from(chance.bytes(TOKEN_BYTES)).toString("base64url");
      add(token, bearer);
      return token;
    },
    async identify(token) {
      const bearer = bearers.get(sha256Hex(token));
      return bearer === undefined || (await bearer.holds?.()) === false ? undefined : bearer.user;
    },
  };
}

/**
 * Knows whoever shows a token in the `Authorization: Bearer` header.
 *
 * @param otherwise Decides about requests without that header. Default: nobody is known.
 */
export function createBearerAuthentication(tokens: Tokens, otherwise: Authenticate = async () => undefined): Authenticate {
  return async (request) => {
    const { authorization } = request.headers;
    if (authorization === undefined) return otherwise(request);
    const token = /^Bearer +([^ ]+)$/i.exec(authorization)?.[1];
    return token === undefined ? undefined : tokens.identify(token);
  };
}
