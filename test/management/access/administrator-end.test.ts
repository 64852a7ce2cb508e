/**
 * The first administrator's key expires by the platform's limit, as any other; a 401 is never the first sign of it. Decision 79.
 */
import { describe, expect, test } from "vitest";
import { createLineLogger } from "../../../src/base/logger.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { MERGE_PATCH, startPlatform, type Platform } from "../platform.ts";

const DAY = 86_400;
const KEYS = "/ownedaccesskeys";

interface Told extends Platform {
  /** The warnings since the last call: the message, when the key expires or why it is refused. */
  told(): unknown[];
  configure(text: string): Promise<void>;
}

async function start(config: string, options: Parameters<typeof startPlatform>[0] = {}): Promise<Told> {
  const lines: string[] = [];
  const logger = createLineLogger({ write: (line) => lines.push(line), now: () => 0, format: "json", level: "warn" });
  const platform = await startPlatform({ config, logger, ...options });
  return {
    ...platform,
    told: () =>
      lines.splice(0).map((line) => {
        const { message, at, why, help } = JSON.parse(line) as Record<string, unknown>;
        expect(help).toContain("--admin-key-file");
        return [message, at ?? why];
      }),
    async configure(text) {
      const parsed = parseManagementConfig(text);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
      await platform.management.configure(parsed.config);
    },
  };
}

const ENDS = "The first administrator's key expires";
const ENDED = "The first administrator's key is no longer accepted";

describe("the end of the first administrator's key", () => {
  test("is logged at the start, a week, a day and an hour before, and when it has come", async () => {
    const platform = await start(`auth: { accessKeyMaxTTLSeconds: ${30 * DAY} }`);
    const end = [ENDS, "2026-07-01T12:00:00Z"];
    expect(platform.told()).toEqual([end]);
    expect(platform.management.adminKeyEnd).toBe(Date.UTC(2026, 6, 1, 12));
    const after = async (seconds: number) => {
      await platform.clock.advance(seconds * 1_000);
      return platform.told();
    };
    expect([await after(22 * DAY), await after(DAY)]).toEqual([[], [end]]);
    expect([await after(5 * DAY), await after(DAY)]).toEqual([[], [end]]);
    expect([await after(DAY - 3_601), await after(1)]).toEqual([[], [end]]);
    expect([await after(3_599), await after(1)]).toEqual([[], [[ENDED, "access key expired. Please log in again"]]]);
    expect(await after(DAY)).toEqual([]);
    await platform.stop();
  });

  test("is logged when a configuration causes it, and not again by one that leaves it", async () => {
    const platform = await start("");
    expect([platform.told(), platform.management.adminKeyEnd]).toEqual([[], undefined]);
    await platform.configure(`auth: { accessKeyMaxTTLSeconds: ${30 * DAY} }`);
    expect(platform.told()).toEqual([[ENDS, "2026-07-01T12:00:00Z"]]);
    await platform.configure(`auth: { accessKeyMaxTTLSeconds: ${30 * DAY}, loginAccessKeyTTLSeconds: 60 }`);
    expect(platform.told()).toEqual([]);
    await platform.clock.advance(60_000);
    await platform.configure("auth: { accessKeyMaxTTLSeconds: 60 }");
    expect(platform.told()).toEqual([[ENDED, "access key expired. Please log in again"]]);
    await platform.configure("");
    expect([platform.told(), (await platform.admin.send("GET", "/teams")).code]).toEqual([[], 200]);
    await platform.stop();
  });

  test("is logged at a later start, with the key of the first one", async () => {
    const store = createMemoryStore();
    const first = await start("", { store: { ...bound(store), close: async () => {} } });
    await first.stop();
    const second = await start(`auth: { accessKeyMaxTTLSeconds: ${DAY} }`, { store });
    expect([second.management.adminKey, second.told()]).toEqual([undefined, [[ENDS, "2026-06-02T12:00:00Z"]]]);
    await second.stop();
  });

  test("is logged when the User is deleted, and not when the key is disabled or deleted on purpose", async () => {
    const platform = await start("");
    const other = await platform.withKey({ user: "boss", groups: ["platform:admins"] });
    await other.send("PATCH", `${KEYS}/admin`, { spec: { disabled: true } }, MERGE_PATCH);
    expect(platform.told()).toEqual([]);
    await other.send("PATCH", `${KEYS}/admin`, { spec: { disabled: false } }, MERGE_PATCH);
    await other.send("DELETE", "/users/admin");
    expect(platform.told()).toEqual([[ENDED, "the user of the access key was deleted"]]);
    await other.send("DELETE", `${KEYS}/admin`);
    expect(platform.told()).toEqual([]);
    await platform.stop();
  });

  test("does not end administration: a key made before it goes on, and a given one is recreated at the next start", async () => {
    const store = createMemoryStore();
    const value = "chosen-value-with-more-than-32-characters";
    const config = "auth: { accessKeyMaxTTLSeconds: 60 }";
    const first = await start(config, { store: { ...bound(store), close: async () => {} }, adminKey: value });
    await first.clock.advance(50_000);
    const next = await first.withKey({ user: "admin", groups: ["platform:admins"] });
    await first.clock.advance(10_000);
    expect([(await first.admin.send("GET", "/users")).code, (await next.send("GET", "/users")).code]).toEqual([401, 200]);
    await next.send("DELETE", "/users/admin");
    expect((await next.send("GET", "/users")).code).toBe(401);
    await first.stop();
    const second = await start(config, { store, adminKey: value, clock: first.clock });
    expect((await second.as(value).send("GET", "/users")).code).toBe(200);
    await second.stop();
  });
});

/** A store whose methods can be taken out of it. */
function bound(store: ReturnType<typeof createMemoryStore>) {
  return {
    revision: () => store.revision(),
    get: store.get.bind(store),
    list: store.list.bind(store),
    watch: store.watch.bind(store),
    create: store.create.bind(store),
    update: store.update.bind(store),
    delete: store.delete.bind(store),
    oldest: () => store.oldest(),
    heldBytes: () => store.heldBytes(),
    demandWritable: () => store.demandWritable(),
    compact: () => store.compact(),
  };
}
