import { formatKey } from "../../object/key.ts";
import type { ObjectKey } from "../../object/key.ts";
import { ENDPOINTS, SERVICES } from "../../object/resource.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject, Service } from "../../object/types.ts";
import { alter, present, tell, withEntry, withMeta } from "./act.ts";
import type { Act } from "./act.ts";
import { ANNOTATIONS, drawObject, drawSubsets, drawValue, LABELS } from "./objects.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

type Change = (object: KubeObject, random: Random, world: World) => KubeObject | undefined;

/** Changes one object of a kind that is there. */
function change(name: string, resource: ResourceType, weight: number, how: Change): Act {
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const key = random.pick(world.options.names);
      const object = present(world, "tenant", resource, key);
      const changed = object && how(object, random, world);
      return (
        changed &&
        tell(
          `${name} ${formatKey(key)}`,
          alter(world, { side: "tenant", resource, key }, () => changed),
        )
      );
    },
  };
}

function create(resource: ResourceType, weight: number): Act {
  const name = `tenant creates ${resource.kind}`;
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const key = random.pick(world.options.names);
      if (present(world, "tenant", resource, key) !== undefined) return undefined;
      const object = drawObject(random, resource, key);
      return tell(
        `${name} ${formatKey(key)}`,
        world.write("tenant", (writer) => writer.create(resource, object)),
      );
    },
  };
}

/** Deletes an object; `anew` puts another one in its place at once, so that the uid alone tells them apart. */
function remove(resource: ResourceType, { anew, weight }: { anew: boolean; weight: number }): Act {
  const name = `tenant ${anew ? "recreates" : "deletes"} ${resource.kind}`;
  async function removed(world: World, random: Random, key: ObjectKey): Promise<string> {
    await world.write("tenant", (writer) => writer.delete(resource, key));
    if (anew) await world.write("tenant", (writer) => writer.create(resource, drawObject(random, resource, key)));
    return `${name} ${formatKey(key)}`;
  }
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const key = random.pick(world.options.names);
      if (present(world, "tenant", resource, key) === undefined) return undefined;
      return removed(world, random, key);
    },
  };
}

const setLabel: Change = (object, random) =>
  withMeta(object, { labels: withEntry(object.metadata.labels, random.pick(LABELS), drawValue(random)) });
const setAnnotation: Change = (object, random) =>
  withMeta(object, { annotations: withEntry(object.metadata.annotations, random.pick(ANNOTATIONS), drawValue(random)) });

const togglePause: Change = (object, _random, world) => {
  const key = `${world.generation.rules[0]!.translator.markerPrefix}pause`;
  const paused = object.metadata.annotations?.[key] === "true";
  return withMeta(object, { annotations: withEntry(object.metadata.annotations, key, paused ? undefined : "true") });
};

const flipSelector: Change = (object) => {
  const { selector, ...spec } = (object as Service).spec ?? {};
  return { ...object, spec: selector === undefined ? { ...spec, selector: { app: "a" } } : spec };
};

/** What users of the tenant cluster do. */
export const TENANT_USERS: readonly Act[] = [
  create(ENDPOINTS, 8),
  create(SERVICES, 5),
  change("tenant changes subsets", ENDPOINTS, 4, (object, random) => ({ ...object, subsets: drawSubsets(random) })),
  change("tenant changes a label", ENDPOINTS, 3, setLabel),
  change("tenant changes an annotation", ENDPOINTS, 3, setAnnotation),
  change("tenant changes a Service's label", SERVICES, 1, setLabel),
  change("tenant flips a selector", SERVICES, 1.5, flipSelector),
  change("tenant pauses or resumes", ENDPOINTS, 0.7, togglePause),
  remove(ENDPOINTS, { anew: false, weight: 1.5 }),
  remove(SERVICES, { anew: false, weight: 1 }),
  remove(ENDPOINTS, { anew: true, weight: 1.5 }),
  remove(SERVICES, { anew: true, weight: 0.7 }),
];
