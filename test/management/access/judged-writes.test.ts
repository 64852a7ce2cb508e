/**
 * Requests whose permissions end, or whose object appears, after they arrive and before they read or write: what was taken away does not
 * happen, and is not shown.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/apiserver/store/store.ts";
import { WAIT } from "../../support/patience.ts";
import { API, JSON_PATCH, MERGE_PATCH, names, startPlatform, type Client, type Platform } from "../platform.ts";

const folder = mkdtempSync(join(tmpdir(), "judged-writes-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRETS = "/namespaces/shop/sharedsecrets";
const secret = (name: string, spec: object) => ({ metadata: { name, namespace: "shop" }, spec });
let files = 0;

const STORES: readonly (readonly [string, () => Store])[] = [
  ["in memory", () => createMemoryStore()],
  ["in SQLite", () => openSqliteStore({ path: join(folder, `${(files += 1)}.db`) })],
];

describe.each(STORES)("a platform %s", (_, open) => {
  let platform: Platform;
  let arrived: string[];
  let beforeRead: (key: string) => Promise<void>;
  let beforeList: (prefix: string) => Promise<void>;

  beforeEach(async () => {
    arrived = [];
    // Called once the caller is known.
    const audit = ({ method, requestURI }: { method: string; requestURI: string }) => void arrived.push(`${method} ${requestURI}`);
    beforeRead = async () => {};
    const store = open();
    const read = store.get.bind(store);
    store.get = async (key) => {
      await beforeRead(key);
      return read(key);
    };
    beforeList = async () => {};
    const list = store.list.bind(store);
    store.list = async (range) => {
      await beforeList(range.prefix);
      return list(range);
    };
    platform = await startPlatform({ store, audit: audit as never });
  });
  afterEach(() => platform.stop());

  /** Starts a request, takes its right away once the server knows the caller, and then sends the body. */
  async function meanwhile(
    { key }: Client,
    [method, path, body, type = "application/json"]: readonly string[],
    takeAway: () => Promise<unknown>,
  ) {
    arrived.length = 0;
    const url = new URL(`${platform.management.url}${API}${path}`);
    const headers = { authorization: `Bearer ${key}`, "content-type": type, "content-length": Buffer.byteLength(body!) };
    const sending = request(url, { method: method!, headers });
    const answered = once(sending, "response");
    sending.flushHeaders();
    await vi.waitFor(() => expect(arrived).toContain(`${method} ${url.pathname}${url.search}`), WAIT);
    await takeAway();
    sending.end(body);
    const [response] = (await answered) as [{ statusCode: number; resume(): void }];
    response.resume();
    return response.statusCode;
  }

  const change = async (path: string, spec: object) => {
    const { code, text } = await platform.admin.send("PATCH", path, { spec }, MERGE_PATCH);
    expect(code, text).toBe(200);
  };
  const make = async (path: string, body: object) => {
    const { code, text } = await platform.admin.send("POST", path, body);
    expect(code, text).toBe(201);
  };
  const secrets = async () => names(await platform.admin.send("GET", SECRETS));

  test("creates nothing for a key that was disabled meanwhile, or deleted", async () => {
    const [one, other] = [await platform.withKey({ user: "jane" }), await platform.withKey({ user: "jane" })];
    const body = JSON.stringify(secret("db", { owner: { user: "jane" } }));
    expect(await meanwhile(one, ["POST", SECRETS, body], async () => {})).toBe(403);
    await make(SECRETS, secret("first", { access: [{ verbs: ["create"], users: ["jane"] }] }));
    expect(await meanwhile(one, ["POST", SECRETS, body], () => change(`/ownedaccesskeys/${one.name}`, { disabled: true }))).toBe(401);
    expect(await meanwhile(other, ["POST", SECRETS, body], () => platform.admin.send("DELETE", `/ownedaccesskeys/${other.name}`))).toBe(
      401,
    );
    expect(await secrets()).toEqual(["first"]);
    const third = await platform.withKey({ user: "jane" });
    expect(await meanwhile(third, ["POST", SECRETS, body], async () => {})).toBe(201);
  });

  test("changes, applies and deletes nothing once the rule that allows it is gone", async () => {
    const jane = await platform.withKey({ user: "jane" });
    const rules = [{ verbs: ["create", "get", "update", "patch", "delete"], users: ["jane"] }];
    await make(SECRETS, secret("db", { access: rules }));
    const takeAway = () => change(`${SECRETS}/db`, { access: [] });
    const spec = JSON.stringify({ spec: { displayName: "hers" } });
    const applied = JSON.stringify({
      apiVersion: "management.platform/v1",
      kind: "SharedSecret",
      ...secret("new", { owner: { user: "jane" } }),
    });
    const wanted = [
      ["PATCH", `${SECRETS}/db`, spec, "application/merge-patch+json"],
      ["PATCH", `${SECRETS}/new?fieldManager=jane`, applied, "application/apply-patch+yaml"],
      ["DELETE", `${SECRETS}/db`, "{}"],
    ];
    for (const one of wanted) {
      expect(await meanwhile(jane, one, takeAway), one.join(" ")).toBe(403);
      await change(`${SECRETS}/db`, { access: rules });
    }
    const { body } = await platform.admin.send("GET", `${SECRETS}/db`);
    expect(await meanwhile(jane, ["PUT", `${SECRETS}/db`, JSON.stringify(body)], async () => {})).toBe(200);
    expect(await secrets()).toEqual(["db"]);
  });

  test("reveals nothing that was made, or taken away, after a request had arrived", async () => {
    const jane = await platform.withKey({ user: "jane" });
    await make(SECRETS, secret("first", { access: [{ verbs: ["create"], users: ["jane"] }] }));
    const [merge, json] = [MERGE_PATCH.type, JSON_PATCH.type];
    const described = JSON.stringify({ spec: { description: "of others" } });
    const guess = JSON.stringify([{ op: "test", path: "/spec/description", value: "a guess" }]);
    const wanted = [
      ["PATCH", "?dryRun=All", JSON.stringify({ spec: { description: "hers" } }), merge],
      ["PATCH", "", described, merge],
      ["PATCH", "", guess, json],
      ["DELETE", "?dryRun=All", "{}"],
      ["DELETE", "", JSON.stringify({ preconditions: { uid: "a guess" } })],
    ];
    for (const [index, [method, query, body, type]] of wanted.entries()) {
      const path = `${SECRETS}/s${index}`;
      const one = [method!, `${path}${query!}`, body!, ...(type === undefined ? [] : [type])];
      // A caller who may create learns what does not exist.
      expect(await meanwhile(jane, one, async () => {}), one.join(" ")).toBe(404);
      const appear = () => make(SECRETS, secret(`s${index}`, { description: "of others" }));
      expect(await meanwhile(jane, one, appear), one.join(" ")).toBe(403);
    }
    const own = await platform.withKey({ user: "jane" });
    await change(`${SECRETS}/s0`, { access: [{ verbs: ["patch"], users: ["jane"] }] });
    const takeAway = () => change(`/ownedaccesskeys/${own.name}`, { disabled: true });
    expect(await meanwhile(own, ["PATCH", `${SECRETS}/s0`, described, merge], takeAway)).toBe(401);
  });

  test("shows nothing that was made, or taken away, while a read waited", async () => {
    const jane = await platform.withKey({ user: "jane" });
    await make(SECRETS, secret("first", { access: [{ verbs: ["create"], users: ["jane"] }] }));
    await make("/teams", { metadata: { name: "ops" }, spec: { access: [{ verbs: ["get"], users: ["jane"] }] } });
    const read = async (path: string, act: () => Promise<unknown>) => {
      let waiting: (() => Promise<unknown>) | undefined = act;
      beforeRead = async (key) => {
        const now = key.endsWith(path.slice(path.lastIndexOf("/"))) ? waiting : undefined;
        if (now !== undefined) waiting = undefined;
        await now?.();
      };
      return (await jane.send("GET", path)).code;
    };
    expect(await read(`${SECRETS}/db`, async () => {})).toBe(404);
    expect(await read(`${SECRETS}/db`, () => make(SECRETS, secret("db", {})))).toBe(403);
    expect(await read("/teams/ops", async () => {})).toBe(200);
    expect(await read("/teams/ops", () => change("/teams/ops", { access: [] }))).toBe(403);
    const key = { metadata: { name: "new" }, spec: { user: "mary" } };
    expect(await read("/ownedaccesskeys/new", () => make("/ownedaccesskeys", key))).toBe(403);
  });

  test("issues no token for a key that was disabled or deleted while its request arrived", async () => {
    const keys = await Promise.all([1, 2, 3].map(() => platform.withKey({ user: "jane", ttl: 3_600 })));
    const [disabled, removed, valid] = keys as [Client & { name: string }, Client & { name: string }, Client & { name: string }];
    const token = ["POST", "/directclusterendpointtokens", JSON.stringify({ spec: { ttl: 315_360_000 } })];
    expect(await meanwhile(disabled, token, () => change(`/ownedaccesskeys/${disabled.name}`, { disabled: true }))).toBe(401);
    expect(await meanwhile(removed, token, () => removed.send("DELETE", `/ownedaccesskeys/${removed.name}`))).toBe(401);
    expect(await meanwhile(valid, token, async () => {})).toBe(201);
  });

  test("tells no key that was disabled meanwhile whether a name is taken", async () => {
    const jane = await platform.withKey({ user: "jane" });
    await make(SECRETS, secret("first", { access: [{ verbs: ["create"], users: ["jane"] }] }));
    const dryRun = ["POST", `${SECRETS}?dryRun=All`, JSON.stringify(secret("db", { owner: { user: "jane" } }))];
    expect(await meanwhile(jane, dryRun, () => change(`/ownedaccesskeys/${jane.name}`, { disabled: true }))).toBe(401);
  });

  test("lists and watches nothing that was made after an administrator's permissions had ended", async () => {
    await make(SECRETS, secret("first", {}));
    const boss = await platform.withKey({ user: "boss", groups: ["platform:admins"] });
    const read = async (query: string, act: () => Promise<unknown>) => {
      let waiting: (() => Promise<unknown>) | undefined = act;
      beforeList = async (prefix) => {
        const now = prefix.endsWith("/sharedsecrets/shop/") ? waiting : undefined;
        if (now !== undefined) waiting = undefined;
        await now?.();
      };
      const answer = await boss.send("GET", `${SECRETS}?${query}`);
      expect(waiting).toBeUndefined();
      return answer;
    };
    const groups = (of: readonly string[]) => change(`/ownedaccesskeys/${boss.name}`, { groups: of });
    const end = async () => {
      await groups([]);
      await platform.admin.send("DELETE", `${SECRETS}/later`);
      await make(SECRETS, secret("later", {}));
    };
    expect(names(await read("limit=1", async () => {}))).toEqual(["first"]);
    const { body, code } = await read("limit=1", end);
    expect([code, body["items"], Object.keys(body.metadata)]).toEqual([200, [], ["resourceVersion"]]);
    await groups(["platform:admins"]);
    let text: string | undefined;
    const watching = read("watch=true&timeoutSeconds=1", end);
    void watching.then(
      (answer) => (text = answer.text),
      (error: unknown) => (text = String(error)),
    );
    await vi.waitFor(async () => {
      await platform.clock.advance(1_000);
      expect(text).toBeDefined();
    }, WAIT);
    expect(text).toMatch(/^\{"type":"ERROR".*"code":410\}\}\n$/);
    await groups(["platform:admins"]);
    expect((await read("", () => platform.admin.send("DELETE", `/ownedaccesskeys/${boss.name}`))).code).toBe(401);
  });

  test("changes no password for a login that has ended meanwhile", async () => {
    await make("/users", { metadata: { name: "jane" }, spec: { password: "the first of her passwords" } });
    const jane = await platform.withKey({ user: "jane" });
    const body = JSON.stringify({ spec: { currentPassword: "the first of her passwords", password: "the second of her passwords" } });
    const takeAway = () => change(`/ownedaccesskeys/${jane.name}`, { disabled: true });
    expect(await meanwhile(jane, ["POST", "/users/jane/password", body], takeAway)).toBe(401);
    const again = await platform.withKey({ user: "jane" });
    expect(await meanwhile(again, ["POST", "/users/jane/password", body], async () => {})).toBe(201);
  });
});
