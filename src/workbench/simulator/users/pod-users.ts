/**
 * The controllers of the tenant cluster that write backends from Pods: one writes EndpointSlices, another one Endpoints. They follow the same
 * Pods one after the other, and the one of Endpoints does not exist in every cluster.
 *
 * @module
 */
import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { present, type Act } from "../act.ts";
import { hasReaders } from "../model/generation.ts";
import { ENDPOINT_CONDITIONS } from "../model/objects.ts";
import type { Random } from "../model/random.ts";
import type { World } from "../world.ts";

const MANAGER = "endpointslice-controller.k8s.io";
const PORTS = [{ name: "http", port: 80, protocol: "TCP" }];
/** Name suffixes of a Service's slices, one for each family. */
const SUFFIXES = { IPv4: "-p4", IPv6: "-p6" } as const;
type Family = keyof typeof SUFFIXES;

interface Pod {
  readonly number: number;
  readonly conditions: (typeof ENDPOINT_CONDITIONS)[number];
}

function addressOf(family: Family, { number }: Pod): string {
  return family === "IPv4" ? `10.0.0.${number}` : `fd00::${number}`;
}

function sliceOf(family: Family, service: ObjectKey, pods: readonly Pod[]): KubeObject {
  const metadata = {
    ...{ namespace: service.namespace, name: service.name + SUFFIXES[family] },
    labels: { "kubernetes.io/service-name": service.name, "endpointslice.kubernetes.io/managed-by": MANAGER },
  };
  const endpoints = pods.map((pod) => ({ addresses: [addressOf(family, pod)], conditions: pod.conditions }));
  return { ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata }, addressType: family, endpoints, ports: PORTS };
}

/** Endpoints of the same Pods, of which they contain one family, and none that terminates. */
function endpointsOf(family: Family, { namespace, name }: ObjectKey, pods: readonly Pod[]): KubeObject {
  const isReady = ({ conditions }: Pod) => !("ready" in conditions) || conditions.ready;
  const lasting = pods.filter(({ conditions }) => !("terminating" in conditions));
  const at = (ready: boolean) => lasting.filter((pod) => isReady(pod) === ready).map((pod) => ({ ip: addressOf(family, pod) }));
  const [addresses, notReadyAddresses] = [at(true), at(false)];
  const filled = { ...(addresses.length > 0 && { addresses }), ...(notReadyAddresses.length > 0 && { notReadyAddresses }), ports: PORTS };
  return { apiVersion: "v1", kind: "Endpoints", metadata: { namespace, name }, subsets: lasting.length > 0 ? [filled] : [] };
}

/** Writes an object of a controller, whose labels and annotations stay as they are if it exists. */
function put(world: World, resource: ResourceType, object: KubeObject): Promise<boolean> {
  const { namespace = "", name = "" } = object.metadata;
  const before = present(world, "tenant", resource, { namespace, name });
  return world.write("tenant", (writer) =>
    before === undefined ? writer.create(resource, object) : writer.update(resource, { ...object, metadata: before.metadata }),
  );
}

async function rollOut(world: World, random: Random): Promise<string> {
  const service = random.pick(world.options.names);
  const pods = [1, 2, 3].flatMap((number) => (random.happens(0.6) ? [{ number, conditions: random.pick(ENDPOINT_CONDITIONS) }] : []));
  const isDual = random.happens(0.4);
  const primary: Family = random.happens(0.8) ? "IPv4" : "IPv6";
  const [hasEndpoints, isFirst] = [random.happens(0.7), random.happens(0.5)];
  const endpoints = () => (hasEndpoints ? put(world, ENDPOINTS, endpointsOf(primary, service, pods)) : undefined);
  if (isFirst) await endpoints();
  for (const family of ["IPv4", "IPv6"] as const) {
    const slice = sliceOf(family, service, pods);
    const key = { namespace: service.namespace, name: slice.metadata.name! };
    const isThere = present(world, "tenant", ENDPOINT_SLICES, key) !== undefined;
    if (isDual || family === primary) await put(world, ENDPOINT_SLICES, slice);
    else if (isThere) await world.write("tenant", (writer) => writer.delete(ENDPOINT_SLICES, key));
  }
  if (!isFirst) await endpoints();
  return `the tenant's controllers write ${pods.length} Pods of ${formatKey(service)}${isDual ? " with both families" : ""}`;
}

/** The tenant's Pods, as its controllers show them. */
export const POD_USERS: readonly Act[] = [
  {
    ...{ name: "tenant's Pods change", kind: "user", weight: 20 },
    isPossible: ({ options }) => hasReaders(options.setting),
    perform: rollOut,
  },
  {
    ...{ name: "tenant's slices of Pods go", kind: "user", weight: 8 },
    isPossible: ({ options }) => hasReaders(options.setting),
    perform(world, random) {
      const { namespace, name } = random.pick(world.options.names);
      const keys = Object.values(SUFFIXES).map((suffix) => ({ namespace, name: name + suffix }));
      const there = keys.filter((key) => present(world, "tenant", ENDPOINT_SLICES, key) !== undefined);
      return there.length === 0 ? undefined : removed(world, there);
    },
  },
];

async function removed(world: World, keys: readonly ObjectKey[]): Promise<string> {
  for (const key of keys) await world.write("tenant", (writer) => writer.delete(ENDPOINT_SLICES, key));
  return `the tenant's slices ${keys.map(formatKey).join(", ")} go`;
}
