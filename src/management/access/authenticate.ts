import type { IncomingMessage } from "node:http";
import { jsonEqual } from "../../base/json.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Authenticate } from "../../apiserver/access/authentication.ts";
import { unauthorized } from "../../apiserver/types/status.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { SCOPE_EXTRA } from "../../cluster/scope/scope.ts";
import { specOf } from "../kinds/common.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, TEAMS, USERS } from "../kinds/types.ts";
import type { UserSpec } from "../kinds/user.ts";
import type { AccessKeys } from "./keys/access-keys.ts";
import { STORED_EVERY_MS, type KeyActivity } from "./keys/activity.ts";
import {
  ADMINISTRATORS,
  GRANT_EXTRA,
  groupOfSubject,
  isReserved,
  KEY_EXTRA,
  KNOWN_GROUPS,
  standsForSubject,
  userNameOf,
} from "./caller.ts";
import { isOfSignIn } from "./keys/key-origin.ts";
import { REFUSALS, type KeyLives } from "./keys/key-lives.ts";
import { keySubjectOf } from "./key-subject.ts";
import type { ManagedObjects } from "./managed-objects.ts";
import type { Membership } from "./membership.ts";

/** Options of {@link createKeyAuthentication}. */
export interface KeyAuthenticationOptions {
  readonly keys: AccessKeys;
  readonly activity: KeyActivity;
  readonly membership: Membership;
  readonly objects: Pick<ManagedObjects, "get" | "onChange">;
  readonly lives: KeyLives;
  /**
   * Resolves once this process has seen every write that any process acknowledged before the call. Default: this is always the case.
   */
  readonly upToDate?: () => Promise<unknown>;
  /** Default: none. */
  readonly metrics?: Metrics;
}

/** Finds the caller behind a key. */
export interface KeyAuthentication {
  readonly authenticate: Authenticate;
  /** Like `authenticate`, but with the data that this process already has, and without counting as a use of the key. */
  known(request: Pick<IncomingMessage, "headers"> & { readonly socket?: object }): UserInfo;
  /** Returns the caller that a key value identifies now, without counting as a use of the key; undefined if the key is not accepted. */
  ownerOf(value: string): Promise<UserInfo | undefined>;
  /** Returns the caller that a stored key identifies now. */
  userOf(key: KubeObject): UserInfo;
  /** Discards the cached callers. Call it after settings change. */
  reconsider(): void;
}

/**
 * Authenticates callers by an access key in the header `Authorization: Bearer`.
 *
 * @throws API_UNAUTHORIZED from `authenticate`, with one of {@link REFUSALS}.
 */
export function createKeyAuthentication(options: KeyAuthenticationOptions): KeyAuthentication {
  const { keys, activity, membership, objects, lives, upToDate, metrics = noMetrics } = options;
  const refuse = (refusal: keyof typeof REFUSALS) => {
    metrics.count("management_access_key_refusals_total", { reason: refusal });
    return unauthorized(REFUSALS[refusal]);
  };
  // Cached by key, until a User, a Team or the groups of a login change.
  let known = new WeakMap<KubeObject, UserInfo>();
  objects.onChange([USERS, TEAMS], () => void (known = new WeakMap()));
  objects.onChange([OWNED_ACCESS_KEYS], ({ object, previous }) => {
    if (losesGroups(object, previous)) known = new WeakMap();
  });
  const personOf = ({ user = "" }: KeySpec) => (user === "" ? undefined : objects.get(USERS, { namespace: "", name: user }));
  const judge = (key: KubeObject): UserInfo => {
    const whole = userOfKey(key);
    const lost = lives.lostGroups(key);
    const bare = lost.length === 0 ? whole : { ...whole, groups: whole.groups.filter((group) => !lost.includes(group)) };
    const person = personOf(specOf<KeySpec>(key));
    // Reserved groups of a User are ignored, because not only administrators may have written the User.
    const own = (person === undefined ? [] : (specOf<UserSpec>(person).groups ?? [])).filter((group) => !isReserved(group));
    const user = own.length === 0 ? bare : withGroups(bare, own);
    const granted = lives.administersBy(key) === undefined ? user : withGroups(user, [ADMINISTRATORS]);
    const passing = lives.endsWithGrant(key) ? { ...granted, extra: { ...granted.extra, [GRANT_EXTRA]: ["true"] } } : granted;
    return withGroups(
      passing,
      [...membership.callerOf(user).teams].map((name) => groupOfSubject({ kind: "team", name })),
    );
  };
  const userOf = (key: KubeObject) => {
    let user = known.get(key);
    if (user === undefined) known.set(key, (user = judge(key)));
    return user;
  };
  const keyOf = (value: string | undefined, connection: object | undefined): KubeObject => {
    if (value === undefined) throw refuse("missing");
    const key = keys.find(value, connection);
    if (key === undefined) throw refuse("unknown");
    const refusal = lives.refusalOf(key);
    if (refusal !== undefined) throw refuse(refusal);
    return key;
  };
  return {
    userOf,
    reconsider: () => void (known = new WeakMap()),
    known: (request) => userOf(keyOf(bearerOf(request), request.socket)),
    async ownerOf(value) {
      await upToDate?.();
      const key = keys.find(value);
      return key === undefined || lives.refusalOf(key) !== undefined ? undefined : userOf(key);
    },
    async authenticate(request) {
      const value = bearerOf(request);
      if (value === undefined) throw refuse("missing");
      // Done here and not for each permission check: the checks use the same objects in memory.
      if (upToDate !== undefined) await upToDate();
      const key = keyOf(value, request.socket);
      // A use that was not stored must not shorten the idle time of a key by more than a tenth.
      const { ttl = 0, ttlAfterLastActivity } = specOf<KeySpec>(key);
      const isIdleTime = ttlAfterLastActivity === true && ttl > 0;
      activity.touch(key.metadata.uid!, isIdleTime ? Math.min(STORED_EVERY_MS, ttl * 100) : STORED_EVERY_MS);
      return userOf(key);
    },
  };
}

/** Reports whether a login's key was deleted or changed its groups: keys created with it can have groups that only this key records. */
function losesGroups(object: KubeObject | undefined, previous: KubeObject | undefined): boolean {
  if (previous === undefined || !isOfSignIn(previous)) return false;
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return true;
  return !jsonEqual(specOf<KeySpec>(object).groups ?? [], specOf<KeySpec>(previous).groups ?? []);
}

function withGroups(user: UserInfo, more: readonly string[]): UserInfo {
  return more.length === 0 ? user : { ...user, groups: [...new Set([...user.groups, ...more])] };
}

/** Schemes are case-insensitive. Source: RFC 9110, section 11.1. */
function bearerOf({ headers: { authorization } }: Pick<IncomingMessage, "headers">): string | undefined {
  if (authorization === undefined) return undefined;
  // Fast path for the usual spelling, because each request calls this several times.
  if (
    authorization.startsWith(USUAL_SCHEME) &&
    authorization.length > USUAL_SCHEME.length &&
    authorization.indexOf(" ", USUAL_SCHEME.length) < 0
  )
    return authorization.slice(USUAL_SCHEME.length);
  return /^Bearer +([^ ]+)$/i.exec(authorization)?.[1];
}

const USUAL_SCHEME = "Bearer ";

function userOfKey(key: KubeObject): UserInfo {
  const spec = specOf<KeySpec>(key);
  const subject = keySubjectOf(spec) ?? { kind: "subject", name: key.metadata.name! };
  const given = (spec.groups ?? []).filter((group) => !standsForSubject(group));
  const groups = [...given, groupOfSubject(subject), ...KNOWN_GROUPS];
  const scope = spec.scope === undefined ? {} : { [SCOPE_EXTRA]: [JSON.stringify(spec.scope)] };
  return { name: userNameOf(subject), groups: [...new Set(groups)], extra: { [KEY_EXTRA]: [key.metadata.name!], ...scope } };
}
