/**
 * A connector that leads to other people than before, by its provider or by the claim for their ids, does not sign in as anyone
 * known before.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import type { ManagementConfig } from "../../../src/management/config/effective.ts";
import { at, startPlatform, type Platform } from "../platform.ts";
import { login } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";

let providers: readonly TestProvider[];
/** The connector's provider. */
let corp: TestProvider;
let partners: TestProvider;
let platform: Platform;

beforeEach(async () => {
  providers = await Promise.all([startProvider(), startProvider()]);
  [corp, partners] = providers as [TestProvider, TestProvider];
});
afterEach(() => Promise.all([platform.stop(), ...providers.map((provider) => provider.close())]));

const section = (more: object) => ({ issuerUrl: corp.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...more });
/** The settings with the current provider. */
const byClaim = (usernameClaim: string) => ({ oidc: section({ usernameClaim }) });

async function start(auth: object): Promise<void> {
  platform = await startPlatform({ config: JSON.stringify({ auth }) });
}

/** The user whose key a login makes. */
async function userOf(signedIn: ReturnType<typeof login>): Promise<string> {
  const { body } = await signedIn;
  return String(at(await platform.admin.send("GET", `/ownedaccesskeys/${String(body["name"])}`), "spec", "user"));
}

/** A login, with the platform's name for the person. */
function signIn({ sub, name, ...more }: { readonly sub: string; readonly name: string; readonly email?: string }): Promise<string> {
  corp.claims = { sub, preferred_username: name, groups: [], ...more, email_verified: true };
  return userOf(login({ url: platform.management.url }));
}

function configOf(auth: object): ManagementConfig {
  const parsed = parseManagementConfig(JSON.stringify({ auth }));
  if (!parsed.ok) throw new Error("The configuration is valid");
  return parsed.config;
}

/** From now on. */
const configure = (auth: object) => platform.management.configure(configOf(auth));

/** A login during which the configuration changes, when the provider names the user. */
async function signInWhile(auth: object, { sub, name }: { readonly sub: string; readonly name: string }): Promise<string> {
  const config = configOf(auth);
  const claims = { sub, preferred_username: name, groups: [] };
  let changed: Promise<void> | undefined;
  Object.defineProperty(corp, "claims", { get: () => ((changed ??= platform.management.configure(config)), claims) });
  const user = await userOf(login({ url: platform.management.url }));
  expect(changed).toBeDefined();
  await changed;
  return user;
}

const userNamed = async (name: string) => platform.admin.send("GET", `/users/${name}`);

describe("a connector that takes another claim for the id", () => {
  test.each(["", "preferred_username"])("signs in no one who was known by the former one (%j), until that is back", async (first) => {
    const second = first === "" ? "preferred_username" : "sub";
    await start(byClaim(first));
    const jane = { sub: "1", name: "jane" };
    // Users choose their preferred names, and names may be numbers.
    const thief = { sub: "jane", name: "1" };
    expect(await signIn(jane)).toBe("jane");
    await configure(byClaim(second));
    expect(await signIn(thief)).not.toBe("jane");
    expect(await signIn(jane)).not.toBe("jane");
    await configure(byClaim(first));
    expect(await signIn(jane)).toBe("jane");
    expect(await signIn(thief)).not.toBe("jane");
  });

  test("has each provider's own first claim", async () => {
    await start(byClaim("preferred_username"));
    expect(await signIn({ sub: "1", name: "jane" })).toBe("jane");
    const own = corp;
    corp = partners;
    await configure(byClaim("sub"));
    const other = await signIn({ sub: "1", name: "joe" });
    await configure(byClaim("preferred_username"));
    expect(await signIn({ sub: "2", name: "1" })).not.toBe(other);
    await configure(byClaim("sub"));
    expect(await signIn({ sub: "1", name: "joe" })).toBe(other);
    corp = own;
    await configure(byClaim("preferred_username"));
    expect(await signIn({ sub: "3", name: "jane" })).toBe("jane");
  });

  test("during a login signs in the user of the former one", async () => {
    await start(byClaim("sub"));
    expect(await signIn({ sub: "1", name: "jane" })).toBe("jane");
    await configure(byClaim("preferred_username"));
    expect(await signInWhile(byClaim("sub"), { sub: "2", name: "1" })).not.toBe("jane");
  });
});

describe("a connector that is given to another provider", () => {
  test("during a login signs in the user of the former one", async () => {
    await start(byClaim(""));
    const own = corp;
    corp = partners;
    const moved = byClaim("");
    await configure(moved);
    const chief = await signIn({ sub: "chief", name: "chief" });
    corp = own;
    await configure(byClaim(""));
    expect(await signInWhile(moved, { sub: "chief", name: "thief" })).not.toBe(chief);
    expect(at(await userNamed(chief), "spec", "displayName")).toBe("chief");
  });

  test("does not sign in the users of the former one, until it is back", async () => {
    await start(byClaim(""));
    const prepared = { metadata: { name: "prepared" }, spec: { connector: "oidc", email: "new@corp.example" } };
    expect((await platform.admin.send("POST", "/users", prepared)).code).toBe(201);
    expect(await signIn({ sub: "1", name: "jane" })).toBe("jane");
    const own = corp;
    corp = partners;
    await configure(byClaim(""));
    const other = await signIn({ sub: "1", name: "jane", email: "new@corp.example" });
    expect(other).toMatch(/^jane-[0-9a-f]{20}$/);
    expect(at(await userNamed(other), "spec", "subject")).toMatch(/^oidc@[0-9a-f]{8}\/1$/);
    corp = own;
    await configure(byClaim(""));
    expect(await signIn({ sub: "1", name: "jane" })).toBe("jane");
  });
});
