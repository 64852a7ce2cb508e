/**
 * How much one user or team may store; decision 82.
 */
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../src/base/metrics.ts";
import { OWNED_ACCESS_KEYS } from "../../../src/management/kinds/types.ts";
import { LOGINS_PER_USER_MAX } from "../../../src/management/config/limits.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import type { Store } from "../../../src/apiserver/store/store.ts";
import { at, MERGE_PATCH, names, type Client } from "../platform.ts";
import { Own } from "../access/key-callers.ts";
import { APPLY, KEYS, OBJECTS, SECRETS, Setting, TEAMS } from "./setting.ts";

const setting = new Setting();

describe.each([
  [SECRETS, "sharedsecrets", OBJECTS],
  [TEAMS, "teams", OBJECTS],
  // The user's own key counts too.
  [KEYS, "ownedaccesskeys", OBJECTS - 1],
])("of %s", (path, plural, free) => {
  test("a user has a limit; at it the user still reads, changes and deletes, and others make theirs", async () => {
    await setting.start();
    const [jane, bob] = [await setting.user("jane"), await setting.user("bob")];
    const own = await setting.fill(jane, path, "jane");
    expect(own).toHaveLength(free);
    const refused = await setting.post(jane, path, "jane", { name: "more" });
    expect([refused.code, at(refused, "reason"), at(refused, "message")]).toEqual([
      403,
      "Forbidden",
      `${plural}.management.platform "more" is forbidden: exceeded quota: objects of user "jane", requested: 1, used: ${OBJECTS}, limited: ${OBJECTS}`,
    ]);
    const one = `${path}/${own[0]}`;
    expect(names(await jane.send("GET", path))).toEqual(expect.arrayContaining(own));
    expect((await jane.send("PATCH", one, { spec: { displayName: "changed" } }, MERGE_PATCH)).code).toBe(200);
    expect((await setting.post(bob, path, "bob")).code).toBe(201);
    expect((await jane.send("DELETE", one)).code).toBe(200);
    expect((await setting.post(jane, path, "jane")).code).toBe(201);
    expect((await setting.post(jane, path, "jane")).code).toBe(403);
  });

  test("as many are made concurrently as one after another", async () => {
    await setting.start();
    const jane = await setting.user("jane");
    const codes = (await Promise.all(Array.from({ length: 40 }, () => setting.post(jane, path, "jane")))).map(({ code }) => code);
    expect(codes.filter((code) => code === 201)).toHaveLength(free);
    expect(codes.filter((code) => code === 403)).toHaveLength(40 - free);
  });

  test("a restart keeps the count", async () => {
    const store = createMemoryStore();
    const [first, second] = [keptOpen(store), keptOpen(store)];
    await setting.start({ store: first });
    const jane = await setting.user("jane");
    const own = await setting.fill(jane, path, "jane");
    await setting.restart({ store: second });
    const again = setting.platform.as(jane.key);
    expect((await setting.post(again, path, "jane")).code).toBe(403);
    expect((await again.send("DELETE", `${path}/${own[0]}`)).code).toBe(200);
    expect((await setting.post(again, path, "jane")).code).toBe(201);
    expect((await setting.post(again, path, "jane")).code).toBe(403);
  });

  test("generated names, applies and dry runs count like creations", async () => {
    await setting.start();
    const jane = await setting.user("jane");
    const dry = `${path}?dryRun=All`;
    const { spec } = setting.bodyOf(path, "jane");
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
    await setting.fill(jane, path, "jane");
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

  test("of all kinds count together; at the limit objects shrink, and grow no more", async () => {
    await setting.start({ quota: { bytes: BYTES } });
    const [jane, bob] = [await setting.user("jane"), await setting.user("bob")];
    expect((await setting.post(jane, SECRETS, "jane", { name: "one", size: 8_000 })).code).toBe(201);
    expect((await setting.post(jane, TEAMS, "jane", { name: "two", size: 8_000 })).code).toBe(201);
    const refused = await setting.post(jane, KEYS, "jane", { name: "three", size: 8_000 });
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
    expect((await change(setting.admin, sized(40_000))).code).toBe(200);
    expect((await change(jane, sized(40_001))).code).toBe(403);
    expect((await setting.post(jane, TEAMS, "jane", { name: "four" })).code).toBe(403);
    expect((await change(jane, sized(39_000))).code).toBe(200);
    expect((await jane.send("GET", one)).code).toBe(200);
    expect((await setting.post(bob, SECRETS, "bob", { size: 8_000 })).code).toBe(201);
    expect((await jane.send("DELETE", one)).code).toBe(200);
    expect((await setting.post(jane, KEYS, "jane", { name: "three", size: 8_000 })).code).toBe(201);
  });

  test("of concurrent writes do not exceed the limit together", async () => {
    await setting.start({ quota: { bytes: BYTES } });
    const jane = await setting.user("jane");
    const answers = await Promise.all(Array.from({ length: 40 }, () => setting.post(jane, SECRETS, "jane", { size: 3_000 })));
    const there = answers.filter(({ code }) => code === 201);
    expect(there).toHaveLength(5);
    const grown = await Promise.all(
      there.map(({ body }) => jane.send("PATCH", `${SECRETS}/${body.metadata.name}`, sized(3_700), MERGE_PATCH)),
    );
    const codes = grown.map(({ code }) => code);
    expect([...new Set(codes)].sort()).toEqual([200, 403]);
    const [, used] = /used: (\d+)/.exec((await setting.post(jane, TEAMS, "jane", { size: 20_000 })).text)!;
    expect(Number(used)).toBeLessThanOrEqual(BYTES);
  });

  test("are as many after a restart, and a write that fails takes none", async () => {
    const store = createMemoryStore();
    const quota = { bytes: BYTES };
    await setting.start({ quota, store: keptOpen(store) });
    const jane = await setting.user("jane");
    await setting.post(jane, SECRETS, "jane", { name: "one", size: 9_000 });
    const used = async (client: Client) => /used: (\d+)/.exec((await setting.post(client, TEAMS, "jane", { size: 100_000 })).text)![1];
    const before = await used(jane);
    for (const size of [9_500, 9_000]) expect((await setting.post(jane, SECRETS, "jane", { name: "one", size })).code).toBe(409);
    await jane.send("PUT", `${SECRETS}/one`, {
      ...setting.bodyOf(SECRETS, "jane", { name: "one", size: 1 }),
      metadata: { name: "one", resourceVersion: "1" },
    });
    expect(await used(jane)).toBe(before);
    await setting.restart({ quota, store: keptOpen(store) });
    expect(await used(setting.platform.as(jane.key))).toBe(before);
  });

  test("of the Roles that follow from access rules count", async () => {
    await setting.start({ quota: { bytes: 200_000 } });
    const jane = await setting.user("jane");
    const access = Array.from({ length: 200 }, (_, index) => ({ verbs: ["get"], users: [`u${index}`] }));
    const refused = await jane.send("POST", SECRETS, { metadata: { name: "many" }, spec: { owner: { user: "jane" }, access } });
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining("bytes of user")]);
    await setting.platform.management.settled();
    const spec = { owner: { user: "jane" }, access: access.slice(0, 50) };
    const small = await jane.send("POST", SECRETS, { metadata: { name: "fewer" }, spec });
    expect(small.code).toBe(201);
    await setting.platform.management.settled();
    const rbac = "/kubernetes/management/apis/rbac.authorization.k8s.io/v1/namespaces/shop";
    const follows = [await setting.admin.send("GET", `${rbac}/roles`), await setting.admin.send("GET", `${rbac}/rolebindings`)];
    const stored = follows.flatMap(({ body }) => (body["items"] ?? []) as { metadata: { name: string } }[]);
    const own = JSON.stringify(stored.filter(({ metadata }) => metadata.name.includes(":fewer:"))).length;
    const [, used] = /used: (\d+)/.exec((await setting.post(jane, TEAMS, "jane", { size: 190_000 })).text)!;
    expect(Number(used)).toBeGreaterThan(own);
    expect(Number(used)).toBeLessThan(4 * own);
  });

  test("of one object are as many as a request may have, so that its author can write it again", async () => {
    await setting.start({ quota: {} });
    const jane = await setting.user("jane");
    const key = `${KEYS}/${jane.name}`;
    const text = (field: string) => jane.send("PATCH", key, { spec: { [field]: "x".repeat(2_000_000) } }, MERGE_PATCH);
    expect((await text("description")).code).toBe(200);
    const refused = await text("displayName");
    expect([refused.code, at(refused, "message")]).toEqual([
      413,
      expect.stringMatching(/^the object would have 400\d{4} bytes, and an object can have at most 3145728$/),
    ]);
    expect((await jane.send("PATCH", key, { spec: { description: "less" } }, MERGE_PATCH)).code).toBe(200);
    expect((await text("displayName")).code).toBe(200);
  });

  test("of annotations are 256 KiB at most for each object, as in Kubernetes", async () => {
    await setting.start({ quota: {} });
    const jane = await setting.user("jane");
    const limit = 256 * 1024 - "size".length;
    expect((await setting.post(jane, SECRETS, "jane", { name: "one", size: limit })).code).toBe(201);
    const refused = [
      await setting.post(jane, SECRETS, "jane", { size: limit + 1 }),
      await jane.send("PATCH", `${SECRETS}/one`, { metadata: { annotations: { more: "" } } }, MERGE_PATCH),
    ];
    for (const { code, text } of refused) {
      expect([code, text]).toEqual([422, expect.stringContaining("metadata.annotations: Too long: may not be more than 262144 bytes")]);
    }
  });
});

test("a user over the limit signs in, and what is written into a login counts", async () => {
  await setting.start({ quota: { objects: OBJECTS, bytes: 20_000 } });
  const own = new Own(setting.platform);
  await own.user("jane", { password: "correct horse" });
  const first = await own.login("jane", "correct horse");
  const keys = await setting.fill(first, KEYS, "jane");
  expect(keys).toHaveLength(OBJECTS);
  expect(
    (await setting.admin.send("PATCH", `${KEYS}/${keys[0]}`, { metadata: { annotations: { a: "x".repeat(30_000) } } }, MERGE_PATCH)).code,
  ).toBe(200);
  const second = await own.login("jane", "correct horse");
  expect((await second.send("GET", KEYS)).code).toBe(200);
  expect((await second.send("DELETE", `${KEYS}/${keys[0]}`)).code).toBe(200);
  const larger = { metadata: { annotations: { a: "x".repeat(15_000) } } };
  expect((await second.send("PATCH", `${KEYS}/${second.name}`, larger, MERGE_PATCH)).code).toBe(200);
  expect((await second.send("PATCH", `${KEYS}/${first.name}`, larger, MERGE_PATCH)).code).toBe(403);
});

test("of the logins of one user the oldest end when there are too many, and no other user's", async () => {
  await setting.start({ quota: {} });
  const { registry } = setting.platform.management;
  const login = async (name: string, user: string) =>
    void (await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name }, spec: { type: "Login", user } }));
  await login("bob", "bob");
  for (let count = 0; count < 3; count += 1) await login(`old-${count}`, "jane");
  await setting.platform.clock.advance(60_000);
  for (let count = 3; count < LOGINS_PER_USER_MAX; count += 1) await login(`new-${count}`, "jane");
  const logins = async () => names(await setting.admin.send("GET", KEYS)).filter((name) => /^(bob|old|new)/.test(name));
  await setting.platform.clock.advance(60_000);
  await setting.platform.management.settled();
  expect(await logins()).toHaveLength(LOGINS_PER_USER_MAX + 1);
  for (const name of ["new-x", "new-y"]) await login(name, "jane");
  await setting.platform.clock.advance(1_000);
  await setting.platform.management.settled();
  const left = await logins();
  expect(left).toHaveLength(LOGINS_PER_USER_MAX + 1);
  expect(left.filter((name) => !name.startsWith("new"))).toEqual(["bob", expect.stringMatching(/^old-/)]);
});

test("a login that was deleted and is kept by finalizers is one of those that a user has", async () => {
  await setting.start({ quota: {} });
  const { registry } = setting.platform.management;
  const finalizers = ["example.com/keep"];
  for (let count = 0; count < 4; count += 1) {
    const name = `kept-${count}`;
    await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name, finalizers }, spec: { type: "Login", user: "jane" } });
    expect((await registry.delete(OWNED_ACCESS_KEYS, { namespace: "", name })).gone).toBe(false);
  }
  const settle = async () => {
    await setting.platform.clock.advance(60_000);
    await setting.platform.management.settled();
    return names(await setting.admin.send("GET", KEYS)).filter((name) => /^(kept|new)/.test(name));
  };
  await settle();
  for (let count = 4; count < LOGINS_PER_USER_MAX; count += 1)
    await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name: `new-${count}` }, spec: { type: "Login", user: "jane" } });
  expect(await settle()).toHaveLength(LOGINS_PER_USER_MAX);
  await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name: "new-x" }, spec: { type: "Login", user: "jane" } });
  const left = await settle();
  expect(left).toHaveLength(LOGINS_PER_USER_MAX);
  expect(left.filter((name) => name.startsWith("kept"))).toHaveLength(3);
});

test("refusals are counted", async () => {
  const metrics = createMetrics();
  await setting.start({ metrics });
  const jane = await setting.user("jane");
  await setting.fill(jane, TEAMS, "jane");
  await setting.post(jane, TEAMS, "jane");
  expect(metrics.value("apiserver_rejected_requests_total", { reason: "quota" })).toBe(2);
});
