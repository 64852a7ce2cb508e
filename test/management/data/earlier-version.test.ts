/**
 * Data of an earlier version: today's server opens it, writes what it needs once, and everything in it still works. The data are
 * in `fixtures/management/481069b`, which says how they were made.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { openManagementFolder } from "../../../src/cli/management/management-folder.ts";
import { ROOT, run } from "../../cli/support.ts";
import { clientOf } from "../platform.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { contentsOf } from "../../../src/management/data/contents.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { openDatabase } from "../../../src/apiserver/store/sqlite/database.ts";

const FIXTURE = join(ROOT, "fixtures/management/481069b");
const KEY_FILE = join(FIXTURE, "encryption.key");
const values = JSON.parse(readFileSync(join(FIXTURE, "values.json"), "utf8")) as Record<
  "admin" | "login" | "parent" | "child" | "short" | "off" | "ofATeam" | "limited" | "token" | "madeAt",
  string
> & { readonly passwords: Readonly<Record<"jane" | "joe", string>> };
/** Two minutes later: keys that were made for a minute have expired, those of sign-ins have not. */
const NOW = Date.parse(values.madeAt) + 120_000;

const root = mkdtempSync(join(tmpdir(), "earlier-"));
afterAll(() => rmSync(root, { recursive: true }));
const running: Management[] = [];
const stopAll = async () => {
  for (const one of running.splice(0)) await one.stop();
};
afterEach(stopAll);

let count = 0;
const newFolder = () => join(root, String((count += 1)));

/** Copies the earlier version's data. */
function copyOf(folder: "data" | "backup"): string {
  const path = newFolder();
  cpSync(join(FIXTURE, folder), path, { recursive: true });
  return path;
}

/** Starts today's server on a folder. */
async function serve(path: string) {
  const terminal = { env: {}, read: async (file: string) => readFileSync(file, "utf8") };
  const { store } = await openManagementFolder({ path, name: "platform", terminal, encryptionKeyFile: KEY_FILE });
  const clock = createFakeClock(NOW);
  const management = await startManagement({ tls: false, clock: clock as Clock, store });
  running.push(management);
  const as = (key: string) => clientOf(management.url, key);
  return { management, clock, store, as, admin: as(values.admin) };
}

/** The content of the data, without what each copy has of its own. */
async function statesOf({ store }: Awaited<ReturnType<typeof serve>>) {
  return (await contentsOf(store)).objects.map(({ key, object: { metadata, ...rest } }) => {
    const { resourceVersion: _own, ...kept } = metadata;
    return { key, ...rest, metadata: kept };
  });
}

const signIn = ({ url }: Management, username: string, password: string) =>
  fetch(`${url}/auth/password/login`, { method: "POST", body: new URLSearchParams({ username, password }) });

async function holds(server: Awaited<ReturnType<typeof serve>>): Promise<void> {
  const { management, admin, as } = server;
  const names = async (path: string) =>
    ((await admin.send("GET", path)).body as unknown as { items: { metadata: { name: string } }[] }).items.map(
      ({ metadata }) => metadata.name,
    );
  expect(await names("/users")).toEqual(["admin", "gone", "jane", "joe"]);
  expect(await names("/teams")).toEqual(["shop"]);
  expect((await admin.send("GET", "/namespaces/shop/sharedsecrets/db")).body["spec"]).toMatchObject({
    data: { password: "c2VjcmV0" },
    owner: { user: "jane" },
  });
  expect(await names("/ownedaccesskeys")).toEqual(
    expect.arrayContaining(["admin", "child", "limited", "of-a-team", "off", "parent", "short"]),
  );
  const codeOf = async (key: string, path = "/namespaces/shop/sharedsecrets/db") => (await as(key).send("GET", path)).code;
  expect({
    parent: await codeOf(values.parent),
    child: await codeOf(values.child),
    login: await codeOf(values.login),
    short: await codeOf(values.short),
    off: await codeOf(values.off),
    ofATeam: await codeOf(values.ofATeam, "/teams"),
  }).toEqual({ parent: 200, child: 200, login: 200, short: 401, off: 401, ofATeam: 200 });
  expect([(await signIn(management, "jane", values.passwords.jane)).status, (await signIn(management, "joe", values.passwords.joe)).status]).toEqual([200, 200]); // prettier-ignore
  expect((await signIn(management, "jane", "another one")).status).toBe(401);
}

describe("data of the version 481069b", () => {
  test("are readable: objects, keys, passwords, logins", async () => {
    await holds(await serve(copyOf("data")));
  });

  test("are upgraded once: the second start writes nothing", async () => {
    const path = copyOf("data");
    const first = await serve(path);
    await first.management.settled();
    const upgraded = [await first.store.revision(), await statesOf(first)];
    await stopAll();
    const second = await serve(path);
    await second.management.settled();
    expect([await second.store.revision(), await statesOf(second)]).toEqual(upgraded);
    await holds(second);
  });

  test("have keys that are roots: none ends with another one, whatever spec.parent says", async () => {
    const { admin, as, management } = await serve(copyOf("data"));
    expect((await admin.send("DELETE", "/ownedaccesskeys/parent")).code).toBe(200);
    await management.settled();
    expect((await as(values.parent).send("GET", "/teams")).code).toBe(401);
    expect((await as(values.child).send("GET", "/teams")).code).toBe(200);
  });

  test("have keys with which today's rules begin: what they make ends with them, and they end with their user", async () => {
    const { admin, as } = await serve(copyOf("data"));
    const made = await as(values.child).send("POST", "/ownedaccesskeys", {
      metadata: { name: "made" },
      spec: { type: "User", user: "jane" },
    });
    expect([made.code, made.text]).toEqual([201, expect.any(String)]);
    const { key } = made.body["spec"] as unknown as { key: string };
    expect((await as(key).send("GET", "/teams")).code).toBe(200);
    await admin.send("DELETE", "/ownedaccesskeys/child");
    expect((await as(key).send("GET", "/teams")).code).toBe(401);
    await admin.send("DELETE", "/users/jane");
    expect([(await as(values.parent).send("GET", "/teams")).code, (await as(values.login).send("GET", "/teams")).code]).toEqual([401, 401]);
  });

  test("have a key with a scope, which holds", async () => {
    const { as } = await serve(copyOf("data"));
    expect((await as(values.limited).send("GET", "/namespaces/elsewhere/sharedsecrets")).code).toBe(403);
  });

  test("have tokens that clusters still verify", async () => {
    const { management } = await serve(copyOf("data"));
    const { payload } = await jwtVerify(values.token, createLocalJWKSet(management.tokenKeys() as JSONWebKeySet), {
      currentDate: new Date(NOW),
    });
    expect(payload.sub).toBe("jane");
  });
});

describe("a backup of the version 481069b", () => {
  test("is whole, restores, and is served", async () => {
    const [backup, path] = [copyOf("backup"), newFolder()];
    const checked = await run(["platform-data", "check", "--data", backup, "--encryption-key-file", KEY_FILE, "-o", "json"]);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('"faults": []') as string });
    const restored = await run(["platform-data", "restore", backup, "--data", path, "--encryption-key-file", KEY_FILE]);
    expect(restored.code, restored.stderr).toBe(0);
    // It has no manifest, and the check reports what that leaves open.
    for (const { stderr } of [checked, restored])
      expect(stderr).toMatch(/Warning: .* earlier version, without a manifest.* Not verified: .*server\.json/);
    await holds(await serve(path));
  });

  test.each([
    [
      "a row",
      "DELETE FROM objects WHERE key = '/management.platform/teams/shop'",
      "its contents differ from those that were copied into it",
    ],
    ["what says that it is a backup", "DELETE FROM objects WHERE key LIKE '%/copystate/copy'", "it is not a backup"],
  ])("is not restored without %s", async (_what, sql, reason) => {
    const [backup, path] = [copyOf("backup"), newFolder()];
    const database = openDatabase(join(backup, "management.db"));
    database.exec(sql);
    database.close();
    for (const argv of [
      ["check", backup],
      ["restore", backup, "--data", path],
    ]) {
      // prettier-ignore
      const { code, stdout, stderr } = await run(["platform-data", ...argv, "--encryption-key-file", KEY_FILE]);
      expect([code === 0, `${stdout}${stderr}`]).toEqual([false, expect.stringContaining(reason)]);
    }
    expect(existsSync(path)).toBe(false);
  });

  test("has in it what the data has", async () => {
    const [backup, path] = [copyOf("backup"), newFolder()];
    await run(["platform-data", "restore", backup, "--data", path, "--encryption-key-file", KEY_FILE]);
    const [restored, kept] = [await serve(path), await serve(copyOf("data"))];
    const without = async (server: Awaited<ReturnType<typeof serve>>) =>
      (await statesOf(server)).filter(({ key }) => !key.includes("/copy"));
    expect((await without(restored)).map(({ key }) => key)).toEqual((await without(kept)).map(({ key }) => key));
  });
});
