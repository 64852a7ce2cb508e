/**
 * directoryProviderB and its directory, as their APIs are documented.
 */
import { createOauth, discovery, tokenOf, type Lies, type Oauth } from "./oauth.ts";
import type { Double } from "./world.ts";

export const TENANT = "7b3c1d2e-0000-4000-8000-000000000001";
export const OTHER_TENANT = "7b3c1d2e-0000-4000-8000-000000000002";
export const PERSONAL_TENANT = "9188040d-6c67-4c5b-b112-36a304b66dad";

export interface GroupB {
  readonly id: string;
  readonly displayName?: string;
  readonly securityEnabled: boolean;
}

export interface DirectoryProviderBDouble {
  readonly double: Double;
  readonly oauth: Oauth;
  readonly lies: Lies;
  person: { tid: string; oid: string; principal: string; mail: string | null; groups: GroupB[] };
  pageSize: number;
}

/** A person with an account, at the login of `tenant`. */
export function directoryProviderB(tenant = "common"): DirectoryProviderBDouble {
  const lies: Lies = {};
  const host = "login.microsoftonline.com";
  const base = `${host}/${tenant}`;
  const at = { authorize: `${base}/oauth2/v2.0/authorize`, token: `${base}/oauth2/v2.0/token`, keys: `${base}/discovery/v2.0/keys` };
  const fixed = tenant === "common" || tenant === "organizations" ? undefined : tenant === "consumers" ? PERSONAL_TENANT : TENANT;
  const oauth = createOauth({
    ...{ authorize: at.authorize, token: at.token, lies, parameters: ["nonce"], refresh: "rotated" },
    scopes: ["openid", "profile", "email", "offline_access", "User.Read", "GroupMember.Read.All"],
    idToken: {
      issuer: () => `https://${host}/${double.person.tid}/v2.0`,
      claims: () => ({
        sub: "per-application",
        tid: double.person.tid,
        oid: double.person.oid,
        preferred_username: double.person.principal,
      }),
    },
  });
  const double: DirectoryProviderBDouble = {
    person: {
      tid: TENANT,
      oid: "0000000a-0000-4000-8000-00000000000a",
      principal: "jane@acme.example",
      mail: "jane@acme.example",
      groups: [],
    },
    lies,
    oauth,
    pageSize: 1_000,
    double: async (asked) => {
      const login = await oauth.double(asked);
      if (login !== undefined) return login;
      if (asked.place === `${base}/v2.0/.well-known/openid-configuration`)
        return discovery(`https://${host}/${fixed ?? "{tenantid}"}/v2.0`, at);
      if (asked.place === at.keys) return { body: await oauth.keys() };
      if (!asked.place.startsWith("graph.microsoft.com/v1.0/")) return undefined;
      if (!oauth.tokens.has(tokenOf(asked))) return { status: 401, body: { error: { code: "InvalidAuthenticationToken" } } };
      const { oid, principal, mail, groups } = double.person;
      const listed = (items: readonly unknown[]) => {
        const start = Number(asked.query.get("$skip") ?? "0");
        const end = start + double.pageSize;
        const next = end < items.length && { "@odata.nextLink": `https://${asked.place}?$skip=${end}` };
        return { body: { value: items.slice(start, end), ...next } };
      };
      switch (asked.place.slice("graph.microsoft.com/v1.0".length)) {
        case "/me":
          return { body: { id: oid, displayName: "Jane", userPrincipalName: principal, mail } };
        case "/me/getMemberGroups": {
          const { securityEnabledOnly } = JSON.parse(asked.text) as { securityEnabledOnly: boolean };
          return listed(groups.filter((group) => group.securityEnabled || !securityEnabledOnly).map(({ id }) => id));
        }
        case "/directoryObjects/getByIds": {
          const { ids, types } = JSON.parse(asked.text) as { ids: string[]; types: string[] };
          if (ids.length > 1_000 || types.join() !== "group") return { status: 400, body: { error: { code: "Request_BadRequest" } } };
          return listed(groups.filter(({ id }) => ids.includes(id)));
        }
        default:
          return undefined;
      }
    },
  };
  return double;
}
