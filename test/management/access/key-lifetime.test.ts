/**
 * How long OwnedAccessKeys are valid, and when they were used. Source: specification 1, "OwnedAccessKey" and "Authentication", and 2,
 * `status.auth`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { at, MERGE_PATCH, names, startPlatform, type Client, type Platform } from "../platform.ts";
import { sharePlatform } from "../replicas/shared-platform.ts";

const KEYS = "/ownedaccesskeys";
const STRONG = "chosen-value-with-more-than-32-characters";

const platform = sharePlatform();

const admin = () => platform.admin;
const fresh = () => platform.fresh("own");
const create = (spec: object) => admin().send("POST", KEYS, { metadata: { name: fresh() }, spec });

/** A platform for one test, with its own clock and settings. */
async function onPlatform(config: string, run: (own: Platform) => Promise<void>): Promise<void> {
  const own = await startPlatform({ config });
  try {
    await run(own);
  } finally {
    await own.stop();
  }
}

/** The cells of the column Expires for these keys. */
async function expires(own: Platform, keys: readonly string[]): Promise<unknown[]> {
  const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
  const { body } = await own.admin.send("GET", KEYS, undefined, { headers });
  const { columnDefinitions, rows } = body as unknown as Table;
  const column = columnDefinitions.findIndex(({ name }) => name === "Expires");
  return keys.map((key) => rows.find(({ object }) => object.metadata.name === key)!.cells[column]);
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: { readonly metadata: { readonly name: string } } }[];
}

describe("the time of a key", () => {
  test("counts from its creation, and equals ttl, in seconds", async () => {
    await onPlatform("", async (own) => {
      const key = await own.withKey({ user: "jane", ttl: 2 });
      const codes = [];
      for (let second = 0; second < 3; second++) {
        codes.push((await key.send("GET", "/teams")).code);
        await own.clock.advance(1_000);
      }
      expect(codes).toEqual([200, 200, 401]);
      expect(at(await key.send("GET", "/teams"), "message")).toBe("access key expired. Please log in again");
      expect((await own.admin.send("GET", `${KEYS}/${key.name}`)).code).toBe(200);
    });
  });

  test("is a column of tables: time left, never, expired, also by a limit or by the key that made it", async () => {
    await onPlatform("auth: { accessKeyMaxTTLSeconds: 3600 }", async (own) => {
      const short = await own.withKey({ user: "jane", ttl: 60 });
      const made = await short.send("POST", KEYS, { metadata: { name: "made-by-short" }, spec: { ttl: 600 } });
      expect(made.code, made.text).toBe(201);
      const idle = await own.withKey({ user: "jane", ttl: 100, ttlAfterLastActivity: true });
      const capped = await own.withKey({ user: "jane" });
      const watched = [short.name, "made-by-short", idle.name, capped.name];
      await own.clock.advance(59_000);
      await idle.send("GET", "/teams");
      expect(await expires(own, watched)).toEqual(["1s", "1s", "100s", "59m"]);
      await own.clock.advance(1_000);
      expect(await expires(own, watched)).toEqual(["<expired>", "<expired>", "99s", "59m"]);
    });
    await onPlatform("", async (own) => {
      const key = await own.withKey({ user: "jane" });
      expect(await expires(own, [key.name])).toEqual(["<never>"]);
    });
  });

  test("cannot be negative", async () => {
    const { code, text } = await create({ ttl: -1 });
    expect([code, text]).toEqual([422, expect.stringContaining("spec.ttl")]);
  });

  test("counts from the last use if ttlAfterLastActivity is true", async () => {
    await onPlatform("", async (own) => {
      const key = await own.withKey({ user: "jane", ttl: 10, ttlAfterLastActivity: true });
      const after = async (seconds: number) => {
        await own.clock.advance(seconds * 1_000);
        return (await key.send("GET", "/teams")).code;
      };
      expect([await after(9), await after(9), await after(9), await after(10), await after(0)]).toEqual([200, 200, 200, 401, 401]);
    });
  });

  test("counts from the creation while the key was never used", async () => {
    await onPlatform("", async (own) => {
      const key = await own.withKey({ user: "jane", ttl: 10, ttlAfterLastActivity: true });
      await own.clock.advance(10_000);
      expect((await key.send("GET", "/teams")).code).toBe(401);
    });
  });

  test("is no longer than accessKeyMaxTTLSeconds, whatever the key says and however often it is used", async () => {
    await onPlatform("auth: { accessKeyMaxTTLSeconds: 2 }", async (own) => {
      const specs = [{ ttl: 60 }, {}, { ttl: 60, ttlAfterLastActivity: true }, { ttl: 1 }];
      const keys: Client[] = [];
      for (const spec of specs) keys.push(await own.withKey({ user: "jane", ...spec }));
      const codes = async () => Promise.all(keys.map(async (key) => (await key.send("GET", "/teams")).code));
      expect(await codes()).toEqual([200, 200, 200, 200]);
      await own.clock.advance(1_000);
      expect(await codes()).toEqual([200, 200, 200, 401]);
      await own.clock.advance(1_000);
      expect(await codes()).toEqual([401, 401, 401, 401]);
    });
  });

  test("that accessKeyMaxTTLSeconds shortens causes a warning if more is requested", async () => {
    await onPlatform("auth: { accessKeyMaxTTLSeconds: 60 }", async (own) => {
      const warned = async (spec: object) => (await own.admin.send("POST", KEYS, { metadata: { name: fresh() }, spec })).warnings;
      expect(await warned({ ttl: 61 })).toContain("requested expiration of 61 seconds shortened to 60 seconds");
      expect(await warned({})).toContain("the key expires after 60 seconds, like every key of this platform");
      expect(await warned({ ttl: 60 })).toBe("");
    });
  });

  test.each(["", "auth: { accessKeyMaxTTLSeconds: 0 }"])("has no end without ttl and limit: %j", async (config) => {
    await onPlatform(config, async (own) => {
      const key = await own.withKey({ user: "jane" });
      own.clock.jump(50 * 365 * 86_400_000);
      expect((await key.send("GET", "/teams")).code).toBe(200);
    });
  });

  test.each([
    { config: "auth: { loginAccessKeyTTLSeconds: 1 }", seconds: 1 },
    { config: "", seconds: 1_728_000 },
    { config: "auth: { loginAccessKeyTTLSeconds: 0 }", seconds: undefined },
  ])("of a sign-in is $seconds s with the configuration $config, and then the key is deleted", async ({ config, seconds }) => {
    await onPlatform(config, async (own) => {
      const key = await own.withKey({ user: "jane", type: "Login" });
      const other = await own.withKey({ user: "jane", ttl: 1 });
      const state = async () => [(await key.send("GET", "/teams")).code, (await own.admin.send("GET", `${KEYS}/${key.name}`)).code];
      own.clock.jump((seconds ?? 40_000_000) * 1_000 - 1_000);
      await own.clock.advance(0);
      expect(await state()).toEqual([200, 200]);
      await own.clock.advance(61_000);
      expect(await state()).toEqual(seconds === undefined ? [200, 200] : [401, 404]);
      expect((await own.admin.send("GET", `${KEYS}/${other.name}`)).code).toBe(200);
    });
  });

  test("of a sign-in is what its key says, if it says something, and a new one is checked in time", async () => {
    await onPlatform("", async (own) => {
      const slow = await own.withKey({ user: "jane", type: "Login", ttl: 30 });
      const quick = await own.withKey({ user: "jane", type: "Login", ttl: 2 });
      const there = async () => names(await own.admin.send("GET", KEYS)).filter((name) => [slow.name, quick.name].includes(name));
      await own.clock.advance(1_000);
      expect(await there()).toEqual([slow.name, quick.name].sort());
      await own.clock.advance(1_500);
      expect(await there()).toEqual([slow.name]);
      await own.clock.advance(28_500);
      expect(await there()).toEqual([]);
    });
  });
});

describe("the last activity", () => {
  test("is when the key was used, and its change is not a change of the object", async () => {
    await onPlatform("", async (own) => {
      const jane = await own.withKey({ user: "jane" });
      const path = `${KEYS}/${jane.name}`;
      const read = async () => (await own.admin.send("GET", path)).body;
      expect((await read())["status"]).toEqual({});
      const before = await read();
      await own.clock.advance(5_000);
      await jane.send("GET", "/teams");
      expect((await read())["status"]).toEqual({ lastActivity: "2026-06-01T12:00:05Z" });
      await own.clock.advance(65_000);
      await jane.send("GET", "/teams");
      const after = await read();
      expect(after["status"]).toEqual({ lastActivity: "2026-06-01T12:01:10Z" });
      expect(after.metadata).toEqual(before.metadata);
      expect(at(await own.admin.send("GET", KEYS), "items", 1, "status")).toEqual({ lastActivity: "2026-06-01T12:01:10Z" });
    });
  });

  test("is not what a client says", async () => {
    const jane = await platform.withKey({ user: "jane" });
    const path = `${KEYS}/${jane.name}`;
    const status = { lastActivity: "2001-01-01T00:00:00Z" };
    expect((await admin().send("PATCH", path, { status }, MERGE_PATCH)).body["status"]).toEqual({});
    const { body } = await admin().send("GET", path);
    expect((await admin().send("PUT", path, { ...body, status })).body["status"]).toEqual({});
  });

  test("of a key that changes its own object makes no conflict", async () => {
    const jane = await platform.withKey({ user: "jane" });
    const path = `${KEYS}/${jane.name}`;
    for (let round = 0; round < 5; round++) {
      const { body } = await jane.send("GET", path);
      await platform.clock.advance(61_000);
      const put = await jane.send("PUT", path, { ...body, spec: { ...Object(body["spec"]), displayName: `round ${round}` } });
      expect(put.code, put.text).toBe(200);
    }
  });

  test("survives the process, and goes with the key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keys-"));
    const start = () => startPlatform({ store: openSqliteStore({ path: join(folder, "a.db") }), adminKey: STRONG });
    try {
      const first = await start();
      const jane = await first.withKey({ user: "jane", ttl: 100, ttlAfterLastActivity: true });
      const gone = await first.withKey({ user: "jane" });
      await first.clock.advance(50_000);
      for (const { key } of [jane, gone]) expect((await first.as(key).send("GET", "/teams")).code).toBe(200);
      await first.clock.advance(5_000);
      await jane.send("GET", "/teams");
      await first.admin.send("DELETE", `${KEYS}/${gone.name}`);
      await first.stop();
      const second = await start();
      const read = await second.admin.send("GET", `${KEYS}/${jane.name}`);
      expect(read.body["status"]).toEqual({ lastActivity: "2026-06-01T12:00:55Z" });
      second.clock.jump(154_000);
      expect((await second.as(jane.key).send("GET", "/teams")).code).toBe(200);
      expect((await second.as(gone.key).send("GET", "/teams")).code).toBe(401);
      await second.stop();
      const store = openSqliteStore({ path: join(folder, "a.db") });
      const records = (await store.list({ prefix: "/internal.platform/keyactivity/" })).objects.map(({ object }) => object.metadata.name);
      expect(records).toContain(read.body.metadata.uid);
      expect(records, "the administrator's and hers").toHaveLength(2);
      await store.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the administrator's key", () => {
  const withAdminKey = async (store: () => ReturnType<typeof openSqliteStore>, adminKey: string | undefined, config = "") =>
    startPlatform({ store: store(), config, ...(adminKey !== undefined && { adminKey }) });

  test("is made only in an empty store, replaced by a given one, and renewed when it has expired", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keys-"));
    const store = () => openSqliteStore({ path: join(folder, "a.db") });
    try {
      const first = await withAdminKey(store, undefined);
      const value = first.management.adminKey!;
      expect((await first.admin.send("GET", "/users")).code).toBe(200);
      await first.stop();
      const second = await withAdminKey(store, undefined);
      expect([second.management.adminKey, (await second.as(value).send("GET", "/users")).code]).toEqual([undefined, 200]);
      await second.stop();
      const limited = "auth: { accessKeyMaxTTLSeconds: 60 }";
      const third = await withAdminKey(store, STRONG, limited);
      expect([(await third.as(STRONG).send("GET", "/users")).code, (await third.as(value).send("GET", "/users")).code]).toEqual([200, 401]);
      await third.clock.advance(60_000);
      expect((await third.as(STRONG).send("GET", "/users")).code).toBe(401);
      await third.stop();
      const late = createLateClock();
      const fourth = await startPlatform({ store: store(), config: limited, adminKey: STRONG, clock: late });
      expect((await fourth.as(STRONG).send("GET", "/users")).code).toBe(200);
      await fourth.admin.send("PATCH", `${KEYS}/admin`, { spec: { disabled: true } }, MERGE_PATCH);
      await fourth.stop();
      const fifth = await startPlatform({ store: store(), config: limited, adminKey: STRONG, clock: late });
      expect((await fifth.as(STRONG).send("GET", "/users")).code).toBe(401);
      await fifth.stop();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** A day after the others. */
function createLateClock() {
  return createFakeClock(Date.UTC(2026, 5, 2, 12));
}
