/**
 * The vault's token: it is renewed in time, and where it cannot be, that is reported once.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LogFields } from "../../../src/base/logger.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { readTokenAnswer, renewalDelayMs, repetitionDelayMs } from "../../../src/management/vault/vault-token.ts";
import { settle } from "../../support/fake-clock.ts";
import { at, startPlatform, type Platform } from "../platform.ts";
import { startVault, type TokenLife, type VaultDouble } from "./vault-double.ts";

const PATH = "/namespaces/default/sharedsecrets";
const HOUR_MS = 3_600_000;
const TOKEN = "hvs.own";

let vault: VaultDouble;
let platform: Platform;
let told: string[];
beforeEach(async () => {
  told = [];
  vault = await startVault({ now: () => platform.clock.now() });
  vault.tokens.set(TOKEN, [""]);
  vault.kv2("secret", "db", { password: "one" });
});
afterEach(async () => {
  await platform.stop();
  await vault.stop();
});

const configText = (more: object = {}) => JSON.stringify({ vault: { enabled: true, address: vault.url, auth: { token: TOKEN }, ...more } });

async function configure(more: object): Promise<void> {
  const parsed = parseManagementConfig(configText(more));
  await platform.management.configure(parsed.ok ? parsed.config : expect.fail("the configuration is good"));
}

/** Starts a platform with a token of this life, or without an end, and a SharedSecret that follows the vault. */
async function begin(life?: Omit<TokenLife, "endMs"> & { readonly seconds: number }, more: object = {}): Promise<void> {
  const tell = (message: string, fields: LogFields = {}) => {
    if (message.includes("token"))
      told.push([message, fields["message"], fields["reason"]].filter((part) => part !== undefined).join(": "));
  };
  // The clock of every platform begins there.
  if (life) vault.lives.set(TOKEN, { ...life, endMs: Date.UTC(2026, 5, 1, 12) + life.seconds * 1_000 });
  platform = await startPlatform({ config: configText(more), logger: { debug() {}, info: tell, warn: tell, error: tell } });
  const annotations = {
    "management.platform/vault-version": "kv2",
    "management.platform/vault-mount": "secret",
    "management.platform/vault-path": "db",
  };
  const made = await platform.admin.send("POST", PATH, { metadata: { name: "db", annotations }, spec: { data: {} } });
  expect(made.code, made.text).toBe(201);
  await pass(3_000);
}

/** Advances in steps, so that no answer is later than a step by the clock. */
async function pass(ms: number, stepMs = 60_000): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await platform.clock.advance(Math.min(left, stepMs));
    await platform.management.settled();
  }
}

async function condition(): Promise<string> {
  const answer = await platform.admin.send("GET", `${PATH}/db`);
  const conditions = (at(answer, "status", "conditions") ?? []) as { type: string; status: string; reason: string; message: string }[];
  const found = conditions.find(({ type }) => type === "VaultSynced");
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

const renewals = () => vault.tokenAsked.filter((one) => one === `renew-self ${TOKEN}`).length;

describe("a token that can be renewed", () => {
  test("is renewed after two thirds of its life, a little earlier at most, and lives on", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    expect(vault.tokenAsked).toEqual([`lookup-self ${TOKEN}`]);
    await pass(0.59 * HOUR_MS);
    expect(renewals()).toBe(0);
    await pass(0.09 * HOUR_MS);
    expect(renewals()).toBe(1);
    await pass(10 * HOUR_MS);
    expect([renewals(), told]).toEqual([expect.any(Number), []]);
    expect(renewals()).toBeGreaterThanOrEqual(14);
    expect(renewals()).toBeLessThanOrEqual(18);
    expect(await condition()).toBe("True Copied: kv2 secret/db, version 1");
  });

  test("is tried again while the vault is sealed, more than once before its end, and is logged once", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    vault.sealed = true;
    await pass(0.75 * HOUR_MS);
    const tries = vault.tokenAsked.length;
    expect(tries).toBeGreaterThan(3);
    expect(tries).toBeLessThan(12);
    expect(told).toEqual(["The vault's token cannot be renewed at the moment; retrying: the vault is sealed or in maintenance: Sealed"]);
    vault.sealed = false;
    await pass(0.1 * HOUR_MS);
    expect([renewals(), told.at(-1)]).toEqual([1, "Requests about the vault's token succeed again"]);
    await pass(2 * HOUR_MS);
    expect(await condition()).toContain("True Copied");
  });

  test("waits as long as the vault asks for", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    vault.insteadOfToken = (_request, response) => (response.writeHead(429, { "retry-after": "600" }).end(), true);
    await pass(0.7 * HOUR_MS);
    const tries = vault.tokenAsked.length;
    expect(tries).toBe(2);
    vault.insteadOfToken = undefined;
    await pass(660_000);
    expect(renewals()).toBe(1);
  });

  test("is not renewed where something else has renewed it", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    await pass(0.5 * HOUR_MS);
    vault.lives.get(TOKEN)!.endMs += HOUR_MS;
    await pass(0.4 * HOUR_MS);
    expect([renewals(), vault.tokenAsked.length]).toEqual([0, 2]);
  });

  test("whose last end has come is reported with that end, once", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600, lastMs: Date.UTC(2026, 5, 1, 14) });
    await pass(1.9 * HOUR_MS);
    expect(told).toEqual([expect.stringMatching(/^The vault's token will not be renewed; replace it: /)]);
    const [, end] = /^True TokenNotRenewed: kv2 secret\/db, version 1; the vault's token cannot be renewed, and expires at (.*)$/.exec(
      await condition(),
    )!;
    // The test's clock moves by steps of a minute.
    expect(Math.abs(Date.parse(end!) - Date.UTC(2026, 5, 1, 14))).toBeLessThanOrEqual(61_000);
    expect(told[0]).toContain(end);
  });

  test("but may not renew itself is reported with its end, and renewed once it may", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    vault.insteadOfToken = ({ url }, response) => url?.endsWith("renew-self") === true && (response.writeHead(403).end("{}"), true);
    await pass(0.7 * HOUR_MS);
    expect(await condition()).toMatch(/TokenNotRenewed: .*expires at 2026-06-01T1(2:59|3:0[01]):/);
    vault.insteadOfToken = undefined;
    await pass(0.2 * HOUR_MS);
    expect(await condition()).toBe("True Copied: kv2 secret/db, version 1");
    await pass(2 * HOUR_MS);
    expect(await condition()).toContain("True Copied");
  });
});

/** Answers a renewal with these members, without doing it. */
const renewWith = (auth: object) =>
  void (vault.insteadOfToken = ({ url }, response) => {
    if (url?.endsWith("renew-self") !== true) return false;
    response.writeHead(200).end(JSON.stringify({ data: null, auth: { client_token: "hidden-id", ...auth } }));
    return true;
  });

describe("a vault that answers oddly", () => {
  test.each([
    ["no time at all", { lease_duration: 0, renewable: true }],
    ["much time, and no further renewal", { lease_duration: 1_200, renewable: false }],
  ])("grants %s: the end is reported in time, and looked at again", async (_what, auth) => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    renewWith(auth);
    await pass(0.7 * HOUR_MS);
    expect(await condition()).toMatch(/^True TokenNotRenewed: .*expires at 2026-06-01T1[23]:/);
    const looks = vault.tokenAsked.length;
    vault.insteadOfToken = undefined;
    await pass(0.28 * HOUR_MS);
    expect(vault.tokenAsked.length).toBeGreaterThan(looks);
    await pass(2 * HOUR_MS);
    expect(await condition()).toBe("True Copied: kv2 secret/db, version 1");
  });

  test.each([
    ["a negative time", { lease_duration: -1, renewable: true }],
    ["a text", { lease_duration: "3600", renewable: true }],
    ["nothing", {}],
  ])("grants %s: it is asked again before the end, and that is logged once without the answer", async (_what, auth) => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    renewWith(auth);
    await pass(0.8 * HOUR_MS);
    expect(renewals()).toBeGreaterThan(2);
    expect(renewals()).toBeLessThan(20);
    expect(told).toEqual([expect.stringContaining("does not contain the token's lifetime")]);
    expect(told.join()).not.toMatch(/hidden|hvs/);
    vault.insteadOfToken = undefined;
    await pass(0.15 * HOUR_MS);
    await pass(2 * HOUR_MS);
    expect(await condition()).toContain("True Copied");
  });

  test("grants a life without measure, which is looked at after a day", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 });
    renewWith({ lease_duration: 1e300, renewable: true });
    await pass(0.7 * HOUR_MS);
    vault.lives.delete(TOKEN);
    const before = vault.tokenAsked.length;
    await pass(25 * HOUR_MS, 600_000);
    expect(vault.tokenAsked.slice(before)).toEqual([`lookup-self ${TOKEN}`]);
  });

  test("late does not seem to have been renewed by something else", async () => {
    await begin({ seconds: 3_600, renewable: true, period: 3_600 }, { requestTimeoutSeconds: 60 });
    let waiting: (() => void)[] = [];
    vault.insteadOfToken = (request, response) => {
      const { endMs } = vault.lives.get(TOKEN)!;
      if (request.url?.endsWith("renew-self") === true) return false;
      // What it says was so when it was asked.
      const ttl = Math.floor((endMs - platform.clock.now()) / 1_000);
      waiting.push(() => response.end(JSON.stringify({ data: { ttl, expire_time: "soon", renewable: true } })));
      return true;
    };
    for (let seconds = 0; seconds < 0.7 * 3_600; seconds += 20) {
      await platform.clock.advance(20_000);
      await settle();
      if (waiting.length === 0) continue;
      await platform.clock.advance(30_000);
      for (const answer of waiting) answer();
      waiting = [];
      await platform.management.settled();
    }
    expect(renewals()).toBe(1);
  });

  test.each(["lookup-self", "renew-self"])("%s sends elsewhere: no other host gets the token", async (act) => {
    const other = await startVault();
    try {
      await begin({ seconds: 3_600, renewable: true, period: 3_600 });
      vault.insteadOfToken = ({ url }, response) => {
        if (url?.endsWith(act) !== true) return false;
        response.writeHead(307, { location: `${other.url}${url}` }).end();
        return true;
      };
      await pass(0.8 * HOUR_MS);
      expect(told).toEqual([expect.stringContaining("redirects to another address")]);
      expect([other.asked, other.tokenAsked]).toEqual([[], []]);
      vault.insteadOfToken = undefined;
      await pass(0.15 * HOUR_MS);
      expect(renewals()).toBeGreaterThanOrEqual(1);
    } finally {
      await other.stop();
    }
  });

  test("says another end than the one that was reported, which is reported too", async () => {
    await begin({ seconds: 7_200, renewable: false, period: 0 });
    expect(await condition()).toContain("expires at 2026-06-01T14:00:0");
    vault.lives.get(TOKEN)!.endMs += 5 * HOUR_MS;
    await pass(1.5 * HOUR_MS);
    expect(await condition()).toContain("expires at 2026-06-01T19:0");
    expect(told).toHaveLength(2);
  });
});

describe("a token that cannot be renewed", () => {
  test("is reported at once with its end, once, and its data stay after it", async () => {
    await begin({ seconds: 7_200, renewable: false, period: 0 });
    const why = "the vault's token cannot be renewed, and expires at 2026-06-01T14:00:0";
    expect(await condition()).toContain(`True TokenNotRenewed: kv2 secret/db, version 1; ${why}`);
    await pass(1.9 * HOUR_MS);
    expect(told).toEqual([expect.stringContaining(why)]);
    expect([renewals(), vault.tokenAsked.length < 10]).toEqual([0, true]);
    await pass(0.5 * HOUR_MS);
    expect(await condition()).toContain("False Forbidden");
    expect(at(await platform.admin.send("GET", `${PATH}/db`), "spec", "data")).toEqual({ password: "b25l" });
  });

  test("is forgotten when another one takes its place", async () => {
    await begin({ seconds: 7_200, renewable: false, period: 0 });
    vault.tokens.set("hvs.next", [""]);
    await configure({ auth: { token: "hvs.next" } });
    await pass(3_000);
    expect(await condition()).toBe("True Copied: kv2 secret/db, version 1");
    expect(vault.tokenAsked.at(-1)).toBe("lookup-self hvs.next");
  });

  test("since it may not be looked up is reported as well", async () => {
    await begin({ seconds: 7_200, renewable: true, period: 7_200 });
    vault.insteadOfToken = (_request, response) => (response.writeHead(403).end("{}"), true);
    await configure({ requestTimeoutSeconds: 5 });
    await pass(0.2 * HOUR_MS);
    expect(await condition()).toContain(
      "True TokenNotRenewed: kv2 secret/db, version 1; the vault's token has expired or is not allowed to look itself up",
    );
    const tries = vault.tokenAsked.length;
    await pass(HOUR_MS);
    expect(vault.tokenAsked.length - tries).toBeLessThan(16);
    expect(told.filter((line) => line.includes("not be renewed;"))).toHaveLength(1);
  });

  test("has no end, and is not renewed either", async () => {
    await begin();
    await pass(12 * HOUR_MS);
    expect(vault.tokenAsked).toEqual([`lookup-self ${TOKEN}`]);
    expect(await condition()).toBe("True Copied: kv2 secret/db, version 1");
  });
});

test("nothing is asked about a token while nothing is copied", async () => {
  await begin({ seconds: 60, renewable: true, period: 60 }, { enabled: false });
  await pass(HOUR_MS);
  expect(vault.tokenAsked).toEqual([]);
});

describe("an answer about a token", () => {
  const answer = (body: unknown, status = 200) => readTokenAnswer({ status, retryAfter: undefined, text: JSON.stringify(body) });

  test.each<[unknown, object]>([
    [{ data: { ttl: 60, renewable: true } }, { seconds: 60, renewable: true }],
    [
      { data: null, auth: { lease_duration: 61, renewable: false } },
      { seconds: 61, renewable: false },
    ],
    [{ data: { ttl: 0.5 } }, { seconds: 1, renewable: false }],
    [{ data: { ttl: 0, renewable: true } }, { seconds: Infinity, renewable: false }],
    [{ data: { ttl: 0, expire_time: null } }, { seconds: Infinity }],
    [{ data: { ttl: 0, expire_time: "2026-06-01T12:00:00.4Z", renewable: true } }, { seconds: 1, renewable: true }],
    [{ data: null, auth: { lease_duration: -60, renewable: true } }, { reason: "WrongType" }],
    [{ data: null, auth: { lease_duration: "3600", renewable: true } }, { reason: "WrongType" }],
    [{ data: null, auth: { lease_duration: null, renewable: true } }, { reason: "WrongType" }],
    [
      { data: null, auth: { lease_duration: 60, renewable: "yes" } },
      { seconds: 60, renewable: false },
    ],
    [{ data: { ttl: 1e300, renewable: true } }, { seconds: 3_153_600_000 }],
    [{ data: { ttl: -1, renewable: true } }, { reason: "WrongType" }],
    [{ data: { ttl: "60" } }, { reason: "WrongType" }],
    [{ auth: {}, data: { ttl: 60 } }, { reason: "WrongType" }],
    [[], { reason: "WrongType" }],
    [null, { reason: "WrongType" }],
  ])("%j", (body, expected) => {
    expect(answer(body)).toMatchObject(expected);
  });

  test("that is not JSON, or refuses, says so and quotes nothing", () => {
    const odd = readTokenAnswer({ status: 200, retryAfter: undefined, text: "hidden-word" });
    expect(odd).toMatchObject({ reason: "WrongType" });
    expect(JSON.stringify([odd, answer({ errors: ["hidden-word"] }, 403)])).not.toContain("hidden-word");
  });

  test("means a look in time, neither at once nor never", () => {
    expect([renewalDelayMs(3_600, 0), Math.round(renewalDelayMs(3_600, 1))]).toEqual([2_400_000, 2_160_000]);
    expect([renewalDelayMs(1, 0), renewalDelayMs(3_153_600_000, 0)]).toEqual([1_000, 86_400_000]);
    expect([repetitionDelayMs(300_000, 30_000), repetitionDelayMs(5_000, Infinity), repetitionDelayMs(5_000, 9)]).toEqual([
      10_000, 5_000, 1_000,
    ]);
  });
});
