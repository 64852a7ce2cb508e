import { expect, test } from "vitest";
import { createLineLogger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createPieces, LONG_PIECE_MS } from "../../../src/engine/sync/pieces.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

/** Pieces on a clock that moves by what the work says it takes. */
function begin() {
  let nowMs = 0;
  const metrics = createMetrics();
  const lines: string[] = [];
  const done: string[] = [];
  const pieces = createPieces({
    clock: { ...createFakeClock(), monotonic: () => nowMs },
    logger: createLineLogger({ now: () => 0, write: (line) => lines.push(line.slice(line.indexOf(" ") + 1)) }),
    metrics,
    breathe: async () => void done.push("others"),
  });
  /** Work that stops after each of its pieces. */
  function* inPieces(id: string, tookMs: readonly number[]): Generator<undefined, void> {
    for (const ms of tookMs) {
      nowMs += ms;
      done.push(id);
      yield;
    }
  }
  const work = (id: string, tookMs: number | readonly number[], charge?: (costMs: number) => void): Promise<void> =>
    pieces.runAll({ id, charge }, inPieces(id, [tookMs].flat()));
  return { work, done, lines, long: () => metrics.value("endpoint_sync_long_pieces_total") };
}

test("everything else has its turn after some work in a row, no matter who did it", async () => {
  const { work, done } = begin();
  await Promise.all([work("a", 6), work("b", 6), work("c", 1), work("d", 12), work("e", 1), work("f", 1)]);
  expect(done).toEqual(["a", "b", "others", "c", "d", "others", "e", "f"]);
});

test("a namespace whose objects take long holds another one up for one piece, however many of them wait", async () => {
  const { work, done } = begin();
  const long = ["a/1", "a/2", "a/3", "a/4"].map((key) => work(`endpoints|${key}`, [40, 40, 40]));
  await work("endpoints|b/1", [12, 12]);
  expect(done).toEqual(["endpoints|a/1", "others", "endpoints|b/1", "others", "endpoints|b/1", "others"]);
  await Promise.all(long);
});

test("work that takes no time goes on without a break", async () => {
  const { work, done } = begin();
  for (let count = 0; count < 100; count += 1) await work("a", 0);
  expect(done.includes("others")).toBe(false);
});

test("long pieces are counted, and told once for each object", async () => {
  const { work, lines, long } = begin();
  for (const id of ["a", "a", "b"]) await work(id, LONG_PIECE_MS + 10);
  await work("c", LONG_PIECE_MS);
  expect(long()).toBe(3);
  expect(lines).toEqual(["a", "b"].map((id) => `info  One object blocked all other work for a long time id=${id} tookMs=60`));
});

test("what a piece took is charged, also if it fails", async () => {
  const { work } = begin();
  const costs: number[] = [];
  await work("a", 7, (costMs) => costs.push(costMs));
  const failing = createPieces({
    clock: createFakeClock(),
    logger: createLineLogger({ now: () => 0, write: () => {} }),
    metrics: createMetrics(),
  });
  const failed = failing.runAll(
    { id: "a", charge: (costMs) => costs.push(costMs) },
    {
      next: () => {
        throw new Error("no");
      },
    },
  );
  await expect(failed).rejects.toThrow("no");
  expect(costs).toEqual([7, 0]);
});
