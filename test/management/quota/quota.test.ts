/**
 * How much may be stored for one user or team; decision 82.
 */
import { afterEach, describe, expect, test } from "vitest";
import { createMetrics } from "../../../src/base/metrics.ts";
import { OWNED_ACCESS_KEYS } from "../../../src/management/kinds/types.ts";
import { LOGINS_PER_USER_MAX } from "../../../src/management/limits.ts";
import { createMemoryStore } from "../../../src/server/store/memory-store.ts";
import type { Store } from "../../../src/server/store/store.ts";
import { at, JSON_PATCH, MERGE_PATCH, names, startPlatform } from "../platform.ts";
import type { Answered, Client, Platform, RequestOptions } from "../platform.ts";
import { Own } from "../key-callers.ts";

const SECRETS = "/namespaces/shop/sharedsecrets";
const TEAMS = "/teams";
const KEYS = "/ownedaccesskeys";
const APPLY = { type: "application/apply-patch+yaml" };
const OBJECTS = 4;

let platform: Platform;
let made = 0;
afterEach(() => platform.stop());

/** A platform on which everybody may make SharedSecrets and Teams, as "open" says. Each user's own key counts for that user. */
async function start(options: Parameters<typeof startPlatform>[0] = {}): Promise<Platform> {
  platform = await startPlatform({ quota: { objects: OBJECTS }, ...options });
  const access = [{ verbs: ["create"], users: ["*"] }];
  await platform.admin.send("POST", SECRETS, { metadata: { name: "open" }, spec: { access } });
  await platform.admin.send("POST", TEAMS, { metadata: { name: "open" }, spec: { access } });
  return platform;
}

const user = (name: string, more: object = {}) => platform.withKey({ user: name, ...more });

/** An object of a kind, as its owner writes it. */
function bodyOf(path: string, owner: string, { name = `made-${++made}`, size = 0 } = {}) {
  const spec = path === KEYS ? {} : { owner: { user: owner } };
  return { metadata: { name, ...(size > 0 && { annotations: { size: "x".repeat(size) } }) }, spec };
}

async function post(client: Client, path: string, owner: string, more: { name?: string; size?: number } = {}): Promise<Answered> {
  return client.send("POST", path, bodyOf(path, owner, more));
}

/** Makes objects until one is refused; answers the names of those that were made. */
async function fill(client: Client, path: string, owner: string): Promise<string[]> {
  const there: string[] = [];
  for (;;) {
    const answer = await post(client, path, owner);
    if (answer.code === 403) return there;
    expect(answer.code, answer.text).toBe(201);
    there.push(answer.body.metadata.name!);
    if (there.length > 2 * OBJECTS) throw new Error("nothing was refused");
  }
}

describe.each([
  [SECRETS, "sharedsecrets", OBJECTS],
  [TEAMS, "teams", OBJECTS],
  // The user's own key counts too.
  [KEYS, "ownedaccesskeys", OBJECTS - 1],
])("of %s", (path, plural, free) => {
  test("a user has so many; whoever has them reads, changes and deletes, and others make theirs", async () => {
    await start();
    const [jane, bob] = [await user("jane"), await user("bob")];
    const own = await fill(jane, path, "jane");
    expect(own).toHaveLength(free);
    const refused = await post(jane, path, "jane", { name: "more" });
    expect([refused.code, at(refused, "reason"), at(refused, "message")]).toEqual([
      403,
      "Forbidden",
      `${plural}.management.platform "more" is forbidden: exceeded quota: objects of user "jane", requested: 1, used: ${OBJECTS}, limited: ${OBJECTS}`,
    ]);
    const one = `${path}/${own[0]}`;
    expect(names(await jane.send("GET", path))).toEqual(expect.arrayContaining(own));
    expect((await jane.send("PATCH", one, { spec: { displayName: "changed" } }, MERGE_PATCH)).code).toBe(200);
    expect((await post(bob, path, "bob")).code).toBe(201);
    expect((await jane.send("DELETE", one)).code).toBe(200);
    expect((await post(jane, path, "jane")).code).toBe(201);
    expect((await post(jane, path, "jane")).code).toBe(403);
  });

  test("as many are made at one time as one after another", async () => {
    await start();
    const jane = await user("jane");
    const codes = (await Promise.all(Array.from({ length: 40 }, () => post(jane, path, "jane")))).map(({ code }) => code);
    expect(codes.filter((code) => code === 201)).toHaveLength(free);
    expect(codes.filter((code) => code === 403)).toHaveLength(40 - free);
  });

  test("as many are there after a restart", async () => {
    const store = createMemoryStore();
    const [first, second] = [keptOpen(store), keptOpen(store)];
    await start({ store: first });
    const jane = await user("jane");
    const own = await fill(jane, path, "jane");
    await platform.stop();
    platform = await startPlatform({ quota: { objects: OBJECTS }, store: second });
    const again = platform.as(jane.key);
    expect((await post(again, path, "jane")).code).toBe(403);
    expect((await again.send("DELETE", `${path}/${own[0]}`)).code).toBe(200);
    expect((await post(again, path, "jane")).code).toBe(201);
    expect((await post(again, path, "jane")).code).toBe(403);
  });

  test("names are made up, applied and tried without a store as they are created", async () => {
    await start();
    const jane = await user("jane");
    const dry = `${path}?dryRun=All`;
    const { spec } = bodyOf(path, "jane");
    const kind = { [SECRETS]: "SharedSecret", [TEAMS]: "Team", [KEYS]: "OwnedAccessKey" }[path];
    const apply = (name: string, query: string) =>
      jane.send(
        "PATCH",
        `${path}/${name}?fieldManager=me${query}`,
        { apiVersion: "management.platform/v1", kind, metadata: { name }, spec },
        APPLY,
      );
    for (let time = 0; time < 2 * OBJECTS; time += 1)
      expect((await jane.send("POST", dry, { metadata: { generateName: "dry-" }, spec })).code).toBe(201);
    expect((await jane.send("POST", path, { metadata: { generateName: "made-" }, spec })).code).toBe(201);
    expect((await apply("applied", "")).code).toBe(201);
    await fill(jane, path, "jane");
    expect((await jane.send("POST", dry, { metadata: { name: "tried" }, spec })).code).toBe(403);
    expect((await jane.send("POST", path, { metadata: { generateName: "made-" }, spec })).code).toBe(403);
    expect((await apply("other", "")).code).toBe(403);
    expect((await apply("applied", "")).code).toBe(200);
  });
});

/** A store that outlives its server. */
function keptOpen(store: Store): Store {
  const kept = ["revision", "get", "list", "watch", "create", "update", "delete", "compact"] as const;
  const bound = Object.fromEntries(kept.map((name) => [name, (store[name] as () => unknown).bind(store)]));
  return { ...bound, close: async () => {} } as unknown as Store;
}

describe("bytes", () => {
  const BYTES = 20_000;
  const sized = (size: number) => ({ metadata: { annotations: { size: "x".repeat(size) } } });

  test("of all kinds count together; whoever has used them shrinks, and grows no more", async () => {
    await start({ quota: { bytes: BYTES } });
    const [jane, bob] = [await user("jane"), await user("bob")];
    expect((await post(jane, SECRETS, "jane", { name: "one", size: 8_000 })).code).toBe(201);
    expect((await post(jane, TEAMS, "jane", { name: "two", size: 8_000 })).code).toBe(201);
    const refused = await post(jane, KEYS, "jane", { name: "three", size: 8_000 });
    expect([refused.code, at(refused, "message")]).toEqual([
      403,
      expect.stringMatching(
        /"three" is forbidden: exceeded quota: bytes of user "jane", requested: 8\d\d\d, used: 1\d{4}, limited: 20000$/,
      ),
    ]);
    const one = `${SECRETS}/one`;
    const change = (client: Client, body: object, path = one) => client.send("PATCH", path, body, MERGE_PATCH);
    expect((await change(jane, sized(18_000))).code).toBe(403);
    expect((await change(jane, { spec: { displayName: "x".repeat(8_000) } }, `${TEAMS}/two`)).code).toBe(403);
    expect((await change(platform.admin, sized(40_000))).code).toBe(200);
    expect((await change(jane, sized(40_001))).code).toBe(403);
    expect((await post(jane, TEAMS, "jane", { name: "four" })).code).toBe(403);
    expect((await change(jane, sized(39_000))).code).toBe(200);
    expect((await jane.send("GET", one)).code).toBe(200);
    expect((await post(bob, SECRETS, "bob", { size: 8_000 })).code).toBe(201);
    expect((await jane.send("DELETE", one)).code).toBe(200);
    expect((await post(jane, KEYS, "jane", { name: "three", size: 8_000 })).code).toBe(201);
  });

  test("of many at one time do not go beyond the limit together", async () => {
    await start({ quota: { bytes: BYTES } });
    const jane = await user("jane");
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(jane, SECRETS, "jane", { size: 3_000 })));
    const there = answers.filter(({ code }) => code === 201);
    expect(there).toHaveLength(5);
    const grown = await Promise.all(
      there.map(({ body }) => jane.send("PATCH", `${SECRETS}/${body.metadata.name}`, sized(3_700), MERGE_PATCH)),
    );
    const codes = grown.map(({ code }) => code);
    expect([...new Set(codes)].sort()).toEqual([200, 403]);
    const [, used] = /used: (\d+)/.exec((await post(jane, TEAMS, "jane", { size: 20_000 })).text)!;
    expect(Number(used)).toBeLessThanOrEqual(BYTES);
  });

  test("are as many after a restart, and a write that fails takes none", async () => {
    const store = createMemoryStore();
    const quota = { bytes: BYTES };
    await start({ quota, store: keptOpen(store) });
    const jane = await user("jane");
    await post(jane, SECRETS, "jane", { name: "one", size: 9_000 });
    const used = async (client: Client) => /used: (\d+)/.exec((await post(client, TEAMS, "jane", { size: 100_000 })).text)![1];
    const before = await used(jane);
    for (const size of [9_500, 9_000]) expect((await post(jane, SECRETS, "jane", { name: "one", size })).code).toBe(409);
    await jane.send("PUT", `${SECRETS}/one`, {
      ...bodyOf(SECRETS, "jane", { name: "one", size: 1 }),
      metadata: { name: "one", resourceVersion: "1" },
    });
    expect(await used(jane)).toBe(before);
    await platform.stop();
    platform = await startPlatform({ quota, store: keptOpen(store) });
    expect(await used(platform.as(jane.key))).toBe(before);
  });

  test("of the Roles that follow from access rules count", async () => {
    await start({ quota: { bytes: 200_000 } });
    const jane = await user("jane");
    const access = Array.from({ length: 200 }, (_, index) => ({ verbs: ["get"], users: [`u${index}`] }));
    const refused = await jane.send("POST", SECRETS, { metadata: { name: "many" }, spec: { owner: { user: "jane" }, access } });
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining("bytes of user")]);
    await platform.management.settled();
    const spec = { owner: { user: "jane" }, access: access.slice(0, 50) };
    const small = await jane.send("POST", SECRETS, { metadata: { name: "fewer" }, spec });
    expect(small.code).toBe(201);
    await platform.management.settled();
    const rbac = "/kubernetes/management/apis/rbac.authorization.k8s.io/v1/namespaces/shop";
    const follows = [await platform.admin.send("GET", `${rbac}/roles`), await platform.admin.send("GET", `${rbac}/rolebindings`)];
    const stored = follows.flatMap(({ body }) => (body["items"] ?? []) as { metadata: { name: string } }[]);
    const own = JSON.stringify(stored.filter(({ metadata }) => metadata.name.includes(":fewer:"))).length;
    const [, used] = /used: (\d+)/.exec((await post(jane, TEAMS, "jane", { size: 190_000 })).text)!;
    expect(Number(used)).toBeGreaterThan(own);
    expect(Number(used)).toBeLessThan(4 * own);
  });

  test("of one object are as many as a request may have, so that its author can write it again", async () => {
    await start({ quota: {} });
    const jane = await user("jane");
    const key = `${KEYS}/${jane.name}`;
    const text = (field: string) => jane.send("PATCH", key, { spec: { [field]: "x".repeat(2_000_000) } }, MERGE_PATCH);
    expect((await text("description")).code).toBe(200);
    const refused = await text("displayName");
    expect([refused.code, at(refused, "message")]).toEqual([
      413,
      expect.stringMatching(/^the object would take 400\d{4} bytes, and an object has at most 3145728$/),
    ]);
    expect((await jane.send("PATCH", key, { spec: { description: "less" } }, MERGE_PATCH)).code).toBe(200);
    expect((await text("displayName")).code).toBe(200);
  });

  test("of annotations are 256 KiB at most for each object, as in Kubernetes", async () => {
    await start({ quota: {} });
    const jane = await user("jane");
    const limit = 256 * 1024 - "size".length;
    expect((await post(jane, SECRETS, "jane", { name: "one", size: limit })).code).toBe(201);
    const refused = [
      await post(jane, SECRETS, "jane", { size: limit + 1 }),
      await jane.send("PATCH", `${SECRETS}/one`, { metadata: { annotations: { more: "" } } }, MERGE_PATCH),
    ];
    for (const { code, text } of refused) {
      expect([code, text]).toEqual([422, expect.stringContaining("metadata.annotations: Too long: may not be more than 262144 bytes")]);
    }
  });
});

describe("the one who says whose an object is", () => {
  const owner = (spec: object) => ({ spec: { owner: spec } });
  const change = (client: Client, name: string, body: object) => client.send("PATCH", `${SECRETS}/${name}`, body, MERGE_PATCH);

  test.each<[string, (client: Client, name: string) => Promise<Answered>]>([
    ["a merge patch", (client, name) => change(client, name, owner({ user: "bob" }))],
    [
      "a JSON patch",
      (client, name) => client.send("PATCH", `${SECRETS}/${name}`, [{ op: "replace", path: "/spec/owner/user", value: "bob" }], JSON_PATCH),
    ],
    [
      "an update",
      async (client, name) => {
        const { body } = await client.send("GET", `${SECRETS}/${name}`);
        return client.send("PUT", `${SECRETS}/${name}`, { ...body, ...owner({ user: "bob" }) });
      },
    ],
    [
      "an applied configuration",
      (client, name) => {
        const body = { apiVersion: "management.platform/v1", kind: "SharedSecret", metadata: { name }, ...owner({ user: "bob" }) };
        return client.send("PATCH", `${SECRETS}/${name}?fieldManager=me&force=true`, body, APPLY);
      },
    ],
  ])("pays, so that %s fills nobody else's quota", async (_how, give) => {
    await start();
    const [jane, bob] = [await user("jane"), await user("bob")];
    const own = await fill(jane, SECRETS, "jane");
    for (const name of own) expect((await give(jane, name)).code).toBe(200);
    expect((await post(jane, SECRETS, "jane")).code).toBe(403);
    expect(await fill(bob, SECRETS, "bob")).toHaveLength(OBJECTS);
    // Bob owns and deletes them.
    expect((await bob.send("DELETE", `${SECRETS}/${own[0]}`)).code).toBe(200);
    expect((await post(bob, SECRETS, "bob")).code).toBe(403);
    expect((await post(jane, SECRETS, "jane")).code).toBe(201);
  });

  test("pays from then on: whoever takes an object over, and needs room for it", async () => {
    await start();
    await platform.admin.send("POST", TEAMS, { metadata: { name: "ops" }, spec: { users: ["jane", "bob"] } });
    const [jane, bob] = [await user("jane"), await user("bob")];
    const [first, second] = await fill(jane, SECRETS, "jane");
    await platform.admin.send("PATCH", `${TEAMS}/ops`, { spec: { access: [{ verbs: ["makeowner"], users: ["jane"] }] } }, MERGE_PATCH);
    for (const name of [first!, second!]) expect((await change(jane, name, owner({ user: "", team: "ops" }))).code).toBe(200);
    expect((await post(jane, SECRETS, "jane")).code).toBe(403);
    expect((await change(bob, first!, owner({ user: "bob", team: "" }))).code).toBe(200);
    expect((await post(jane, SECRETS, "jane")).code).toBe(201);
    const taken = await fill(bob, SECRETS, "bob");
    expect(taken).toHaveLength(OBJECTS - 1);
    const refused = await change(bob, second!, owner({ user: "bob", team: "" }));
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining('objects of user \\"bob\\", requested: 1, used: 4')]);
    expect((await change(bob, second!, { spec: { displayName: "ours" } })).code).toBe(200);
  });

  test("does not pay as an administrator: the owner whom she names does, and nobody where she names none", async () => {
    await start();
    const jane = await user("jane");
    for (let time = 0; time < 3 * OBJECTS; time += 1) {
      const spec = time < 2 * OBJECTS ? {} : { owner: { user: "jane" } };
      expect((await platform.admin.send("POST", SECRETS, { metadata: { name: `by-admin-${time}` }, spec })).code).toBe(201);
    }
    const refused = await post(jane, SECRETS, "jane");
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining(`used: ${OBJECTS}`)]);
    await change(platform.admin, `by-admin-${2 * OBJECTS}`, owner({ user: "bob" }));
    expect((await post(jane, SECRETS, "jane")).code).toBe(201);
  });

  test("is behind a team's key that she made; a team pays with a key that an administrator made", async () => {
    await start();
    await platform.admin.send("POST", TEAMS, { metadata: { name: "ops" }, spec: { users: ["jane"] } });
    await platform.admin.send("PATCH", `${TEAMS}/ops`, { spec: { access: [{ verbs: ["makeowner"], teams: ["ops"] }] } }, MERGE_PATCH);
    const jane = await user("jane");
    const own = new Own(platform);
    const ours = await own.make(jane, { team: "ops" });
    const child = await own.make(ours);
    const team = await platform.withKey({ team: "ops" });
    const byTeam = (client: Client) =>
      client.send("POST", SECRETS, { metadata: { name: `made-${++made}` }, spec: { owner: { team: "ops" } } });
    expect((await byTeam(ours)).code).toBe(201);
    expect((await byTeam(child)).code).toBe(201);
    await fill(jane, SECRETS, "jane");
    const refused = await byTeam(child);
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining('objects of user \\"jane\\"')]);
    for (let time = 0; time < OBJECTS; time += 1) expect((await byTeam(team)).code).toBe(201);
    const full = await byTeam(team);
    expect([full.code, full.text]).toEqual([403, expect.stringContaining('objects of team \\"ops\\", requested: 1, used: 4')]);
    // The three keys of Jane, of which she made two for the team.
    expect(await fill(jane, KEYS, "jane")).toHaveLength(OBJECTS - 3);
  });

  test("is told to nobody, and is no field that anybody writes", async () => {
    await start();
    const [jane, bob] = [await user("jane"), await user("bob")];
    const [name] = await fill(jane, SECRETS, "jane");
    const path = `${SECRETS}/${name}`;
    await change(jane, name!, owner({ user: "bob" }));
    const told: Answered[] = [await bob.send("GET", path), await bob.send("GET", SECRETS), await platform.admin.send("GET", path)];
    const json = (op: string, value = "jane") => bob.send("PATCH", path, [{ op, path: "/payer", value }], JSON_PATCH);
    told.push(await change(bob, name!, { spec: { displayName: "mine" } }));
    expect((await json("test")).text).toBe((await json("test", "bob")).text);
    expect(told.map(({ text }) => text.includes("payer"))).toEqual(told.map(() => false));
    const written: RequestOptions = { type: "application/json" };
    const whole = await bob.send("PUT", path, { ...(await bob.send("GET", path)).body, payer: "bob" }, written);
    expect([whole.code, whole.warnings]).toEqual([200, expect.stringContaining('unknown field \\"payer\\"')]);
    await change(bob, name!, { payer: null });
    await json("add");
    expect((await post(jane, SECRETS, "jane")).code).toBe(403);
    expect(await fill(bob, SECRETS, "bob")).toHaveLength(OBJECTS);
  });
});

test("whoever is over signs in, and what is written into a login counts", async () => {
  await start({ quota: { objects: OBJECTS, bytes: 20_000 } });
  const own = new Own(platform);
  await own.user("jane", { password: "correct horse" });
  const first = await own.login("jane", "correct horse");
  const keys = await fill(first, KEYS, "jane");
  expect(keys).toHaveLength(OBJECTS);
  expect(
    (await platform.admin.send("PATCH", `${KEYS}/${keys[0]}`, { metadata: { annotations: { a: "x".repeat(30_000) } } }, MERGE_PATCH)).code,
  ).toBe(200);
  const second = await own.login("jane", "correct horse");
  expect((await second.send("GET", KEYS)).code).toBe(200);
  expect((await second.send("DELETE", `${KEYS}/${keys[0]}`)).code).toBe(200);
  const larger = { metadata: { annotations: { a: "x".repeat(15_000) } } };
  expect((await second.send("PATCH", `${KEYS}/${second.name}`, larger, MERGE_PATCH)).code).toBe(200);
  expect((await second.send("PATCH", `${KEYS}/${first.name}`, larger, MERGE_PATCH)).code).toBe(403);
});

test("of the logins of one user the oldest end when there are too many, and nobody else's", async () => {
  await start({ quota: {} });
  const { registry } = platform.management;
  const login = async (name: string, user: string) =>
    void (await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name }, spec: { type: "Login", user } }));
  await login("bob", "bob");
  for (let count = 0; count < 3; count += 1) await login(`old-${count}`, "jane");
  await platform.clock.advance(60_000);
  for (let count = 3; count < LOGINS_PER_USER_MAX; count += 1) await login(`new-${count}`, "jane");
  const logins = async () => names(await platform.admin.send("GET", KEYS)).filter((name) => /^(bob|old|new)/.test(name));
  await platform.clock.advance(60_000);
  await platform.management.settled();
  expect(await logins()).toHaveLength(LOGINS_PER_USER_MAX + 1);
  for (const name of ["new-x", "new-y"]) await login(name, "jane");
  await platform.clock.advance(1_000);
  await platform.management.settled();
  const left = await logins();
  expect(left).toHaveLength(LOGINS_PER_USER_MAX + 1);
  expect(left.filter((name) => !name.startsWith("new"))).toEqual(["bob", expect.stringMatching(/^old-/)]);
});

test("what is refused is counted", async () => {
  const metrics = createMetrics();
  await start({ metrics });
  const jane = await user("jane");
  await fill(jane, TEAMS, "jane");
  await post(jane, TEAMS, "jane");
  expect(metrics.value("apiserver_rejected_requests_total", { reason: "quota" })).toBe(2);
});
