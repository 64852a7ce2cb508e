import { describe, expect, test } from "vitest";
import { systemChance } from "../../src/base/chance.ts";

describe("the machine's chance", () => {
  test("draws fractions from 0 up to but not including 1", () => {
    const drawn = Array.from({ length: 1_000 }, () => systemChance.fraction());
    expect(drawn.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true);
    expect(new Set(drawn).size).toBeGreaterThan(900);
  });

  test("makes UUIDs of version 4 that differ", () => {
    const made = Array.from({ length: 100 }, () => systemChance.uuid());
    for (const uuid of made) expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(made).size).toBe(100);
  });

  test.each([0, 1, 32, 1_000])("makes %i bytes", (length) => {
    expect(systemChance.bytes(length)).toHaveLength(length);
  });

  test("makes bytes that differ", () => {
    expect(systemChance.bytes(32)).not.toEqual(systemChance.bytes(32));
  });
});
