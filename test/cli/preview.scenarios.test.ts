/**
 * A preview of the beginning of every story of `fixtures/scenarios`: its writes can be applied unchanged, and leave
 * nothing to do. `scenarios.test.ts` previews their ends.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../src/base/errors.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { keyOf } from "../../src/kube/object/key.ts";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import type { PlannedWrite } from "../../src/engine/sync/inspect/preview.ts";
import { previewOf } from "../support/preview.ts";
import { parseStory } from "../support/scenario.ts";
import { createWorld, type World } from "../support/world.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/scenarios");

const stories = readdirSync(FOLDER).flatMap((category) =>
  readdirSync(join(FOLDER, category)).map((file) => {
    const story = parseStory(readFileSync(join(FOLDER, category, file), "utf8"));
    return { ...story, name: `${category}/${file.replace(/\.yaml$/, "")}` };
  }),
);

/** Carries a planned write out as it stands, on whatever version the cluster has by now. False when the cluster refuses it. */
async function carryOut({ clients }: World, { resource, operation }: PlannedWrite): Promise<boolean> {
  const client = clients[operation.side];
  try {
    if (operation.action === "delete") await client.delete(resource, operation.key);
    else if (operation.action === "create") await client.create(resource, operation.object);
    else await client.update(resource, await asOfNow(client, resource, operation.object));
    return true;
  } catch (error) {
    if (isEngineError(error, "API_INVALID")) return false;
    throw error;
  }
}

async function asOfNow(client: ClusterClient, resource: ResourceType, object: KubeObject): Promise<KubeObject> {
  const { uid, resourceVersion } = (await client.get(resource, keyOf(object)))!.metadata;
  return { ...object, metadata: { ...object.metadata, uid: uid!, resourceVersion: resourceVersion! } };
}

describe("before an engine has ever run", () => {
  test.each(stories)("$name", async (story) => {
    const world = await createWorld(story, { idle: true });
    try {
      const { writes, unsettled } = await previewOf(world);
      expect(unsettled).toEqual([]);
      const refused = new Set<string>();
      for (const write of writes) if (!(await carryOut(world, write))) refused.add(write.id);
      const again = (await previewOf(world)).writes;
      expect(again.filter(({ id }) => !refused.has(id)).map(({ operation }) => operation)).toEqual([]);
      await world.start();
      expect(world.writes()).toEqual({ host: 0, tenant: 0 });
    } finally {
      await world.close();
    }
  });
});
