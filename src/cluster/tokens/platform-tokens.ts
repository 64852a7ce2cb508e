/**
 * Verifies tokens that a platform has signed, and maps them to users of this cluster. The platform need not be reachable: its published
 * keys are enough.
 *
 * @module
 */
import { compactVerify } from "jose";
import type { Clock } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import type { PlatformClaim } from "../scope/cluster-token.ts";
import { SCOPE_EXTRA } from "../scope/scope.ts";
import { ACCESS_SCOPE } from "../scope/shape.ts";
import type { Target } from "../scope/types.ts";
import { decodeObject } from "../../apiserver/types/objects/decode.ts";
import { listOf, mandatory, objectOf, text } from "../../schema/builders.ts";
import type { OnWatch } from "../../apiserver/http/resource-routes.ts";
import { unauthorized, statusOf } from "../../apiserver/types/status.ts";
import { API_AUDIENCE, type TokenProof, type Tokens } from "../../apiserver/access/tokens.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { openPlatformKeys, type KeySource, type PlatformKeys } from "./platform-keys.ts";
import { AUTHENTICATED } from "../rbac/resources.ts";
import { openToken } from "./token-parts.ts";

/** A platform whose tokens a cluster accepts. */
export interface PlatformTrust {
  /** The platform's base URL, as in the `iss` claim of its tokens. */
  readonly issuer: string;
  /** The audience that tokens must have. Default: the issuer. */
  readonly audience?: string;
  /** The platform's published keys (a JWKS document), or how to read them. */
  readonly keys: object | KeySource;
  /** This cluster, or virtual cluster, as the platform identifies it; token scopes are checked against it. */
  readonly target: Target;
  /** Members of these groups may do everything that their tokens' scopes allow. Default: `platform:admins`. */
  readonly administrators?: readonly string[];
  /** Prefix by which scopes recognize project namespaces. Default `p-`. */
  readonly projectNamespacePrefix?: string;
}

/** Dependencies of the token check. */
export interface PlatformTokensOptions {
  readonly trust: PlatformTrust;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Identifies the users of a platform's tokens, and when these expire. */
export interface PlatformTokens extends Pick<Tokens, "identify"> {
  /** When the token that identified this user ends, in milliseconds since 1970; undefined for other users. */
  endOf(user: UserInfo): number | undefined;
}

/** Key of a user's `extra` that names the access key that requested the token. */
const EXTRA_ACCESS_KEY = "platform/access-key";
/** Key of a user's `extra` that names the ClusterRoles that a token grants. */
export const EXTRA_CLUSTER_ROLES = "platform/cluster-roles";

/** Tolerated lead of the platform's clock, in seconds. Expiry has no tolerance. */
export const CLOCK_AHEAD_SECONDS_MAX = 30;

/** Prefix of names and groups that are reserved for Kubernetes; a platform cannot assign them. */
const SYSTEM = "system:";

const PLATFORM_CLAIM = objectOf({
  user: text,
  team: text,
  subject: text,
  groups: mandatory(listOf(text)),
  clusterRoles: mandatory(listOf(text)),
  scopes: mandatory(listOf(ACCESS_SCOPE)),
  accessKey: text,
});

const LISTS: readonly (keyof PlatformClaim)[] = ["groups", "clusterRoles", "scopes"];

/**
 * Creates a verifier for the tokens of a platform.
 *
 * @throws CONFIG_VALUE if the platform's keys are passed directly and cannot be used.
 * @example
 * const tokens = await openPlatformTokens({ trust, clock: systemClock, logger: silentLogger });
 * (await tokens.identify(token))?.user.name; // "jane"
 */
export async function openPlatformTokens({ trust, clock, logger }: PlatformTokensOptions): Promise<PlatformTokens> {
  const keys = await openPlatformKeys({ keys: trust.keys, clock, logger });
  const { audience = trust.issuer } = trust;
  const meant: readonly string[] = [API_AUDIENCE, audience];
  const ends = new WeakMap<UserInfo, number>();
  return {
    endOf: (user) => ends.get(user),
    async identify(token, audiences = [API_AUDIENCE]): Promise<TokenProof | undefined> {
      const common = audiences.filter((asked) => meant.includes(asked));
      if (common.length === 0) return undefined;
      try {
        const claims = await verify(token, { keys, issuer: trust.issuer, audience, now: clock.now() });
        const user = userOf(claims);
        ends.set(user, (claims["exp"] as number) * 1_000);
        return { user, audiences: common };
      } catch (error) {
        if (!isEngineError(error, "API_UNAUTHORIZED")) throw error;
        logger.debug("Refused a token of the platform", { reason: error.message });
        return undefined;
      }
    },
  };
}

/** Accepts the cluster's own tokens and those of a platform. */
export function withPlatformTokens(own: Tokens, platform: Pick<Tokens, "identify">): Tokens {
  return {
    ...own,
    identify: async (token, audiences, connection) =>
      (await own.identify(token, audiences, connection)) ?? (await platform.identify(token, audiences)),
  };
}

/** Ends a watch when the token that opened it expires, with the status that a new request would get: 401. */
export function endWithTokens(platform: Pick<PlatformTokens, "endOf">, clock: Clock): OnWatch {
  return (_user, end, caller) => {
    const at = platform.endOf(caller);
    if (at === undefined) return () => {};
    const timer = clock.schedule(at - clock.now(), () => end(statusOf(unauthorized("the token has expired"))));
    return () => timer.cancel();
  };
}

interface Expected {
  readonly keys: PlatformKeys;
  readonly issuer: string;
  readonly audience: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Returns the verified claims of a token. @throws API_UNAUTHORIZED when they cannot be verified. */
async function verify(token: string, { keys, ...expected }: Expected): Promise<JsonObject> {
  const { algorithm, kid, payload } = openToken(token);
  const found = await keys.find(kid);
  if (found === undefined) throw unauthorized("the key of the token is unknown");
  // The key determines the algorithm; the token must name the same one.
  if (found.algorithm !== algorithm) throw unauthorized("the key of the token is for another algorithm");
  await compactVerify(token, found.key, { algorithms: [found.algorithm] }).catch(() => {
    throw unauthorized("the signature of the token is wrong");
  });
  checkClaims(payload, expected);
  return payload;
}

function checkClaims({ iss, aud, exp, nbf, iat }: JsonObject, { issuer, audience, now }: Omit<Expected, "keys">): void {
  if (iss !== issuer) throw unauthorized("the token is from another issuer");
  if (aud !== audience && !(Array.isArray(aud) && aud.includes(audience))) throw unauthorized("the token is for another audience");
  if (!isTime(exp) || !isTime(nbf) || !isTime(iat)) throw unauthorized("the token has no validity period");
  if (now >= exp * 1_000) throw unauthorized("the token has expired");
  if (now < (Math.max(nbf, iat) - CLOCK_AHEAD_SECONDS_MAX) * 1_000) throw unauthorized("the token is not valid yet");
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * The user of verified claims. Unknown fields of the claim `platform` might be limits, so they are refused.
 *
 * @throws API_UNAUTHORIZED when the claims do not identify a user.
 */
function userOf({ sub, platform }: JsonObject): UserInfo {
  if (typeof sub !== "string" || sub === "") throw unauthorized("the token names no user");
  if (sub.startsWith(SYSTEM)) throw unauthorized("the token names a user that is reserved for Kubernetes");
  const { groups, clusterRoles, scopes, accessKey } = readClaim(platform);
  const extra = {
    ...(accessKey && { [EXTRA_ACCESS_KEY]: [accessKey] }),
    ...(clusterRoles.length > 0 && { [EXTRA_CLUSTER_ROLES]: clusterRoles }),
    ...(scopes.length > 0 && { [SCOPE_EXTRA]: scopes.map((scope) => JSON.stringify(scope)) }),
  };
  const given = groups.filter((group) => !group.startsWith(SYSTEM));
  return { name: sub, groups: [...new Set([...given, AUTHENTICATED])], ...(Object.keys(extra).length > 0 && { extra }) };
}

function readClaim(platform: unknown): PlatformClaim {
  const claim = decodeObject(PLATFORM_CLAIM, platform, {
    root: "platform",
    onUnknownField: (path) => {
      throw unauthorized(`the token has an unknown claim: ${path}`);
    },
    refuse: (why) => {
      throw unauthorized(`the token does not identify its user: ${why}`);
    },
  });
  // Decoding treats a missing list as empty. An empty list of scopes means no limit, so a token must contain it explicitly.
  const missing = LISTS.find((name) => !Array.isArray((platform as JsonObject)[name]));
  if (missing !== undefined) throw unauthorized(`the token does not identify its user: ${missing} is missing`);
  return claim as unknown as PlatformClaim;
}
