import type { BackendsMode } from "../../../engine/config/backends-mode.ts";
import { formatKey } from "../../../kube/object/key.ts";
import { slicesOf } from "../../../kube/object/endpoints/slices-of-endpoints.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { Endpoints } from "../../../kube/object/types.ts";
import { alter, present, lineOfAct, type Act } from "../act.ts";
import { restart } from "../faults/process-faults.ts";
import type { Generation } from "../model/generation.ts";
import { SLICE_SUFFIXES } from "../model/objects.ts";
import type { Random } from "../model/random.ts";
import { madeOf, mirroredFrom } from "../oracles/marks.ts";
import type { World } from "../world.ts";

const ADDRESSES = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;

/** Generations with another value of the setting `backends`. */
function others({ options, generation }: World, fits: (backends: BackendsMode) => boolean): readonly Generation[] {
  return options.setting.generations.filter(({ backends }) => backends !== undefined && backends !== generation.backends && fits(backends));
}

/** Reports whether a process starts. With slices alone, it does not while the host has slices of copies of Endpoints. */
function mayStart(world: World, backends: BackendsMode): boolean {
  if (backends !== "slices") return true;
  const slices = [...world.clusters.host.objects(ENDPOINT_SLICES).values()];
  return slices.every((slice) => (madeOf(world, slice) ?? mirroredFrom(world, slice)) === undefined);
}

/** Reports whether a running process can change to a value. */
function mayReload(world: World, backends: BackendsMode): boolean {
  return world.generation.backends !== "slices" && backends !== "slices";
}

function restartWith(world: World, random: Random, fits: (backends: BackendsMode) => boolean): string | undefined {
  const possible = others(world, (backends) => fits(backends) && mayStart(world, backends));
  if (possible.length === 0) return undefined;
  const before = world.generation.backends;
  world.generation = random.pick(possible);
  for (const { index } of world.replicas) restart(world, random, { index, behindMax: random.happens(0.3) ? 20 : 0 });
  world.notice("backends");
  return `every replica starts with backends: ${world.generation.backends} instead of ${before}`;
}

/** Creates a Service without a selector, and Endpoints with backends that take traffic. Existing Endpoints get such backends. */
async function serve(world: World, random: Random): Promise<string> {
  const key = random.pick(world.options.names);
  const addresses = ADDRESSES.filter(() => random.happens(0.6)).map((ip) => ({ ip }));
  const subsets = [{ addresses: addresses.length > 0 ? addresses : [{ ip: ADDRESSES[0] }], ports: [{ name: "http", port: 80 }] }];
  const service = { apiVersion: "v1", kind: "Service", metadata: { ...key }, spec: { ports: [{ name: "http", port: 80 }] } };
  const endpoints = { apiVersion: "v1", kind: "Endpoints", metadata: { ...key, labels: { app: "a" } }, subsets };
  if (present(world, "tenant", SERVICES, key) === undefined) await world.write("tenant", (writer) => writer.create(SERVICES, service));
  const isThere = present(world, "tenant", ENDPOINTS, key) !== undefined;
  if (!isThere)
    return lineOfAct(
      `tenant serves ${formatKey(key)}`,
      world.write("tenant", (writer) => writer.create(ENDPOINTS, endpoints)),
    );
  return lineOfAct(
    `tenant serves ${formatKey(key)}`,
    alter(world, { side: "tenant", resource: ENDPOINTS, key }, (object) => ({ ...object, subsets })),
  );
}

/** Writes a slice with the same content as its Endpoints, like an operator that writes both kinds. */
async function slice(world: World, random: Random): Promise<string | undefined> {
  const service = random.pick(world.options.names);
  const key = { namespace: service.namespace, name: `${service.name}${random.pick(SLICE_SUFFIXES)}` };
  const endpoints = present(world, "tenant", ENDPOINTS, service) as Endpoints | undefined;
  const [content] =
    endpoints === undefined ? [] : slicesOf(endpoints, { addressesMax: 1_000, endpointsMax: 1_000, conditions: () => ({}) });
  const before = present(world, "tenant", ENDPOINT_SLICES, key);
  const isControllers = before?.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] !== undefined;
  if (content === undefined || isControllers) return undefined;
  const metadata = { ...key, labels: { "kubernetes.io/service-name": service.name } };
  const object = { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata, ...content };
  return lineOfAct(
    `tenant has a slice with the backends of its Endpoints: ${formatKey(key)}`,
    world.write("tenant", (writer) =>
      before === undefined ? writer.create(ENDPOINT_SLICES, object) : writer.update(ENDPOINT_SLICES, { ...before, ...content }),
    ),
  );
}

/** Time in milliseconds after which a syncer no longer waits for the mirror, with a margin. */
const MISSED_MS = 3_500;

/** Acts around the setting `backends`: an operator changes it, and users and the host's mirror act where it affects readers. */
export const BACKENDS_USERS: readonly Act[] = [
  { ...{ name: "tenant serves", kind: "user", weight: 60 }, perform: serve },
  { ...{ name: "tenant has a slice with the backends of its Endpoints", kind: "user", weight: 40 }, perform: slice },
  {
    ...{ name: "host's mirror is slower than the syncer allows", kind: "user", weight: 20 },
    perform(world) {
      world.mirroring = false;
      world.now += MISSED_MS;
      for (const replica of world.awake) replica.wake();
      return `${MISSED_MS} ms pass without any mirroring on the host`;
    },
  },
  {
    ...{ name: "backends change in place", kind: "user", weight: 14 },
    isPossible: (world) => others(world, (backends) => mayReload(world, backends)).length > 0,
    perform(world, random) {
      const possible = others(world, (backends) => mayReload(world, backends));
      if (possible.length === 0) return undefined;
      const before = world.generation.backends;
      world.generation = random.pick(possible);
      for (const replica of world.replicas) replica.reload(world.generation);
      world.notice("backends");
      return `every replica loads backends: ${world.generation.backends} instead of ${before}`;
    },
  },
  {
    ...{ name: "backends change by a restart", kind: "user", weight: 7 },
    isPossible: (world) => others(world, (backends) => backends !== "slices").length > 0,
    perform: (world, random) => restartWith(world, random, (backends) => backends !== "slices"),
  },
  {
    ...{ name: "backends change to slices alone", kind: "user", weight: 7 },
    isPossible: (world) => others(world, (backends) => backends === "slices").length > 0,
    perform: (world, random) => restartWith(world, random, (backends) => backends === "slices"),
  },
];
