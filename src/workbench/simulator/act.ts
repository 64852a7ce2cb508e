import { formatKey, type ObjectKey } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject, ObjectMeta } from "../../kube/object/types.ts";
import type { Side } from "./model/cluster.ts";
import type { Random } from "./model/random.ts";
import type { World } from "./world.ts";

/**
 * One thing that can happen. Its details are drawn only from `random`, so that a name and a seed number determine it: runs are recorded,
 * replayed and shrunk as lists of such pairs.
 */
export interface Act {
  /** Unique. Reports count acts by name. */
  readonly name: string;
  /** `move`: normal operation. `user`: a user writes. `fault`: something breaks. */
  readonly kind: "move" | "user" | "fault";
  /** How often it is drawn, relative to other acts of the same kind. */
  readonly weight: number;
  /** Returns false if the act is certainly impossible now, which is cheaper than trying. Default: only trying shows it. */
  isPossible?(world: World): boolean;
  /** Performs the act and describes it in one line. Returns undefined if the act is impossible now. */
  perform(world: World, random: Random): string | undefined | Promise<string | undefined>;
}

/** The current object of one kind on the server. */
export function present(world: World, side: Side, resource: ResourceType, key: ObjectKey): KubeObject | undefined {
  return world.clusters[side].objects(resource).get(formatKey(key));
}

/** The host key of a tenant key; all generations use the same names. */
export function hostKeyOf(world: World, resource: ResourceType, key: ObjectKey): ObjectKey | undefined {
  return world.generation.rules[0]!.translator.toHost(key, resource);
}

/** Changes an object, like a user who has just read it. Returns false if it does not exist or the server refuses the change. */
export async function alter(
  world: World,
  at: { readonly side: Side; readonly resource: ResourceType; readonly key: ObjectKey },
  change: (object: KubeObject) => KubeObject,
): Promise<boolean> {
  const object = present(world, at.side, at.resource, at.key);
  if (object === undefined) return false;
  return world.write(at.side, (writer) => writer.update(at.resource, change(object)));
}

/** The line of the timeline for a user's action: `what`, followed by ": refused" if the cluster refuses it. */
export async function lineOfAct(what: string, writing: Promise<boolean>): Promise<string> {
  return (await writing) ? what : `${what}: refused`;
}

/** The object with new metadata. */
export function withMeta(object: KubeObject, metadata: ObjectMeta): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

/** The map with one key set, or removed if the value is undefined. */
export function withEntry(map: Readonly<Record<string, string>> = {}, key: string, value: string | undefined): Record<string, string> {
  const { [key]: _before, ...rest } = map;
  return value === undefined ? rest : { ...rest, [key]: value };
}
