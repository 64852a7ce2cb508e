/**
 * The validation rules of Services that depend on the type. Source: `ValidateService`, `validateLoadBalancerClassField`,
 * `validateServiceExternalTrafficPolicy`, `validateServiceInternalTrafficFieldsValue`, `validateServiceTrafficDistribution`.
 *
 * @module
 */
import { isIPv4, isIPv6 } from "node:net";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { duplicate, forbidden, IMMUTABLE, invalid, notSupported, type FieldError } from "../../apiserver/types/field-error.ts";
import { qualifiedName } from "../../apiserver/types/objects/names.ts";
import { portNumberErrors } from "./endpoints.ts";
import type { ServiceSpec } from "./service-rules.ts";

/** Annotation that preceded `spec.loadBalancerSourceRanges`, with commas between the ranges. */
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";

const FOR_LOAD_BALANCERS = "may only be used when `type` is 'LoadBalancer'";
const TRAFFIC_POLICIES = ["Cluster", "Local"];
const DISTRIBUTIONS = ["PreferClose", "PreferSameNode", "PreferSameZone"];
const FAMILIES = ["IPv4", "IPv6"];
const FAMILY_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/** Reports whether traffic from outside of the cluster reaches a Service through its nodes. */
export function isReachedFromOutside({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
}

/** Reports whether a Service has a health check port on its nodes. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** The problems of fields and annotations that depend on the type, in a new Service or in place of `old`. */
export function typeErrors(object: KubeObject, spec: ServiceSpec, old?: ServiceSpec): FieldError[] {
  const { annotations = {} } = object.metadata;
  return [
    ...topologyErrors(annotations),
    ...familyErrors(spec),
    ...nodePortErrors(spec),
    ...sourceRangeErrors(annotations, spec),
    ...loadBalancerErrors(spec),
    ...(old === undefined ? [] : changeErrors(spec, old)),
    ...externalTrafficErrors(spec),
    ...(spec.internalTrafficPolicy === undefined ? [] : oneOf("spec.internalTrafficPolicy", spec.internalTrafficPolicy, TRAFFIC_POLICIES)),
    ...(spec.trafficDistribution === undefined ? [] : oneOf("spec.trafficDistribution", spec.trafficDistribution, DISTRIBUTIONS)),
  ];
}

function oneOf(field: string, value: string, supported: readonly string[]): FieldError[] {
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}

function topologyErrors(annotations: StringMap): FieldError[] {
  const [mode, hints] = [annotations[TOPOLOGY_MODE], annotations[TOPOLOGY_HINTS]];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  return [invalid(`metadata.annotations[${TOPOLOGY_MODE}]`, mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`)];
}

function familyErrors({ type, ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  if (type === "ExternalName") {
    const why = "may not be set when `type` is 'ExternalName'";
    return [
      ...(ipFamilies.length > 0 ? [forbidden("spec.ipFamilies", why)] : []),
      ...(ipFamilyPolicy === undefined ? [] : [forbidden("spec.ipFamilyPolicy", why)]),
    ];
  }
  return [
    ...ipFamilies.flatMap((family, index) => [
      ...oneOf(`spec.ipFamilies[${index}]`, family, FAMILIES),
      ...(ipFamilies.indexOf(family) < index ? [duplicate(`spec.ipFamilies[${index}]`, family)] : []),
    ]),
    ...(ipFamilyPolicy === undefined ? [] : oneOf("spec.ipFamilyPolicy", ipFamilyPolicy, FAMILY_POLICIES)),
  ];
}

function nodePortErrors({ ports = [] }: ServiceSpec): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ nodePort = 0, protocol = "" }, index) => {
    const held = `${nodePort}/${protocol}`;
    const repeated = nodePort !== 0 && seen.has(held);
    seen.add(held);
    return repeated ? [duplicate(`spec.ports[${index}].nodePort`, nodePort)] : [];
  });
}

/** Errors spell the field with a capital letter, as in Kubernetes. If the field is set, the annotation is ignored. */
function sourceRangeErrors(annotations: StringMap, { type, loadBalancerSourceRanges = [] }: ServiceSpec): FieldError[] {
  const written = annotations[SOURCE_RANGES];
  const inField = loadBalancerSourceRanges.length > 0;
  if (!inField && written === undefined) return [];
  const field = inField ? "spec.LoadBalancerSourceRanges" : `metadata.annotations[${SOURCE_RANGES}]`;
  const listed = inField ? loadBalancerSourceRanges : (written ?? "").trim() === "" ? [] : written!.split(",");
  return [
    ...(type === "LoadBalancer" ? [] : [forbidden(field, FOR_LOAD_BALANCERS)]),
    ...listed.flatMap((text, index) => {
      const range = text.trim();
      const place = inField ? `${field}[${index}]` : field;
      return isRange(range) ? [] : [invalid(place, range, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
    }),
  ];
}

function isRange(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  return isIPv4(address) ? Number(length) <= 32 : isIPv6(address) && Number(length) <= 128;
}

function loadBalancerErrors({ type, allocateLoadBalancerNodePorts, loadBalancerClass }: ServiceSpec): FieldError[] {
  if (type === "LoadBalancer") {
    const field = "spec.loadBalancerClass";
    return loadBalancerClass === undefined
      ? []
      : qualifiedName(loadBalancerClass).map((detail) => invalid(field, loadBalancerClass, detail));
  }
  return [
    ...(allocateLoadBalancerNodePorts === undefined ? [] : [forbidden("spec.allocateLoadBalancerNodePorts", FOR_LOAD_BALANCERS)]),
    ...(loadBalancerClass === undefined ? [] : [forbidden("spec.loadBalancerClass", FOR_LOAD_BALANCERS)]),
  ];
}

function changeErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const balanced = spec.type === "LoadBalancer" && old.type === "LoadBalancer";
  const checked = needsHealthCheck(spec) && needsHealthCheck(old) && (old.healthCheckNodePort ?? 0) !== 0;
  const [now, before] = [spec.loadBalancerClass, old.loadBalancerClass];
  return [
    ...(balanced && now !== before ? [invalid("spec.loadBalancerClass", now ?? null, "may not change once set")] : []),
    ...(checked && spec.healthCheckNodePort !== old.healthCheckNodePort
      ? [invalid("spec.healthCheckNodePort", spec.healthCheckNodePort, IMMUTABLE)]
      : []),
  ];
}

function externalTrafficErrors(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = "", healthCheckNodePort = 0 } = spec;
  const unused = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [
    ...(isReachedFromOutside(spec)
      ? oneOf("spec.externalTrafficPolicy", policy, TRAFFIC_POLICIES)
      : policy === ""
        ? []
        : [invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")]),
    ...(healthCheckNodePort === 0
      ? []
      : needsHealthCheck(spec)
        ? portNumberErrors(healthCheckNodePort, "spec.healthCheckNodePort")
        : [invalid("spec.healthCheckNodePort", healthCheckNodePort, unused)]),
  ];
}
