/**
 * A backup proves itself: `check` and `restore` refuse what was changed without the key, with the reason, and accept what was
 * not. TAMPERED is the number of changed backups, SEED the seed.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createRandom } from "../../../src/workbench/simulator/model/random.ts";
import { run } from "../../cli/support.ts";
import { cipherOf } from "../../conformance/resealable.ts";
import { TAMPERINGS, type Loot } from "./support/tampering.ts";
import { SEED } from "../../support/seed.ts";

const TAMPERED = Number(process.env["TAMPERED"] ?? 100);

const root = mkdtempSync(join(tmpdir(), "tampered-"));
afterAll(() => rmSync(root, { recursive: true }));
let count = 0;
const newPath = () => join(root, String((count += 1)));
const KEYS = join(root, "keys");

const team = (name: string, user: string): KubeObject => ({
  apiVersion: "management.platform/v1",
  kind: "Team",
  metadata: { name, uid: `uid-of-${name}`, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { users: [user] },
});
const pepper = (name: string): KubeObject => ({ apiVersion: "internal.platform/v1", kind: "Pepper", metadata: { name }, data: "c2FsdA==" });
const teamKey = (name: string) => `/management.platform/teams/${name}`;

/** What a server leaves in it: teams, records of its own, and `server.json`. */
async function makeData(name: string, teams: number): Promise<string> {
  const folder = newPath();
  mkdirSync(folder);
  const store = openSqliteStore({ path: join(folder, "management.db"), cipher: cipherOf(1) });
  await store.create("/internal.platform/pepper/keys", pepper("keys"));
  for (let index = 0; index < teams; index += 1) await store.create(teamKey(`${name}-${index}`), team(`${name}-${index}`, "jane"));
  await store.close();
  const certificate = createServerCertificate({ name, clock: systemClock, chance: systemChance });
  writeFileSync(join(folder, "server.json"), JSON.stringify({ ...certificate, port: 18443 }));
  return folder;
}

const platformData = async (...argv: readonly string[]) => {
  const { code, stdout, stderr } = await run(["platform-data", ...argv, "--encryption-key-file", KEYS, "-o", "json"]);
  return { code, text: `${stdout}${stderr}` };
};

async function backUp(data: string): Promise<string> {
  const folder = newPath();
  const { code, text } = await platformData("backup", folder, "--data", data);
  expect(code, text).toBe(0);
  return folder;
}

let loot: Loot;
beforeAll(async () => {
  writeFileSync(KEYS, `${Buffer.alloc(32, 1).toString("base64")}\n`);
  const data = await makeData("shop", 20);
  const older = await backUp(data);
  const store = openSqliteStore({ path: join(data, "management.db"), cipher: cipherOf(1) });
  for (const name of ["shop-0", "shop-7"]) {
    const { revision } = (await store.get(teamKey(name)))!;
    await store.update(teamKey(name), team(name, "joe"), revision);
  }
  await store.delete(teamKey("shop-9"), (await store.get(teamKey("shop-9")))!.revision);
  await store.create(teamKey("later"), team("later", "jane"));
  await store.close();
  loot = { data, older, backup: await backUp(data), twin: await backUp(data), foreign: await backUp(await makeData("other", 5)) };
});

/** Names, sizes and times of a folder and everything in it. */
const looksOf = (folder: string) =>
  [".", ...readdirSync(folder)].map((name) => {
    const { size, mtimeMs, ctimeMs } = statSync(join(folder, name));
    return { name, size, mtimeMs, ctimeMs };
  });

describe("a backup that was left alone", () => {
  test.each(["older", "backup", "twin", "foreign"] as const)("is accepted: %s", async (which) => {
    const target = newPath();
    const checked = await platformData("check", loot[which]);
    const restored = await platformData("restore", loot[which], "--data", target);
    expect([checked, restored]).toEqual([
      { code: 0, text: expect.stringContaining('"faults": []') as string },
      { code: 0, text: expect.stringContaining('"state": "data"') as string },
    ]);
  });

  test("is read without anything being written beside it, so that it can be on read-only media", async () => {
    const before = looksOf(loot.backup);
    for (const argv of [
      ["check", loot.backup],
      ["keys", "--data", loot.backup],
      ["restore", loot.backup, "--data", newPath()],
      ["backup", newPath(), "--data", loot.backup],
    ]) {
      // prettier-ignore
      expect((await platformData(...argv)).code).toBe(0);
      expect(looksOf(loot.backup)).toEqual(before);
    }
  });

  test("reports when it was made", async () => {
    expect((await platformData("check", loot.backup)).text).toMatch(/"madeAt": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/);
  });
});

describe(`${TAMPERED} backups that were changed without the key are refused, each with its reason`, () => {
  const random = createRandom(SEED);
  const cases = Array.from({ length: TAMPERED }, (_, index) => ({ ...TAMPERINGS[index % TAMPERINGS.length]!, index }));
  /** Either way to name it. A backup that was turned into data of a server is refused where a backup is expected. */
  const namedFor = ({ what }: (typeof cases)[number], folder: string) =>
    what === "the file is the data's own" || random.happens(0.5) ? [folder] : ["--data", folder];

  test.each(TAMPERINGS.slice(0, TAMPERED))("$what", async ({ what }) => {
    for (const one of cases.filter((some) => some.what === what)) {
      const { act, reason, index } = one;
      const [folder, target] = [newPath(), newPath()];
      cpSync(loot.backup, folder, { recursive: true });
      act(folder, loot, random);
      const checked = await platformData("check", ...namedFor(one, folder));
      const restored = await platformData("restore", folder, "--data", target);
      const where = `case ${index} of seed ${SEED}`;
      expect([checked.code === 0, restored.code === 0, existsSync(target)], `${where}\n${checked.text}\n${restored.text}`).toEqual([false, false, false]); // prettier-ignore
      expect(checked.text, where).toMatch(reason);
      expect(restored.text, where).toMatch(reason);
      rmSync(folder, { recursive: true });
    }
  });
});

describe("--without-manifest", () => {
  const restoreAnyway = (folder: string) => platformData("restore", folder, "--data", newPath(), "--without-manifest");

  test("restores what is left, and reports each thing that differs from the backup", async () => {
    const folder = newPath();
    cpSync(loot.backup, folder, { recursive: true });
    TAMPERINGS.find(({ what }) => what === "a row is removed")!.act(folder, loot, createRandom(SEED));
    const { code, text } = await restoreAnyway(folder);
    expect([code, text]).toEqual([0, expect.stringMatching(/Warning: .* is restored, although .*: \d+ of \d+ rows are left/)]);
  });

  test("restores the data of a server, and says that nothing proves them", async () => {
    const { code, text } = await restoreAnyway(loot.data);
    expect([code, text]).toEqual([0, expect.stringContaining("is restored, although it is not a backup")]);
  });

  test.each(["the file is emptied", "all rows but the manifest are removed", "a row is edited"])("does not help where %s", async (what) => {
    const folder = newPath();
    cpSync(loot.backup, folder, { recursive: true });
    TAMPERINGS.find((one) => one.what === what)!.act(folder, loot, createRandom(SEED));
    expect((await restoreAnyway(folder)).code).not.toBe(0);
  });
});
