/**
 * Every story of `fixtures/scenarios`, through the whole engine on two embedded clusters. `support/scenario.ts` explains the files.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { acceptedWrites, previewOf } from "./support/preview.ts";
import { parseStory } from "./support/scenario.ts";
import type { Story, StoryWrites } from "./support/scenario.ts";
import { createWorld } from "./support/world.ts";
import type { World } from "./support/world.ts";

const FOLDER = join(import.meta.dirname, "../fixtures/scenarios");

const categories = readdirSync(FOLDER).map((category) => ({
  category,
  stories: readdirSync(join(FOLDER, category)).map((file) => {
    const story = parseStory(readFileSync(join(FOLDER, category, file), "utf8"));
    return { ...story, name: `${file.replace(/\.yaml$/, "")}: ${story.story}` };
  }),
}));

/** Virtual milliseconds; the round trips of several writes fit in. */
const LAG_MS = 30;

describe.each([
  { when: "at once", lagMs: 0 },
  { when: "late", lagMs: LAG_MS },
])("events that arrive $when", ({ lagMs }) => {
  describe.each(categories)("$category", ({ stories }) => {
    test.each(stories)("$name", async (story) => {
      const world = await createWorld(story, { lagMs });
      try {
        await world.play(story.steps);
        const writes = world.writes();
        expect(await world.seen()).toBe(world.wanted());
        if (story.want.writes) expect(writes, "writes since the last step").toEqual(story.want.writes);
        expect(await world.notes()).toMatchObject(containing(story.want.notes ?? {}));
        const { restartWrites = { host: 0, tenant: 0 }, callsAtRest = { host: 0, tenant: 0 } } = story.want;
        expect(await world.callsAtRest(), "calls at rest").toEqual(callsAtRest);
        // Events have the same end whenever they arrive.
        if (lagMs === 0) await foretell(world, story, restartWrites);
        expect(await world.writesOfRestart(), "writes of a second engine").toEqual(restartWrites);
      } finally {
        await world.close();
      }
    });
  });
});

async function foretell(world: World, story: Story, restartWrites: StoryWrites): Promise<void> {
  const { writes, unsettled } = await previewOf(world);
  expect(unsettled, "objects that never come to rest").toEqual([]);
  expect(acceptedWrites(story, writes), "foretold writes of a second engine").toEqual(restartWrites);
}

/** Each list with at least these items. */
function containing(lists: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(lists).map(([id, list]) => [id, expect.arrayContaining([...list]) as unknown]));
}

describe("the stories", () => {
  test("fill at least twelve categories with at least three stories each", () => {
    expect(categories.length).toBeGreaterThanOrEqual(12);
    expect(categories.filter(({ stories }) => stories.length < 3)).toEqual([]);
  });

  test("are told once each", () => {
    const told = categories.flatMap(({ stories }) => stories.map(({ story: _title, name: _name, ...story }) => JSON.stringify(story)));
    expect(told.length).toBe(new Set(told).size);
  });
});
