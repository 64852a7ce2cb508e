/**
 * directoryProviderA and its directory, as their APIs are documented.
 */
import { generateKeyPairSync } from "node:crypto";
import { jwtVerify } from "jose";
import { createOauth, discovery, tokenOf, type Lies, type Oauth } from "./oauth.ts";
import type { Double } from "./world.ts";

const account = generateKeyPairSync("rsa", { modulusLength: 2048 });
export const ADMIN_EMAIL = "admin@acme.example";

/** The key file of the service account. */
export const ACCOUNT_FILE = JSON.stringify({
  type: "service_account",
  client_email: "sync@project.example",
  private_key_id: "k1",
  private_key: account.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  token_uri: "https://evil.example/token",
});

export interface DirectoryProviderADouble {
  readonly double: Double;
  readonly oauth: Oauth;
  readonly lies: Lies;
  person: { id: string; email: string; verified: boolean; domain: string | undefined; groups: unknown[] };
  pageSize: number;
  /** The account may not list groups. */
  isDelegated: boolean;
  /** Tokens of the account so far. */
  accountTokens: number;
}

/** A person with an account. */
export function directoryProviderA(): DirectoryProviderADouble {
  const lies: Lies = {};
  const issuer = "https://accounts.google.com";
  const at = {
    authorize: "accounts.google.com/o/oauth2/v2/auth",
    token: "oauth2.googleapis.com/token",
    keys: "www.googleapis.com/oauth2/v3/certs",
  };
  const oauth = createOauth({
    ...{ authorize: at.authorize, token: at.token, lies, parameters: ["nonce", "hd", "access_type"], refresh: "same" },
    scopes: ["openid", "profile", "email"],
    idToken: {
      issuer: () => issuer,
      claims: () => {
        const { id, email, verified, domain } = double.person;
        return { sub: id, email, email_verified: verified, name: "Jane", ...(domain !== undefined && { hd: domain }) };
      },
    },
  });
  const good = new Set<string>();
  const double: DirectoryProviderADouble = {
    person: { id: "1122", email: "jane@acme.example", verified: true, domain: "acme.example", groups: [] },
    lies,
    oauth,
    pageSize: 200,
    isDelegated: true,
    accountTokens: 0,
    double: async (asked) => {
      if (asked.place === at.token && asked.text.includes("jwt-bearer")) {
        const assertion = new URLSearchParams(asked.text).get("assertion") ?? "";
        const { payload } = await jwtVerify(assertion, account.publicKey, {
          audience: `https://${at.token}`,
          currentDate: new Date(0),
        }).catch(async () => jwtVerify(assertion, account.publicKey, { audience: `https://${at.token}` }));
        if (payload.sub !== ADMIN_EMAIL || payload.iss !== "sync@project.example") return { status: 400, body: { error: "invalid_grant" } };
        const token = `account-${++double.accountTokens}`;
        good.add(token);
        return { body: { access_token: token, expires_in: 3_599, token_type: "Bearer" } };
      }
      const login = await oauth.double(asked);
      if (login !== undefined) return login;
      if (asked.place === "accounts.google.com/.well-known/openid-configuration") return discovery(issuer, at);
      if (asked.place === at.keys) return { body: await oauth.keys() };
      if (asked.place !== "admin.googleapis.com/admin/directory/v1/groups") return undefined;
      if (!good.has(tokenOf(asked))) return { status: 401, body: { error: { code: 401 } } };
      if (!double.isDelegated) return { status: 403, body: { error: { code: 403, message: "Not Authorized INNER SECRET REASON" } } };
      if (asked.query.get("userKey") !== double.person.id) return { status: 404, body: { error: { code: 404 } } };
      const start = Number(asked.query.get("pageToken") ?? "0");
      const end = start + double.pageSize;
      const groups = double.person.groups.slice(start, end).map((email) => ({ id: "g", name: "A name", email }));
      return { body: { kind: "groups", groups, ...(end < double.person.groups.length && { nextPageToken: String(end) }) } };
    },
  };
  return double;
}
