import type { Clock, Timer } from "../../base/clock.ts";
import { sha256Hex } from "../../base/digest.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { OnWatch } from "../../apiserver/http/resource-routes.ts";
import { tooOldVersion, unauthorized, statusOf } from "../../apiserver/types/status.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import type { Status } from "../../kube/object/status.ts";
import { specOf } from "../kinds/common.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, TEAMS, USERS } from "../kinds/types.ts";
import type { KeyAuthentication } from "./authenticate.ts";
import { KEY_EXTRA } from "./caller.ts";
import { REFUSALS, type KeyLives } from "./keys/key-lives.ts";
import type { ManagedObjects } from "./managed-objects.ts";
import type { Membership } from "./membership.ts";

/** Ends watches whose keys are no longer valid, or whose users may no longer see the same objects. */
export interface WatchGuard {
  /** Called for each watch that opens; returns the function to call when it ends. */
  readonly onWatch: OnWatch;
  /** Checks all watches. Call it after limits of keys change. */
  check(): void;
  stop(): void;
}

/** Options of {@link createWatchGuard}. */
export interface WatchGuardOptions {
  readonly objects: ManagedObjects;
  readonly membership: Membership;
  readonly authentication: Pick<KeyAuthentication, "userOf">;
  readonly lives: Pick<KeyLives, "refusalOf">;
  readonly clock: Clock;
}

interface Watched {
  readonly user: UserInfo;
  /** Name of the key; undefined when the watch was opened without one. */
  readonly key: string | undefined;
  /** Identifies the data that the permissions depended on when the watch opened. */
  readonly identity: string;
  readonly teams: string;
  readonly end: (status?: Status) => void;
}

/** Interval between checks of open watches, in milliseconds: no event reports that a key has expired. */
const CHECK_EVERY_MS = 1_000;

/**
 * Creates a guard that follows no watches at first. It ends the watches of clients whose permissions have changed, with the status Expired,
 * so that they list again.
 *
 * @example
 * startApiServer({ ...options, onWatch: createWatchGuard({ objects, membership, authentication, lives, clock }).onWatch });
 */
export function createWatchGuard({ objects, membership, authentication, lives, clock }: WatchGuardOptions): WatchGuard {
  const watches = new Set<Watched>();
  const keyOf = (name: string | undefined) => (name === undefined ? undefined : objects.get(OWNED_ACCESS_KEYS, { namespace: "", name }));
  const teamsOf = (user: UserInfo) => [...membership.callerOf(user).teams].sort().join(",");
  // Computed once for all watches of a bearer, whose scope may be long.
  const digests = new WeakMap<UserInfo, string>();
  const digestOf = (bearer: UserInfo) => {
    let digest = digests.get(bearer);
    if (digest === undefined) {
      digest = sha256Hex(JSON.stringify([bearer.name, [...bearer.groups].sort(), bearer.extra]));
      digests.set(bearer, digest);
    }
    return digest;
  };
  const identityOf = (key: KubeObject | undefined, bearer: UserInfo | undefined) =>
    key === undefined ? "" : JSON.stringify([key.metadata.uid, specOf<KeySpec>(key).key, bearer && digestOf(bearer)]);
  const verdict = ({ user, key: name, identity, teams }: Watched): Status | undefined => {
    const key = keyOf(name);
    if (name !== undefined && key === undefined) return statusOf(unauthorized(REFUSALS.unknown));
    const refusal = key && lives.refusalOf(key);
    if (refusal !== undefined) return statusOf(unauthorized(REFUSALS[refusal]));
    const same = identity === identityOf(key, key && authentication.userOf(key)) && teams === teamsOf(user);
    return same ? undefined : statusOf(tooOldVersion(0, 0));
  };
  const check = () => {
    for (const watched of watches) {
      const status = verdict(watched);
      if (status === undefined) continue;
      watches.delete(watched);
      watched.end(status);
    }
  };
  let timer: Timer | undefined;
  const keepLooking = () => {
    timer ??= clock.schedule(CHECK_EVERY_MS, () => {
      timer = undefined;
      check();
      if (watches.size > 0) keepLooking();
    });
  };
  objects.onChange([OWNED_ACCESS_KEYS, TEAMS, USERS], check);
  return {
    onWatch(user, end, caller) {
      const key = caller.extra?.[KEY_EXTRA]?.[0];
      const watched = { user, key, identity: identityOf(keyOf(key), caller), teams: teamsOf(user), end };
      watches.add(watched);
      keepLooking();
      return () => void watches.delete(watched);
    },
    check,
    stop: () => timer?.cancel(),
  };
}
