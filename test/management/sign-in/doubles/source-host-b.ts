/**
 * sourceHostB, as its API is documented.
 */
import { createOauth, discovery, tokenOf, type Lies, type Oauth } from "./oauth.ts";
import type { Double } from "./world.ts";

export interface SourceHostBDouble {
  readonly double: Double;
  readonly oauth: Oauth;
  readonly lies: Lies;
  person: { id: unknown; username: string; email: string; verified: boolean; state: string; groups: unknown };
}

/** An account at the service, or at a self-managed instance on that host and path. */
export function sourceHostB(base = "gitlab.com"): SourceHostBDouble {
  const lies: Lies = {};
  const at = { authorize: `${base}/oauth/authorize`, token: `${base}/oauth/token`, keys: `${base}/oauth/discovery/keys` };
  const oauth = createOauth({
    ...{ authorize: at.authorize, token: at.token, parameters: ["nonce"], scopes: ["read_user", "openid"], refresh: "rotated", lies },
    idToken: { issuer: () => `https://${base}`, claims: () => ({ sub: String(double.person.id), groups_direct: ["not", "these"] }) },
  });
  const double: SourceHostBDouble = {
    person: { id: 42, username: "jane", email: "jane@x.example", verified: true, state: "active", groups: [] },
    lies,
    oauth,
    double: async (asked) => {
      const login = await oauth.double(asked);
      if (login !== undefined) return login;
      if (asked.place === `${base}/.well-known/openid-configuration`)
        return discovery(`https://${base}`, { ...at, userinfo: `${base}/oauth/userinfo` });
      if (asked.place === at.keys) return { body: await oauth.keys() };
      if (!asked.place.startsWith(`${base}/`)) return undefined;
      if (!oauth.tokens.has(tokenOf(asked))) return { status: 401, body: { message: "401 Unauthorized INNER SECRET REASON" } };
      const { id, username, email, verified, state, groups } = double.person;
      if (asked.place === `${base}/api/v4/user`) return { body: { id, username, name: "Jane", email, state, confirmed_at: null } };
      if (asked.place === `${base}/oauth/userinfo`) return { body: { sub: String(id), email, email_verified: verified, groups } };
      return undefined;
    },
  };
  return double;
}
