/**
 * API facts about the fields that patches reach: which can be absent.
 *
 * @module
 */
import type { KnownField, KnownShape } from "../../expression/shape.ts";
import type { Segment } from "../../path/syntax/segment.ts";

/** A section of `sync.toHost` whose patches the engine applies. */
export type PatchedSection = "endpoints" | "endpointSlices" | "services";

/** The section whose patches apply to objects of a kind. */
export const SECTION_OF_KIND: Readonly<Record<string, PatchedSection>> = {
  Endpoints: "endpoints",
  EndpointSlice: "endpointSlices",
  Service: "services",
};

const SCALAR: KnownShape = { kind: "scalar" };
const TEXTS: KnownShape = { kind: "map", entries: SCALAR };

const list = (items: KnownShape): KnownShape => ({ kind: "list", items });
const always = (shape: KnownShape = SCALAR): KnownField => ({ shape, optional: false });
const maybe = (shape: KnownShape = SCALAR): KnownField => ({ shape, optional: true });
const object = (fields: Readonly<Record<string, KnownField>>): KnownShape => ({ kind: "object", fields });

const OBJECT_REFERENCE = object(
  Object.fromEntries(["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name) => [name, maybe()])),
);
const METADATA = object({
  ...{ name: always(), namespace: always(), labels: maybe(TEXTS), annotations: maybe(TEXTS) },
  ...{ uid: always(), resourceVersion: always(), creationTimestamp: always(), generateName: maybe(), generation: maybe() },
  ...{ deletionTimestamp: maybe(), deletionGracePeriodSeconds: maybe(), finalizers: maybe(list(SCALAR)), ownerReferences: maybe() },
  ...{ managedFields: maybe(), selfLink: maybe() },
});
const PORT = object({ name: maybe(), port: always(), protocol: maybe(), appProtocol: maybe() });
const ADDRESS = object({ ip: always(), hostname: maybe(), nodeName: maybe(), targetRef: maybe(OBJECT_REFERENCE) });

/** Fields of a Service that nothing more is known of here. */
const OTHER_SERVICE_FIELDS = [
  ...["clusterIPs", "ipFamilies", "ipFamilyPolicy", "externalTrafficPolicy", "internalTrafficPolicy", "trafficDistribution"],
  ...["healthCheckNodePort", "publishNotReadyAddresses", "sessionAffinityConfig", "allocateLoadBalancerNodePorts"],
  ...["loadBalancerSourceRanges"],
] as const;

/** The kinds whose patches the engine applies, as the tenant's API server returns them, by the section of the configuration. */
export const KIND_SHAPES: Readonly<Record<PatchedSection, KnownShape>> = {
  endpoints: object({
    metadata: always(METADATA),
    subsets: maybe(list(object({ addresses: maybe(list(ADDRESS)), notReadyAddresses: maybe(list(ADDRESS)), ports: maybe(list(PORT)) }))),
  }),
  endpointSlices: object({
    metadata: always(METADATA),
    addressType: always(),
    endpoints: always(
      list(
        object({
          addresses: always(list(SCALAR)),
          conditions: maybe(object({ ready: maybe(), serving: maybe(), terminating: maybe() })),
          hostname: maybe(),
          targetRef: maybe(OBJECT_REFERENCE),
          nodeName: maybe(),
          zone: maybe(),
          deprecatedTopology: maybe(TEXTS),
          hints: maybe(),
        }),
      ),
    ),
    ports: always(list(object({ name: maybe(), port: maybe(), protocol: maybe(), appProtocol: maybe() }))),
  }),
  services: object({
    metadata: always(METADATA),
    spec: always(
      object({
        type: always(),
        clusterIP: maybe(),
        selector: maybe(TEXTS),
        ports: maybe(
          list(object({ name: maybe(), port: always(), protocol: maybe(), targetPort: maybe(), appProtocol: maybe(), nodePort: maybe() })),
        ),
        externalName: maybe(),
        externalIPs: maybe(list(SCALAR)),
        loadBalancerIP: maybe(),
        loadBalancerClass: maybe(),
        sessionAffinity: maybe(),
        ...Object.fromEntries(OTHER_SERVICE_FIELDS.map((name) => [name, maybe()])),
      }),
    ),
    status: maybe(),
  }),
};

/** The known shape of a value that a path matches. Labels and annotations are always there while patches run. */
export function kindShapeAt(shape: KnownShape, segments: readonly Segment[]): KnownShape {
  let at = shape;
  for (const segment of segments) {
    if (at.kind === "list") at = segment.kind === "key" ? SCALAR : at.items;
    else if (at.kind === "map") at = at.entries;
    else if (at.kind === "object" && segment.kind === "key" && Object.hasOwn(at.fields, segment.key)) at = at.fields[segment.key]!.shape;
    else return SCALAR;
  }
  return at;
}
