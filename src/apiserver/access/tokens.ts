import { sha256Hex } from "../../base/digest.ts";
import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import type { Authenticate } from "./authentication.ts";
import { oncePerConnection } from "../http/limits/connections.ts";
import { tooManyRequests } from "../types/status.ts";
import type { UserInfo } from "../types/user-info.ts";

/** The user of a token, and the token's validity. */
export interface TokenBearer {
  readonly user: UserInfo;
  /** Called at each use: reports whether the token is still valid. Default: it is, as long as the process runs. */
  readonly holds?: () => Promise<boolean>;
  /** The time at which the token expires, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number;
  /** Audiences of the token. Default: {@link API_AUDIENCE} alone. */
  readonly audiences?: readonly string[];
}

/** The result of identifying a token. */
export interface TokenProof {
  readonly user: UserInfo;
  /** The requested audiences for which the token is valid. */
  readonly audiences: readonly string[];
}

/**
 * Bearer tokens and their users. Only digests are kept, and the last token of each open connection. The duration of a look-up reveals
 * nothing about other tokens.
 */
export interface Tokens {
  add(token: string, bearer: TokenBearer): void;
  /**
   * Creates a token.
   *
   * @throws API_TOO_MANY_REQUESTS when {@link TokensOptions.expiringMax} tokens that expire are valid.
   */
  issue(bearer: TokenBearer): string;
  /**
   * Identifies a token for one of the audiences, by default the API; undefined if it is unknown or no longer valid.
   *
   * @param connection The connection of the request. The digest of its last token is cached.
   */
  identify(token: string, audiences?: readonly string[], connection?: object): Promise<TokenProof | undefined>;
}

/** Options of tokens. */
export interface TokensOptions {
  readonly chance: Pick<Chance, "bytes">;
  readonly clock: Pick<Clock, "now">;
  /** Maximum number of valid tokens that expire, because an authorized caller could request any number. Default 100,000. */
  readonly expiringMax?: number;
}

/** The audience of tokens for the API itself: its address within every cluster. */
export const API_AUDIENCE = "https://kubernetes.default.svc.cluster.local";

const API_ONLY: readonly string[] = [API_AUDIENCE];
const TOKEN_BYTES = 32;
const EXPIRING_MAX = 100_000;
/** Number of tokens below which expired ones are not removed. */
const SWEEP_MIN = 1_000;

/**
 * Creates an empty set of tokens.
 *
 * @example
 * const tokens = createTokens({ chance: systemChance, clock: systemClock });
 * await tokens.identify(tokens.issue({ user: { name: "jane", groups: [] } })); // { user: { name: "jane", groups: [] }, ... }
 */
export function createTokens({ chance, clock, expiringMax = EXPIRING_MAX }: TokensOptions): Tokens {
  // The duration of a look-up depends on the digest, and a caller cannot choose a token with a given digest.
  const lasting = new Map<string, TokenBearer>();
  const expiring = new Map<string, TokenBearer>();
  let sweepAt = Math.min(SWEEP_MIN, expiringMax);
  const digestOf = oncePerConnection(sha256Hex);
  const sweep = () => {
    for (const [digest, { expiresAt }] of expiring) if (clock.now() >= expiresAt!) expiring.delete(digest);
    // All tokens are checked only when their number has doubled, so the cost per token is constant.
    sweepAt = Math.min(expiringMax, Math.max(SWEEP_MIN, 2 * expiring.size));
  };
  const add = (token: string, bearer: TokenBearer) => {
    if (bearer.expiresAt === undefined) return void lasting.set(sha256Hex(token), bearer);
    if (expiring.size >= sweepAt) sweep();
    if (expiring.size >= expiringMax) throw tooManyRequests();
    expiring.set(sha256Hex(token), bearer);
  };
  return {
    add,
    issue(bearer) {
      const token = Buffer.from(chance.bytes(TOKEN_BYTES)).toString("base64url");
      add(token, bearer);
      return token;
    },
    async identify(token, audiences = API_ONLY, connection) {
      const digest = digestOf(token, connection);
      const bearer = lasting.get(digest) ?? expiring.get(digest);
      if (bearer === undefined) return undefined;
      const { expiresAt = Infinity, audiences: meant = API_ONLY } = bearer;
      if (clock.now() >= expiresAt) return undefined;
      const common = audiences.filter((audience) => meant.includes(audience));
      if (common.length === 0 || (await bearer.holds?.()) === false) return undefined;
      return { user: bearer.user, audiences: common };
    },
  };
}

/**
 * Identifies callers by a token in the `Authorization: Bearer` header.
 *
 * @param otherwise Authenticates requests without that header. Default: the caller is unknown.
 */
export function createBearerAuthentication(tokens: Tokens, otherwise: Authenticate = async () => undefined): Authenticate {
  return async (request) => {
    const { authorization } = request.headers;
    if (authorization === undefined) return otherwise(request);
    const token = /^Bearer +([^ ]+)$/i.exec(authorization)?.[1];
    return token === undefined ? undefined : (await tokens.identify(token, undefined, request.socket))?.user;
  };
}
