/**
 * Every story of `fixtures/scenarios`, through the whole engine on two embedded clusters whose events arrive at once. `support/scenario.ts`
 * explains the files; `scenarios.late.test.ts` plays them with late events.
 */
import { describe, expect, test } from "vitest";
import { categories, playStories } from "./support/play-stories.ts";

playStories(0);

describe("the stories", () => {
  test("fill at least twelve categories with at least three stories each", () => {
    expect(categories.length).toBeGreaterThanOrEqual(12);
    expect(categories.filter(({ stories }) => stories.length < 3)).toEqual([]);
  });

  test("are reported once each", () => {
    const told = categories.flatMap(({ stories }) => stories.map(({ story: _title, name: _name, ...story }) => JSON.stringify(story)));
    expect(told.length).toBe(new Set(told).size);
  });
});
