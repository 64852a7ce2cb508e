import { sha256Hex } from "../../base/digest.ts";
import { isRecord } from "../../base/json.ts";
import { ENDPOINT_SLICES, SERVICES } from "../../kube/object/resource.ts";
import { sliceFingerprint } from "../../kube/object/endpoints/slices.ts";
import type { EndpointSlice, KubeObject, SliceEndpoint, SlicePort } from "../../kube/object/types.ts";
import { OBJECT_META } from "../../kube/object/kind-shape.ts";
import { ENDPOINT_SLICE_FIELDS } from "../../kube/object/kinds/endpoint-slices.ts";
import { objectOf } from "../../schema/builders.ts";
import type { Translator } from "../translate/translator.ts";
import { admitEndpoints } from "../reconcile/rules/address-policy.ts";
import type { AllowedBody, LabelSurroundings, Rules, SyncedKind } from "../reconcile/rules/rules.ts";
import { remembered } from "../reconcile/rules/remembered.ts";
import { SAMPLE_PORTS, sampleAddresses, sampleMetadata, samplePod } from "./kind-parts.ts";
import { controllerOf, SERVICE_NAME, serviceOfSlice, SLICE_MANAGER, sliceManager } from "./slice-labels.ts";
import { tenantTargets, toHostTarget } from "./target-references.ts";

const SAMPLE = {
  ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
  metadata: { ...sampleMetadata("web-abcde"), labels: { app: "web", [SERVICE_NAME]: "web" } },
  addressType: "IPv4",
  endpoints: [
    {
      ...{ addresses: ["10.1.0.11"], conditions: { ready: true }, hostname: "web-0" },
      ...{ nodeName: "node-1", zone: "zone-a", targetRef: samplePod("web-0") },
    },
    {
      ...{ addresses: ["10.1.0.12"], conditions: { ready: true }, hostname: "web-1" },
      ...{ nodeName: "node-2", zone: "zone-b", targetRef: samplePod("web-1") },
    },
  ],
  ports: SAMPLE_PORTS,
};

/** The special rules of EndpointSlices: the Service that they name, their writers, and an address type that cannot change. */
export const ENDPOINT_SLICES_KIND: SyncedKind = {
  resource: ENDPOINT_SLICES,
  section: "endpointSlices",
  plural: "EndpointSlices",
  help: {
    section:
      "EndpointSlices of the tenant cluster. If the backends setting is omitted and this section exists, the syncer copies all EndpointSlices. If both are missing, it decides for each Service, as with backends: auto.",
    enabled: "Whether EndpointSlices are synced. If this is disabled later, copies stay, and the host mirrors Endpoints again.",
  },
  byDefault: false,
  whyNotSynced:
    "Set backends: auto in the settings, which copies the slices that a Service needs; sync.toHost.endpoints and endpointSlices must not have enabled: false",
  bodyInWords: "endpoints and ports",
  schema: objectOf({ "metadata!": OBJECT_META, ...ENDPOINT_SLICE_FIELDS }),
  sample: SAMPLE,
  addresses: {
    first: "endpoints[0].addresses[0]",
    sampleWith: (count) => ({
      ...SAMPLE,
      endpoints: sampleAddresses(count, (ip, behind) => ({ addresses: [ip], conditions: { ready: true }, ...behind })),
    }),
  },
  besideService: true,
  bodyFlows: true,
  ownLabelKeys: [SERVICE_NAME, SLICE_MANAGER],
  ownLabels,
  serviceOf: (_key, tenant) => serviceOfSlice(tenant),
  writerOf: controllerOf,
  translateBody,
  admitBody,
  hostFingerprint: (object) => fingerprint(object),
  tenantFingerprint: (object) => fingerprint(object),
  withBody: (host, { addressType, endpoints, ports }) => ({ ...host, addressType, endpoints, ports }),
  tenantWithBody,
  mustRecreate: (host, desired) => host["addressType"] !== desired["addressType"],
};

const fingerprint = remembered((slice: KubeObject) => sha256Hex(sliceFingerprint(slice)));

/** Names the Service by its host name, because the tenant's name has no meaning on the host. */
function ownLabels(tenant: KubeObject, { translator }: LabelSurroundings): Record<string, string> {
  const service = serviceOfSlice(tenant);
  const host = service && translator.toHost(service, SERVICES);
  return { ...(host && { [SERVICE_NAME]: host.name }), [SLICE_MANAGER]: sliceManager(translator.markerPrefix) };
}

function translateBody(tenant: KubeObject, translator: Translator): Record<string, unknown> {
  const { addressType, endpoints, ports } = tenant as EndpointSlice;
  const translated = Array.isArray(endpoints) ? endpoints.map((endpoint) => toHostTarget(endpoint, translator)) : (endpoints ?? []);
  return { addressType, endpoints: translated, ports: ports ?? [] };
}

function admitBody(object: KubeObject, { settings }: Rules): AllowedBody {
  if (!wellFormed(object)) {
    return { object, refusedAddresses: [], rejected: "after the patches, endpoints or ports are not valid for a slice" };
  }
  const { addressPolicy } = settings;
  const check = object.addressType === "FQDN" ? addressPolicy.checkName : addressPolicy.check;
  const { endpoints, refused } = admitEndpoints(object.endpoints ?? [], check);
  const reject = refused.length > 0 && addressPolicy.action === "reject-object";
  return {
    object: endpoints === object.endpoints ? object : { ...object, endpoints },
    refusedAddresses: refused,
    ...(reject && { rejected: "an address is refused and addressPolicy.action is reject-object" }),
  };
}

function isList(value: unknown, holds: (item: unknown) => boolean): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every(holds));
}

/** An expression can return anything, but the address policy must receive only data that it can read. */
function wellFormed(object: KubeObject): object is EndpointSlice {
  const { addressType, endpoints, ports } = object;
  const isText = (item: unknown) => typeof item === "string";
  const isEndpoint = (item: unknown) => isRecord(item) && isList(item["addresses"], isText);
  return typeof addressType === "string" && isList(endpoints, isEndpoint) && isList(ports, isRecord);
}

/** Restores Pod references from the tenant's own ones. The address type of a slice cannot change. */
function tenantWithBody(tenant: KubeObject, reversed: KubeObject, translator: Translator): KubeObject | undefined {
  const { addressType, endpoints } = tenant as Partial<EndpointSlice>;
  if (!wellFormed(reversed) || !isList(endpoints, isRecord) || (addressType !== undefined && reversed.addressType !== addressType))
    return undefined;
  const restore = tenantTargets<SliceEndpoint>(endpoints ?? [], translator);
  const restored = (reversed.endpoints ?? []).map(restore);
  if (restored.includes(undefined)) return undefined;
  const ports: readonly SlicePort[] = reversed.ports ?? [];
  return { ...tenant, addressType: reversed.addressType, endpoints: restored, ports };
}
