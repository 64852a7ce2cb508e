import { sha256Hex } from "../../base/digest.ts";
import { canonicalJson } from "../../base/json.ts";
import { ENDPOINTS } from "../../kube/object/resource.ts";
import { repackSubsets } from "../../kube/object/endpoints/subsets.ts";
import type { EndpointAddress, EndpointPort, Endpoints, EndpointSubset, KubeObject } from "../../kube/object/types.ts";
import { invalid, notSupported, required, type FieldError } from "../../apiserver/types/field-error.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { ENDPOINTS_FIELDS } from "../../kube/object/kinds/endpoints.ts";
import { ENDPOINTS_COLUMNS } from "./columns/endpoints.ts";
import { endpointAddressErrors } from "./addresses.ts";

/** Protocols of a port. */
export const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** `v1` Endpoints. Subsets are stored as written. A PUT creates an absent object, so writers can recreate deleted Endpoints by mistake. */
export const endpoints: ResourceDefinition = {
  type: ENDPOINTS,
  singular: "endpoints",
  shortNames: ["ep"],
  deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  shape: kindShape(ENDPOINTS_FIELDS, "The addresses and ports of the Service of the same name. Newer clients read EndpointSlices instead."),
  columns: ENDPOINTS_COLUMNS,
  strategy: { nameRule: dnsSubdomain, createOnUpdate: true, prepare, validate },
};

/** `v1` Endpoints of API servers before Kubernetes 1.36, which regroup subsets on every write, in an unpredictable order. */
export const regroupedEndpoints: ResourceDefinition = {
  ...endpoints,
  strategy: { ...endpoints.strategy, canonicalize: regroup },
};

/** Omits empty lists, as everywhere in the API. */
function prepare(object: KubeObject): KubeObject {
  return { ...object, subsets: ((object as Endpoints).subsets ?? []).map(prepareSubset) };
}

function prepareSubset({ addresses = [], notReadyAddresses = [], ports = [], ...rest }: EndpointSubset): EndpointSubset {
  return {
    ...rest,
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(ports.length > 0 && { ports: ports.map((port) => ({ ...port, protocol: port.protocol ?? "TCP" })) }),
  };
}

/** Orders subsets and their ports by a digest, as Kubernetes does, to expose code that relies on any order. */
function regroup(object: KubeObject): KubeObject {
  const packed = repackSubsets((object as Endpoints).subsets ?? []);
  const subsets = packed.map((subset) => (subset.ports ? { ...subset, ports: byDigest(subset.ports) } : subset));
  return { ...object, subsets: byDigest(subsets) };
}

function byDigest<T>(items: readonly T[]): T[] {
  if (items.length < 2) return [...items];
  const keyed = items.map((item) => ({ item, digest: sha256Hex(canonicalJson(item)) }));
  return keyed.sort((left, right) => (left.digest < right.digest ? -1 : 1)).map(({ item }) => item);
}

function validate(object: KubeObject): FieldError[] {
  return ((object as Endpoints).subsets ?? []).flatMap((subset, index) => subsetErrors(subset, `subsets[${index}]`));
}

function subsetErrors({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset, field: string): FieldError[] {
  const empty = addresses.length === 0 && notReadyAddresses.length === 0;
  return [
    ...(empty ? [required(field, "must specify `addresses` or `notReadyAddresses`")] : []),
    ...addresses.flatMap((address, index) => addressErrors(address, `${field}.addresses[${index}]`)),
    ...notReadyAddresses.flatMap((address, index) => addressErrors(address, `${field}.notReadyAddresses[${index}]`)),
    ...ports.flatMap((port, index) => portErrors(port, `${field}.ports[${index}]`, { nameRequired: ports.length > 1 })),
  ];
}

function addressErrors({ ip, hostname, nodeName }: EndpointAddress, field: string): FieldError[] {
  return [
    ...endpointAddressErrors(ip, `${field}.ip`),
    ...(hostname === undefined ? [] : dnsLabel(hostname).map((detail) => invalid(`${field}.hostname`, hostname, detail))),
    ...(nodeName === undefined ? [] : dnsSubdomain(nodeName).map((detail) => invalid(`${field}.nodeName`, nodeName, detail))),
  ];
}

/** The problems of a port number. */
export function portNumberErrors(port: number, field: string): FieldError[] {
  return port >= 1 && port <= 65_535 ? [] : [invalid(field, port, "must be between 1 and 65535, inclusive")];
}

function portErrors(
  { name = "", port, protocol = "", appProtocol }: EndpointPort,
  field: string,
  { nameRequired }: { nameRequired: boolean },
): FieldError[] {
  return [
    ...(nameRequired && name === "" ? [required(`${field}.name`)] : []),
    ...(name === "" ? [] : dnsLabel(name).map((detail) => invalid(`${field}.name`, name, detail))),
    ...portNumberErrors(port, `${field}.port`),
    ...(PROTOCOLS.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, PROTOCOLS)]),
    ...(appProtocol === undefined ? [] : qualifiedName(appProtocol).map((detail) => invalid(`${field}.appProtocol`, appProtocol, detail))),
  ];
}
