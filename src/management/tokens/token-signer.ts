import { SignJWT } from "jose";
import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { TOKEN_LENGTH_MAX, type PlatformClaim } from "../../cluster/scope/cluster-token.ts";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import { invalidObject } from "../../apiserver/types/status.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** Options of {@link createTokenSigner}. */
export interface TokenSignerOptions {
  /** The platform's base URL, as clusters know it. */
  readonly issuer: string;
  /** Audience of the tokens. Default: the issuer, as clusters expect it. */
  readonly audience?: string;
  readonly keys: SigningKeys;
  readonly clock: Pick<Clock, "now">;
  readonly chance: Pick<Chance, "uuid">;
}

/** The content of a token, and its lifetime. */
export interface TokenRequest {
  /** The user name in clusters. */
  readonly name: string;
  readonly platform: PlatformClaim;
  /** Requested seconds. Default, and 0: {@link TOKEN_TTL_SECONDS}. */
  readonly ttlSeconds?: number;
  /** Longest lifetime in seconds; a number below 1 counts as 1. Default: {@link TOKEN_TTL_SECONDS_MAX}. */
  readonly ttlSecondsMax?: number;
}

/** A token as its owner gets it, with its expiry. */
export interface SignedToken {
  /** A JWT; secret. */
  readonly token: string;
  /** Milliseconds since 1970, a whole second. */
  readonly expiresAt: number;
  /** Granted seconds, when more were requested. */
  readonly shortenedTo?: number;
}

/** Issues tokens for clusters. */
export interface TokenSigner {
  /**
   * Signs a token, which is not stored.
   *
   * @throws API_INVALID when the time is negative or not a whole number, or when the token would be longer than clusters accept.
   */
  sign(request: TokenRequest): Promise<SignedToken>;
}

/** Default lifetime of a token, in seconds: a day. */
export const TOKEN_TTL_SECONDS = 86_400;
/** Longest lifetime of a token, in seconds: ten years. */
export const TOKEN_TTL_SECONDS_MAX = 315_360_000;

const TOO_LONG: FieldError = {
  reason: "FieldValueTooLong",
  field: "spec.scope",
  message: `Too long: with groups and roles the token would be longer than ${TOKEN_LENGTH_MAX} characters`,
};
const TYPE = { apiVersion: "management.platform/v1", kind: "DirectClusterEndpointToken" };

/**
 * Creates a signer of tokens for direct access to clusters, without the platform.
 *
 * @example
 * const signer = createTokenSigner({ issuer: "https://platform.example", keys, clock: systemClock, chance: systemChance });
 * const { token } = await signer.sign({ name: "jane", platform: { user: "jane", groups: [], clusterRoles: [], scopes: [] } });
 */
export function createTokenSigner({ issuer, audience = issuer, keys, clock, chance }: TokenSignerOptions): TokenSigner {
  return {
    async sign({ name, platform, ttlSeconds, ttlSecondsMax }) {
      const { ttl, shortened } = timeToLive(ttlSeconds, ttlSecondsMax);
      const issuedAt = Math.floor(clock.now() / 1_000);
      const expiresAt = (issuedAt + ttl) * 1_000;
      const { kid, algorithm, privateKey } = await keys.signing(expiresAt);
      const times = { iat: issuedAt, nbf: issuedAt, exp: issuedAt + ttl };
      const token = await new SignJWT({ iss: issuer, aud: [audience], sub: name, ...times, jti: chance.uuid(), platform: { ...platform } })
        .setProtectedHeader({ alg: algorithm, kid, typ: "JWT" })
        .sign(privateKey);
      if (token.length > TOKEN_LENGTH_MAX) throw refusal(TOO_LONG);
      return { token, expiresAt, ...(shortened && { shortenedTo: ttl }) };
    },
  };
}

function timeToLive(asked = 0, longest = TOKEN_TTL_SECONDS_MAX): { ttl: number; shortened: boolean } {
  if (!Number.isSafeInteger(asked) || asked < 0) {
    throw refusal(invalid("spec.ttl", asked, "must be a whole number of seconds, greater than or equal to 0"));
  }
  const max = Math.min(Math.max(1, Math.floor(longest)), TOKEN_TTL_SECONDS_MAX);
  return { ttl: Math.min(asked || TOKEN_TTL_SECONDS, max), shortened: asked > max };
}

function refusal(error: FieldError) {
  return invalidObject(TYPE, "", [error]);
}
