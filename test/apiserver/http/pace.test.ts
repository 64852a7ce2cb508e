import { expect, test } from "vitest";
import { nextMacrotask } from "../../../src/base/clock.ts";
import { createPace } from "../../../src/apiserver/http/limits/pace.ts";

/** Time that passes only while work is done. */
function start() {
  let nowMs = 0;
  const pace = createPace({ monotonic: () => nowMs });
  const begun: string[] = [];
  const ask = (from: string, takesMs: number) => {
    const begin = () => {
      begun.push(from);
      nowMs += takesMs;
    };
    const turn = pace.turnOf(from);
    if (turn === undefined) begin();
    else void turn.then(begin);
  };
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await nextMacrotask();
  };
  return { ask, begun, turns };
}

test("requests are begun at once, as long as they take little time together", () => {
  const { ask, begun } = start();
  for (let index = 0; index < 9; index += 1) ask("eve", 1);
  expect(begun).toHaveLength(9);
});

test("what comes after 10 ms of work waits for another turn, in turn by whose it is", async () => {
  const { ask, begun, turns } = start();
  for (let index = 0; index < 4; index += 1) ask("eve", 10);
  ask("jane", 1);
  expect(begun).toEqual(["eve"]);
  await turns(20);
  expect(begun).toEqual(["eve", "eve", "jane", "eve", "eve"]);
  ask("mia", 1);
  expect(begun.at(-1)).toBe("mia");
});

test("others have a turn after each 10 ms", async () => {
  const { ask, begun, turns } = start();
  for (let index = 0; index < 30; index += 1) ask("eve", 5);
  const counts: number[] = [];
  while (begun.length < 30) {
    const before = begun.length;
    await turns(1);
    counts.push(begun.length - before);
  }
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
});
