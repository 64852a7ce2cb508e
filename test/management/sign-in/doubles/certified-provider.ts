/**
 * A provider that the project did not write: the certified `oidc-provider`, with its own pages. What the platform sends and takes is judged by
 * it, and not by a reading of the specification that both sides share.
 */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { CLIENT_ID, CLIENT_SECRET } from "./oauth.ts";
import type { Double } from "./world.ts";

/** A person's claims beyond `sub`. */
export type Person = Readonly<Record<string, unknown>>;

/** How it is set up. */
export interface CertifiedOptions {
  /** Where users come back to. */
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris?: readonly string[];
  /** Settings of the client. Default: the secret in a header, and RS256. */
  readonly client?: object;
  /** Whether the ID token has only `sub`, as the specification wants it, and all else is at the UserInfo endpoint. Default false. */
  readonly isStrict?: boolean;
  /** The address by which it is known, where a proxy leads to it. Default: its own. */
  readonly issuer?: string;
  /** Scopes beyond those of the specification, and the claims that each brings. */
  readonly scopeClaims?: Readonly<Record<string, readonly string[]>>;
  /** Paths of endpoints that are not its own. */
  readonly routes?: Readonly<Record<string, string>>;
  /** How clients may prove who they are. Default: in a header, in the body, or not at all. */
  readonly clientAuthMethods?: readonly string[];
  /** Which logins get a refresh token. Default: those that ask for `offline_access`. */
  readonly refreshes?: "offline" | "all" | "none";
}

/** A running provider. */
export interface CertifiedProvider {
  readonly issuer: string;
  /** Where it really is. */
  readonly base: string;
  /** Leads requests for its issuer to it. */
  readonly double: Double;
  /** The people who have an account, by `sub`, which is also what they type. */
  readonly people: Map<string, Person>;
  /** Parameters that came to the endpoints, by path. */
  readonly asked: (readonly [path: string, parameters: URLSearchParams])[];
  /** Paths that answer 500 for now. */
  readonly broken: Set<string>;
  /** Signs with a new key. */
  rotateKeys(old: "published" | "gone"): Promise<void>;
  close(): Promise<void>;
}

const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"] as const;

/** Starts the provider on a free port of loopback. */
export async function startCertifiedProvider(options: CertifiedOptions): Promise<CertifiedProvider> {
  const { redirectUris, postLogoutRedirectUris = [], client = {}, isStrict = false, refreshes = "offline" } = options;
  const { scopeClaims = {}, routes = {} } = options;
  const { clientAuthMethods = ["none", "client_secret_basic", "client_secret_post"] } = options;
  const asked: [string, URLSearchParams][] = [];
  const broken = new Set<string>();
  let answer: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://any");
    const parameters = new URLSearchParams(searchParams);
    asked.push([pathname, parameters]);
    // A look at what passes, which leaves it to the provider.
    const { emit } = request;
    request.emit = (event: string | symbol, ...given: unknown[]) => {
      if (event === "data") for (const [name, value] of new URLSearchParams(String(given[0]))) parameters.append(name, value);
      return emit.call(request, event, ...given);
    };
    if (broken.has(pathname)) response.writeHead(500).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { issuer = base } = options;
  const people = new Map<string, Person>();
  const isAsked = ({ scopes }: { scopes: Set<string> }) => refreshes === "all" || (refreshes === "offline" && scopes.has("offline_access"));
  const configuration = {
    clients: [
      {
        ...{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: redirectUris },
        ...{ post_logout_redirect_uris: postLogoutRedirectUris, grant_types: ["authorization_code", "refresh_token"], ...client },
      },
    ],
    features: { rpInitiatedLogout: { logoutSource, postLogoutSuccessSource } },
    cookies: { keys: ["a key of the test"] },
    scopes: ["openid", "offline_access", ...Object.keys(scopeClaims)],
    routes,
    claims: {
      ...{ openid: ["sub"], profile: ["preferred_username", "name"], email: ["email", "email_verified"] },
      ...{ groups: ["groups"], ...scopeClaims },
    },
    enabledJWA: { idTokenSigningAlgValues: [...ALGORITHMS, "HS256"] },
    clientAuthMethods,
    conformIdTokenClaims: isStrict,
    pkce: { required: () => true },
    // Each refresh token is good for one use; a second use ends all that came of the login.
    rotateRefreshToken: true,
    issueRefreshToken: (_: unknown, __: unknown, code: { scopes: Set<string> }) => isAsked(code),
    ttl: { AccessToken: 300, AuthorizationCode: 60, IdToken: 300, RefreshToken: 86_400, Grant: 86_400, Session: 86_400, Interaction: 600 },
    adapter: keptIn(new Map()),
    findAccount(_: unknown, sub: string) {
      const person = people.get(sub);
      return person && { accountId: sub, claims: () => ({ sub, ...person }) };
    },
  };

  const published: object[] = [];
  async function sign(old: "published" | "gone", isFirst = false): Promise<void> {
    if (old === "gone") published.length = 0;
    published.unshift(...(await (isFirst ? (firstKeys ??= newKeys()) : newKeys())));
    // It tells the developer's console that its pages are not for production.
    const { warn } = console;
    console.warn = () => {};
    try {
      const provider = new Provider(issuer, { ...configuration, jwks: { keys: published } });
      provider.proxy = issuer !== base;
      answer = provider.callback();
    } finally {
      console.warn = warn;
    }
  }
  await sign("gone", true);
  return {
    ...{ issuer, base },
    async double({ method, place, query, headers, text }) {
      const { host, pathname } = new URL(`https://${place}`);
      if (`https://${host}` !== issuer) return undefined;
      const { host: _host, connection: _connection, "content-length": _length, ...others } = headers;
      const passed = { ...(others as Record<string, string>), ...forwardedFrom(issuer) };
      const seen = await fetch(`${base}${pathname}?${query.toString()}`, { method, headers: passed, ...(text !== "" && { body: text }) });
      return { status: seen.status, headers: { "content-type": seen.headers.get("content-type") ?? "" }, body: await seen.text() };
    },
    people,
    asked,
    broken,
    rotateKeys: (old) => sign(old),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

interface Context {
  body: string;
}

/** Its page that asks whether to sign out, which it wants to be told; its form is its own. */
function logoutSource(context: Context, form: string): void {
  context.body = `<h1>Sign out</h1>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`;
}

function postLogoutSuccessSource(context: Context): void {
  context.body = "<h1>Signed out</h1>";
}

/** What a proxy tells about the address by which it was asked. */
function forwardedFrom(issuer: string): Record<string, string> {
  return { "x-forwarded-proto": "https", "x-forwarded-host": new URL(issuer).host };
}

/** What it remembers, which must not go with its keys. */
function keptIn(kept: Map<string, Record<string, unknown>>): (model: string) => object {
  return (model) => {
    const key = (id: string) => `${model}:${id}`;
    const by = (name: string, value: string) => [...kept].find(([at, one]) => at.startsWith(`${model}:`) && one[name] === value)?.[1];
    return {
      upsert: async (id: string, payload: Record<string, unknown>) => void kept.set(key(id), payload),
      find: async (id: string) => kept.get(key(id)),
      findByUid: async (uid: string) => by("uid", uid),
      findByUserCode: async (code: string) => by("userCode", code),
      consume: async (id: string) => void (kept.get(key(id))!["consumed"] = Math.floor(Date.now() / 1_000)),
      destroy: async (id: string) => void kept.delete(key(id)),
      async revokeByGrantId(grantId: string) {
        for (const [at, one] of kept) if (at.startsWith(`${model}:`) && one["grantId"] === grantId) kept.delete(at);
      },
    };
  };
}

/** Those that a provider begins with: they are too expensive to make for each test. */
let firstKeys: Promise<readonly object[]> | undefined;

const newKeys = (): Promise<readonly object[]> => Promise.all(ALGORITHMS.map(newKey));

async function newKey(alg: string): Promise<object> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: "sig", kid: crypto.randomUUID() };
}

/** How a visit goes on. */
export interface VisitOptions {
  /** The user cancels on the first page where that is possible. */
  readonly refuses?: boolean;
  /** Stay at the page of this title. Default: until the provider sends the browser elsewhere. */
  readonly until?: string;
}

/** Where a visit has led. */
export interface Visited {
  readonly back: string;
  /** Titles of the provider's pages. */
  readonly pages: readonly string[];
}

/** A browser at the provider: it keeps the cookies, and fills in the provider's pages. */
export function createVisitor({ issuer, base }: Pick<CertifiedProvider, "issuer" | "base"> = { issuer: "", base: "" }) {
  const isBehind = issuer !== base;
  const cookies = new Map<string, string>();
  async function go(url: string, form?: URLSearchParams): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const to = isBehind ? url.replace(issuer, base) : url;
    const headers = { cookie, ...(isBehind && forwardedFrom(issuer)) };
    const seen = await fetch(to, { redirect: "manual", headers, ...(form && { method: "POST", body: form }) });
    for (const line of seen.headers.getSetCookie()) {
      const [name = "", value = ""] = line.split(";")[0]!.split(/=(.*)/s);
      if (value === "" || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return seen;
  }
  return {
    /** Follows the provider's pages to an address outside of it, and answers each form with these fields. */
    async visit(start: string, fields: Readonly<Record<string, string>>, how: VisitOptions = {}): Promise<Visited> {
      const { origin } = new URL(start);
      const pages: string[] = [];
      let seen = await go(start);
      for (let at = start; pages.length < 10;) {
        const location = seen.headers.get("location");
        if (location !== null) {
          at = new URL(location, at).href;
          if (!at.startsWith(origin)) return { back: at, pages };
          seen = await go(at);
          continue;
        }
        const text = await seen.text();
        const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1];
        pages.push(/<h1>([^<]*)/.exec(text)?.[1]?.trim() ?? text);
        if (pages.at(-1) === how.until) return { back: at, pages };
        if (action === undefined) throw new Error(`The provider shows a page without a form: ${seen.status} ${text}`);
        const hidden = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]): [string, string] => [
          name!,
          value!,
        ]);
        const names = [...text.matchAll(/\bname="([^"]+)"/g)].map(([, name]) => name!);
        const given = Object.entries(fields).filter(([name]) => names.includes(name));
        const leave = how.refuses === true ? /href="([^"]+\/abort)"/.exec(text)?.[1] : undefined;
        at = new URL(leave ?? action, at).href;
        seen = await go(at, leave === undefined ? new URLSearchParams([...hidden, ...given]) : undefined);
      }
      throw new Error(`The provider shows pages without an end: ${pages.join(", ")}`);
    },
  };
}
