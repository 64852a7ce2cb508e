import { formatKey } from "../../object/key.ts";
import type { ObjectKey } from "../../object/key.ts";
import { ENDPOINTS, SERVICES } from "../../object/resource.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject, Service } from "../../object/types.ts";
import { alter, hostKeyOf, present, tell, withEntry, withMeta } from "./act.ts";
import type { Act } from "./act.ts";
import { ANNOTATIONS, drawObject, drawSubsets, drawValue, LABELS, PRIVATE_ANNOTATION } from "./objects.ts";
import { isCopy, prefixOf } from "./oracles/marks.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

type Change = (object: KubeObject, random: Random, world: World) => KubeObject | undefined;

/** Changes one host object that stands at the host key of one of the names. */
function change(name: string, resource: ResourceType, weight: number, how: Change): Act {
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const key = drawKey(world, random, resource);
      const object = key && present(world, "host", resource, key);
      const changed = object && how(object, random, world);
      if (changed === undefined) return undefined;
      return tell(
        `${name} ${formatKey(key!)}`,
        alter(world, { side: "host", resource, key: key! }, () => changed),
      );
    },
  };
}

function drawKey(world: World, random: Random, resource: ResourceType): ObjectKey | undefined {
  return hostKeyOf(world, resource, random.pick(world.options.names));
}

function create(resource: ResourceType, weight: number): Act {
  const name = `host has a foreign ${resource.kind}`;
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const key = drawKey(world, random, resource);
      if (key === undefined || present(world, "host", resource, key) !== undefined) return undefined;
      const object = drawObject(random, resource, key);
      return tell(
        `${name} ${formatKey(key)}`,
        world.write("host", (writer) => writer.create(resource, object)),
      );
    },
  };
}

/** Marks that are not the object's own: a controller derived it from one of our copies, or another virtual cluster's syncer made it. */
function createMarked(resource: ResourceType, weight: number): Act {
  const name = `host has a ${resource.kind} with the marks of another object`;
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const key = drawKey(world, random, resource);
      const copies = [ENDPOINTS, SERVICES]
        .flatMap((kind) => [...world.clusters.host.objects(kind).values()])
        .filter((object) => isCopy(world, object) !== undefined);
      if (key === undefined || copies.length === 0 || present(world, "host", resource, key) !== undefined) return undefined;
      const { labels, annotations } = random.pick(copies).metadata;
      const derived = withMeta(drawObject(random, resource, key), { ...(labels && { labels }), ...(annotations && { annotations }) });
      const object = random.happens(0.5) ? derived : withMarksOf(world, derived, "red");
      return tell(
        `${name} ${formatKey(key)}`,
        world.write("host", (writer) => writer.create(resource, object)),
      );
    },
  };
}

/** Everything about it is as if the syncer of that other virtual cluster had made it here. */
function withMarksOf(world: World, object: KubeObject, vcluster: string): KubeObject {
  const prefix = prefixOf(world);
  const { namespace = "", name = "", labels, annotations } = object.metadata;
  const own = {
    [`${prefix}vcluster`]: vcluster,
    [`${prefix}object-kind`]: `${object.apiVersion}/${object.kind}`,
    [`${prefix}object-host-name`]: name,
    [`${prefix}object-host-namespace`]: namespace,
  };
  return withMeta(object, { labels: { ...labels, [`${prefix}managed-by`]: vcluster }, annotations: { ...annotations, ...own } });
}

function remove(resource: ResourceType, weight: number): Act {
  const name = `host deletes ${resource.kind}`;
  return {
    name,
    kind: "user",
    weight,
    perform(world, random) {
      const key = drawKey(world, random, resource);
      if (key === undefined || present(world, "host", resource, key) === undefined) return undefined;
      return tell(
        `${name} ${formatKey(key)}`,
        world.write("host", (writer) => writer.delete(resource, key)),
      );
    },
  };
}

const setLabel: Change = (object, random) =>
  withMeta(object, { labels: withEntry(object.metadata.labels, random.pick(LABELS), drawValue(random)) });
const setAnnotation: Change = (object, random) =>
  withMeta(object, { annotations: withEntry(object.metadata.annotations, random.pick(ANNOTATIONS), drawValue(random)) });

/** One marker goes, or all of them: either way the object is nobody's now. */
const stripMarkers: Change = (object, random, world) => {
  const { markerPrefix } = world.generation.rules[0]!.translator;
  const keys = Object.keys(object.metadata.annotations ?? {}).filter((key) => key.startsWith(markerPrefix));
  if (keys.length === 0) return undefined;
  const gone = new Set(random.happens(0.5) ? keys : [random.pick(keys)]);
  const annotations = Object.fromEntries(Object.entries(object.metadata.annotations!).filter(([key]) => !gone.has(key)));
  return withMeta(object, { annotations });
};

const flipSelector: Change = (object) => {
  const { selector, ...spec } = (object as Service).spec ?? {};
  return { ...object, spec: selector === undefined ? { ...spec, selector: { app: "a" } } : spec };
};

/** As the host's endpoints controller writes: all labels are its own, annotations stay. */
const controllerWrites: Change = (object, random, world) => {
  const service = world.clusters.host
    .objects(SERVICES)
    .get(formatKey({ namespace: object.metadata.namespace!, name: object.metadata.name! }));
  if ((service as Service | undefined)?.spec?.selector === undefined) return undefined;
  const labels = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };
  return { ...withMeta(object, { labels }), subsets: drawSubsets(random) };
};

const touch: Change = (object, random) =>
  withMeta(object, { annotations: withEntry(object.metadata.annotations, PRIVATE_ANNOTATION, String(random.below(1_000))) });

/** What people and controllers of the host cluster do to our copies, and in their way. */
export const HOST_USERS: readonly Act[] = [
  change("host changes subsets", ENDPOINTS, 1.5, (object, random) => ({ ...object, subsets: drawSubsets(random) })),
  change("host changes a label", ENDPOINTS, 2, setLabel),
  change("host changes an annotation", ENDPOINTS, 3, setAnnotation),
  change("host touches an object", ENDPOINTS, 1, touch),
  change("host changes a Service's annotation", SERVICES, 1, setAnnotation),
  change("host flips a selector", SERVICES, 1.5, flipSelector),
  change("host's controller writes", ENDPOINTS, 2, controllerWrites),
  change("host strips markers", ENDPOINTS, 0.7, stripMarkers),
  change("host strips a Service's markers", SERVICES, 0.3, stripMarkers),
  create(ENDPOINTS, 0.7),
  create(SERVICES, 0.7),
  createMarked(ENDPOINTS, 0.7),
  createMarked(SERVICES, 0.5),
  remove(ENDPOINTS, 1),
  remove(SERVICES, 0.7),
];
