import type { Clock } from "../../../base/clock.ts";
import { isEngineError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { timestamp } from "../../../apiserver/types/objects/metadata.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { conflict, forbiddenRequest, unauthorized } from "../../../apiserver/types/status.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, type KeySpec } from "../../kinds/owned-access-key.ts";
import type { TeamSpec } from "../../kinds/team.ts";
import { OWNED_ACCESS_KEYS, TEAMS, USERS } from "../../kinds/types.ts";
import { subjectsOf, type UserSpec } from "../../kinds/user.ts";
import type { Identity } from "../../sign-in/identity.ts";
import type { Linked, ProviderTokens, SignedIn, SignedOut, SignInPorts } from "../../sign-in/ports.ts";
import type { AccessKeys } from "../keys/access-keys.ts";
import { isReserved } from "../caller.ts";
import type { ConnectorIdentities } from "./connector-identities.ts";
import { keptLogin, keptOf } from "../keys/kept-login.ts";
import type { RefreshedLogins, RefreshedTokens } from "./login-refresher.ts";
import type { FormerUsers } from "./former-users.ts";
import { passwordMark, type KeyLives } from "../keys/key-lives.ts";
import { isOfSignIn } from "../keys/key-origin.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import type { NameIndex } from "../permissions/name-index.ts";
import { isKeyless, leftLogin } from "./left-logins.ts";
import { isName, nameWithDigest } from "./object-names.ts";
import { NOBODYS_DIGEST, passwordFits } from "./password.ts";
import { askingAgain, saidOf, signingIn } from "./signed-in-user.ts";
import { chargedTo } from "../quota/payer.ts";

/** Options of the sign-in service. */
export interface SignInServiceOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly keys: AccessKeys;
  readonly lives: Pick<KeyLives, "endOf" | "refusalOf">;
  readonly names: NameIndex;
  readonly connectors: ConnectorIdentities;
  readonly formerUsers: FormerUsers;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
  /** Resolves once this process has seen every write that was acknowledged before the call. */
  readonly upToDate: () => Promise<unknown>;
  /** The current settings of `status.auth`. */
  readonly settings: () => { readonly disableUserCreation: boolean; readonly disableTeamCreation: boolean };
}

/** The connector id of the password login. */
const PASSWORD_CONNECTOR = "password";
/** Hexadecimal digits of a name's digest: more for connectors without plain names, whose operators could search for a match. */
const HASH_LENGTH = { own: 10, others: 20 } as const;
/** Matches names that look as if they had such a digest. */
const WITH_DIGEST = new RegExp(`-([0-9a-f]{${HASH_LENGTH.own}}|[0-9a-f]{${HASH_LENGTH.others}})$`);
const TEAMS_HELP = "Create teams for the groups that need one, exclude others with groupsFilters, or set disableTeamCreation";
/** Maximum number of attempts for a sign-in that conflicts with others. */
const TRIES_MAX = 5;

/**
 * Signs in a user whose identity a provider has confirmed. It creates a User at the first sign-in, Teams for groups that have none, and a
 * key of type Login. Source: specification 2, `status.auth`.
 *
 * A person is identified by the connector and the user's id there, regardless of names. A new person gets the User that an administrator
 * bound to the connector. Without one, the person gets the user name from the provider, with a digest if it is taken: see decision 80.
 */
export function createSignInService(options: SignInServiceOptions): SignInPorts & Pick<RefreshedLogins, "refreshLogin"> {
  return new SignInService(options);
}

class SignInService implements SignInPorts, Pick<RefreshedLogins, "refreshLogin"> {
  readonly #options: SignInServiceOptions;
  /** Sign-ins in progress, by subject. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: SignInServiceOptions) {
    this.#options = options;
  }

  async signIn(reported: Identity, tokens: ProviderTokens = {}): Promise<SignedIn> {
    const { registry, lives, settings } = this.#options;
    await this.#options.upToDate();
    const identity = this.#withOwnGroups(reported);
    const user = await this.#userFor(identity);
    if (!settings().disableTeamCreation) await this.#makeTeams(identity.groups, user.name);
    const body = { metadata: { generateName: "login-" }, spec: this.#keySpec(user, identity, tokens) };
    const created = await registry.create(OWNED_ACCESS_KEYS, "", body);
    await this.#demandSamePassword(reported, created);
    const endMs = lives.endOf(created);
    return {
      key: specOf<KeySpec>(created).key!,
      name: created.metadata.name!,
      user: user.name,
      ...(endMs !== Infinity && { expiresAt: endMs }),
    };
  }

  /** Deletes a key and refuses the sign-in if the password was changed while the key was created: the change would have ended the key. */
  async #demandSamePassword(identity: Identity, key: KubeObject): Promise<void> {
    const { objects, registry } = this.#options;
    const user = objects.get(USERS, { namespace: "", name: identity.userId });
    const { passwordMark: checked } = identity;
    if (checked === undefined || (user !== undefined && passwordMark(user) === checked)) return;
    await registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
    throw unauthorized("wrong user name or password");
  }

  #keySpec(user: Person, reported: Identity, tokens: ProviderTokens): KeySpec {
    const { groups, issuer: _issuer, idClaim: _claim, place: _place, passwordMark: _mark, administrators: _all, ...rest } = reported;
    const { endsAtMs: _end, ...identity } = rest;
    const now = timestamp(this.#options.clock.now());
    const { connectorData, oidcLogin } = keptOf(reported, tokens);
    return {
      displayName: `Login of ${identity.username}`,
      type: LOGIN_KEY,
      user: user.name,
      groups: user.groups ?? groups,
      identity: { ...identity, groups, ...(connectorData !== undefined && { connectorData }), identityRefresh: now },
      ...(oidcLogin !== undefined && { oidcLogin: { ...oidcLogin, lastRefresh: now } }),
    };
  }

  async refreshLogin(key: KubeObject, reported: Identity, { tokens, groupsUnknown = false }: RefreshedTokens): Promise<void> {
    const identity = groupsUnknown ? withGroupsOf(key, reported) : this.#withOwnGroups(reported);
    const known = this.#find(identity);
    if ((known?.metadata.name ?? specOf<KeySpec>(key).user) !== specOf<KeySpec>(key).user)
      throw forbiddenRequest(OWNED_ACCESS_KEYS, key.metadata.name!, "the key now belongs to another user");
    if (isKeyless(key)) {
      const next = this.#keySpec({ name: key.metadata.name! }, identity, tokens);
      const oidcLogin = next.oidcLogin && { ...specOf<KeySpec>(key).oidcLogin, ...next.oidcLogin };
      const left = leftLogin({ identity: next.identity, oidcLogin }, key.said.left?.endMs ?? Infinity);
      return void (await this.#refresh(key.of, identity, signingIn({ ...this.#saidBy(identity), left })));
    }
    const said = askingAgain(this.#saidBy(identity));
    const user = known === undefined ? { name: specOf<KeySpec>(key).user ?? "" } : await this.#refresh(known, identity, said);
    const { groups, identity: next, oidcLogin } = this.#keySpec(user, identity, tokens);
    const spec = { groups: groups ?? [], ...(next && { identity: next }), ...(oidcLogin && { oidcLogin }) };
    await this.#options.registry.patch(OWNED_ACCESS_KEYS, keyOf(key), "merge", { metadata: { uid: key.metadata.uid! }, spec });
  }

  /** Adds the connector's prefix to the groups of a connector without plain names, and removes reserved groups. */
  #withOwnGroups(identity: Identity): Identity {
    if (identity.connector === PASSWORD_CONNECTOR) return identity;
    const { connectors } = this.#options;
    const groups = identity.groups.map((group) => `${connectors.groupsPrefixOf(identity, group)}${group}`);
    return { ...identity, groups: groups.filter((group) => !isReserved(group)) };
  }

  #subjectOf(identity: Identity): string {
    return `${this.#options.connectors.nameOf(identity)}/${identity.userId}`;
  }

  /** Updates the User of an identity, or creates it at the first sign-in unless the settings disable that. */
  async #userFor(identity: Identity): Promise<Person> {
    // Two first sign-ins of one identity run one after the other: the second finds the User that the first one creates.
    const subject = this.#subjectOf(identity);
    const before = this.#underWay.get(subject) ?? Promise.resolve();
    const own = before.then(() => this.#tryUserFor(identity, 1));
    const settled = own.then(
      () => {},
      () => {},
    );
    this.#underWay.set(subject, settled);
    try {
      return await own;
    } finally {
      if (this.#underWay.get(subject) === settled) this.#underWay.delete(subject);
    }
  }

  async #tryUserFor(identity: Identity, tries: number): Promise<Person> {
    const known = this.#find(identity);
    if (known !== undefined && specOf<UserSpec>(known).disabled === true)
      throw forbiddenRequest(USERS, known.metadata.name!, "the user is disabled");
    try {
      if (known !== undefined) return await this.#refresh(known, identity);
      const name = await this.#newName(identity);
      return this.#options.settings().disableUserCreation ? { name } : await this.#makeUser(name, identity);
    } catch (error) {
      // Another sign-in was faster: of the same user, or of another user who now has the name.
      await this.#options.upToDate();
      if (tries < TRIES_MAX && isEngineError(error, "API_ALREADY_EXISTS", "API_INVALID", "API_CONFLICT", "API_NOT_FOUND"))
        return this.#tryUserFor(identity, tries + 1);
      throw error;
    }
  }

  #find(identity: Identity): KubeObject | undefined {
    const { objects, names } = this.#options;
    const named = (name: string) => objects.get(USERS, { namespace: "", name });
    if (identity.connector === PASSWORD_CONNECTOR) return named(identity.userId);
    const [known] = names.users("subject", this.#subjectOf(identity));
    return known === undefined ? this.#findPrepared(identity) : named(known);
  }

  /** Finds the User that an administrator created for the owner of an email address, before the first sign-in with it. */
  #findPrepared(identity: Identity): KubeObject | undefined {
    const { email, emailVerified } = identity;
    if (emailVerified !== true || email === undefined) return undefined;
    const name = this.#options.connectors.nameOf(identity);
    const [prepared, ...others] = [...this.#options.objects.of(USERS)].filter((user) => {
      const spec = specOf<UserSpec>(user);
      return spec.connector === name && (spec.subject ?? "") === "" && spec.email?.toLowerCase() === email.toLowerCase();
    });
    if (others.length === 0) return prepared;
    throw forbiddenRequest(
      USERS,
      prepared!.metadata.name!,
      "several users are bound to your email address; an administrator must bind it to only one",
    );
  }

  /** Returns a name for a new user that belongs to no other user and represents none. */
  async #newName(identity: Identity): Promise<string> {
    const { connectors, settings, logger } = this.#options;
    const { username, connector } = identity;
    const owns = connectors.ownsPlainNames(connector);
    const subject = this.#subjectOf(identity);
    const length = owns ? HASH_LENGTH.own : HASH_LENGTH.others;
    // If no User records the owner of a name, every new user gets a name with a digest.
    const why = settings().disableUserCreation
      ? "disableUserCreation is set, so no User owns the name"
      : await this.#whoseIs(username, owns);
    const own = await this.#nameWithDigest(username, subject, length);
    if (why === undefined && isName(username) && !this.#isNamed(own)) return username;
    logger.info("A new user gets a name with a digest instead of a plain user name", {
      username,
      subject,
      name: own,
      why: why ?? "it is not a valid name, or the user already has a name with a digest",
    });
    return own;
  }

  /** Reports whether rules, owners, teams or keys name a user, who may have signed in without a User object. */
  #isNamed(name: string): boolean {
    return this.#options.names.has("user", name) || this.#options.names.has("key", name);
  }

  /** Returns the same name for the same subject, unless a deleted User had this name or another user happens to have it. */
  async #nameWithDigest(username: string, subject: string, length: number): Promise<string> {
    const { names, formerUsers } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const name = nameWithDigest(username, tries === 1 ? subject : `${subject} ${tries}`, length);
      if (names.users("username", name).length === 0 && !(await formerUsers.has(name))) return name;
    }
  }

  /** Returns why a new user does not get a name; undefined if the user gets it. */
  async #whoseIs(name: string, owns: boolean): Promise<string | undefined> {
    const { names, formerUsers, connectors } = this.#options;
    if (names.users("username", name).length > 0) return "a User has it";
    if (names.has("key", name)) return "access keys use it";
    if (WITH_DIGEST.test(name)) return "it has the form of a name with a digest";
    if (await formerUsers.has(name)) return "a deleted User had it";
    if (owns) return undefined;
    if (names.has("user", name)) return "rules, owners or teams refer to it";
    return connectors.plainNamesAreOwned() ? "another connector owns plain names" : undefined;
  }

  async #makeUser(name: string, identity: Identity): Promise<Person> {
    const { registry, names, connectors } = this.#options;
    const { username, connector } = identity;
    // The user name does not follow later changes at the provider: otherwise a name in use could become free for another user. It differs
    // from the object's name only if no object can have it.
    const isOwn = !isName(username) && connectors.ownsPlainNames(connector) && names.users("username", username).length === 0;
    const spec = { username: isOwn ? username : name };
    return personOf(await registry.create(USERS, "", { metadata: { name }, spec }, { user: signingIn(this.#saidBy(identity)) }));
  }

  async #refresh(user: KubeObject, identity: Identity, by = signingIn(this.#saidBy(identity))): Promise<Person> {
    if (identity.connector === PASSWORD_CONNECTOR) return personOf(user);
    const body = { metadata: { uid: user.metadata.uid! } };
    return personOf((await this.#options.registry.patch(USERS, keyOf(user), "merge", body, { user: by })).object);
  }

  #saidBy(identity: Identity) {
    const { preferredUsername, email, groups } = identity;
    return saidOf({ subject: this.#subjectOf(identity), displayName: preferredUsername, email, groups });
  }

  /** Creates a team for each group that belongs to no team. The teams count toward the quota of the user who signs in. */
  async #makeTeams(groups: readonly string[], user: string): Promise<void> {
    const { objects, registry, names, logger } = this.#options;
    const known = new Set([...objects.of(TEAMS)].flatMap((team) => specOf<TeamSpec>(team).groups ?? []));
    for (const group of groups) {
      if (known.has(group)) continue;
      // A new team would get what existing rules grant to its name.
      const isTaken = objects.get(TEAMS, { namespace: "", name: group }) !== undefined || names.has("team", group);
      const name = isName(group) && !isTaken ? group : nameWithDigest(group, group, HASH_LENGTH.own);
      if (name !== group && names.has("team", name)) continue;
      try {
        await registry.create(TEAMS, "", { metadata: { name }, spec: { displayName: group, groups: [group] } }, { user: chargedTo(user) });
      } catch (error) {
        if (isEngineError(error, "API_FORBIDDEN"))
          return logger.warn("Cannot create more teams for the groups of a sign-in", { user, group, why: error.message, help: TEAMS_HELP });
        if (!isEngineError(error, "API_ALREADY_EXISTS")) throw error;
      }
    }
  }

  async link(value: string, reported: Identity, tokens: ProviderTokens = {}): Promise<Linked> {
    const { registry, objects, keys, lives, names, upToDate } = this.#options;
    await upToDate();
    const find = () => {
      const key = keys.find(value);
      if (key === undefined || lives.refusalOf(key) !== undefined) throw unauthorized("the access key is not accepted");
      return key;
    };
    const key = find();
    const { user: name = "", scope } = specOf<KeySpec>(key);
    const user = objects.get(USERS, { namespace: "", name });
    if (!isOfSignIn(key) || scope !== undefined || user === undefined)
      throw forbiddenRequest(
        OWNED_ACCESS_KEYS,
        key.metadata.name!,
        "to link an identity, send a sign-in key that has no scope and belongs to a user with a User object",
      );
    // A login by password has the groups of its own User. The linked User would get copies that do not change with them.
    if (reported.connector === PASSWORD_CONNECTOR) throw forbiddenRequest(USERS, name, "a password login cannot be linked to another user");
    const identity = this.#withOwnGroups(reported);
    const subject = this.#subjectOf(identity);
    const spec = specOf<UserSpec>(user);
    if (names.users("subject", subject).some((other) => other !== name))
      throw conflict(USERS, name, "the identity belongs to another user");
    if (!subjectsOf(spec).includes(subject)) {
      const linkedSubjects = [...(spec.linkedSubjects ?? []), subject];
      const metadata = { uid: user.metadata.uid!, resourceVersion: user.metadata.resourceVersion! };
      // The groups of the identity last like those of a login whose key was created and deleted now.
      const login = this.#keySpec({ name }, identity, tokens);
      const creationTimestamp = timestamp(this.#options.clock.now());
      const made = { ...key, metadata: { name, uid: "", creationTimestamp }, spec: login, origin: {} };
      const by = signingIn({ ...this.#saidBy(identity), left: leftLogin(login, lives.endOf(made)) });
      const options = { user: by, judge: () => (find(), by) };
      await registry.patch(USERS, keyOf(user), "merge", { metadata, spec: { linkedSubjects } }, options);
    }
    return { user: name, subject };
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
      passwordMark: passwordMark(user),
      ...(email !== undefined && { email }),
      ...(displayName !== undefined && { preferredUsername: displayName }),
    };
    return identity;
  }

  #userWithName(username: string): KubeObject | undefined {
    const named = this.#options.objects.get(USERS, { namespace: "", name: username });
    if (named !== undefined) return named;
    const same = [...this.#options.objects.of(USERS)].filter((user) => specOf<UserSpec>(user).username === username);
    return same.length === 1 ? same[0] : undefined;
  }

  async signOut(value: string): Promise<SignedOut | undefined> {
    await this.#options.upToDate();
    const key = this.#options.keys.find(value);
    if (key === undefined || specOf<KeySpec>(key).type !== LOGIN_KEY) return undefined;
    const { identity, oidcLogin } = specOf<KeySpec>(key);
    const place = keptLogin(key)?.place;
    try {
      await this.#options.registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
    } catch (error) {
      if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) throw error;
    }
    return {
      ...(identity?.connector !== undefined && { connector: identity.connector }),
      ...(place !== undefined && { place }),
      ...(oidcLogin?.idToken !== undefined && { idToken: oidcLogin.idToken }),
    };
  }
}

/** The identity with the groups of the login, which already have their prefix. */
function withGroupsOf(key: KubeObject, { administrators: _unknown, ...reported }: Identity): Identity {
  const administrators = keptLogin(key)?.administrators;
  return { ...reported, groups: specOf<KeySpec>(key).identity?.groups ?? [], ...(administrators && { administrators }) };
}

/** The owner of a new key. */
interface Person {
  readonly name: string;
  /** Undefined if no User records them. */
  readonly groups?: readonly string[];
}

function personOf(user: KubeObject): Person {
  return { name: user.metadata.name!, groups: specOf<UserSpec>(user).groups ?? [] };
}
