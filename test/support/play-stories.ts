/** Plays every story of `fixtures/scenarios`; `scenario.ts` explains the files. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { acceptedWrites, previewOf } from "./preview.ts";
import { parseStory, type Story, type StoryWrites } from "./scenario.ts";
import { createWorld, type World } from "./world.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/scenarios");

/** The stories by folder. */
export const categories = readdirSync(FOLDER).map((category) => ({
  category,
  stories: readdirSync(join(FOLDER, category)).map((file) => {
    const story = parseStory(readFileSync(join(FOLDER, category, file), "utf8"));
    return { ...story, name: `${file.replace(/\.yaml$/, "")}: ${story.story}` };
  }),
}));

/** Declares one test for each story, with events that arrive after so many virtual milliseconds. */
export function playStories(lagMs: number): void {
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
}

async function foretell(world: World, story: Story, restartWrites: StoryWrites): Promise<void> {
  const { writes, unsettled } = await previewOf(world);
  expect(unsettled, "objects that never come to rest").toEqual([]);
  expect(acceptedWrites(story, writes), "foretold writes of a second engine").toEqual(restartWrites);
}

/** Each list with at least these items. */
function containing(lists: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(lists).map(([id, list]) => [id, expect.arrayContaining([...list]) as unknown]));
}
