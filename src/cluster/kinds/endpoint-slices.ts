import { isIPv4, isIPv6 } from "node:net";
import { jsonEqual } from "../../base/json.ts";
import { ENDPOINT_SLICES } from "../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject, SliceEndpoint, SlicePort } from "../../kube/object/types.ts";
import { duplicate, IMMUTABLE, invalid, notSupported, required, type FieldError } from "../../apiserver/types/field-error.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { ENDPOINT_SLICE_FIELDS } from "../../kube/object/kinds/endpoint-slices.ts";
import { ENDPOINT_SLICE_COLUMNS } from "./columns/endpoints.ts";
import { endpointAddressErrors } from "./addresses.ts";
import { portNumberErrors, PROTOCOLS } from "./endpoints.ts";

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];
const ENDPOINTS_MAX = 1_000;
const PORTS_MAX = 20_000;
const ADDRESSES_MAX = 100;

/** `discovery.k8s.io/v1` EndpointSlices. */
export const endpointSlices: ResourceDefinition = {
  type: ENDPOINT_SLICES,
  singular: "endpointslice",
  shape: kindShape(
    ENDPOINT_SLICE_FIELDS,
    "Endpoints of the Service that the kubernetes.io/service-name label names. A Service can have several slices.",
  ),
  columns: ENDPOINT_SLICE_COLUMNS,
  strategy: {
    nameRule: dnsSubdomain,
    newGeneration: (object, old) => !jsonEqual(content(object), content(old)),
    prepare,
    validate,
  },
};

/** The content whose changes count as a new generation. It includes labels, because consumers find slices by them. */
function content({ metadata, ...rest }: KubeObject): unknown {
  return [metadata.labels, prepare(rest as KubeObject)];
}

function prepare(object: KubeObject): KubeObject {
  const { endpoints, ports } = object as EndpointSlice;
  const named = (port: SlicePort) => ({ ...port, name: port.name ?? "", protocol: port.protocol ?? "TCP" });
  return { ...object, endpoints: nullIfEmpty(endpoints), ports: nullIfEmpty(ports?.map(named)) };
}

function nullIfEmpty<T>(list: readonly T[] | null | undefined): readonly T[] | null {
  return list?.length ? list : null;
}

function validate(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { addressType, endpoints, ports } = object as EndpointSlice;
  return [
    ...addressTypeErrors(addressType, (old as EndpointSlice | undefined)?.addressType),
    ...tooMany("endpoints", endpoints?.length, ENDPOINTS_MAX),
    ...(endpoints ?? []).flatMap((endpoint, index) => endpointErrors(endpoint, addressType, `endpoints[${index}]`)),
    ...tooMany("ports", ports?.length, PORTS_MAX),
    ...portsErrors(ports ?? []),
  ];
}

function addressTypeErrors(addressType: string, old: string | undefined): FieldError[] {
  if (old !== undefined && old !== addressType) return [invalid("addressType", addressType, IMMUTABLE)];
  if (addressType === "") return [required("addressType")];
  return ADDRESS_TYPES.includes(addressType) ? [] : [notSupported("addressType", addressType, ADDRESS_TYPES)];
}

function tooMany(field: string, count: number | undefined, max: number): FieldError[] {
  if (count === undefined || count <= max) return [];
  return [{ reason: "FieldValueTooMany", field, message: `Too many: ${count}: must have at most ${max} items` }];
}

function endpointErrors({ addresses, hostname, nodeName, zone }: SliceEndpoint, addressType: string, field: string): FieldError[] {
  const texts = addresses ?? [];
  return [
    ...(texts.length === 0 ? [required(`${field}.addresses`, "must contain at least 1 address")] : []),
    ...tooMany(`${field}.addresses`, texts.length, ADDRESSES_MAX),
    ...texts.flatMap((address, index) => addressErrors(address, addressType, `${field}.addresses[${index}]`)),
    ...(hostname === undefined ? [] : dnsLabel(hostname).map((detail) => invalid(`${field}.hostname`, hostname, detail))),
    ...(nodeName === undefined ? [] : dnsSubdomain(nodeName).map((detail) => invalid(`${field}.nodeName`, nodeName, detail))),
    ...(zone === undefined ? [] : labelValue(zone).map((detail) => invalid(`${field}.zone`, zone, detail))),
  ];
}

function addressErrors(address: string, addressType: string, field: string): FieldError[] {
  if (addressType === "FQDN") return dnsSubdomain(address).map((detail) => invalid(field, address, detail));
  if (addressType === "IPv4" && !isIPv4(address)) return [invalid(field, address, "must be a valid IPv4 address")];
  if (addressType === "IPv6" && !isIPv6(address)) return [invalid(field, address, "must be a valid IPv6 address")];
  return endpointAddressErrors(address, field);
}

function portsErrors(ports: readonly SlicePort[]): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = "", protocol = "", port, appProtocol }, index) => {
    const field = `ports[${index}]`;
    const repeated = names.has(name);
    names.add(name);
    return [
      ...(repeated ? [duplicate(field, name)] : []),
      ...(name === "" ? [] : dnsLabel(name).map((detail) => invalid(`${field}.name`, name, detail))),
      ...(PROTOCOLS.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, PROTOCOLS)]),
      ...(port === undefined ? [] : portNumberErrors(port, `${field}.port`)),
      ...(appProtocol === undefined
        ? []
        : qualifiedName(appProtocol).map((detail) => invalid(`${field}.appProtocol`, appProtocol, detail))),
    ];
  });
}
