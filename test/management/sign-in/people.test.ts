/**
 * A newcomer never becomes another user at sign-in: newcomers of two real providers try every way to a name, a team or an account that
 * is not theirs, over HTTP; a user whom an administrator has prepared gets in.
 */
import { createHash, randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { at, MERGE_PATCH, names, startPlatform, type Client, type Platform } from "../platform.ts";
import { createBrowser, login, post } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";

let providers: readonly TestProvider[];
let corp: TestProvider;
let partners: TestProvider;
let platform: Platform;

beforeEach(async () => {
  providers = await Promise.all([startProvider(), startProvider()]);
  [corp, partners] = providers as [TestProvider, TestProvider];
});
afterEach(() => Promise.all([platform.stop(), ...providers.map((provider) => provider.close())]));

const section = ({ issuer }: TestProvider, more = {}) => ({ issuerUrl: issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...more });

/** Which connectors there are, by the name that the rows below use. */
const SETUPS = {
  "one connector": () => ({ oidc: section(corp) }),
  "two connectors": () => ({ oidc: section(corp), connectors: [{ id: "partners", oidc: section(partners) }] }),
  "two connectors, corp's names are plain": () => ({ ...SETUPS["two connectors"](), plainNamesConnector: "oidc" }),
};

async function start(auth: object): Promise<void> {
  platform = await startPlatform({ config: JSON.stringify({ auth }) });
}

interface Newcomer {
  readonly sub: string;
  readonly name: string;
  readonly email?: string;
  readonly verified?: unknown;
  readonly groups?: readonly string[];
}

/** A login through a connector, with the key and the platform's name for the person. */
async function signIn(connector: "oidc" | "partners", { sub, name, email, verified, groups = [] }: Newcomer): Promise<Signed> {
  const provider = connector === "oidc" ? corp : partners;
  const address = email === undefined ? {} : { email, email_verified: verified };
  provider.claims = { sub, preferred_username: name, groups: [...groups], ...address };
  const { status, body } = await login({ url: platform.management.url }, { connector });
  if (status !== 200) return { status, user: "", client: platform.as("") };
  const made = await platform.admin.send("GET", `/ownedaccesskeys/${String(body["name"])}`);
  return { status, user: String(at(made, "spec", "user")), client: platform.as(String(body["accessKey"])) };
}

interface Signed {
  readonly status: number;
  readonly user: string;
  readonly client: Client;
}

async function make(path: string, name: string, spec: object): Promise<void> {
  const made = await platform.admin.send("POST", path, { metadata: { name }, spec });
  if (made.code !== 201) throw new Error(made.text);
}

/** A secret in a namespace, which only the users in its spec may read. */
const makeSecret = (spec: object) => make("/namespaces/shop/sharedsecrets", "treasure", { data: { key: "Z29sZA==" }, ...spec });
const reads = async ({ client }: Signed) => (await client.send("GET", "/namespaces/shop/sharedsecrets/treasure")).code === 200;
const administers = async ({ client }: Signed) => (await client.send("GET", "/users/admin")).code === 200;
const userNamed = async (name: string) => (await platform.admin.send("GET", `/users/${name}`)).body;

/** Ways in which a name already means a user before a newcomer with it comes. */
const CARRIED: Record<string, () => Promise<void>> = {
  "a rule names": () => makeSecret({ access: [{ verbs: ["get"], users: ["jane"] }] }),
  "an owner is": () => makeSecret({ owner: { user: "jane" } }),
  "a team has": async () => {
    await make("/teams", "ops", { users: ["jane"] });
    await makeSecret({ access: [{ verbs: ["get"], teams: ["ops"] }] });
  },
};

describe.each(Object.entries(CARRIED))("a name that %s", (_how, carry) => {
  test.each([
    { setup: "two connectors", connector: "oidc" },
    { setup: "two connectors", connector: "partners" },
    { setup: "two connectors, corp's names are plain", connector: "partners" },
  ] as const)("is not given to a new user of $connector ($setup)", async ({ setup, connector }) => {
    await start(SETUPS[setup]());
    await carry();
    const newcomer = await signIn(connector, { sub: "1", name: "jane", email: "jane@corp.example", verified: true });
    expect([newcomer.user, await reads(newcomer)]).toEqual([expect.stringMatching(/^jane-[0-9a-f]{10,20}$/), false]);
  });

  test.each(["one connector", "two connectors, corp's names are plain"] as const)(
    "means anyone who has it at the connector whose names are plain (%s)",
    async (setup) => {
      await start(SETUPS[setup]());
      await carry();
      const jane = await signIn("oidc", { sub: "1", name: "jane" });
      expect([jane.user, await reads(jane)]).toEqual(["jane", true]);
    },
  );

  test.each([
    { bound: "subject", spec: { subject: "partners/1" } },
    { bound: "email address", spec: { connector: "partners", email: "jane@partner.example" } },
  ])("is given to whom an administrator bound by $bound", async ({ spec }) => {
    await start(SETUPS["two connectors"]());
    await carry();
    await make("/users", "jane", spec);
    const jane = await signIn("partners", { sub: "1", name: "whatever", email: "jane@partner.example", verified: true });
    expect([jane.user, await reads(jane)]).toEqual(["jane", true]);
    const again = await signIn("partners", { sub: "1", name: "renamed", email: "jane@elsewhere.example", verified: true });
    expect(again.user).toBe("jane");
  });
});

describe("a name of a user who was deleted", () => {
  test.each(["one connector", "two connectors", "two connectors, corp's names are plain"] as const)(
    "is never given again (%s)",
    async (setup) => {
      await start(SETUPS[setup]());
      const jane = await signIn("oidc", { sub: "1", name: "jane" });
      await makeSecret({ owner: { user: "jane" } });
      expect([jane.user, await reads(jane)]).toEqual(["jane", true]);
      await platform.admin.send("DELETE", "/users/jane");
      const heir = await signIn("oidc", { sub: "2", name: "jane" });
      expect([heir.user, await reads(heir)]).toEqual([expect.stringMatching(/^jane-[0-9a-f]{10,20}$/), false]);
    },
  );

  test("with a digest is not given again either, not even to the same person", async () => {
    await start(SETUPS["one connector"]());
    await make("/users", "jane", {});
    const first = await signIn("oidc", { sub: "1", name: "jane" });
    await platform.admin.send("DELETE", `/users/${first.user}`);
    const second = await signIn("oidc", { sub: "1", name: "jane" });
    expect([second.status, second.user]).toEqual([200, expect.stringMatching(/^jane-[0-9a-f]{10}$/)]);
    expect(second.user).not.toBe(first.user);
  });

  test("is given by an administrator", async () => {
    await start(SETUPS["one connector"]());
    await signIn("oidc", { sub: "1", name: "jane" });
    await platform.admin.send("DELETE", "/users/jane");
    await make("/users", "jane", { subject: "oidc/2" });
    expect((await signIn("oidc", { sub: "2", name: "jane" })).user).toBe("jane");
  });
});

describe("an account", () => {
  /** The administrator of the finding: with a password, an address and permissions. */
  const boss = () => make("/users", "boss", { email: "boss@corp.example", groups: ["platform:admins"], password: "correct horse battery" });

  test.each([
    { connector: "oidc", verified: true },
    { connector: "partners", verified: true },
    { connector: "partners", verified: "true" },
    { connector: "partners", verified: undefined },
  ] as const)("is not taken by an email address through $connector (verified: $verified)", async ({ connector, verified }) => {
    await start(SETUPS["two connectors"]());
    await boss();
    const before = await userNamed("boss");
    const thief = await signIn(connector, { sub: "9", name: "boss", email: "boss@corp.example", verified });
    expect([thief.user, await administers(thief)]).toEqual([expect.stringMatching(/^boss-[0-9a-f]{20}$/), false]);
    expect(await userNamed("boss")).toEqual(before);
    const { body } = await post(`${platform.management.url}/auth/password/login`, { username: "boss", password: "correct horse battery" });
    expect((await platform.as(String(body["accessKey"])).send("GET", "/users/admin")).code).toBe(200);
  });

  test("is not taken by the same id at another connector", async () => {
    await start(SETUPS["two connectors"]());
    const jane = await signIn("oidc", { sub: "1", name: "jane" });
    expect((await signIn("partners", { sub: "1", name: "jane" })).user).not.toBe(jane.user);
  });

  test("is not squatted on by the user name of a user whose names are not plain, and whose name may change later", async () => {
    await start(SETUPS["two connectors, corp's names are plain"]());
    await makeSecret({ access: [{ verbs: ["get"], users: ["jane"] }] });
    for (const name of ["jane", "bob"]) await signIn("partners", { sub: "evil", name });
    const jane = await signIn("oidc", { sub: "1", name: "jane" });
    expect([jane.user, await reads(jane)]).toEqual(["jane", true]);
    await make("/users", "bob", { connector: "oidc", email: "bob@corp.example" });
    await make("/users", "other", { username: "evil", password: "correct horse battery" });
  });

  test("that had no User stays its owner's, no matter which user asks for its name with the digest", async () => {
    const auth = SETUPS["one connector"]();
    await start({ ...auth, disableUserCreation: true });
    const victim = await signIn("oidc", { sub: "1", name: "victim" });
    await makeSecret({ owner: { user: victim.user } });
    const parsed = parseManagementConfig(JSON.stringify({ auth }));
    if (parsed.ok) await platform.management.configure(parsed.config);
    const thief = await signIn("oidc", { sub: "2", name: victim.user });
    expect([thief.user === victim.user, await reads(thief)]).toEqual([false, false]);
    const again = await signIn("oidc", { sub: "1", name: "victim" });
    expect([again.user, await reads(again)]).toEqual([victim.user, true]);
  });

  test("is not locked out of its password by a newcomer of the same name", async () => {
    await start(SETUPS["two connectors"]());
    await make("/users", "b.oss", { username: "boss", password: "correct horse battery" });
    expect((await signIn("partners", { sub: "9", name: "boss" })).user).toMatch(/^boss-/);
    const { status } = await post(`${platform.management.url}/auth/password/login`, {
      username: "boss",
      password: "correct horse battery",
    });
    expect(status).toBe(200);
  });

  test("keeps the permissions that an administrator gave it when it signs in by its connector", async () => {
    await start(SETUPS["two connectors"]());
    await make("/users", "boss", { subject: "oidc/1", groups: ["platform:admins"] });
    const first = await signIn("oidc", { sub: "1", name: "someone", groups: ["dev"] });
    expect([first.user, await administers(first)]).toEqual(["boss", true]);
    await platform.admin.send("PATCH", "/users/boss", { spec: { groups: [] } }, MERGE_PATCH);
    expect(await administers(first)).toBe(false);
  });
});

describe("a team", () => {
  test("that rules name already is not made by anyone who may make teams", async () => {
    await start(SETUPS["one connector"]());
    await makeSecret({ access: [{ verbs: ["get"], teams: ["ops"] }] });
    await make("/teams", "makers", { users: ["joe"], access: [{ verbs: ["create"], users: ["joe"] }] });
    const joe = await platform.withKey({ user: "joe" });
    const body = (name: string) => ({ metadata: { name }, spec: { owner: { user: "joe" }, users: ["joe"] } });
    const [taken, free] = [await joe.send("POST", "/teams", body("ops")), await joe.send("POST", "/teams", body("joes"))];
    expect([taken.code, taken.text, free.code]).toEqual([403, expect.stringContaining("only an administrator can create it"), 201]);
    expect((await joe.send("GET", "/namespaces/shop/sharedsecrets/treasure")).code).toBe(403);
    expect((await platform.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { users: ["joe"] } })).code).toBe(201);
    expect((await joe.send("GET", "/namespaces/shop/sharedsecrets/treasure")).code).toBe(200);
  });

  test("that rules name already is not made of a group", async () => {
    await start(SETUPS["one connector"]());
    await makeSecret({ access: [{ verbs: ["get"], teams: ["ops"] }] });
    const joe = await signIn("oidc", { sub: "1", name: "joe", groups: ["ops", "dev"] });
    expect(await reads(joe)).toBe(false);
    expect(names(await platform.admin.send("GET", "/teams"))).toEqual(["dev", expect.stringMatching(/^ops-[0-9a-f]{10}$/)]);
  });

  test.each([
    { setup: "two connectors", connector: "partners", more: {} },
    { setup: "two connectors", connector: "oidc", more: {} },
    { setup: "two connectors, corp's names are plain", connector: "partners", more: {} },
  ] as const)("is not entered by a group that is only called like its own ($connector, $setup)", async ({ setup, connector }) => {
    await start(SETUPS[setup]());
    await make("/teams", "ops", { groups: ["corp-ops"] });
    await makeSecret({ access: [{ verbs: ["get"], teams: ["ops"] }] });
    expect(await reads(await signIn(connector, { sub: "1", name: "joe", groups: ["corp-ops"] }))).toBe(false);
    await make("/teams", "shown", { groups: [`${connector}:corp-ops`] });
    await platform.admin.send("PATCH", "/teams/ops", { spec: { groups: [`${connector}:corp-ops`] } }, MERGE_PATCH);
    expect(await reads(await signIn(connector, { sub: "1", name: "joe", groups: ["corp-ops"] }))).toBe(true);
  });

  test("has members from each connector with a prefix of its own", async () => {
    await start({
      oidc: section(corp, { groupsPrefix: "c-" }),
      connectors: [{ id: "partners", oidc: section(partners, { groupsPrefix: "p-" }) }],
    });
    await make("/teams", "ops", { groups: ["c-ops", "p-ops"] });
    await makeSecret({ access: [{ verbs: ["get"], teams: ["ops"] }] });
    const both = [
      await signIn("oidc", { sub: "1", name: "jane", groups: ["ops"] }),
      await signIn("partners", { sub: "1", name: "joe", groups: ["ops"] }),
    ];
    expect(await Promise.all(both.map(reads))).toEqual([true, true]);
  });

  test.each(["partners:ops", "partners@0123abcd:ops"])(
    "is not entered by a plain group that is called like another connector's: %s",
    async (group) => {
      await start(SETUPS["two connectors, corp's names are plain"]());
      await make("/teams", "ops", { groups: [group] });
      await make("/teams", "own", { groups: [`oidc:${group}`] });
      await makeSecret({ access: [{ verbs: ["get"], teams: ["ops"] }] });
      const joe = await signIn("oidc", { sub: "1", name: "joe", groups: [group, "oidc:dev", "other:dev"] });
      expect(await reads(joe)).toBe(false);
      expect(at(await platform.admin.send("GET", "/users/joe"), "spec", "groups")).toEqual([`oidc:${group}`, "oidc:dev", "other:dev"]);
    },
  );

  test("of administrators is not entered through the id of a connector", async () => {
    await start({ oidc: section(corp), connectors: [{ id: "platform", oidc: section(partners) }] });
    partners.claims = { sub: "1", preferred_username: "joe", groups: ["admins"] };
    const { body } = await login({ url: platform.management.url }, { connector: "platform" });
    expect((await platform.as(String(body["accessKey"])).send("GET", "/users/admin")).code).not.toBe(200);
  });
});

describe("a second identity", () => {
  /** A login of a program, up to the code that it exchanges. */
  async function codeOf(connector: "oidc" | "partners", { sub, name }: Newcomer): Promise<{ code: string; code_verifier: string }> {
    const provider = connector === "oidc" ? corp : partners;
    provider.claims = { sub, preferred_username: name, groups: [] };
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const query = `?redirect=http://127.0.0.1:9/done&code_challenge=${challenge}`;
    const { location } = await login({ url: platform.management.url }, { connector, query });
    return { code: new URL(location!).searchParams.get("code")!, code_verifier: verifier };
  }
  const link = (key: string, body: object) => post(`${platform.management.url}/auth/link`, body, { authorization: `Bearer ${key}` });

  test("is linked by the signed-in user, and signs in the same user from then on", async () => {
    await start(SETUPS["two connectors"]());
    const jane = await signIn("oidc", { sub: "1", name: "jane" });
    const { status, body } = await link(jane.client.key, await codeOf("partners", { sub: "p1", name: "jj" }));
    expect([status, body]).toEqual([200, { user: "jane", subject: "partners/p1" }]);
    expect((await signIn("partners", { sub: "p1", name: "jj" })).user).toBe("jane");
    expect((await signIn("oidc", { sub: "1", name: "jane" })).user).toBe("jane");
  });

  test("is not linked with a key that no sign-in made, without a key, or twice with one code", async () => {
    await start(SETUPS["two connectors"]());
    const jane = await signIn("oidc", { sub: "1", name: "jane" });
    const made = await jane.client.send("POST", "/ownedaccesskeys", { metadata: { name: "ci" }, spec: {} });
    const ci = (made.body["spec"] as unknown as { key: string }).key;
    const login = () => codeOf("partners", { sub: "p1", name: "jj" });
    const code = await login();
    const answers = [
      await link(ci, await login()),
      await link("unknown", await login()),
      await link(jane.client.key, code),
      await link(jane.client.key, code),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 401, 200, 401]);
    expect((await post(`${platform.management.url}/auth/link`, await login())).status).toBe(401);
  });

  test("is not linked, nor signed in, when its connector has got another provider meanwhile", async () => {
    await start(SETUPS["two connectors"]());
    const jane = await signIn("oidc", { sub: "1", name: "jane" });
    const codes = [await codeOf("partners", { sub: "p1", name: "jj" }), await codeOf("partners", { sub: "p1", name: "jj" })];
    partners = corp;
    const parsed = parseManagementConfig(JSON.stringify({ auth: SETUPS["two connectors"]() }));
    if (parsed.ok) await platform.management.configure(parsed.config);
    const answers = [await link(jane.client.key, codes[0]!), await post(`${platform.management.url}/auth/exchange`, codes[1]!)];
    expect(answers.map(({ status, body }) => [status, body["message"]])).toEqual(
      Array.from({ length: 2 }, () => [401, "the connector was changed or removed during the sign-in: sign in again"]),
    );
  });

  test("that is another user's is not linked", async () => {
    await start(SETUPS["two connectors"]());
    const joe = await signIn("partners", { sub: "p1", name: "joe" });
    const jane = await signIn("oidc", { sub: "1", name: "jane" });
    expect((await link(jane.client.key, await codeOf("partners", { sub: "p1", name: "joe" }))).status).toBe(409);
    expect((await signIn("partners", { sub: "p1", name: "joe" })).user).toBe(joe.user);
  });

  test("that is a password is not linked: its groups could not be taken back", async () => {
    await start(SETUPS["one connector"]());
    const { url } = platform.management;
    const spec = { password: "correct horse battery", groups: ["platform:admins", "payroll"] };
    expect((await platform.admin.send("POST", "/users", { metadata: { name: "alice" }, spec })).code).toBe(201);
    const jane = await signIn("oidc", { sub: "1", name: "jane" });
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const form = { username: "alice", password: spec.password, redirect: "http://127.0.0.1:9/done", code_challenge: challenge };
    const asked = await post(`${url}/auth/password/login`, new URLSearchParams(form).toString());
    const browser = createBrowser();
    for (const cookie of asked.headers.getSetCookie()) browser.cookies.set(...(cookie.split(";")[0]!.split("=") as [string, string]));
    const { location } = await browser.answer(url, asked);
    const code = new URL(location!).searchParams.get("code")!;
    expect((await link(jane.client.key, { code, code_verifier: verifier })).status).toBe(403);
    expect(at(await platform.admin.send("GET", "/users/jane"), "spec", "groups") ?? []).toEqual([]);
  });
});
