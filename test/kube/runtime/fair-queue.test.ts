import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FairQueue } from "../../../src/kube/runtime/queue/fair-queue.ts";

const flowOf = (key: string) => key.split("/")[0]!;

/** Takes everything, charging what each key costs. */
function takeAll(queue: FairQueue<number>, costOf: (key: string) => number = () => 1): string[] {
  const taken: string[] = [];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    taken.push(next[0]);
    queue.charge(flowOf(next[0]), costOf(next[0]));
  }
  return taken;
}

function filled(keys: readonly string[]): FairQueue<number> {
  const queue = new FairQueue<number>(flowOf);
  for (const key of keys) queue.push(key, 0);
  return queue;
}

const many = (flow: string, count: number) => Array.from({ length: count }, (_, index) => `${flow}/${index}`);

test("a flow with ten thousand keys delays no key of others by more than one round for each key before it", () => {
  const others = Array.from({ length: 50 }, (_, index) => `n${index}`);
  const taken = takeAll(filled([...many("greedy", 10_000), ...others.flatMap((other) => many(other, 3))]));
  expect(taken.length).toBe(10_150);
  for (const other of others) for (let nth = 0; nth < 3; nth += 1) expect(taken.indexOf(`${other}/${nth}`)).toBeLessThan(51 * (nth + 1));
});

test("a flow whose keys cost as much as ten others is passed over nine times, while others wait", () => {
  const taken = takeAll(filled([...many("costly", 20), ...many("cheap", 100)]), (key) => (flowOf(key) === "costly" ? 10 : 1));
  const first = taken.slice(0, 110);
  expect(first.filter((key) => flowOf(key) === "costly").length).toBe(10);
  expect(taken.slice(110).every((key) => flowOf(key) === "costly")).toBe(true);
});

test("a flow that pays alone is not held up, and owes nothing once nothing waits", () => {
  const queue = filled(many("costly", 5));
  expect(takeAll(queue, () => 1_000)).toEqual(many("costly", 5));
  for (const key of ["costly/9", "cheap/9"]) queue.push(key, 0);
  expect(takeAll(queue)).toEqual(["costly/9", "cheap/9"]);
});

test("a flow that may have no turn is passed over, and keeps its place", () => {
  const queue = filled(["a/1", "b/1", "a/2"]);
  const notA = (flow: string) => flow !== "a";
  expect([queue.shift(notA)![0], queue.shift(notA), queue.size]).toEqual(["b/1", undefined, 2]);
  expect(takeAll(queue)).toEqual(["a/1", "a/2"]);
});

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("push" as const), key: fc.constantFrom(..."abc".split("").flatMap((flow) => many(flow, 4))) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), key: fc.constantFrom("a/0", "b/1", "c/2") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("shift" as const), cost: fc.integer({ min: 0, max: 20 }) }) },
);

test("every key is taken once, and those of a flow in the order they came, whatever they cost", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new FairQueue<number>(flowOf);
      const model = new Map<string, string[]>(["a", "b", "c"].map((flow) => [flow, []]));
      const sizeOf = () => [...model.values()].reduce((sum, keys) => sum + keys.length, 0);
      for (const next of steps) {
        if (next.do === "push" && !queue.has(next.key)) {
          queue.push(next.key, 0);
          model.get(flowOf(next.key))!.push(next.key);
        } else if (next.do === "remove") {
          const keys = model.get(flowOf(next.key))!;
          expect(queue.remove(next.key) !== undefined).toBe(keys.includes(next.key));
          model.set(
            flowOf(next.key),
            keys.filter((key) => key !== next.key),
          );
        } else if (next.do === "shift") {
          const taken = queue.shift()?.[0];
          expect(taken === undefined).toBe(sizeOf() === 0);
          if (taken !== undefined) {
            expect(model.get(flowOf(taken))!.shift()).toBe(taken);
            queue.charge(flowOf(taken), next.cost);
          }
        }
        expect(queue.size).toBe(sizeOf());
      }
    }),
    { numRuns: 1_000 },
  );
});
