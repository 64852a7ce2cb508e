/**
 * How a cluster comes by the platform's keys, and how it does without the platform.
 */
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { silentLogger } from "../../src/base/logger.ts";
import {
  KEYS_FRESH_MS,
  KEYS_PAUSE_MS,
  KEYS_TIMEOUT_MS,
  openPlatformKeys,
  readKeySet,
  type KeySource,
} from "../../src/cluster/tokens/platform-keys.ts";
import { codeOf } from "../conformance/setting.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }) as object;
const named = (...kids: string[]) => ({ keys: kids.map((kid) => ({ ...ec, kid })) });

/** A source whose answer a test decides, and that counts how often it was asked. */
async function following(start: () => Promise<unknown>) {
  const clock = createFakeClock();
  const warnings: unknown[] = [];
  const state = { answer: start, reads: 0 };
  const source: KeySource = () => ((state.reads += 1), state.answer());
  const logger = { ...silentLogger, warn: (_message: string, fields?: object) => void warnings.push(fields) };
  const opening = openPlatformKeys({ keys: source, clock, logger });
  await clock.advance(KEYS_TIMEOUT_MS);
  const keys = await opening;
  return { clock, state, warnings, knows: async (kid: string) => (await keys.find(kid)) !== undefined };
}

describe("a source of keys", () => {
  test("is read at the start, so that the platform may stop right after", async () => {
    const { state, knows } = await following(async () => named("a"));
    state.answer = () => Promise.reject(new Error("gone"));
    expect([await knows("a"), state.reads]).toEqual([true, 1]);
  });

  test("is read again for a key that is not known", async () => {
    const { clock, state, knows } = await following(async () => named("a"));
    state.answer = async () => named("b", "a");
    await clock.advance(KEYS_PAUSE_MS);
    expect([await knows("b"), await knows("a"), state.reads]).toEqual([true, true, 2]);
  });

  test("is not read more often because of made-up key ids", async () => {
    const { clock, state, knows } = await following(async () => named("a"));
    await clock.advance(KEYS_PAUSE_MS);
    for (let count = 0; count < 100; count += 1) await knows(`made-up-${count}`);
    expect(state.reads).toBe(2);
    await clock.advance(KEYS_PAUSE_MS);
    await Promise.all(Array.from({ length: 100 }, (_, count) => knows(`more-${count}`)));
    expect(state.reads).toBe(3);
  });

  test("is read for all who wait at once, and answers them all", async () => {
    const { clock, state, knows } = await following(async () => named("a"));
    await clock.advance(KEYS_PAUSE_MS);
    state.answer = async () => named("b");
    expect(await Promise.all([knows("b"), knows("b"), knows("c")])).toEqual([true, true, false]);
    expect(state.reads).toBe(2);
  });

  test("is read again once it is old, and drops removed keys; no request waits for it", async () => {
    const { clock, state, knows } = await following(async () => named("a"));
    await clock.advance(KEYS_FRESH_MS);
    state.answer = async () => named("b");
    expect(await knows("a")).toBe(true);
    await clock.advance(0);
    expect([await knows("a"), await knows("b"), state.reads]).toEqual([false, true, 2]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["fails", () => Promise.reject(new Error("refused"))],
    ["does not answer", () => new Promise(() => {})],
    [
      "says nonsense",
      async () => ({
        keys: [
          { ...ec, kid: "a" },
          { ...ec, kid: "a" },
        ],
      }),
    ],
  ])("that %s leaves the keys that are known, is reported, and is tried again", async (_what, answer) => {
    const { clock, state, warnings, knows } = await following(async () => named("a"));
    state.answer = answer;
    await clock.advance(KEYS_FRESH_MS);
    expect(await knows("a")).toBe(true);
    await clock.advance(KEYS_TIMEOUT_MS);
    expect(warnings).toEqual([{ reason: expect.any(String) as string, known: 1 }]);
    expect(await knows("a")).toBe(true);
    state.answer = async () => named("b");
    await clock.advance(KEYS_PAUSE_MS);
    expect(await knows("b")).toBe(true);
  });

  test("that is not there yet at the start holds nothing up for long", async () => {
    const { clock, state, knows } = await following(() => new Promise(() => {}));
    expect(await knows("a")).toBe(false);
    state.answer = async () => named("a");
    await clock.advance(KEYS_PAUSE_MS);
    expect(await knows("a")).toBe(true);
  });
});

describe("a document of keys", () => {
  const rsa = (bits: number) => generateKeyPairSync("rsa", { modulusLength: bits }).publicKey.export({ format: "jwk" }) as object;
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey.export({ format: "jwk" }) as object;

  test("may hold keys for something else, which are left out", () => {
    const keys = [
      { ...ec, kid: "ec" },
      { ...rsa(2_048), kid: "rsa", use: "sig", alg: "RS256", key_ops: ["verify"] },
      { ...rsa(2_048), kid: "for-encryption", use: "enc" },
      { ...rsa(2_048), kid: "for-pss", alg: "PS256" },
      { ...rsa(1_024), kid: "short" },
      { ...ec, kid: "for-signing", key_ops: ["sign"] },
      { ...p384, kid: "p384" },
      { kty: "oct", k: "c2VjcmV0", kid: "shared" },
      { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "broken" },
      { ...ec },
      "key",
    ];
    expect([...readKeySet({ keys })].map(([kid, { algorithm }]) => [kid, algorithm])).toEqual([
      ["ec", "ES256"],
      ["rsa", "RS256"],
    ]);
  });

  test.each<[string, unknown]>([
    ["is none", "keys"],
    ["has no list", { keys: {} }],
    ["has no key to use", { keys: [ec] }],
    ["has a private key", { keys: [{ ...ec, kid: "a", d: "AA" }] }],
    ["has two keys of one id", named("a", "a")],
    ["has very many keys", named(...Array.from({ length: 101 }, String))],
  ])("that %s is refused", async (_what, document) => {
    expect(await codeOf((async () => readKeySet(document))())).toBe("CONFIG_VALUE");
    const keys = document as object;
    expect(await codeOf(openPlatformKeys({ keys, clock: createFakeClock(), logger: silentLogger }))).toBe("CONFIG_VALUE");
  });
});
