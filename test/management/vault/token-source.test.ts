/**
 * The vault's token in a file, as a Secret is mounted: it is read again, and every failure says where.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LogFields } from "../../../src/base/logger.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { TOKEN_FILE_POLL_MS } from "../../../src/management/vault/token-source.ts";
import { settle } from "../../support/fake-clock.ts";
import { at, startPlatform, type Platform } from "../platform.ts";
import { startVault, type VaultDouble } from "./vault-double.ts";

const PATH = "/namespaces/default/sharedsecrets";
const FILE = "/etc/platform/vault/token";

let vault: VaultDouble;
let platform: Platform;
let told: string[];
/** The files that there are. */
let files: Map<string, string>;
/** What each reading waits for. */
let held: Promise<void>;
/** How often the file was read. */
let readings: number;
beforeEach(async () => {
  [told, files, readings, held] = [[], new Map(), 0, Promise.resolve()];
  vault = await startVault();
  vault.tokens.clear();
  for (const token of ["first", "second"]) vault.tokens.set(token, ["secret/"]);
  vault.kv2("secret", "db", { password: "one" });
});
afterEach(async () => {
  await platform.stop();
  await vault.stop();
});

async function begin(more: object = {}): Promise<void> {
  const tell = (message: string, fields: LogFields = {}) => {
    if (message.includes("token")) told.push(`${message} ${JSON.stringify(fields)}`);
  };
  const settings = { enabled: true, address: vault.url, auth: { tokenFile: FILE }, syncInterval: "1h", ...more };
  platform = await startPlatform({
    config: JSON.stringify({ vault: settings }),
    logger: { debug() {}, info: tell, warn: tell, error: tell },
    readFile: async (path) => {
      readings++;
      await held;
      const text = files.get(path);
      if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
      return text;
    },
  });
  const annotations = {
    "management.platform/vault-version": "kv2",
    "management.platform/vault-mount": "secret",
    "management.platform/vault-path": "db",
  };
  const made = await platform.admin.send("POST", PATH, { metadata: { name: "db", annotations }, spec: { data: {} } });
  expect(made.code, made.text).toBe(201);
  await pass(2_000);
}

async function configure(more: object): Promise<void> {
  const parsed = parseManagementConfig(
    JSON.stringify({ vault: { enabled: true, address: vault.url, auth: { tokenFile: FILE }, ...more } }),
  );
  await platform.management.configure(parsed.ok ? parsed.config : expect.fail("the configuration is good"));
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) {
    await platform.clock.advance(Math.min(left, 1_000));
    await platform.management.settled();
  }
}

async function shown(): Promise<{ readonly condition: string; readonly password: unknown }> {
  const answer = await platform.admin.send("GET", `${PATH}/db`);
  const conditions = (at(answer, "status", "conditions") ?? []) as { type: string; status: string; reason: string; message: string }[];
  const found = conditions.find(({ type }) => type === "VaultSynced");
  return { condition: `${found?.status} ${found?.reason}: ${found?.message}`, password: at(answer, "spec", "data", "password") };
}

test("a token in a file is used without the end of its line, and another one soon after it is written", async () => {
  files.set(FILE, "first\n");
  await begin();
  expect(await shown()).toEqual({ condition: "True Copied: kv2 secret/db, version 1", password: "b25l" });
  expect([...new Set(vault.asked.map(({ headers }) => headers["x-vault-token"]))]).toEqual(["first"]);
  expect(vault.tokenAsked).toEqual(["lookup-self first"]);
  vault.kv2("secret", "db", { password: "two" });
  files.set(FILE, "second");
  await pass(TOKEN_FILE_POLL_MS + 2_000);
  expect(vault.tokenAsked).toEqual(["lookup-self first", "lookup-self second"]);
  expect(await shown()).toMatchObject({ password: "dHdv" });
  const asked = vault.asked.length;
  await pass(60_000);
  expect([vault.asked.length, vault.tokenAsked.length]).toEqual([asked, 2]);
});

test.each<[string, string | undefined]>([
  ["cannot be read", undefined],
  ["is empty", " \n"],
  ["does not contain exactly one token", "hidden-word\r\nX-Vault-Namespace: other"],
  ["does not contain exactly one token", "hidden-wörd"],
  ["does not contain exactly one token", "x".repeat(8_193)],
])("a file that %s is reported with its place, once, and the data stays until it is good", async (why, text) => {
  files.set(FILE, "first");
  await begin();
  const asked = vault.asked.length;
  if (text === undefined) files.delete(FILE);
  else files.set(FILE, text);
  await pass(TOKEN_FILE_POLL_MS + 2_000);
  await pass(60_000);
  const { condition, password } = await shown();
  expect([condition, password]).toEqual([
    `False Invalid: the file specified by vault.auth.tokenFile ${why}; the data does not change`,
    "b25l",
  ]);
  expect(told).toEqual([expect.stringMatching(`^The file specified by vault.auth.tokenFile ${why} .*"file":"${FILE}"`)]);
  expect([vault.asked.length, told[0]?.includes("hidden")]).toEqual([asked, false]);
  vault.kv2("secret", "db", { password: "two" });
  files.set(FILE, "second");
  await pass(TOKEN_FILE_POLL_MS + 2_000);
  expect(await shown()).toEqual({ condition: "True Copied: kv2 secret/db, version 2", password: "dHdv" });
});

test("a file that does not answer is left, is read once at a time, and is used when it answers", async () => {
  files.set(FILE, "first");
  await begin();
  let answer = () => {};
  held = new Promise((resolve) => (answer = resolve));
  const before = readings;
  for (let seconds = 0; seconds < 120; seconds++) {
    await platform.clock.advance(1_000);
    await settle();
  }
  expect(readings - before).toBe(1);
  await configure({ syncInterval: "1s" });
  for (let seconds = 0; seconds < 30; seconds++) {
    await platform.clock.advance(1_000);
    await settle();
  }
  expect(readings - before).toBe(1);
  expect((await shown()).condition).toBe(
    "False Invalid: the file specified by vault.auth.tokenFile cannot be read; the data does not change",
  );
  expect(told).toEqual([expect.stringContaining("reading it took longer than 10 s")]);
  vault.kv2("secret", "db", { password: "two" });
  answer();
  held = Promise.resolve();
  await settle();
  await pass(TOKEN_FILE_POLL_MS + 12_000);
  expect(await shown()).toEqual({ condition: "True Copied: kv2 secret/db, version 2", password: "dHdv" });
});

test("the end of the platform does not wait for a file that does not answer", async () => {
  files.set(FILE, "first");
  await begin();
  held = new Promise(() => {});
  await platform.clock.advance(TOKEN_FILE_POLL_MS);
  await settle();
  await platform.management.stop();
});

test("a file is not read while nothing is copied", async () => {
  files.set(FILE, "first");
  await begin({ enabled: false });
  await pass(60_000);
  expect(readings).toBe(0);
});

test("readers of the copy and of the configuration do not see the token", async () => {
  files.set(FILE, "first");
  await begin();
  const bob = await platform.withKey({ user: "bob" });
  const config = await bob.send("GET", "/config/config");
  expect(at(config, "status", "vault", "auth")).toEqual({ tokenFile: FILE });
  for (const client of [bob, platform.admin])
    for (const path of ["/config/config", `${PATH}/db`, "/sharedsecrets"])
      expect((await client.send("GET", path)).text).not.toMatch(/"first"/);
});
