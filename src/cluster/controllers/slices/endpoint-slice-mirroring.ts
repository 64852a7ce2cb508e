import { canonicalJson } from "../../../base/json.ts";
import { keyOf } from "../../../kube/object/key.ts";
import { ENDPOINTS, EVENTS, SERVICES } from "../../../kube/object/resource.ts";
import type { Endpoints, KubeObject, SliceEndpoint, SlicePort, StringMap } from "../../../kube/object/types.ts";
import type { Store, StoreWatch } from "../../../apiserver/store/store.ts";
import { serviceSpecOf } from "../../kinds/services.ts";
import type { ClusterController, ClusterControllerOptions } from "../controller.ts";
import { followKind, ignoring, read, startSliceController, type DesiredSlices } from "./slice-controller.ts";
import { slicesOf, type SliceContent } from "../../../kube/object/endpoints/slices-of-endpoints.ts";

const MANAGED_BY = "endpointslicemirroring-controller.k8s.io";
const SKIP_LABEL = "endpointslice.kubernetes.io/skip-mirror";
const LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader";
/** Annotations that describe the Endpoints themselves; they are not copied. */
const OWN_ANNOTATIONS = ["endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration"];

/** Most addresses of a subset that are mirrored, and most endpoints of one slice. Source: the controller manager's default. */
const ADDRESSES_MAX = 1_000;

/**
 * Copies Endpoints written for a Service without a selector, with their labels and annotations, into the EndpointSlices that
 * consumers read. Source: the EndpointSlice mirroring controller.
 */
export function startEndpointSliceMirroring(options: ClusterControllerOptions): Promise<ClusterController> {
  return startSliceController({
    ...{ ...options, name: "endpoint slice mirroring", managedBy: MANAGED_BY, followSources },
    desired: (service) => desired(service, options),
  });
}

async function followSources(store: Store, add: (object: KubeObject) => void): Promise<readonly StoreWatch[]> {
  const sources = [];
  for (const kind of [ENDPOINTS, SERVICES]) sources.push(await followKind(store, kind, ({ object }) => add(object)));
  for (const { objects } of sources) for (const { object } of objects) add(object);
  return sources.map(({ watch }) => watch);
}

async function desired(service: KubeObject, options: ClusterControllerOptions): Promise<DesiredSlices | undefined> {
  if (serviceSpecOf(service).selector !== undefined) return undefined;
  const endpoints = (await read(options.registry, ENDPOINTS, keyOf(service))) as Endpoints | undefined;
  if (endpoints === undefined || !isMirrored(endpoints)) return undefined;
  await reportSkipped(endpoints, options);
  const { labels = {}, annotations = {} } = endpoints.metadata;
  const contents = mergeSlices(slicesOf(endpoints, { addressesMax: ADDRESSES_MAX, endpointsMax: ADDRESSES_MAX, conditions: () => ({}) }));
  return { owner: endpoints, labels, annotations: without(annotations, OWN_ANNOTATIONS), contents };
}

/** Reports addresses that are not mirrored as an Event, once for each version of the Endpoints. Source: the same controller. */
async function reportSkipped(endpoints: Endpoints, { registry, clock }: ClusterControllerOptions): Promise<void> {
  const counts = (endpoints.subsets ?? []).map(({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length);
  const skipped = counts.reduce((sum, count) => sum + Math.max(0, count - ADDRESSES_MAX), 0);
  if (skipped === 0) return;
  const { apiVersion, kind, metadata } = endpoints;
  const { name = "", namespace = "", uid, resourceVersion } = metadata;
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const event = {
    metadata: { name: `${name.slice(0, 200)}.${uid}.${resourceVersion}`, namespace },
    involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
    reason: "TooManyAddressesToMirror",
    message: `A max of ${ADDRESSES_MAX} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
    ...{ type: "Warning", count: 1, firstTimestamp: time, lastTimestamp: time },
    source: { component: "endpoint-slice-mirroring-controller" },
    reportingComponent: "endpoint-slice-mirroring-controller",
  };
  await ignoring(["API_ALREADY_EXISTS", "API_FORBIDDEN"], registry.create(EVENTS, namespace, event));
}

/**
 * Merges contents into one slice for each address family and set of ports. Of several endpoints with the same address and hostname, the
 * last one counts. Endpoints that do not fit are left out. The order of addresses and ports has no meaning.
 */
function mergeSlices(contents: readonly SliceContent[]): SliceContent[] {
  const groups = new Map<string, { readonly content: Omit<SliceContent, "endpoints">; readonly endpoints: Map<string, SliceEndpoint> }>();
  for (const { addressType, ports, endpoints } of contents) {
    const sorted = ports && ports.toSorted(byText);
    const id = canonicalJson([addressType, sorted]);
    const group = groups.get(id) ?? { content: { addressType, ports: sorted }, endpoints: new Map<string, SliceEndpoint>() };
    groups.set(id, group);
    for (const endpoint of endpoints ?? []) group.endpoints.set(canonicalJson([endpoint.addresses, endpoint.hostname ?? ""]), endpoint);
  }
  return [...groups.values()].map(({ content, endpoints }) => {
    const kept = [...endpoints].slice(0, ADDRESSES_MAX).sort(([one], [other]) => (one < other ? -1 : 1));
    return { ...content, endpoints: kept.map(([, endpoint]) => endpoint) };
  });
}

function byText(one: SlicePort, other: SlicePort): number {
  return canonicalJson(one) < canonicalJson(other) ? -1 : 1;
}

function isMirrored({ metadata: { labels = {}, annotations = {} } }: Endpoints): boolean {
  return labels[SKIP_LABEL] !== "true" && !Object.hasOwn(annotations, LEADER_ANNOTATION);
}

function without(map: StringMap, keys: readonly string[]): StringMap {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
}
