/**
 * The logins of users when their provider's data about them changes, and when the settings do.
 */
import { describe, expect, test } from "vitest";
import { at, MERGE_PATCH } from "../platform.ts";
import { CASES, type Restriction } from "./doubles/cases.ts";
import { tokenOf } from "./doubles/oauth.ts";
import { sourceHostA } from "./doubles/source-host-a.ts";
import type { Double } from "./doubles/world.ts";
import { login } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "./provider.ts";
import {
  after,
  begin,
  configure,
  groupsOf,
  MINUTE_MS,
  platform,
  signIn,
  SOON_MS,
  start,
  stopAfterEach,
  world,
  type Login,
} from "./refresh-setting.ts";

stopAfterEach();

/** Further failures that do not speak of the person: the token is new, or a proxy has no route. */
const VAGUE: Readonly<Record<string, readonly number[]>> = { sourceHostB: [401], directoryProviderB: [401], clusterManager: [404] };

describe.each(CASES)("%s", (kind, makeCase) => {
  // Without an API to ask, the restriction is in the ID token.
  const fields = makeCase().restrictions.map(({ field }) => field);

  test.each(fields)("a user who is no longer in one of the %s loses the key, and one who still is keeps it", async (field) => {
    const provider = makeCase();
    const restriction = provider.restrictions.find((one) => one.field === field) as Restriction;
    restriction.join([restriction.name]);
    await start(provider, kind, { section: restriction.settings([restriction.name]) });
    const login = await signIn(kind);
    expect(await after(login)).toBe(200);
    restriction.join(["other"]);
    expect(await after(login)).toBe(401);
    // The person stays, and returns with the membership.
    restriction.join([restriction.name]);
    expect(await after(await signIn(kind))).toBe(200);
  });

  test("a user whom the provider no longer knows loses the key", async () => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    provider.leave();
    expect(await after(login)).toBe(401);
  });

  test.each([403, 429, 500, ...(VAGUE[kind] ?? [])])("an answer %i ends no login, until it lasts too long", async (status) => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    for (const place of kind === "clusterManager" ? ["/v3/users/u-abc"] : provider.places)
      world.faults.set(place, (response) => response.writeHead(status, { "content-type": "application/json" }).end("{}"));
    expect(await after(login)).toBe(200);
    expect(await after(login, 12 * 60 * MINUTE_MS)).toBe(200);
    expect(await after(login, 24 * 60 * MINUTE_MS)).toBe(401);
  });

  test("with identityRefreshSeconds 0 is asked nothing again", async () => {
    const provider = makeCase();
    await start(provider, kind, { auth: { identityRefreshSeconds: 0 } });
    const login = await signIn(kind);
    const asked = world.asked.length;
    provider.leave();
    expect(await after(login)).toBe(200);
    expect(world.asked).toHaveLength(asked);
  });

  test("is asked nothing about a user who uses no key", async () => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    const asked = world.asked.length;
    await platform.clock.advance(SOON_MS);
    await platform.management.settled();
    expect(world.asked).toHaveLength(asked);
    expect((await login.send("GET", "/teams")).code).toBe(200);
  });

  test("a connector that was removed, or leads elsewhere, ends its logins at once", async () => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    const elsewhere = { baseURL: "https://b.example", hostName: "a.example", tenant: "acme.example", host: "c.example" };
    const moved = { ...provider.settings, ...(kind === "directoryProviderA" ? {} : elsewhere) };
    for (const section of kind === "directoryProviderA" ? [undefined] : [undefined, only(kind, moved)]) {
      await configure(section === undefined ? {} : { [kind]: section });
      const answer = await login.send("GET", "/teams");
      expect([answer.code, at(answer, "message")]).toEqual([401, expect.stringContaining("the connector of the login")]);
    }
    await configure({ [kind]: provider.settings });
    expect((await login.send("GET", "/teams")).code).toBe(200);
  });
});

/** The settings that a kind has. */
function only(kind: string, settings: object): object {
  const known: Readonly<Record<string, string>> = {
    ...{ sourceHostA: "hostName", sourceHostB: "baseURL", directoryProviderB: "tenant", clusterManager: "host" },
  };
  const others = Object.values(known).filter((name) => name !== known[kind]);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !others.includes(name)));
}

describe("a login that cannot be asked about", () => {
  const [, makeCase] = CASES.find(([kind]) => kind === "sourceHostA")!;
  const DAY_MS = 24 * 60 * MINUTE_MS;

  /** Consecutive logins of one person; the provider refuses to answer about the first ones. */
  async function beginWith({ refused, others }: { readonly refused: number; readonly others: number }) {
    const provider = makeCase();
    const [restriction] = provider.restrictions as [Restriction];
    restriction.join([restriction.name]);
    const bad: string[] = [];
    const blocking: Double = (asked) =>
      bad.includes(tokenOf(asked)) && asked.place.endsWith("/user") ? { status: 403, body: { message: "blocked" } } : undefined;
    await start({ ...provider, double: (asked) => blocking(asked) ?? provider.double(asked) }, "sourceHostA", {
      section: restriction.settings([restriction.name]),
    });
    const logins: Login[] = [];
    for (let count = 0; count < refused + others; count++) {
      logins.push(await signIn("sourceHostA"));
      if (count < refused) bad.push([...provider.oauth!.tokens].at(-1)!);
    }
    return { restriction, refused: logins.slice(0, refused), others: logins.slice(refused) };
  }

  test("ends after a day, and no other login ends or waits", async () => {
    const { restriction, refused, others } = await beginWith({ refused: 2, others: 1 });
    const [first, other] = [refused[0]!, others[0]!];
    for (let hours = 0; hours < 26; hours++) await after(other, 60 * MINUTE_MS);
    expect(await after(other)).toBe(200);
    expect((await first.send("GET", "/teams")).code).toBe(401);
    restriction.join(["other"]);
    expect(await after(other)).toBe(401);
  });

  test("is one of several after which the provider is left alone", async () => {
    const { others } = await beginWith({ refused: 0, others: 8 });
    world.faults.set("/user", (response) => response.writeHead(500).end());
    const asked = world.asked.length;
    expect(await after(others[0]!)).toBe(200);
    expect(world.asked.length - asked).toBeLessThan(8);
    expect(await after(others[0]!, DAY_MS)).toBe(401);
  });

  test.each(["<h1>404 Not Found</h1>", "", "null", '{"code":404,"message":"NotFound"}'])(
    "is one whose proxy answers 404 with %j",
    async (body) => {
      const [, makeManager] = CASES.find(([kind]) => kind === "clusterManager")!;
      await start(makeManager(), "clusterManager");
      const login = await signIn("clusterManager");
      world.faults.set("/v3/users/u-abc", (response) => response.writeHead(404, { "content-type": "text/html" }).end(body));
      expect(await after(login)).toBe(200);
    },
  );

  test("is one of sourceHostA with a refresh token, whose new token is refused", async () => {
    await start({ ...makeCase(), double: sourceHostA("", "rotated").double }, "sourceHostA");
    const login = await signIn("sourceHostA");
    world.faults.set("/user", (response) => response.writeHead(401).end());
    expect(await after(login)).toBe(200);
  });

  const fail = () => world.faults.set("/user", (response) => response.writeHead(503).end());
  const codesOf = (logins: readonly Login[]) => Promise.all(logins.map(async (one) => (await one.send("GET", "/teams")).code));

  test("after days without a use outlives failures, and ends after a day of them", async () => {
    const { others } = await beginWith({ refused: 0, others: 5 });
    const [first] = others as [Login];
    await platform.clock.advance(3 * DAY_MS);
    fail();
    expect(await after(first)).toBe(200);
    expect(await codesOf(others)).toEqual([200, 200, 200, 200, 200]);
    expect(await after(first, DAY_MS - 60 * MINUTE_MS)).toBe(200);
    expect(await after(first, 60 * MINUTE_MS)).toBe(401);
    expect(await codesOf(others)).toEqual([401, 401, 401, 401, 401]);
  });

  test("at two times, with a response between them, does not end because of the sum", async () => {
    const { others } = await beginWith({ refused: 0, others: 1 });
    const [login] = others as [Login];
    for (let round = 0; round < 3; round++) {
      fail();
      expect(await after(login, DAY_MS / 2)).toBe(200);
      world.faults.clear();
      expect(await after(login, 2 * 60 * MINUTE_MS)).toBe(200);
    }
  });

  test("does not end because of the time in which nothing was to be asked", async () => {
    const provider = makeCase();
    await start(provider, "sourceHostA");
    const login = await signIn("sourceHostA");
    fail();
    expect(await after(login)).toBe(200);
    await configure({ sourceHostA: provider.settings, identityRefreshSeconds: 0 });
    expect(await after(login, 2 * DAY_MS)).toBe(200);
    await configure({ sourceHostA: provider.settings });
    expect(await after(login)).toBe(200);
  });
});

describe("groups", () => {
  const [, makeCase] = CASES.find(([kind]) => kind === "sourceHostB")!;

  test("follow the provider, on the login and on keys that the person made", async () => {
    const provider = makeCase();
    const [groups] = provider.restrictions;
    groups!.join(["dev", "ops"]);
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    const made = await login.send("POST", "/ownedaccesskeys", { metadata: { name: "own" }, spec: { groups: ["ops"] } });
    const own = platform.as(String(at(made, "spec", "key")));
    const shared = { metadata: { name: "s" }, spec: { data: {}, access: [{ verbs: ["get"], teams: ["ops"] }] } };
    expect((await platform.admin.send("POST", "/namespaces/default/sharedsecrets", shared)).code).toBe(201);
    expect((await own.send("GET", "/namespaces/default/sharedsecrets/s")).code).toBe(200);
    groups!.join(["dev"]);
    expect(await after(own)).toBe(200);
    expect(await groupsOf(login)).toEqual(["dev"]);
    expect((await own.send("GET", "/namespaces/default/sharedsecrets/s")).code).toBe(403);
  });

  test("a refresh token for one use is stored before anything else can fail", async () => {
    const provider = makeCase();
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    world.faults.set("/api/v4/user", (response) => response.writeHead(500).end());
    expect(await after(login)).toBe(200);
    world.faults.clear();
    expect(await after(login, 60 * MINUTE_MS)).toBe(200);
    expect(provider.oauth!.complaints).toEqual([]);
  });

  test("follow the provider also where a user tries to remove the tokens for it", async () => {
    const provider = makeCase();
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    const path = `/ownedaccesskeys/${login.name}`;
    const patched = await login.send("PATCH", path, { spec: { identity: null } }, MERGE_PATCH);
    expect([patched.code, at(patched, "message")]).toEqual([403, expect.stringContaining("spec.identity can be set only by the platform")]);
    const read = await login.send("GET", path);
    const { identity: _identity, ...spec } = at(read, "spec") as Record<string, unknown>;
    expect((await login.send("PUT", path, { ...read.body, spec })).code).toBe(403);
    // What was read can be written back.
    expect((await login.send("PUT", path, { ...read.body, spec: { ...(at(read, "spec") as object), displayName: "mine" } })).code).toBe(
      200,
    );
    provider.leave();
    expect(await after(login)).toBe(401);
  });

  test("tokens are in no answer", async () => {
    const provider = makeCase();
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    await after(login);
    const { text } = await platform.admin.send("GET", "/ownedaccesskeys");
    const secrets = [...provider.oauth!.tokens, ...provider.oauth!.refreshTokens];
    expect(secrets.length).toBeGreaterThan(2);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toContain("connectorData");
  });
});

describe("oidc", () => {
  test("follows the groups by the refresh token, and ends with the person's grant", async () => {
    const provider = await startProvider();
    try {
      const oidc = { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, scopes: ["offline_access"] };
      await begin({ oidc });
      const { body } = await login({ url: platform.management.url });
      const person = { ...platform.as(String(body["accessKey"])), name: String(body["name"]) };
      const patch = { spec: { oidcLogin: null } };
      expect((await person.send("PATCH", `/ownedaccesskeys/${person.name}`, patch, MERGE_PATCH)).code).toBe(403);
      expect(await groupsOf(person)).toEqual(["dev", "ops"]);
      provider.claims = { ...provider.claims, groups: ["dev"] };
      expect(await after(person)).toBe(200);
      expect(await groupsOf(person)).toEqual(["dev"]);
      provider.refreshes = false;
      expect(await after(person)).toBe(401);
    } finally {
      await provider.close();
    }
  });

  test("without a refresh token stays as it was", async () => {
    const provider = await startProvider();
    try {
      provider.refreshes = undefined;
      const oidc = { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
      await begin({ oidc });
      const { body } = await login({ url: platform.management.url });
      expect(await after(platform.as(String(body["accessKey"])), 26 * 60 * MINUTE_MS)).toBe(200);
    } finally {
      await provider.close();
    }
  });
});
