import { EngineError, isEngineError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { misfitOf } from "../asserts/kind-fields.ts";
import { setValue } from "../asserts/set-value.ts";
import type { Side } from "../simulator/model/cluster.ts";
import type { ObjectPlace, ObjectPlaces } from "./places.ts";
import type { Action } from "./sequence.ts";
import type { SequenceWorld } from "./world/world.ts";

/** Performs a user's action. Returns the reason if it fails, otherwise undefined. */
export async function act(world: SequenceWorld, places: ObjectPlaces, action: Action): Promise<string | undefined> {
  const place = places.find(action.side, action.object);
  world.ledger.author = action.side;
  try {
    return await perform(world, places, { action, place });
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return `Cannot ${action.verb} ${action.object} (${place.text}) in the ${action.side} cluster: ${error.message}`;
  }
}

/** Creates an object before the sequence starts. */
export async function give(
  world: SequenceWorld,
  places: ObjectPlaces,
  { side, object }: { side: Side; object: string },
): Promise<string | undefined> {
  return act(world, places, { side, verb: "apply", object, set: {} });
}

async function perform(
  world: SequenceWorld,
  places: ObjectPlaces,
  { action, place }: { action: Action; place: ObjectPlace },
): Promise<string | undefined> {
  const { side, verb, object: name } = action;
  const { writer } = world.ledger.clusters[side];
  const before = places.present(side, name);
  if (verb === "apply") {
    const wanted = withValues(places.written(name).object, action.set);
    if (before === undefined) await writer.create(place.resource, wanted);
    else await writer.update(place.resource, withVersionOf(before, wanted));
    return undefined;
  }
  if (before === undefined || place.key === undefined) return `Cannot ${verb} ${name}: there is no ${place.text} in the ${side} cluster`;
  if (verb === "delete") await writer.delete(place.resource, place.key);
  else await writer.update(place.resource, withValues(before, valuesOf(world, action)));
  return undefined;
}

function valuesOf({ engine }: SequenceWorld, { verb, set }: Action): Action["set"] {
  if (verb === "edit") return set;
  const path = `metadata.annotations[${JSON.stringify(`${engine.translator.markerPrefix}pause`)}]`;
  return { [path]: verb === "pause" ? "true" : null };
}

function withValues(object: KubeObject, values: Action["set"]): KubeObject {
  const changed = Object.entries(values).reduce<unknown>((before, [path, value]) => setValue(before, path, value), object);
  const why = misfitOf(changed);
  if (why !== undefined) throw new EngineError("CONFIG_VALUE", `it would not be a valid ${object.kind}: ${why}`);
  return changed as KubeObject;
}

function withVersionOf({ metadata: { uid, resourceVersion } }: KubeObject, wanted: KubeObject): KubeObject {
  return { ...wanted, metadata: { ...wanted.metadata, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } };
}
