import { sha256Hex } from "../../base/digest.ts";
import type { Clock } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import { keyOf } from "../../object/key.ts";
import type { KubeObject } from "../../object/types.ts";
import { timestamp } from "../../server/objects/metadata.ts";
import type { Registry } from "../../server/registry.ts";
import { dnsSubdomain } from "../../server/objects/names.ts";
import { forbiddenRequest, unauthorized } from "../../server/status.ts";
import { specOf } from "../kinds/common.ts";
import { LOGIN_KEY } from "../kinds/owned-access-key.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import type { TeamSpec } from "../kinds/team.ts";
import { OWNED_ACCESS_KEYS, TEAMS, USERS } from "../kinds/types.ts";
import type { UserSpec } from "../kinds/user.ts";
import type { Identity } from "../sign-in/identity.ts";
import type { ProviderTokens, SignedIn, SignInPorts } from "../sign-in/ports.ts";
import type { AccessKeys } from "./access-keys.ts";
import type { KeyLives } from "./key-lives.ts";
import type { ManagedObjects } from "./managed-objects.ts";
import { NOBODYS_DIGEST, passwordFits } from "./password.ts";

/** What a sign-in makes, and by which settings. */
export interface SignInServiceOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly keys: AccessKeys;
  readonly lives: Pick<KeyLives, "endOf">;
  readonly clock: Pick<Clock, "now">;
  /** Resolves once this process knows of every write that was acknowledged before the call. */
  readonly upToDate: () => Promise<unknown>;
  /** `status.auth` as it is now. */
  readonly settings: () => { readonly disableUserCreation: boolean; readonly disableTeamCreation: boolean };
}

/** The id of the password login among connectors. */
const PASSWORD_CONNECTOR = "password";
const NAME_LENGTH_MAX = 63;
const HASH_LENGTH = 10;

/**
 * Turns an identity that a provider vouches for into a user of the platform with a key: a User at the first time, Teams for groups
 * that have none, and a key of type Login. Source: specification 2, `status.auth`.
 */
export function createSignInService(options: SignInServiceOptions): SignInPorts {
  return new SignInService(options);
}

class SignInService implements SignInPorts {
  readonly #options: SignInServiceOptions;
  /** What was stored of the password that an identity was found by. */
  readonly #checked = new WeakMap<Identity, string>();

  constructor(options: SignInServiceOptions) {
    this.#options = options;
  }

  async signIn(identity: Identity, tokens: ProviderTokens = {}): Promise<SignedIn> {
    const { registry, lives, settings } = this.#options;
    await this.#options.upToDate();
    const name = await this.#userFor(identity);
    if (!settings().disableTeamCreation) await this.#makeTeams(identity.groups);
    const body = { metadata: { generateName: "login-" }, spec: this.#keySpec(name, identity, tokens) };
    const created = await registry.create(OWNED_ACCESS_KEYS, "", body);
    await this.#demandSamePassword(identity, created);
    const endMs = lives.endOf(created);
    return {
      key: specOf<KeySpec>(created).key!,
      name: created.metadata.name!,
      user: name,
      ...(endMs !== Infinity && { expiresAt: endMs }),
    };
  }

  /** A password that changed while the key was made would have ended it. */
  async #demandSamePassword(identity: Identity, key: KubeObject): Promise<void> {
    const { objects, registry } = this.#options;
    const user = objects.get(USERS, { namespace: "", name: identity.userId });
    const checked = this.#checked.get(identity);
    if (checked === undefined || (user !== undefined && specOf<UserSpec>(user).password === checked)) return;
    await registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
    throw unauthorized("wrong user name or password");
  }

  #keySpec(user: string, { groups, ...identity }: Identity, tokens: ProviderTokens): KeySpec {
    const now = timestamp(this.#options.clock.now());
    const hasTokens = Object.values(tokens).some((token) => token !== undefined);
    return {
      displayName: `Login of ${identity.username}`,
      type: LOGIN_KEY,
      user,
      groups,
      identity: { ...identity, groups, identityRefresh: now },
      ...(hasTokens && { oidcLogin: { ...tokens, lastRefresh: now } }),
    };
  }

  /** The user's object, brought up to date; made at the first sign-in unless that is switched off. */
  async #userFor(identity: Identity): Promise<string> {
    const known = this.#find(identity);
    if (known !== undefined && specOf<UserSpec>(known).disabled === true)
      throw forbiddenRequest(USERS, known.metadata.name!, "the user is disabled");
    if (known !== undefined) return this.#refresh(known, identity);
    const makes = !this.#options.settings().disableUserCreation;
    // Where nothing remembers whose a name is, everybody gets one that nobody else can get.
    const name = nameFor(identity.username, subjectOf(identity.connector, identity.userId), (taken) => !makes || this.#isTaken(taken));
    return makes ? this.#makeUser(name, identity) : name;
  }

  #find({ connector, userId, email, emailVerified }: Identity): KubeObject | undefined {
    const { objects } = this.#options;
    if (connector === PASSWORD_CONNECTOR) return objects.get(USERS, { namespace: "", name: userId });
    const users = [...objects.of(USERS)];
    const known = users.find((user) => specOf<UserSpec>(user).subject === subjectOf(connector, userId));
    if (known !== undefined || emailVerified !== true || email === undefined) return known;
    // An administrator may have made the user before, knowing no more than the address.
    return users.find((user) => specOf<UserSpec>(user).email === email && (specOf<UserSpec>(user).subject ?? "") === "");
  }

  /** Names of users and of those who have keys without being one are nobody else's. */
  #isTaken(name: string): boolean {
    const { objects } = this.#options;
    if (objects.get(USERS, { namespace: "", name }) !== undefined) return true;
    const isOthers = ({ user, type }: KeySpec) => user === name && type !== LOGIN_KEY;
    return [...objects.of(OWNED_ACCESS_KEYS)].some((key) => isOthers(specOf<KeySpec>(key)));
  }

  async #makeUser(name: string, identity: Identity): Promise<string> {
    try {
      await this.#options.registry.create(USERS, "", { metadata: { name }, spec: userSpec(identity) });
      return name;
    } catch (error) {
      if (!isEngineError(error, "API_ALREADY_EXISTS")) throw error;
      // Another sign-in at the same moment: of the same user, or of somebody else who now has the name.
      return this.#userFor(identity);
    }
  }

  async #refresh(user: KubeObject, identity: Identity): Promise<string> {
    const { metadata } = user;
    if (identity.connector !== PASSWORD_CONNECTOR) {
      await this.#options.registry.patch(USERS, keyOf(user), "merge", { spec: userSpec(identity) });
    }
    return metadata.name!;
  }

  /** Groups that belong to no team yet become teams of their own. */
  async #makeTeams(groups: readonly string[]): Promise<void> {
    const { objects, registry } = this.#options;
    const known = new Set([...objects.of(TEAMS)].flatMap((team) => specOf<TeamSpec>(team).groups ?? []));
    for (const group of groups) {
      if (known.has(group)) continue;
      const name = nameFor(group, group, (taken) => objects.get(TEAMS, { namespace: "", name: taken }) !== undefined);
      try {
        await registry.create(TEAMS, "", { metadata: { name }, spec: { displayName: group, groups: [group] } });
      } catch (error) {
        if (!isEngineError(error, "API_ALREADY_EXISTS")) throw error;
      }
    }
  }

  async verifyPassword(username: string, password: string): Promise<Identity | undefined> {
    await this.#options.upToDate();
    const user = this.#userWithName(username);
    const spec = user === undefined ? {} : specOf<UserSpec>(user);
    const { password: digest = "", groups = [], email, displayName } = spec;
    const fits = await passwordFits(password, digest === "" ? NOBODYS_DIGEST : digest);
    if (!fits || user === undefined || digest === "" || spec.disabled === true) return undefined;
    const name = user.metadata.name!;
    const identity: Identity = {
      userId: name,
      username: name,
      groups,
      connector: PASSWORD_CONNECTOR,
      ...(email !== undefined && { email }),
      ...(displayName !== undefined && { preferredUsername: displayName }),
    };
    this.#checked.set(identity, digest);
    return identity;
  }

  #userWithName(username: string): KubeObject | undefined {
    const named = this.#options.objects.get(USERS, { namespace: "", name: username });
    if (named !== undefined) return named;
    const same = [...this.#options.objects.of(USERS)].filter((user) => specOf<UserSpec>(user).username === username);
    return same.length === 1 ? same[0] : undefined;
  }

  async signOut(value: string): Promise<{ readonly connector?: string; readonly idToken?: string } | undefined> {
    await this.#options.upToDate();
    const key = this.#options.keys.find(value);
    if (key === undefined || specOf<KeySpec>(key).type !== LOGIN_KEY) return undefined;
    const { identity, oidcLogin } = specOf<KeySpec>(key);
    try {
      await this.#options.registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
    } catch (error) {
      if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) throw error;
    }
    return {
      ...(identity?.connector !== undefined && { connector: identity.connector }),
      ...(oidcLogin?.idToken !== undefined && { idToken: oidcLogin.idToken }),
    };
  }
}

/** Ids of users are unique within a connector only. */
function subjectOf(connector: string, userId: string): string {
  return `${connector}/${userId}`;
}

function userSpec({ connector, userId, username, preferredUsername, email, groups }: Identity): UserSpec {
  return {
    username,
    subject: subjectOf(connector, userId),
    groups,
    ...(preferredUsername !== undefined && { displayName: preferredUsername }),
    ...(email !== undefined && { email }),
  };
}

/**
 * The name of an object for a text of any form. A text that is a name already, and not taken, stays as it is; others get a digest of
 * what makes them unique, so that nobody can take another one's name by a text that looks alike.
 */
function nameFor(text: string, unique: string, isTaken: (name: string) => boolean): string {
  if (text.length <= NAME_LENGTH_MAX && dnsSubdomain(text).length === 0 && !isTaken(text)) return text;
  const hash = sha256Hex(unique).slice(0, HASH_LENGTH);
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, NAME_LENGTH_MAX - HASH_LENGTH - 1);
  return `${plain.replace(/^-+|-+$/g, "") || "x"}-${hash}`;
}
