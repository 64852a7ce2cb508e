import { expect, test } from "vitest";
import { calculateJwkThumbprint } from "jose";
import { openSigningKeys } from "../../../src/management/tokens/signing-keys.ts";
import { codeOf } from "../../conformance/setting.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createKeysPort } from "./signed.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const kidsOf = ({ keys }: { keys: readonly Record<string, unknown>[] }) => keys.map(({ kid }) => kid);

test.each(["ES256", "RS256"] as const)("a key for %s is made once and is the same after a restart", async (algorithm) => {
  const port = createKeysPort();
  const clock = createFakeClock();
  const first = await openSigningKeys({ port, clock, algorithm });
  expect(port.saves).toBe(1);
  const second = await openSigningKeys({ port, clock, algorithm });
  expect(second.published()).toEqual(first.published());
  expect(port.saves).toBe(1);
});

test.each(["ES256", "RS256"] as const)("what is published of a key for %s is its public part, under its thumbprint", async (algorithm) => {
  const { keys } = (await openSigningKeys({ port: createKeysPort(), clock: createFakeClock(), algorithm })).published();
  const members = algorithm === "ES256" ? ["alg", "crv", "kid", "kty", "use", "x", "y"] : ["alg", "e", "kid", "kty", "n", "use"];
  expect(Object.keys(keys[0]!).sort()).toEqual(members);
  expect(keys[0]).toMatchObject({ alg: algorithm, use: "sig", kid: await calculateJwkThumbprint(keys[0]!) });
});

test("after a rotation the new key signs, and the old one stays published until its last token has ended", async () => {
  const clock = createFakeClock();
  const port = createKeysPort();
  const keys = await openSigningKeys({ port, clock });
  const old = await keys.signing(clock.now() + 10 * DAY_MS);
  await keys.rotate();
  const next = await keys.signing(clock.now() + HOUR_MS);
  expect(next.kid).not.toBe(old.kid);
  expect(kidsOf(keys.published())).toEqual([next.kid, old.kid]);
  expect(kidsOf((await openSigningKeys({ port, clock })).published())).toEqual([next.kid, old.kid]);
  await clock.advance(10 * DAY_MS);
  expect(kidsOf(keys.published())).toEqual([next.kid, old.kid]);
  await clock.advance(2 * DAY_MS);
  expect(kidsOf(keys.published())).toEqual([next.kid]);
});

test("a key that was never used is gone with a rotation a minute later, also from where keys are kept", async () => {
  const clock = createFakeClock();
  const port = createKeysPort();
  const keys = await openSigningKeys({ port, clock });
  await clock.advance(60_000);
  await keys.rotate();
  expect(keys.published().keys).toHaveLength(1);
  expect((JSON.parse(port.text!) as { keys: unknown[] }).keys).toHaveLength(1);
});

test("how long a key is needed is saved before it signs, so that it survives a restart", async () => {
  const clock = createFakeClock();
  const port = createKeysPort();
  const keys = await openSigningKeys({ port, clock });
  const { kid } = await keys.signing(clock.now() + 10 * DAY_MS);
  const restarted = await openSigningKeys({ port, clock });
  await restarted.rotate();
  await clock.advance(10 * DAY_MS);
  expect(kidsOf(restarted.published())).toContain(kid);
});

test("tokens of a day cost one write", async () => {
  const clock = createFakeClock();
  const port = createKeysPort();
  const keys = await openSigningKeys({ port, clock });
  await Promise.all([keys.signing(clock.now() + HOUR_MS), keys.signing(clock.now() + HOUR_MS)]);
  await clock.advance(12 * HOUR_MS);
  await keys.signing(clock.now() + HOUR_MS);
  expect(port.saves).toBe(2);
});

test("a key that could not be saved does not sign, and the previous one continues", async () => {
  const clock = createFakeClock();
  const port = createKeysPort();
  const keys = await openSigningKeys({ port, clock });
  const { kid } = await keys.signing(clock.now() + HOUR_MS);
  const { save } = port;
  port.save = () => Promise.reject(new Error("disk full"));
  await expect(keys.rotate()).rejects.toThrow("disk full");
  expect((await keys.signing(clock.now() + HOUR_MS)).kid).toBe(kid);
  port.save = save;
  await keys.rotate();
  expect((await keys.signing(clock.now() + HOUR_MS)).kid).not.toBe(kid);
});

test("rotations at the same time follow each other", async () => {
  const clock = createFakeClock();
  const keys = await openSigningKeys({ port: createKeysPort(), clock });
  await keys.signing(clock.now() + DAY_MS);
  await Promise.all([keys.rotate(), keys.rotate()]);
  expect(new Set(kidsOf(keys.published())).size).toBe(3);
});

test.each([
  ["no JSON", () => "{"],
  ["no list", () => "{}"],
  ["no key", () => '{"keys":[]}'],
  ["a key of another kind", (text: string) => text.replace('"ES256"', '"RS256"')],
  ["half a key", (text: string) => text.replace(/"d":"[^"]*"/, '"d":""')],
  ["another private part", (text: string) => text.replace(/"d":"(.)/, (_all, first) => `"d":"${first === "A" ? "B" : "A"}`)],
  ["no time", (text: string) => text.replace("neededUntil", "until")],
])("%s in place of the kept keys is reported, and not quoted", async (_what, damaged) => {
  const port = createKeysPort();
  const clock = createFakeClock();
  await openSigningKeys({ port, clock });
  port.text = damaged(port.text!);
  expect(await codeOf(openSigningKeys({ port, clock }))).toBe("CONFIG_VALUE");
});
