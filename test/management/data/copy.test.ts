/**
 * Copies of everything that is stored, between stores of every kind: nothing is lost, nothing unfinished is served, and clients that
 * return read everything again. COPY_KILLS says how often a copy is killed in the middle.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { checkContents, contentsOf } from "../../../src/management/data/contents.ts";
import { copyInto, REVISION_AHEAD } from "../../../src/management/data/copy.ts";
import { demandServable, readCopyState } from "../../../src/management/data/copy-state.ts";
import { teams } from "../../../src/management/kinds/team.ts";
import { TEAMS } from "../../../src/management/kinds/types.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/apiserver/store/store.ts";
import { cipherOf } from "../../conformance/resealable.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { TEST_MS } from "../../support/patience.ts";

const root = mkdtempSync(join(tmpdir(), "copies-"));
afterAll(() => rmSync(root, { recursive: true }));
let count = 0;
const newPath = () => join(root, `${(count += 1)}.db`);
const cipher = cipherOf(1);

const team = (name: string, users: readonly string[] = ["jane"]): KubeObject => ({
  apiVersion: "management.platform/v1",
  kind: "Team",
  metadata: { name, uid: `uid-of-${name}`, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { users: [...users] },
});
const teamKey = (name: string) => `/management.platform/teams/${name}`;
const record = (name: string, data: string): KubeObject => ({
  apiVersion: "internal.platform/v1",
  kind: "Pepper",
  metadata: { name },
  data,
});
const recordKey = (name: string) => `/internal.platform/pepper/${name}`;

async function filled(store: Store, teamCount = 300): Promise<Store> {
  for (let index = 0; index < teamCount; index += 1) await store.create(teamKey(`t${index}`), team(`t${index}`));
  await store.create(recordKey("keys"), record("keys", "c2FsdA=="));
  return store;
}
const toBackup = { purpose: { id: "b1", madeAt: "2026-01-01T00:00:00Z", serverFile: null }, place: "b" } as const;
const toServe = { purpose: "restore", place: "r" } as const;
const withoutVersions = async (store: Store) =>
  (await contentsOf(store)).objects.map(({ key, object: { metadata, ...rest } }) => ({ key, ...rest, metadata: { ...metadata, resourceVersion: "" } })); // prettier-ignore

/** Runs every case from and to stores that `open` makes. */
function copySuite(name: string, open: (after: number) => Promise<Store>): void {
  describe(`a copy into ${name}`, () => {
    test("has the same objects and records, with uids and times, and the same digest", async () => {
      const source = await filled(createMemoryStore());
      const contents = await contentsOf(source);
      const target = await open(contents.revision);
      const { digest } = await copyInto(target, contents, toServe);
      expect(await withoutVersions(target)).toEqual(await withoutVersions(source));
      expect([checkContents(await contentsOf(target)).digest, digest]).toEqual(Array(2).fill(checkContents(contents).digest));
      expect(checkContents(await contentsOf(target))).toMatchObject({ kinds: { Team: 300, Pepper: 1 }, faults: [] });
      await demandServable(target);
      await target.close();
    });

    test("counts on from above its source, and makes clients of the source read everything again", async () => {
      const source = await filled(createMemoryStore({ contents: { revision: 4_000, objects: [], events: [] } }), 3);
      const contents = await contentsOf(source);
      const target = await open(contents.revision);
      const { revision } = await copyInto(target, contents, toServe);
      const { objects } = await target.list({ prefix: "/" });
      for (const stored of objects) expect(stored.revision).toBeGreaterThan(contents.revision);
      const registry = createRegistry({ store: target, definitions: [teams], clock: systemClock, chance: systemChance });
      for (const resourceVersion of [1, contents.revision, contents.revision + 2, revision + 1_000]) {
        const watching = registry.watch(TEAMS, { resourceVersion: String(resourceVersion) });
        await expect(watching, String(resourceVersion)).rejects.toMatchObject({ code: "API_EXPIRED" });
      }
      (await registry.watch(TEAMS, { resourceVersion: String(revision) })).end();
      await target.close();
    });

    test("that was not finished is not served, and the next one starts over", async () => {
      const contents = await contentsOf(await filled(createMemoryStore()));
      const target = await open(contents.revision);
      const create = target.create.bind(target);
      let made = 0;
      target.create = async (key, object) => {
        if ((made += 1) > 200) throw new Error("the cable is out");
        return create(key, object);
      };
      await expect(copyInto(target, contents, toServe)).rejects.toThrow("the cable is out");
      target.create = create;
      await expect(demandServable(target)).rejects.toMatchObject({
        code: "STORE_FAILED",
        details: { hint: expect.stringContaining("Run the same endpoint-sync platform-data command again") },
      });
      const { digest } = await copyInto(target, contents, toServe);
      expect(digest).toBe(checkContents(await contentsOf(target)).digest);
      await demandServable(target);
      await target.close();
    });

    test("is refused by a target with contents, which stay", async () => {
      const target = await open(0);
      await target.create(teamKey("mine"), team("mine"));
      await expect(copyInto(target, await contentsOf(createMemoryStore()), toServe)).rejects.toMatchObject({ code: "USAGE" });
      expect((await contentsOf(target)).objects.map(({ key }) => key)).toEqual([teamKey("mine")]);
      await target.close();
    });

    test("for backup is not served, knows what was copied, and is the source of another one", async () => {
      const source = await filled(createMemoryStore(), 5);
      const contents = await contentsOf(source);
      const backup = await open(0);
      const { digest } = await copyInto(backup, contents, toBackup);
      expect(await readCopyState(backup)).toMatchObject({
        state: "backup",
        digest,
        revision: contents.revision,
        manifest: toBackup.purpose,
      });
      await expect(demandServable(backup)).rejects.toThrow("it is a backup");
      const restored = createMemoryStore();
      await copyInto(restored, await contentsOf(backup), toServe);
      await demandServable(restored);
      expect(await withoutVersions(restored)).toEqual(await withoutVersions(source));
      await backup.close();
    });
  });
}

copySuite("memory", async (revision) => createMemoryStore({ contents: { revision, objects: [], events: [] } }));
copySuite("SQLite", async (after) => openSqliteStore({ path: newPath(), cipher, firstRevision: after + REVISION_AHEAD }));

describeEtcd("with etcd", () => {
  let etcd: Etcd;
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  const open = () => openEtcdStore({ endpoints: [etcd.url], prefix: `/copies/${(count += 1)}/`, cipher });

  copySuite("etcd", open);

  test("SQLite → etcd → SQLite brings back what it was", async () => {
    const first = await filled(openSqliteStore({ path: newPath(), cipher }), 50);
    const second = await open();
    await copyInto(second, await contentsOf(first), toServe);
    const { revision } = await contentsOf(second);
    const third = openSqliteStore({ path: newPath(), cipher, firstRevision: revision + REVISION_AHEAD });
    await copyInto(third, await contentsOf(second), toServe);
    expect(await withoutVersions(third)).toEqual(await withoutVersions(first));
    expect(await third.revision()).toBeGreaterThan(revision);
    for (const store of [first, second, third]) await store.close();
  });

  test("clients that have seen writes after the backup start again, as far as the copy was told to count on", async () => {
    const source = await filled(createMemoryStore(), 3);
    const contents = await contentsOf(source);
    for (let index = 0; index < 400; index += 1) await source.create(teamKey(`lost${index}`), team(`lost${index}`));
    const seen = await source.revision();
    const target = await open();
    const { revision } = await copyInto(target, contents, { ...toServe, ahead: 500 });
    expect(revision).toBeGreaterThan(seen);
    for (let index = 0; index < 200; index += 1) await target.create(teamKey(`new${index}`), team(`new${index}`));
    for (const after of [contents.revision, seen, revision - 1]) {
      await expect(target.watch({ prefix: "/", after, onEvent: () => {} })).rejects.toMatchObject({ code: "API_EXPIRED" });
    }
    await target.close();
  });

  test("a source that has counted further than etcd can follow is copied, and the revision tells", async () => {
    const far = await filled(createMemoryStore({ contents: { revision: 5_000_000, objects: [], events: [] } }), 2);
    const target = await open();
    const { revision } = await copyInto(target, await contentsOf(far), { ...toServe, ahead: 500 });
    expect(revision).toBeLessThan(5_000_000);
    await demandServable(target);
    await target.close();
  });
});

test("whatever is stored comes back from a round trip, and the digest tells any difference", async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
  const contents = fc.uniqueArray(fc.record({ name, users: fc.array(fc.string(), { maxLength: 3 }) }), {
    selector: (entry) => entry.name,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(contents, fc.nat(11), async (entries, which) => {
      const source = createMemoryStore();
      for (const { name: label, users } of entries) await source.create(teamKey(label), team(label, users));
      const path = newPath();
      const target = openSqliteStore({ path, cipher });
      const { digest } = await copyInto(target, await contentsOf(source), toServe);
      await target.close();
      const again = openSqliteStore({ path, cipher });
      const read = await contentsOf(again);
      expect([await withoutVersions(again), checkContents(read)]).toMatchObject([await withoutVersions(source), { digest, faults: [] }]);
      const changed = read.objects[which % Math.max(1, entries.length)];
      if (changed !== undefined) {
        await again.update(changed.key, { ...changed.object, spec: { users: ["another user"] } }, changed.revision);
        expect(checkContents(await contentsOf(again)).digest).not.toBe(digest);
      }
      await again.close();
    }),
    { numRuns: 20 },
  );
});

describe("a check of everything", () => {
  const faultsOf = async (key: string, object: KubeObject) => {
    const store = createMemoryStore();
    await store.create(key, object);
    return checkContents(await contentsOf(store)).faults;
  };
  test.each<[string, string, KubeObject]>([
    ["it lacks apiVersion, kind or name", teamKey("a"), { ...team("a"), kind: "" }],
    ["its key does not match its name", teamKey("a"), team("b")],
    ["it lacks uid or creationTimestamp", teamKey("a"), { ...team("a"), metadata: { name: "a" } }],
    ["it has no data", recordKey("a"), { ...record("a", ""), data: 7 }],
    ["it has an unknown field spec.colour", teamKey("a"), { ...team("a"), spec: { colour: "red" } }],
    ["it has a field of the wrong type", teamKey("a"), { ...team("a"), spec: { users: "jane" } }],
  ])("finds that %s", async (fault, key, object) => {
    expect(await faultsOf(key, object)).toEqual([`${JSON.stringify(key)}: ${fault}`]);
  });

  test("finds nothing wrong in intact data", async () => {
    expect(await faultsOf(teamKey("a"), team("a"))).toEqual([]);
    expect(await faultsOf(recordKey("a"), record("a", "x"))).toEqual([]);
  });
});

describe("a process that is killed while it copies", () => {
  const KILLS = Number(process.env["COPY_KILLS"] ?? 5);
  const COPIER = join(import.meta.dirname, "support/copier.ts");

  test("leaves data that no server starts with, until it is repeated to its end", { timeout: TEST_MS + KILLS * 10_000 }, async () => {
    const from = newPath();
    const source = await filled(openSqliteStore({ path: from, cipher }), 400);
    const { digest } = checkContents(await contentsOf(source));
    await source.close();
    const to = newPath();
    let unfinished = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const copier = spawn(process.execPath, [COPIER, from, to, String(1 + kill * 60)], { stdio: ["ignore", "pipe", "inherit"] });
      await once(copier.stdout, "data");
      const ended = once(copier, "exit");
      copier.kill("SIGKILL");
      await ended;
      const target = openSqliteStore({ path: to, cipher });
      if ((await readCopyState(target)) === undefined) break;
      unfinished += 1;
      await expect(demandServable(target)).rejects.toThrow("a copy into it was not finished");
      await target.close();
    }
    expect(unfinished).toBe(KILLS);
    const copier = spawn(process.execPath, [COPIER, from, to, "1000000"], { stdio: "inherit" });
    await once(copier, "exit");
    const target = openSqliteStore({ path: to, cipher });
    await demandServable(target);
    expect(checkContents(await contentsOf(target)).digest).toBe(digest);
    await target.close();
  });
});
