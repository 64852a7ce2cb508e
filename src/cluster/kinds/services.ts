import { SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject, ServicePort } from "../../kube/object/types.ts";
import { dns1035Label } from "../../apiserver/types/objects/names.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { replaceStatus, type ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { SERVICE_SPEC } from "../../kube/object/kinds/services.ts";
import { always, int32, listOf, mandatory, named, optional, text } from "../../schema/builders.ts";
import { SERVICE_COLUMNS } from "./columns/services.ts";
import { CONDITIONS } from "./conditions.ts";
import { createServiceAllocations, type ServiceAllocationsOptions } from "./service-allocations.ts";
import { hasClusterIp, hasNodePorts, HEADLESS, specErrors, specUpdateErrors, withAffinity, type ServiceSpec } from "./service-rules.ts";
import { isReachedFromOutside, needsHealthCheck, typeErrors } from "./service-type-rules.ts";

const PORT_STATUS = named("PortStatus", "State of one port of a Service at its load balancer.", {
  port: [1, mandatory(int32), "Port of the Service."],
  protocol: [2, mandatory(text), "TCP, UDP or SCTP."],
  error: [3, optional(text), "Reason for a problem with the port, if any."],
});
const INGRESS = named("LoadBalancerIngress", "An address at which a load balancer accepts traffic.", {
  ip: [1, text, "IP address of the load balancer."],
  hostname: [2, text, "DNS name of the load balancer, if it has no address."],
  ipMode: [3, optional(text), "VIP if traffic arrives at the nodes with this address as its destination, otherwise Proxy."],
  ports: [4, listOf(PORT_STATUS), "State of each port of the Service."],
});
const LOAD_BALANCER = named("LoadBalancerStatus", "State of a load balancer.", {
  ingress: [1, listOf(INGRESS), "Addresses at which the load balancer accepts traffic."],
});
const STATUS = named("ServiceStatus", "Observed state of a Service.", {
  loadBalancer: [1, always(LOAD_BALANCER), "State of the load balancer."],
  conditions: [2, CONDITIONS, "Conditions of the Service."],
});

/**
 * Creates the kind of `v1` Services. It stores the addresses and ports that its Services were assigned, so each cluster needs its own.
 *
 * @example
 * createServices({ fraction: () => chance.fraction() });
 */
export function createServices(options: ServiceAllocationsOptions): ResourceDefinition {
  const allocations = createServiceAllocations(options);
  return {
    type: SERVICES,
    singular: "service",
    shortNames: ["svc"],
    categories: ["all"],
    shape: kindShape(
      { spec: [2, always(SERVICE_SPEC), "Desired state of the Service."], status: [3, always(STATUS), "State of the load balancer."] },
      "A name and an address for a set of Pods, or for the addresses in its Endpoints.",
    ),
    selectableFields: {
      "spec.clusterIP": (object) => serviceSpecOf(object).clusterIP ?? "",
      "spec.type": (object) => serviceSpecOf(object).type ?? "",
    },
    columns: SERVICE_COLUMNS,
    strategy: {
      nameRule: dns1035Label,
      createOnUpdate: true,
      subresources: { status: replaceStatus },
      returnsDeleted: true,
      prepare,
      allocate: allocations.allocate,
      restored: allocations.restored,
      released: allocations.released,
      validate,
    },
  };
}

/** `spec` of a stored or decoded Service. */
export function serviceSpecOf(object: KubeObject): ServiceSpec {
  return object["spec"] as ServiceSpec;
}

function validate(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const [spec, before] = [serviceSpecOf(object), old && serviceSpecOf(old)];
  return [...specErrors(spec), ...typeErrors(object, spec, before), ...(before === undefined ? [] : specUpdateErrors(spec, before))];
}

function prepare(object: KubeObject, old: KubeObject | undefined): KubeObject {
  const written = serviceSpecOf(object);
  const spec = withoutUnused(withAllocated(withDefaults(written), old && serviceSpecOf(old)), old && serviceSpecOf(old));
  return old === undefined ? { ...object, spec, status: {} } : { ...object, spec };
}

function withDefaults(spec: ServiceSpec): ServiceSpec {
  const type = spec.type ?? "ClusterIP";
  const defaulted: ServiceSpec = {
    ...withAffinity(spec),
    type,
    ports: (spec.ports ?? []).map(portWithDefaults),
    ...(spec.clusterIPs === undefined && spec.clusterIP !== undefined && { clusterIPs: [spec.clusterIP] }),
    ...(spec.clusterIP === undefined && spec.clusterIPs !== undefined && { clusterIP: spec.clusterIPs[0]! }),
  };
  return {
    ...defaulted,
    ...(hasClusterIp(defaulted) && { internalTrafficPolicy: spec.internalTrafficPolicy ?? "Cluster" }),
    ...(isReachedFromOutside(defaulted) && { externalTrafficPolicy: spec.externalTrafficPolicy ?? "Cluster" }),
    ...(type === "LoadBalancer" && { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true }),
  };
}

function portWithDefaults(port: ServicePort): ServicePort {
  const target = port.targetPort === 0 || port.targetPort === "" ? undefined : port.targetPort;
  return { ...port, protocol: port.protocol ?? "TCP", targetPort: target ?? port.port };
}

/** Keeps values that the server has assigned and that a PUT omits. */
function withAllocated(spec: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec {
  if (old === undefined) return spec;
  const keepsIp = hasClusterIp(spec) && hasClusterIp(old) && spec.clusterIP === undefined && old.clusterIP !== undefined;
  const ip = keepsIp ? { clusterIP: old.clusterIP, ...(old.clusterIPs && { clusterIPs: old.clusterIPs }) } : {};
  const families =
    hasClusterIp(spec) && hasClusterIp(old)
      ? { ipFamilies: spec.ipFamilies ?? old.ipFamilies, ipFamilyPolicy: spec.ipFamilyPolicy ?? old.ipFamilyPolicy }
      : {};
  const ports = hasNodePorts(spec) && hasNodePorts(old) ? (spec.ports ?? []).map((port) => keepNodePort(port, old)) : spec.ports;
  const { healthCheckNodePort = old.healthCheckNodePort } = spec;
  const check = needsHealthCheck(spec) && needsHealthCheck(old) && { healthCheckNodePort };
  return { ...spec, ...ip, ...families, ...check, ports } as ServiceSpec;
}

function keepNodePort(port: ServicePort, old: ServiceSpec): ServicePort {
  if (port.nodePort !== undefined) return port;
  const before = old.ports?.find((candidate) => candidate.port === port.port && candidate.protocol === port.protocol);
  return before?.nodePort === undefined ? port : { ...port, nodePort: before.nodePort };
}

/** Drops unchanged values that a new type does not use. Values that the author has changed stay, so that validation refuses them. */
function withoutUnused(spec: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec {
  const result: Record<string, unknown> = { ...spec };
  if (old !== undefined && hasClusterIp(old) && !hasClusterIp(spec) && spec.clusterIP === old.clusterIP) {
    for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]) delete result[field];
  }
  if (old !== undefined && hasNodePorts(old) && !hasNodePorts(spec)) {
    result["ports"] = (spec.ports ?? []).map((port) => withoutOldNodePort(port, old));
  }
  const repeated = (field: keyof ServiceSpec) => {
    if (spec[field] === old?.[field]) delete result[field];
  };
  if (old !== undefined && isReachedFromOutside(old) && !isReachedFromOutside(spec)) repeated("externalTrafficPolicy");
  if (old !== undefined && needsHealthCheck(old) && !needsHealthCheck(spec)) repeated("healthCheckNodePort");
  if (old?.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    repeated("allocateLoadBalancerNodePorts");
    repeated("loadBalancerClass");
  }
  return result;
}

function withoutOldNodePort(port: ServicePort, old: ServiceSpec): ServicePort {
  if (!old.ports?.some((before) => before.nodePort === port.nodePort)) return port;
  const { nodePort: _released, ...rest } = port;
  return rest;
}

/** Reports whether a Service has no cluster IP. */
export function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIP === HEADLESS;
}
