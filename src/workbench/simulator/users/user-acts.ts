import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import { alter, hostKeyOf, present, lineOfAct, withEntry, withMeta, type Act } from "../act.ts";
import type { Side } from "../model/cluster.ts";
import { ANNOTATIONS, drawObject, drawSubsets, drawFieldValue, LABELS } from "../model/objects.ts";
import type { Random } from "../model/random.ts";
import type { World } from "../world.ts";

/** The objects that an act concerns, and how often it is drawn. */
export interface UserActOptions {
  readonly side: Side;
  readonly resource: ResourceType;
  /** As in {@link Act}. */
  readonly weight: number;
  /** Makes an object of the resource. Default: {@link drawObject}. */
  readonly draw?: (random: Random, key: ObjectKey) => KubeObject;
}

/** Returns the changed object; undefined if there is nothing in it to change. */
export type Edit = (object: KubeObject, random: Random, world: World) => KubeObject | undefined;

/** An act in which a user writes an object with one of the names. `how` starts the write, or returns undefined if it is impossible. */
export function userAct(
  name: string,
  { side, resource, weight }: UserActOptions,
  how: (world: World, random: Random, key: ObjectKey) => Promise<boolean> | undefined,
): Act {
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const drawn = random.pick(world.options.names);
      const key = side === "tenant" ? drawn : hostKeyOf(world, resource, drawn);
      const writing = key && how(world, random, key);
      return writing && lineOfAct(`${name} ${formatKey(key!)}`, writing);
    },
  };
}

/** Changes an existing object. */
export function changes(name: string, options: UserActOptions, edit: Edit): Act {
  const { side, resource } = options;
  return userAct(name, options, (world, random, key) => {
    const object = present(world, side, resource, key);
    const changed = object && edit(object, random, world);
    return changed && alter(world, { side, resource, key }, () => changed);
  });
}

/** Creates an object if there is none. */
export function creates(name: string, options: UserActOptions): Act {
  const { side, resource } = options;
  return userAct(name, options, (world, random, key) => {
    if (present(world, side, resource, key) !== undefined) return undefined;
    const object = drawn(options, random, key);
    return world.write(side, (writer) => writer.create(resource, object));
  });
}

/** Deletes an existing object. */
export function deletes(name: string, options: UserActOptions): Act {
  const { side, resource } = options;
  return userAct(name, options, (world, _random, key) => {
    if (present(world, side, resource, key) === undefined) return undefined;
    return world.write(side, (writer) => writer.delete(resource, key));
  });
}

/** Deletes an object and immediately creates another one with the same name, so that only the uid tells them apart. */
export function recreates(options: UserActOptions): Act {
  const { side, resource } = options;
  return userAct(`tenant recreates ${resource.kind}`, options, (world, random, key) => {
    if (present(world, side, resource, key) === undefined) return undefined;
    return world
      .write(side, (writer) => writer.delete(resource, key))
      .then(() => world.write(side, (writer) => writer.create(resource, drawn(options, random, key))));
  });
}

function drawn({ resource, draw }: UserActOptions, random: Random, key: ObjectKey): KubeObject {
  return draw === undefined ? drawObject(random, resource, key) : draw(random, key);
}

/** Gives one label a new value. */
export const setLabel: Edit = (object, random) =>
  withMeta(object, { labels: withEntry(object.metadata.labels, random.pick(LABELS), drawFieldValue(random)) });

/** Gives one annotation a new value. */
export const setAnnotation: Edit = (object, random) =>
  withMeta(object, { annotations: withEntry(object.metadata.annotations, random.pick(ANNOTATIONS), drawFieldValue(random)) });

/** Gives Endpoints new addresses. */
export const setSubsets: Edit = (object, random) => ({ ...object, subsets: drawSubsets(random) });

/** Removes a Service's selector, or sets one. */
export const flipSelector: Edit = (object) => {
  const { selector, ...spec } = (object as Service).spec ?? {};
  return { ...object, spec: selector === undefined ? { ...spec, selector: { app: "a" } } : spec };
};
