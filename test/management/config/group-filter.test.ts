import { describe, expect, test } from "vitest";
import { groupFilter } from "../../../src/management/config/group-filter.ts";

describe("the filter of groups", () => {
  test("takes the groups that one of the expressions matches, and no others", () => {
    const filter = groupFilter(["^team-", "(?i)admins$"]);
    expect(["team-a", "my-team-a", "Platform-ADMINS", "admins-2"].map(filter)).toEqual([true, false, true, false]);
  });

  test("takes all groups when there is no expression", () => {
    expect(groupFilter([])("anything")).toBe(true);
  });

  test("takes no group of a name without bounds, nor by an expression that is none", () => {
    expect(groupFilter(["a"])("a".repeat(1_024))).toBe(true);
    expect(groupFilter(["a"])("a".repeat(1_025))).toBe(false);
    expect(groupFilter(["(", "b"])("(")).toBe(false);
  });
});
