import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Fifo } from "../../../src/kube/runtime/queue/fair-queue.ts";

const step = fc.oneof(
  fc.record({ do: fc.constant("push" as const), key: fc.constantFrom(..."abcdefgh") }),
  fc.record({ do: fc.constant("remove" as const), key: fc.constantFrom(..."abcdefgh") }),
  fc.record({ do: fc.constant("shift" as const) }),
  fc.record({ do: fc.constant("clear" as const) }),
);

test("a priority is a list of different keys, whatever is pushed, taken and removed in whatever order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const priority = new Fifo<number>();
      let model: [string, number][] = [];
      for (const [index, next] of steps.entries()) {
        if (next.do === "push" && !priority.has(next.key)) {
          priority.push(next.key, index);
          model.push([next.key, index]);
        } else if (next.do === "remove") {
          expect(priority.remove(next.key)).toBe(model.find(([key]) => key === next.key)?.[1]);
          model = model.filter(([key]) => key !== next.key);
        } else if (next.do === "shift") {
          expect(priority.shift()).toEqual(model.shift());
        } else if (next.do === "clear") {
          priority.clear();
          model = [];
        }
        expect(priority.size).toBe(model.length);
      }
    }),
    { numRuns: 1_000 },
  );
});
