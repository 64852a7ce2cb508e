/** Keys and a model of them, in random sequences; `npm run test:key-chains` plays more. */
import { expect, test } from "vitest";
import { play } from "../../suites/key-chains/play.ts";

test.each([1, 101, 201])("every key works exactly as long as the model predicts, in a hundred sequences from seed %d", async (first) => {
  await expect(play(Array.from({ length: 100 }, (_none, index) => first + index))).resolves.toBeUndefined();
});
