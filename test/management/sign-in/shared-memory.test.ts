/**
 * What servers on one store remember of unfinished logins: how many there are at a time, and how long they stay.
 */
import { expect, test } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { createInternalRecords } from "../../../src/management/records/internal-records.ts";
import { createExpiringRecords } from "../../../src/management/records/expiring-records.ts";
import { createSharedMemory } from "../../../src/management/replicas/shared-memory.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const LIMITS = { lifetimeMs: 600_000, max: 10 };

function setUp() {
  const clock = createFakeClock() as ReturnType<typeof createFakeClock> & Clock;
  const records = createInternalRecords(createMemoryStore());
  const passing = createExpiringRecords({ records, clock });
  const logins = () => createSharedMemory({ passing, clock, digest: { of: (text) => text } }).once<string>("logins", LIMITS);
  return { clock, passing, servers: [logins(), logins()], kept: async () => (await records.list("Passing")).length };
}

test("of many logins that begin at each server the last ones are kept", async () => {
  const { servers, kept } = setUp();
  for (let index = 0; index < 50; index += 1) for (const [at, server] of servers.entries()) await server.put(`${at}-${index}`, "nonce");
  expect(await kept()).toBe(servers.length * LIMITS.max);
  expect([await servers[1]!.take("0-39"), await servers[1]!.take("0-40")]).toEqual([undefined, "nonce"]);
});

test("logins that are never finished are gone after their time, those of a killed server too", async () => {
  const { clock, servers, passing, kept } = setUp();
  for (let index = 0; index < 5; index += 1) await servers[0]!.put(`${index}`, "nonce");
  await clock.advance(LIMITS.lifetimeMs - 1);
  await passing.sweep();
  expect(await kept()).toBe(5);
  await clock.advance(1);
  expect(await servers[1]!.take("0")).toBeUndefined();
  await passing.sweep();
  expect(await kept()).toBe(0);
});
