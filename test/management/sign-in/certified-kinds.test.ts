/**
 * Kinds of providers that speak OpenID Connect, with `oidc-provider` in the place of each one's own: the protocol is judged by it, and what lies beyond
 * the protocol is a double.
 */
import { afterEach, describe, expect, test } from "vitest";
import { at } from "../platform.ts";
import { createVisitor, startCertifiedProvider, type CertifiedProvider } from "./doubles/certified-provider.ts";
import { CLIENT_ID, CLIENT_SECRET, tokenOf } from "./doubles/oauth.ts";
import type { Double } from "./doubles/world.ts";
import { createBrowser, type Seen } from "./platform.ts";
import { after, begin, configure, groupsOf, platform, stopAfterEach } from "./refresh-setting.ts";

stopAfterEach();
let provider: CertifiedProvider;
afterEach(() => provider.close());

const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

/** From the page of the platform through those of the provider. `change` has the address on the way there. */
async function visit(kind: string, login: string, change: (there: URL) => void = () => {}): Promise<Seen> {
  const browser = createBrowser();
  const begun = await browser.visit(`${platform.management.url}/auth/${kind}/login`);
  const there = new URL(begun.location!);
  change(there);
  const { back } = await createVisitor(provider).visit(there.href, { login, password: "any" });
  return browser.visit(back);
}

const keyOf = ({ body }: Seen) => ({ ...platform.as(String(body["accessKey"])), name: String(body["name"]) });

describe("sourceHostB", () => {
  /** Its API, for whom the provider gave an access token. */
  const api: Double = async (asked) => {
    if (asked.place !== "gitlab.com/api/v4/user") return provider.double(asked);
    const told = await fetch(`${provider.base}/oauth/userinfo`, { headers: { authorization: `Bearer ${tokenOf(asked)}` } });
    if (!told.ok) return { status: 401, body: {} };
    const { sub } = (await told.json()) as { sub: string };
    return { body: { id: Number(sub), username: "jane", state: "active", email: "jane@x.example" } };
  };

  async function start(): Promise<void> {
    let inner: Double = () => undefined;
    await begin({}, (asked) => inner(asked));
    provider = await startCertifiedProvider({
      issuer: "https://gitlab.com",
      redirectUris: [`${platform.management.url}/auth/sourceHostB/callback`],
      routes: { userinfo: "/oauth/userinfo" },
      scopeClaims: { read_user: ["groups", "email", "email_verified"] },
      refreshes: "all",
    });
    inner = api;
    provider.people.set("42", { groups: ["acme/ops"], email: "jane@x.example", email_verified: true });
    await configure({ sourceHostB: { ...CLIENT, groups: ["acme/ops"] } });
  }

  test("signs in, and is asked again with refresh tokens for one use", async () => {
    await start();
    const seen = await visit("sourceHostB", "42");
    expect(seen.status).toBe(200);
    const key = keyOf(seen);
    const made = await platform.admin.send("GET", `/ownedaccesskeys/${key.name}`);
    expect(at(made, "spec", "identity")).toMatchObject({ userId: "42", username: "jane", emailVerified: true, groups: ["acme/ops"] });
    for (let round = 0; round < 3; round += 1) expect(await after(key)).toBe(200);
    provider.people.set("42", { groups: ["dev"] });
    expect(await after(key)).toBe(401);
  });

  test.each(["nonce", "code_challenge"])("with another %s on the way signs in no one", async (name) => {
    await start();
    expect((await visit("sourceHostB", "42", (there) => there.searchParams.set(name, "x".repeat(43)))).status).toBe(401);
  });
});

describe("directoryProviderA", () => {
  async function start(): Promise<void> {
    let inner: Double = () => undefined;
    await begin({}, (asked) => inner(asked));
    provider = await startCertifiedProvider({
      issuer: "https://accounts.google.com",
      redirectUris: [`${platform.management.url}/auth/directoryProviderA/callback`],
      scopeClaims: { email: ["email", "email_verified", "hd"] },
      refreshes: "all",
    });
    inner = (asked) => provider.double(asked);
    provider.people.set("1122", { email: "jane@acme.example", email_verified: true, hd: "acme.example" });
    provider.people.set("1133", { email: "joe@acme.example", email_verified: true });
    await configure({ directoryProviderA: { ...CLIENT, hostedDomains: ["acme.example"] } });
  }

  test("signs in accounts of the domain, as long as they are", async () => {
    await start();
    const seen = await visit("directoryProviderA", "1122");
    expect(seen.status).toBe(200);
    const key = keyOf(seen);
    expect(await groupsOf(key)).toBeUndefined();
    expect(await after(key)).toBe(200);
    expect((await visit("directoryProviderA", "1133")).status).toBe(403);
    provider.people.set("1122", { email: "jane@acme.example", email_verified: true });
    expect(await after(key)).toBe(401);
  });

  test.each(["nonce", "code_challenge"])("with another %s on the way signs in no one", async (name) => {
    await start();
    expect((await visit("directoryProviderA", "1122", (there) => there.searchParams.set(name, "x".repeat(43)))).status).toBe(401);
  });
});
