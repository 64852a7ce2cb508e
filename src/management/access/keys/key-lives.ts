import { sha256Hex } from "../../../base/digest.ts";
import type { Clock } from "../../../base/clock.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, originOf, type KeyOrigin, type KeyPerson, type KeyReference, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../../kinds/types.ts";
import type { UserSpec } from "../../kinds/user.ts";
import type { KeyActivity } from "./activity.ts";
import { groupOfSubject, KNOWN_GROUPS, standsForSubject } from "../caller.ts";
import { keyEnd, type LifetimeLimits } from "./key-lifetime.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import type { Membership } from "../membership.ts";
import { keptLogin } from "./kept-login.ts";

/** Messages for callers who are refused. Clients use them to distinguish an ended session from a mistyped key. */
export const REFUSALS = {
  missing: "Unauthorized",
  unknown: "access key not found. Please log in again",
  expired: "access key expired. Please log in again",
  disabled: "access key is disabled",
  deleted: "access key was deleted. Please log in again",
  user: "the user of the access key was deleted",
  password: "the password has changed since the login. Please log in again",
  connector: "the connector of the login is no longer set up, or now has another provider. Please log in again",
  member: "the user who created the access key is no longer a member of its team",
  holder: "the user who set the value of the access key was deleted or disabled, or left its team. Set a new value",
  maker: "the access key used to create this one is no longer accepted",
} as const;

/** Why a key is refused. */
export type KeyRefusal = Exclude<keyof typeof REFUSALS, "missing" | "unknown">;

/** Determines which keys are valid, and until when, from their own settings and from the keys and people that they depend on. */
export interface KeyLives {
  refusalOf(key: KubeObject): KeyRefusal | undefined;
  /** Returns when the key or a key of its chain expires, in milliseconds since 1970; Infinity if none does. */
  endOf(key: KubeObject): number;
  /** Like `endOf`, but without `accessKeyMaxTTLSeconds`. */
  endByTtl(key: KubeObject): number;
  /** Returns the key and the keys that it depends on, its root last; undefined in place of a key that no longer exists. */
  chainOf(key: KubeObject): Iterable<KubeObject | undefined>;
  /** Returns the connector whose groups currently make the sign-in key an administrator's key; undefined for all other keys. */
  administersBy(key: KubeObject): string | undefined;
  /** Whether the key's permissions end with an administrator group of a provider: of its own sign-in, or of a key in its chain. */
  endsWithGrant(key: KubeObject): boolean;
  /** Returns the groups of a key that the user who created it, or signed in with it, no longer has. */
  lostGroups(key: KubeObject): readonly string[];
}

/** Options of {@link createKeyLives}. */
export interface KeyLivesOptions {
  readonly objects: Pick<ManagedObjects, "get">;
  readonly activity: Pick<KeyActivity, "last">;
  readonly membership: Membership;
  readonly limits: () => LifetimeLimits;
  readonly clock: Pick<Clock, "now">;
  /** Kind and address of a connector's current provider; undefined if it is not set up. Default: every login's provider is unchanged. */
  readonly placeOfConnector?: (connector: string) => string | undefined;
  /** Groups of providers whose members are currently administrators. Default: none. */
  readonly administrators?: () => readonly { readonly connector: string; readonly group: string }[];
}

/** Returns a digest of a user's stored password, for the keys of the user's sign-ins. It changes with the password. */
export function passwordMark(user: KubeObject): string {
  return sha256Hex(specOf<UserSpec>(user).password ?? "");
}

/** Evaluates keys from the stored objects, so that all processes on one store agree. */
export function createKeyLives(options: KeyLivesOptions): KeyLives {
  return new Lives(options);
}

class Lives implements KeyLives {
  readonly #options: KeyLivesOptions;

  constructor(options: KeyLivesOptions) {
    this.#options = options;
  }

  refusalOf(key: KubeObject): KeyRefusal | undefined {
    for (const link of this.chainOf(key)) {
      const refusal = link === undefined ? "maker" : this.#ownRefusal(link);
      if (refusal !== undefined) return link === key ? refusal : "maker";
      if (this.#hasLostGrant(link!)) return "maker";
    }
    return undefined;
  }

  administersBy(key: KubeObject): string | undefined {
    const granted = keptLogin(key)?.administrators ?? [];
    if (granted.length === 0) return undefined;
    const { connector } = specOf<KeySpec>(key).identity ?? {};
    const { administrators = () => [] } = this.#options;
    return administrators().some((one) => one.connector === connector && granted.includes(one.group)) ? connector : undefined;
  }

  endsWithGrant(key: KubeObject): boolean {
    if (this.administersBy(key) !== undefined) return true;
    for (const link of this.chainOf(key)) if (link !== undefined && originOf(link).byGrant === true) return true;
    return false;
  }

  /** Reports whether the key was created with administrator permissions from a provider's group, and its maker no longer has them. */
  #hasLostGrant(key: KubeObject): boolean {
    const { maker, byGrant } = originOf(key);
    if (byGrant !== true || maker === undefined) return false;
    const found = this.#options.objects.get(OWNED_ACCESS_KEYS, { namespace: "", name: maker.name });
    if (found === undefined || found.metadata.uid !== maker.uid) return true;
    // A maker that was created the same way is checked at its own place in the chain.
    return originOf(found).byGrant !== true && this.administersBy(found) === undefined;
  }

  endOf(key: KubeObject): number {
    return this.#endOf(key, this.#options.limits());
  }

  endByTtl(key: KubeObject): number {
    return this.#endOf(key, { ...this.#options.limits(), accessKeyMaxTTLSeconds: 0 });
  }

  #endOf(key: KubeObject, limits: LifetimeLimits): number {
    let endMs = Infinity;
    for (const link of this.chainOf(key)) {
      const ownEndMs = link === undefined ? 0 : keyEnd(link, this.#options.activity.last(link.metadata.uid!), limits);
      endMs = Math.min(endMs, ownEndMs);
    }
    return endMs;
  }

  *chainOf(key: KubeObject): Iterable<KubeObject | undefined> {
    let link: KubeObject | undefined = key;
    for (;;) {
      yield link;
      if (link === undefined) return;
      const { maker, bySignIn }: KeyOrigin = originOf(link);
      if (maker === undefined || bySignIn === true) return;
      const found: KubeObject | undefined = this.#options.objects.get(OWNED_ACCESS_KEYS, { namespace: "", name: maker.name });
      // A later key with the same name is not the maker.
      link = found?.metadata.uid === maker.uid ? found : undefined;
    }
  }

  #ownRefusal(key: KubeObject): KeyRefusal | undefined {
    const spec = specOf<KeySpec>(key);
    const { user, person, holder } = originOf(key);
    const owner = this.#userNamed(spec.user);
    // A key that is being deleted is refused, even while finalizers or a grace period keep the object.
    if (isDeleted(key)) return "deleted";
    if (isGone(owner, user?.uid) || (person && this.#isGone(person))) return "user";
    if (spec.disabled === true || isDisabled(owner) || (person && this.#isDisabled(person))) return "disabled";
    if (spec.type === LOGIN_KEY && user?.password !== undefined && user.password !== passwordMark(owner!)) return "password";
    if (this.#leadsElsewhere(key)) return "connector";
    const { team = "" } = spec;
    if (person !== undefined && team !== "" && !this.#isMember(person, team)) return "member";
    // The user who set the value may know it: they must still be allowed to use the key, or the value must change.
    if (holder && (this.#isGone(holder) || this.#isDisabled(holder) || (team !== "" && !this.#isMember(holder, team)))) return "holder";
    const { activity, clock, limits } = this.#options;
    return clock.now() >= keyEnd(key, activity.last(key.metadata.uid!), limits()) ? "expired" : undefined;
  }

  #leadsElsewhere(key: KubeObject): boolean {
    const { placeOfConnector } = this.#options;
    const login = placeOfConnector && keptLogin(key);
    return login !== undefined && login.place !== placeOfConnector!(specOf<KeySpec>(key).identity?.connector ?? "");
  }

  #userNamed(name = ""): KubeObject | undefined {
    return name === "" ? undefined : this.#options.objects.get(USERS, { namespace: "", name });
  }

  #isGone({ name, uid }: KeyPerson): boolean {
    return isGone(this.#userNamed(name), uid);
  }

  #isDisabled({ name }: KeyPerson): boolean {
    return isDisabled(this.#userNamed(name));
  }

  #groupsOf({ name, groups = [], login }: KeyPerson): readonly string[] {
    const user = this.#userNamed(name);
    const still = login && this.#groupsOfLogin(login);
    return [
      ...(still === undefined ? groups : groups.filter((group) => still.includes(group))),
      ...((user && specOf<UserSpec>(user).groups) ?? []),
      ...KNOWN_GROUPS,
    ];
  }

  /** Returns the groups that the key of a login still has; none if it was deleted. Only this key records them, and no User. */
  #groupsOfLogin({ name, uid }: KeyReference): readonly string[] {
    const key = this.#options.objects.get(OWNED_ACCESS_KEYS, { namespace: "", name });
    return key === undefined || key.metadata.uid !== uid || isDeleted(key) ? [] : (specOf<KeySpec>(key).groups ?? []);
  }

  #isMember(person: KeyPerson, team: string): boolean {
    const { name } = person;
    const groups = [...this.#groupsOf(person), groupOfSubject({ kind: "user", name })];
    return this.#options.membership.callerOf({ name, groups }).teams.has(team);
  }

  lostGroups(key: KubeObject): readonly string[] {
    const { groups = [] } = specOf<KeySpec>(key);
    const kept = groups.length === 0 ? undefined : this.#groupsBehind(key);
    if (kept === undefined) return [];
    const still = new Set(kept);
    return groups.filter((group) => !standsForSubject(group) && !still.has(group));
  }

  /** The groups of the person behind a key; undefined if there is no person who could lose groups. */
  #groupsBehind(key: KubeObject): readonly string[] | undefined {
    const { person, maker } = originOf(key);
    if (person !== undefined) return this.#groupsOf(person);
    const { type, identity, user } = specOf<KeySpec>(key);
    const signedIn = type === LOGIN_KEY && maker === undefined && identity?.connector !== undefined;
    const owner = signedIn ? this.#userNamed(user) : undefined;
    return owner && (specOf<UserSpec>(owner).groups ?? []);
  }
}

function isDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Reports whether a User was deleted. A person who had no User when the key was created does not count as deleted. */
function isGone(user: KubeObject | undefined, uid: string | undefined): boolean {
  return (uid !== undefined && user?.metadata.uid !== uid) || (user !== undefined && isDeleted(user));
}

function isDisabled(user: KubeObject | undefined): boolean {
  return user !== undefined && specOf<UserSpec>(user).disabled === true;
}
