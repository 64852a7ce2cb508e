import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS, type ResourceType } from "../../../kube/object/resource.ts";
import { targetSide } from "../../../engine/reconcile/references/reference-copy.ts";
import { alter, hostKeyOf, present, lineOfAct, withEntry, withMeta, type Act } from "../act.ts";
import type { Side } from "../model/cluster.ts";
import { CONFIG_ANNOTATION, drawData, drawReferenced, drawFieldValue, REFERENCED_NAMES, SECRET_ANNOTATION } from "../model/objects.ts";
import type { Random } from "../model/random.ts";
import type { World } from "../world.ts";

/** The place of one object that something may refer to, or of its copy. */
interface Place {
  readonly side: Side;
  readonly resource: ResourceType;
  readonly key: ObjectKey;
}

/** An action of a user at a place. `how` returns undefined if the action is impossible there. */
interface Doing {
  readonly name: string;
  readonly weight: number;
  /** Share of places where the copy belongs: there, the action concerns another owner's object, or edits the copy. */
  readonly atTarget: number;
  readonly how: (world: World, random: Random, place: Place) => Promise<boolean> | undefined;
}

function drawPlace(world: World, random: Random, atTarget: number): Place | undefined {
  const kind = random.pick(world.generation.references!.kinds);
  const tenantKey = { namespace: random.pick(world.options.names).namespace, name: random.pick(REFERENCED_NAMES) };
  const target = targetSide({ kind });
  const side = random.happens(atTarget) ? target : target === "host" ? "tenant" : "host";
  const key = side === "tenant" ? tenantKey : hostKeyOf(world, kind.resource, tenantKey);
  return key && { side, resource: kind.resource, key };
}

function act({ name, weight, atTarget, how }: Doing): Act {
  return {
    name,
    kind: "user",
    weight,
    isPossible: ({ generation }) => generation.references !== undefined,
    perform(world, random) {
      const place = drawPlace(world, random, atTarget);
      const writing = place && how(world, random, place);
      return writing && lineOfAct(`${name}: ${place.side} ${place.resource.plural} ${formatKey(place.key)}`, writing);
    },
  };
}

const nameIt: Act = {
  name: "tenant names another object",
  kind: "user",
  weight: 12,
  isPossible: ({ generation }) => generation.references !== undefined,
  perform(world, random) {
    const key = random.pick(world.options.names);
    const object = present(world, "tenant", ENDPOINTS, key);
    if (object === undefined) return undefined;
    const field = random.pick([SECRET_ANNOTATION, CONFIG_ANNOTATION]);
    const named = random.happens(0.25) ? undefined : random.pick(REFERENCED_NAMES);
    const changed = withMeta(object, { annotations: withEntry(object.metadata.annotations, field, named) });
    return lineOfAct(
      `tenant ${formatKey(key)} names ${named ?? "nothing"} in ${field}`,
      alter(world, { side: "tenant", resource: ENDPOINTS, key }, () => changed),
    );
  },
};

/** Actions of users on Secrets and ConfigMaps that objects refer to. */
export const REFERENCE_USERS: readonly Act[] = [
  nameIt,
  act({
    name: "a referenced object appears",
    weight: 12,
    atTarget: 0.15,
    how: (world, random, { side, resource, key }) =>
      present(world, side, resource, key) === undefined
        ? world.write(side, (writer) => writer.create(resource, drawReferenced(random, resource, key)))
        : undefined,
  }),
  act({
    name: "a referenced object changes",
    weight: 10,
    atTarget: 0.3,
    how(world, random, place) {
      const object = present(world, place.side, place.resource, place.key);
      if (object === undefined) return undefined;
      const labels = withEntry(object.metadata.labels, "app", drawFieldValue(random));
      const data = drawData(random, object.kind);
      return alter(world, place, () => ({ ...withMeta(object, { labels }), data }));
    },
  }),
  act({
    name: "a referenced object is deleted",
    weight: 5,
    atTarget: 0.25,
    how: (world, _random, { side, resource, key }) =>
      present(world, side, resource, key) === undefined ? undefined : world.write(side, (writer) => writer.delete(resource, key)),
  }),
];
