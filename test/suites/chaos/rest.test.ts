/** The rest of the chaos suite's syncers: a loop that is slowed down is none. */
import { expect, test } from "vitest";
import { LONG_QUIET_MS, QUIET_MS, Quiet, SLOWEST_MINUTES } from "./rest.ts";

/** For how long writes at these moments leave quiet at most, looked at ten times a second for an hour. */
function longest(writesMs: readonly number[]): number {
  const quiet = new Quiet();
  let most = 0;
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += 100) {
    most = Math.max(most, quiet.lastsMs(writesMs.filter((atMs) => atMs <= nowMs).length, nowMs));
  }
  return most;
}

/** Ten writes at once, then after 1, 2, 4 … seconds, and at last after the longest delay each time. */
function loop(): number[] {
  const writes = Array.from({ length: 10 }, () => 0);
  for (let [atMs, delayMs] = [1_000, 2_000]; atMs < 3_600_000; delayMs = Math.min(2 * delayMs, SLOWEST_MINUTES * 60_000)) {
    writes.push(atMs);
    atMs += delayMs;
  }
  return writes;
}

test("a loop that is slowed down leaves time without writes, but never as long as the end of a run asks for", () => {
  expect(longest(loop())).toBeGreaterThan(QUIET_MS);
  expect(longest(loop())).toBeLessThan(LONG_QUIET_MS);
});

test("writers that stop come to rest", () => {
  expect(longest([0, 100, 5_000])).toBeGreaterThan(LONG_QUIET_MS);
});
