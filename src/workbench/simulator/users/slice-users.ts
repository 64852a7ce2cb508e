import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { alter, hostKeyOf, present, lineOfAct, withEntry, withMeta, type Act } from "../act.ts";
import type { Side } from "../model/cluster.ts";
import { ANNOTATIONS, asIPv6, drawSlice, drawSliceBody, drawFieldValue, LABELS, SLICE_SUFFIXES } from "../model/objects.ts";
import type { Random } from "../model/random.ts";
import type { World } from "../world.ts";

/** The place of one slice of one Service on one side. */
interface Place {
  readonly side: Side;
  readonly resource: typeof ENDPOINT_SLICES;
  readonly key: ObjectKey;
  /** Tenant key of the Service. */
  readonly service: ObjectKey;
}

/** An action of a user at a place. `how` returns undefined if the action is impossible there. */
interface Doing {
  readonly name: string;
  readonly weight: number;
  readonly side: Side;
  readonly how: (world: World, random: Random, place: Place) => Promise<boolean> | undefined;
}

/** An act of a user on a slice with one of a few names. */
export function sliceAct({ name, weight, side, how }: Doing): Act {
  return {
    name,
    kind: "user",
    weight,
    isPossible: ({ resources }) => resources.includes(ENDPOINT_SLICES),
    perform(world, random) {
      const service = random.pick(world.options.names);
      const own = { namespace: service.namespace, name: `${service.name}${random.pick(SLICE_SUFFIXES)}` };
      const key = side === "tenant" ? own : hostKeyOf(world, ENDPOINT_SLICES, own);
      const writing = key && how(world, random, { side, resource: ENDPOINT_SLICES, key, service });
      return writing && lineOfAct(`${name}: ${formatKey(key)}`, writing);
    },
  };
}

/** Creates a slice if there is none. */
export function createSlice(world: World, { side, key }: Place, draw: () => KubeObject): Promise<boolean> | undefined {
  if (present(world, side, ENDPOINT_SLICES, key) !== undefined) return undefined;
  const object = draw();
  return world.write(side, (writer) => writer.create(ENDPOINT_SLICES, object));
}

/** Changes an existing slice. `how` returns undefined if there is nothing in it to change. */
export function changeSlice(world: World, place: Place, how: (object: KubeObject) => KubeObject | undefined): Promise<boolean> | undefined {
  const object = present(world, place.side, ENDPOINT_SLICES, place.key);
  const changed = object && how(object);
  return changed && alter(world, place, () => changed);
}

function remove(world: World, { side, key }: Place): Promise<boolean> | undefined {
  if (present(world, side, ENDPOINT_SLICES, key) === undefined) return undefined;
  return world.write(side, (writer) => writer.delete(ENDPOINT_SLICES, key));
}

/** New content of the family that the slice has: it never changes. */
function drawnFor(slice: KubeObject, random: Random): Readonly<Record<string, unknown>> {
  const body = drawSliceBody(random);
  return slice["addressType"] === "IPv6" ? asIPv6(body) : body;
}

function touched(object: KubeObject, random: Random): KubeObject {
  const { labels, annotations } = object.metadata;
  return random.happens(0.5)
    ? withMeta(object, { labels: withEntry(labels, random.pick(LABELS), drawFieldValue(random)) })
    : withMeta(object, { annotations: withEntry(annotations, random.pick(ANNOTATIONS), drawFieldValue(random)) });
}

/** A slice like those of the host's mirror: with all labels and annotations of the Endpoints, including our markers. */
function mirrored(world: World, random: Random, { key, service }: Place): KubeObject {
  const hostService = hostKeyOf(world, ENDPOINTS, service);
  const slice = drawSlice(random, key, hostService?.name ?? "web");
  const endpoints = hostService && random.happens(0.5) ? present(world, "host", ENDPOINTS, hostService) : undefined;
  if (endpoints === undefined) return slice;
  const { labels, annotations = {} } = endpoints.metadata;
  return withMeta(slice, { labels: { ...labels, ...slice.metadata.labels }, annotations });
}

/** Actions of users and controllers on EndpointSlices. */
export const SLICE_USERS: readonly Act[] = [
  sliceAct({
    ...{ name: "tenant has a slice", weight: 12, side: "tenant" },
    how: (world, random, place) => createSlice(world, place, () => drawSlice(random, place.key, place.service.name)),
  }),
  sliceAct({
    ...{ name: "tenant changes a slice", weight: 6, side: "tenant" },
    how: (world, random, place) => changeSlice(world, place, (object) => ({ ...touched(object, random), ...drawnFor(object, random) })),
  }),
  sliceAct({
    ...{ name: "tenant moves a slice to another Service", weight: 3, side: "tenant" },
    how: (world, random, place) =>
      changeSlice(world, place, (object) => {
        const other = random.happens(0.3) ? undefined : random.pick(world.options.names).name;
        return withMeta(object, { labels: withEntry(object.metadata.labels, "kubernetes.io/service-name", other) });
      }),
  }),
  sliceAct({ ...{ name: "tenant deletes a slice", weight: 4, side: "tenant" }, how: (world, _random, place) => remove(world, place) }),
  sliceAct({
    ...{ name: "host changes a slice", weight: 5, side: "host" },
    how: (world, random, place) =>
      changeSlice(world, place, (object) => (random.happens(0.6) ? touched(object, random) : { ...object, ...drawnFor(object, random) })),
  }),
  sliceAct({ ...{ name: "host deletes a slice", weight: 3, side: "host" }, how: (world, _random, place) => remove(world, place) }),
  sliceAct({
    ...{ name: "host has a foreign slice", weight: 2, side: "host" },
    how: (world, random, place) => createSlice(world, place, () => mirrored(world, random, place)),
  }),
];
