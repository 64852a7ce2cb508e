import { isEngineError } from "../../../base/errors.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { specOf } from "../../kinds/common.ts";
import type { KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../../kinds/types.ts";
import { userOriginOf, type LeftLogin, type Said } from "../../kinds/user.ts";
import { isOfSignIn } from "../keys/key-origin.ts";
import type { KeyLives } from "../keys/key-lives.ts";
import { connectorDataOf, keptLogin } from "../keys/kept-login.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import type { ConnectorIdentities } from "./connector-identities.ts";
import { groupsGiven, isKeyless, keylessLogins, lastSaid, leftLogin, withdrawn, type KeylessLogin } from "./left-logins.ts";
import type { RefreshedLogins } from "./login-refresher.ts";
import { signingIn } from "./signed-in-user.ts";

/** Options of {@link createLoginEnds}. */
export interface LoginEndsOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly connectors: ConnectorIdentities;
  readonly lives: Pick<KeyLives, "endOf">;
  /** Resolves once this process has seen every write that was acknowledged before the call. */
  readonly upToDate: () => Promise<unknown>;
}

/** Changes to logins in the store. */
export interface LoginEnds extends Omit<RefreshedLogins, "refreshLogin"> {
  /** Call it before a key is deleted: if it is the key of a login, its User keeps the data for refreshing the login. */
  leave(key: KubeObject): Promise<void>;
}

/** Maximum number of attempts for a write that conflicts with others. */
const TRIES_MAX = 5;

/** Changes and ends logins in the store. */
export function createLoginEnds({ registry, objects, connectors, lives, upToDate }: LoginEndsOptions): LoginEnds {
  /** The User of a login with a key, and the last report of the login's connector about this identity. */
  const saidFor = (key: KubeObject): { readonly user: KubeObject; readonly said: Said } | undefined => {
    const { user: name = "", identity: { connector = "", userId = "" } = {} } = specOf<KeySpec>(key);
    const user = objects.get(USERS, { namespace: "", name });
    const place = keptLogin(key)?.place;
    const subject = `${connectors.nameOf({ connector, ...(place !== undefined && { place }) })}/${userId}`;
    // The connector's name can depend on the claim that the user's id comes from, and a key does not keep this claim.
    const said = user && (lastSaid(user, subject) ?? userOriginOf(user)?.said?.find((one) => isIdentity(one.subject, connector, userId)));
    return said && { user: user!, said };
  };
  const write = (user: KubeObject, said: Said, terms: { readonly resourceVersion?: string } = {}) =>
    registry.patch(USERS, keyOf(user), "merge", { metadata: { uid: user.metadata.uid!, ...terms } }, { user: signingIn(said) });
  /** Ends a login without a key. If the person signs in at the same time, the sign-in changes the User, and the groups stay. */
  const endKeyless = async (login: KeylessLogin, tries = 1): Promise<void> => {
    const {
      of,
      said: { subject, left },
    } = login;
    await upToDate();
    const user = left === undefined ? of : objects.get(USERS, keyOf(of));
    const said = user && lastSaid(user, subject);
    if (said === undefined || (said.left === undefined) !== (left === undefined)) return;
    try {
      await write(user!, withdrawn(user!, said), { resourceVersion: user!.metadata.resourceVersion! });
    } catch (error) {
      // Another identity of the person may have changed the User.
      if (left === undefined || tries === TRIES_MAX || !isEngineError(error, "API_CONFLICT")) throw error;
      await endKeyless(login, tries + 1);
    }
  };
  /** Updates the tokens that a key left with the User if it was deleted while the login was refreshed. Returns false if it left none. */
  const keepLeft = async (key: KubeObject, { identity, oidcLogin }: Pick<KeySpec, "identity" | "oidcLogin">): Promise<boolean> => {
    await upToDate();
    const found = saidFor(key);
    const { left } = found?.said ?? {};
    if (left === undefined || !hasTokensOf(left, key)) return false;
    const kept = { identity: { ...left.identity, ...identity }, oidcLogin: oidcLogin ?? left.oidcLogin };
    await write(found!.user, { subject: found!.said.subject, left: leftLogin(kept, left.endMs ?? Infinity) });
    return true;
  };
  return {
    keyless() {
      const signedIn = new Set<Said | undefined>();
      for (const key of objects.of(OWNED_ACCESS_KEYS))
        if (isOfSignIn(key) && key.metadata.deletionTimestamp === undefined) signedIn.add(saidFor(key)?.said);
      return keylessLogins(objects.of(USERS), (said) => signedIn.has(said));
    },

    async keepTokens(key, tokens) {
      const login = keptLogin(key);
      const { oidcLogin, identity: before } = specOf<KeySpec>(key);
      const identity = login && { connectorData: connectorDataOf({ ...login, tokens }) };
      if (isKeyless(key)) {
        const kept = oidcLogin === undefined ? { identity: { ...before, ...identity } } : { identity: before, oidcLogin: tokens };
        await write(key.of, { subject: key.said.subject, left: leftLogin(kept, key.said.left?.endMs ?? Infinity) });
        return;
      }
      const spec = oidcLogin === undefined ? { ...(identity && { identity }) } : { oidcLogin: tokens };
      try {
        await registry.patch(OWNED_ACCESS_KEYS, keyOf(key), "merge", { metadata: { uid: key.metadata.uid! }, spec });
      } catch (error) {
        if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT") || !(await keepLeft(key, spec))) throw error;
        return;
      }
      await keepLeft(key, spec);
    },

    async endLogin(key) {
      // Keys that the person created contain copies of the groups. They lose these groups when the User does.
      if (isKeyless(key)) return endKeyless(key);
      const found = saidFor(key);
      if (found !== undefined) await write(found.user, withdrawn(found.user, found.said));
      await registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
    },

    async leave(key) {
      if (!isOfSignIn(key)) return;
      await upToDate();
      const found = saidFor(key);
      if (found === undefined || groupsGiven(found.user, found.said).length === 0) return;
      const { user, said } = found;
      try {
        await write(user, { subject: said.subject, left: leftLogin(specOf<KeySpec>(key), lives.endOf(key)) });
      } catch (error) {
        // The User was deleted, or is another person's now.
        if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) throw error;
      }
    },
  };
}

/** Reports whether this key left the given login: another login of the person has other tokens. */
function hasTokensOf({ identity, oidcLogin }: LeftLogin, key: KubeObject): boolean {
  const spec = specOf<KeySpec>(key);
  const isSame = identity?.connectorData === spec.identity?.connectorData;
  return isSame && oidcLogin?.refreshToken === spec.oidcLogin?.refreshToken;
}

/** Reports whether a subject has this connector, with any of its providers, and this id: `CONNECTOR/ID` or `CONNECTOR@DIGEST/ID`. */
function isIdentity(subject: string, connector: string, userId: string): boolean {
  if (!subject.endsWith(`/${userId}`)) return false;
  const name = subject.slice(0, -userId.length - 1);
  return name === connector || (name.startsWith(`${connector}@`) && /^[0-9a-f]+$/.test(name.slice(connector.length + 1)));
}
