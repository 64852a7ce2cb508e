import { keyOf } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { specOf } from "../../kinds/common.ts";
import type { KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../../kinds/types.ts";
import { connectorDataOf, keptLogin } from "../keys/kept-login.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import type { NameIndex } from "../rights/name-index.ts";
import type { ConnectorIdentities } from "./connector-identities.ts";
import type { RefreshedLogins } from "./login-refresher.ts";
import { saidOf, signingIn } from "./signed-in-user.ts";

/** Options of the changes to logins. */
export interface LoginEndsOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly names: NameIndex;
  readonly connectors: ConnectorIdentities;
}

/** Changes and ends logins in the store. */
export function createLoginEnds({ registry, objects, names, connectors }: LoginEndsOptions): Omit<RefreshedLogins, "refreshLogin"> {
  /** The identity of a login, as its User stores it. */
  const subjectOf = (key: KubeObject): string => {
    const { userId = "", connector = "" } = specOf<KeySpec>(key).identity ?? {};
    const place = keptLogin(key)?.place;
    return `${connectors.nameOf({ connector, ...(place !== undefined && { place }) })}/${userId}`;
  };
  return {
    async keepTokens(key, tokens) {
      const login = keptLogin(key);
      const { oidcLogin } = specOf<KeySpec>(key);
      const identity = login && { connectorData: connectorDataOf({ ...login, tokens }) };
      const spec = oidcLogin === undefined ? { identity } : { oidcLogin: tokens };
      await registry.patch(OWNED_ACCESS_KEYS, keyOf(key), "merge", { metadata: { uid: key.metadata.uid! }, spec });
    },

    async endLogin(key) {
      const subject = subjectOf(key);
      const [name] = names.users("subject", subject);
      const user = name === undefined ? undefined : objects.get(USERS, { namespace: "", name });
      // Keys that the person made carry copies of the groups, and lose them with the User.
      if (user !== undefined) {
        const said = saidOf({ subject, groups: [], displayName: undefined, email: undefined });
        await registry.patch(USERS, keyOf(user), "merge", { metadata: { uid: user.metadata.uid! } }, { user: signingIn(said) });
      }
      await registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
    },
  };
}
