import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../src/engine/sandbox/limits.ts";
import type { Evaluated, Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { CATEGORIES, attackText, attackValue, readAttacks } from "./attack.ts";
import { watchMemory, type MemoryWatch } from "./memory-watch.ts";
import { SENTINEL } from "./sentinel.ts";
import { CONTEXT, answer, createTestSandbox } from "./support.ts";

let memory: MemoryWatch;
let atRest: Evaluated;

function look(sandbox: Sandbox): Evaluated {
  return sandbox.evaluate(sandbox.compile(SENTINEL), { value: 1, context: CONTEXT });
}

beforeAll(async () => {
  memory = watchMemory();
  atRest = look(await createTestSandbox());
});

afterAll(() => {
  memory.stop();
});

describe.each(CATEGORIES)("an attack on %s", (category) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createTestSandbox();
  });

  test.each(readAttacks(category))("$why", (attack) => {
    // As text, because comparison of objects would overlook a key __proto__.
    expect(JSON.stringify(answer(sandbox, attackText(attack), attackValue(attack)))).toBe(JSON.stringify(attack.want));
    expect(memory.largest()).toBeLessThanOrEqual(DEFAULT_LIMITS.memoryBytes);
    // Not only the answer: an attack that left anything behind would also change the steps it takes.
    expect(look(sandbox)).toEqual(atRest);
  });
});

describe("the attacks", () => {
  const attacks = CATEGORIES.flatMap(readAttacks).filter(({ mechanism }) => mechanism !== undefined);

  test("are at least 300, no two of one mechanism", () => {
    expect(attacks.length).toBeGreaterThanOrEqual(300);
    expect(repeated(attacks.map(({ mechanism }) => mechanism))).toEqual([]);
    expect(repeated(attacks.map((attack) => JSON.stringify([attackText(attack), attackValue(attack)])))).toEqual([]);
  });

  test.each(CATEGORIES)("on %s have different names", (category) => {
    expect(repeated(readAttacks(category).map(({ why }) => why))).toEqual([]);
  });
});

function repeated<Item>(items: readonly Item[]): Item[] {
  return items.filter((item, index) => items.indexOf(item) !== index);
}
