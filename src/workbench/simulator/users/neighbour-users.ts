import { formatKey, keyOf } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { alter, hostKeyOf, present, lineOfAct, withEntry, withMeta, type Act } from "../act.ts";
import { withForeignMarks } from "./host-users.ts";
import { drawReferenced, drawFieldValue, REFERENCED_NAMES } from "../model/objects.ts";
import { marksOf, namesUs, prefixOf } from "../oracles/marks.ts";
import type { Random } from "../model/random.ts";
import type { World } from "../world.ts";

/** A copy that the syncer of another virtual cluster has made. */
interface Theirs {
  readonly resource: ResourceType;
  readonly object: KubeObject;
}

function isTheirs(world: World, object: KubeObject): boolean {
  const marks = marksOf(world, object);
  return marks !== undefined && !namesUs(world, marks);
}

/** An act on a copy of another virtual cluster, whose syncer still manages it. */
function act(name: string, weight: number, how: (world: World, random: Random, theirs: Theirs) => Promise<boolean>): Act {
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const all = world.resources.flatMap((resource) =>
        [...world.clusters.host.objects(resource).values()]
          .filter((object) => isTheirs(world, object))
          .map((object) => ({ resource, object })),
      );
      if (all.length === 0) return undefined;
      const theirs = random.pick(all);
      return lineOfAct(`${name}: ${theirs.resource.plural} ${formatKey(keyOf(theirs.object))}`, how(world, random, theirs));
    },
  };
}

const hasReferenced: Act = {
  name: "another virtual cluster has a referenced object",
  kind: "user",
  weight: 6,
  isPossible: ({ generation }) => generation.references !== undefined,
  perform(world, random) {
    const { resource } = random.pick(world.generation.references!.kinds);
    const source = { namespace: random.pick(world.options.names).namespace, name: random.pick(REFERENCED_NAMES) };
    const key = hostKeyOf(world, resource, source);
    if (key === undefined || present(world, "host", resource, key) !== undefined) return undefined;
    const drawn = drawReferenced(random, resource, key);
    const prefix = prefixOf(world);
    const said = { namespace: source.namespace, name: source.name, uid: "theirs" };
    const annotations = Object.fromEntries(Object.entries(said).map(([part, value]) => [`${prefix}object-${part}`, value]));
    const labels = { ...drawn.metadata.labels, [`${prefix}namespace`]: source.namespace };
    const marked = withForeignMarks(world, withMeta(drawn, { labels, annotations }), random.pick(["another name", "another namespace"]));
    return lineOfAct(
      `another virtual cluster has ${resource.plural} ${formatKey(key)}`,
      world.write("host", (writer) => writer.create(resource, marked)),
    );
  },
};

/** Actions of the syncers of other virtual clusters on the same host, on their own objects. */
export const NEIGHBOUR_USERS: readonly Act[] = [
  hasReferenced,
  act("another virtual cluster changes its copy", 2, (world, random, { resource, object }) =>
    alter(world, { side: "host", resource, key: keyOf(object) }, (known) =>
      withMeta(known, { labels: withEntry(known.metadata.labels, "app", drawFieldValue(random)) }),
    ),
  ),
  act("another virtual cluster deletes its copy", 1, (world, _random, { resource, object }) =>
    world.write("host", (writer) => writer.delete(resource, keyOf(object))),
  ),
];
