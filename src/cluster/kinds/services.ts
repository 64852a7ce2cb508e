import { SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject, ServicePort } from "../../kube/object/types.ts";
import { dns1035Label } from "../../apiserver/types/objects/names.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { replaceStatus } from "../../apiserver/types/resource-definition.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import {
  always,
  bool,
  described,
  fields,
  int32,
  intOrText,
  kindShape,
  list,
  mandatory,
  numbered,
  optional,
  text,
  textMap,
} from "../../apiserver/types/objects/shape.ts";
import { SERVICE_COLUMNS } from "./columns/services.ts";
import { CONDITIONS } from "./conditions.ts";
import { createServiceClaims } from "./service-claims.ts";
import type { ServiceClaimsOptions } from "./service-claims.ts";
import { hasClusterIp, hasNodePorts, HEADLESS, specErrors, specUpdateErrors, withAffinity } from "./service-rules.ts";
import type { ServiceSpec } from "./service-rules.ts";
import { isReachedFromOutside, needsHealthCheck, typeErrors } from "./service-type-rules.ts";

const PORT = described(
  numbered(
    fields({
      name: text,
      protocol: text,
      appProtocol: optional(text),
      port: mandatory(int32),
      targetPort: always(intOrText),
      nodePort: int32,
    }),
    { name: 1, protocol: 2, port: 3, targetPort: 4, nodePort: 5, appProtocol: 6 },
  ),
  {
    name: "ServicePort",
    description: "One port of a Service.",
    fields: {
      name: "Name of the port; may be left out when there is only one.",
      protocol: "TCP, UDP or SCTP; TCP when omitted.",
      appProtocol: "Protocol above the transport, such as kubernetes.io/h2c.",
      port: "Port of the Service, 1 to 65535.",
      targetPort: "Port of the Pods, as a number or by its name there; the same as port when omitted.",
      nodePort: "Port on every node, for Services of type NodePort and LoadBalancer; chosen by the server when omitted.",
    },
  },
);

const CLIENT_IP_CONFIG = described(numbered(fields({ timeoutSeconds: optional(int32) }), { timeoutSeconds: 1 }), {
  name: "ClientIPConfig",
  description: "How requests from one client address are kept on the same Pod.",
  fields: { timeoutSeconds: "Seconds after its last connection, 1 to 86400; 10800 when omitted." },
});
const SESSION_AFFINITY_CONFIG = described(numbered(fields({ clientIP: CLIENT_IP_CONFIG }), { clientIP: 1 }), {
  name: "SessionAffinityConfig",
  description: "Settings of session affinity.",
  fields: { clientIP: "Settings of ClientIP." },
});

const SPEC = described(
  numbered(
    fields({
      ports: list(PORT, { as: "map", keys: ["port", "protocol"], defaults: { protocol: "TCP" } }),
      selector: textMap,
      clusterIP: text,
      clusterIPs: list(text),
      type: text,
      externalIPs: list(text),
      sessionAffinity: text,
      loadBalancerIP: text,
      loadBalancerSourceRanges: list(text),
      externalName: text,
      externalTrafficPolicy: text,
      healthCheckNodePort: int32,
      publishNotReadyAddresses: bool,
      sessionAffinityConfig: SESSION_AFFINITY_CONFIG,
      ipFamilies: list(text),
      ipFamilyPolicy: optional(text),
      allocateLoadBalancerNodePorts: optional(bool),
      loadBalancerClass: optional(text),
      internalTrafficPolicy: optional(text),
      trafficDistribution: optional(text),
    }),
    {
      ports: 1,
      selector: 2,
      clusterIP: 3,
      type: 4,
      externalIPs: 5,
      sessionAffinity: 7,
      loadBalancerIP: 8,
      loadBalancerSourceRanges: 9,
      externalName: 10,
      externalTrafficPolicy: 11,
      healthCheckNodePort: 12,
      publishNotReadyAddresses: 13,
      sessionAffinityConfig: 14,
      ipFamilyPolicy: 17,
      clusterIPs: 18,
      ipFamilies: 19,
      allocateLoadBalancerNodePorts: 20,
      loadBalancerClass: 21,
      internalTrafficPolicy: 22,
      trafficDistribution: 23,
    },
  ),
  {
    name: "ServiceSpec",
    description: "What a Service offers, and where its traffic goes.",
    fields: {
      ports: "The ports of the Service.",
      selector: "Labels of the Pods behind the Service. Without it, the owner of the Service writes its Endpoints.",
      clusterIP: "The address within the cluster, chosen by the server when omitted; None for a headless Service.",
      clusterIPs: "The address for each IP family; the first one is clusterIP.",
      type: "ClusterIP, NodePort, LoadBalancer or ExternalName; ClusterIP when omitted.",
      externalIPs: "Other addresses at which nodes accept traffic for the Service.",
      sessionAffinity: "ClientIP keeps a client on one Pod; None when omitted.",
      sessionAffinityConfig: "Settings of that.",
      externalName: "DNS name that a Service of type ExternalName stands for.",
      publishNotReadyAddresses: "If true, Pods that are not ready are published too.",
      ipFamilies: "IPv4, IPv6 or both.",
      ipFamilyPolicy: "SingleStack, PreferDualStack or RequireDualStack.",
      loadBalancerClass: "Which load balancer serves the Service.",
    },
  },
);

const PORT_STATUS = described(
  numbered(fields({ port: mandatory(int32), protocol: mandatory(text), error: optional(text) }), { port: 1, protocol: 2, error: 3 }),
  {
    name: "PortStatus",
    description: "State of one port of a Service at its load balancer.",
    fields: { port: "Port of the Service.", protocol: "TCP, UDP or SCTP.", error: "Reason of a problem with the port, if any." },
  },
);
const INGRESS = described(
  numbered(fields({ ip: text, hostname: text, ipMode: optional(text), ports: list(PORT_STATUS) }), {
    ip: 1,
    hostname: 2,
    ipMode: 3,
    ports: 4,
  }),
  {
    name: "LoadBalancerIngress",
    description: "An address at which a load balancer accepts traffic.",
    fields: {
      ip: "Its address.",
      hostname: "Its DNS name, for load balancers that have no address.",
      ipMode: "VIP when traffic keeps that address on its way to the nodes, else Proxy.",
      ports: "State of each port of the Service.",
    },
  },
);
const LOAD_BALANCER = described(numbered(fields({ ingress: list(INGRESS) }), { ingress: 1 }), {
  name: "LoadBalancerStatus",
  description: "State of a load balancer.",
  fields: { ingress: "Addresses at which it accepts traffic." },
});
const STATUS = described(
  numbered(fields({ loadBalancer: always(LOAD_BALANCER), conditions: CONDITIONS }), { loadBalancer: 1, conditions: 2 }),
  {
    name: "ServiceStatus",
    description: "Observed state of a Service.",
    fields: { loadBalancer: "State of the load balancer.", conditions: "Conditions of the Service." },
  },
);

/**
 * `v1` Services. A definition holds the addresses and ports that its Services were assigned, so each cluster has its own.
 *
 * @example
 * createServices({ fraction: () => chance.fraction() });
 */
export function createServices(options: ServiceClaimsOptions): ResourceDefinition {
  const claims = createServiceClaims(options);
  return {
    type: SERVICES,
    singular: "service",
    shortNames: ["svc"],
    categories: ["all"],
    shape: numbered(
      kindShape(
        { spec: always(SPEC), status: always(STATUS) },
        {
          description: "A name and an address for a set of Pods, or for the addresses in its Endpoints.",
          fields: { spec: "What the Service offers.", status: "State of the load balancer." },
        },
      ),
      { metadata: 1, spec: 2, status: 3 },
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
      claim: claims.claim,
      restored: claims.restored,
      released: claims.released,
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

/** A PUT that leaves out what the server once chose keeps it. */
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

/** Drops what a new type has no use for where the author only repeats it from before; what the author sets again stays, for validation to refuse. */
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

/** Tells whether a Service has no address of its own. */
export function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIP === HEADLESS;
}
