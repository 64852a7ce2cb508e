/** Requests whose rights end after they have come and before they write: what was taken away before a write does not happen. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { openSqliteStore } from "../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/apiserver/store/store.ts";
import { WAIT } from "../support/patience.ts";
import { API, MERGE_PATCH, names, startPlatform } from "./platform.ts";
import type { Client, Platform } from "./platform.ts";

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

  beforeEach(async () => {
    arrived = [];
    // Told once it is known who asks.
    const audit = ({ method, requestURI }: { method: string; requestURI: string }) => void arrived.push(`${method} ${requestURI}`);
    platform = await startPlatform({ store: open(), audit: audit as never });
  });
  afterEach(() => platform.stop());

  /** Asks for something, has it taken away when the server knows who asks, and sends the body then. */
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
