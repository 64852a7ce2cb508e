import { isIPv4 } from "node:net";
import type { KubeObject, ServicePort } from "../../kube/object/types.ts";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import type { PendingAllocation } from "../../apiserver/types/resource-definition.ts";
import { createAllocation, ipv4ToNumber, numberToIpv4, type Allocation } from "./allocation.ts";
import { hasClusterIp, hasNodePorts, HEADLESS, type ServiceSpec } from "./service-rules.ts";
import { needsHealthCheck } from "./service-type-rules.ts";

/** Options of {@link createServiceAllocations}. */
export interface ServiceAllocationsOptions {
  /** A number in [0, 1). */
  readonly fraction: () => number;
  /** First address that is assigned. Default 10.96.0.1. */
  readonly firstIp?: string;
  /** Last address that is assigned. Default 10.96.255.254. */
  readonly lastIp?: string;
}

/** The allocations of all Services of a cluster. */
export interface ServiceAllocations {
  allocate(object: KubeObject, old: KubeObject | undefined): PendingAllocation;
  /** Takes the addresses and ports of a stored Service. */
  restored(object: KubeObject): void;
  /** Releases the addresses and ports of a deleted Service. */
  released(object: KubeObject): void;
}

const NODE_PORT_FIRST = 30_000;
const NODE_PORT_LAST = 32_767;

/** The addresses and node ports that a spec holds, as numbers. */
interface Held {
  readonly ips: readonly number[];
  readonly nodePorts: readonly number[];
}

/** Creates the allocations of cluster IPs and node ports. */
export function createServiceAllocations({
  fraction,
  firstIp = "10.96.0.1",
  lastIp = "10.96.255.254",
}: ServiceAllocationsOptions): ServiceAllocations {
  const ips = createAllocation({ first: ipv4ToNumber(firstIp), last: ipv4ToNumber(lastIp), fraction });
  const nodePorts = createAllocation({ first: NODE_PORT_FIRST, last: NODE_PORT_LAST, fraction });
  const release = (held: Held) => {
    held.ips.forEach(ips.release);
    held.nodePorts.forEach(nodePorts.release);
  };
  return {
    allocate(object, old) {
      const before = heldBy(old && (old["spec"] as ServiceSpec));
      const taking = new Taking(before);
      const addressed = taking.clusterIp(object["spec"] as ServiceSpec, ips);
      const spec = taking.healthCheckPort(taking.nodePorts(addressed, nodePorts), nodePorts);
      const now = heldBy(spec);
      return {
        object: { ...object, spec },
        errors: taking.errors,
        commit: () => release(difference(before, now)),
        rollback: () => release({ ips: taking.takenIps, nodePorts: taking.takenNodePorts }),
      };
    },
    restored(object) {
      const held = heldBy(object["spec"] as ServiceSpec);
      held.ips.forEach(ips.take);
      held.nodePorts.forEach(nodePorts.take);
    },
    released: (object) => release(heldBy(object["spec"] as ServiceSpec)),
  };
}

function heldBy(spec: ServiceSpec | undefined): Held {
  const ip = spec?.clusterIP ?? "";
  const ports = (spec?.ports ?? []).map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0);
  const check = spec?.healthCheckNodePort ?? 0;
  return { ips: isIPv4(ip) ? [ipv4ToNumber(ip)] : [], nodePorts: [...new Set(check === 0 ? ports : [...ports, check])] };
}

function difference(before: Held, now: Held): Held {
  return {
    ips: before.ips.filter((ip) => !now.ips.includes(ip)),
    nodePorts: before.nodePorts.filter((port) => !now.nodePorts.includes(port)),
  };
}

/** One attempt to allocate what a Service requests; it records what it takes, so that this can be released. */
class Taking {
  readonly errors: FieldError[] = [];
  readonly takenIps: number[] = [];
  readonly takenNodePorts: number[] = [];
  readonly #before: Held;

  constructor(before: Held) {
    this.#before = before;
  }

  clusterIp(spec: ServiceSpec, ips: Allocation): ServiceSpec {
    if (!hasClusterIp(spec)) return spec;
    const { clusterIP = "" } = spec;
    if (clusterIP === HEADLESS) return { ...spec, ...headlessFamilies(spec) };
    if (clusterIP !== "") this.#takeIp(clusterIP, spec, ips);
    return {
      ...spec,
      ...(clusterIP === "" && this.#anyIp(ips)),
      ipFamilies: spec.ipFamilies ?? ["IPv4"],
      ipFamilyPolicy: spec.ipFamilyPolicy ?? "SingleStack",
    };
  }

  #takeIp(ip: string, { clusterIPs = [] }: ServiceSpec, ips: Allocation): void {
    if (!isIPv4(ip)) return;
    const number = ipv4ToNumber(ip);
    if (this.#before.ips.includes(number)) return;
    if (ips.take(number)) return void this.takenIps.push(number);
    const why = ips.inRange(number) ? "provided IP is already allocated" : "the provided IP is not in the valid range";
    this.errors.push(invalid("spec.clusterIPs", clusterIPs, `failed to allocate IP ${ip}: ${why}`));
  }

  #anyIp(ips: Allocation): Pick<ServiceSpec, "clusterIP" | "clusterIPs"> {
    const number = ips.takeAny();
    if (number === undefined) {
      this.errors.push(invalid("spec.clusterIPs", [], "failed to allocate a serviceIP: range is full"));
      return {};
    }
    this.takenIps.push(number);
    const ip = numberToIpv4(number);
    return { clusterIP: ip, clusterIPs: [ip] };
  }

  nodePorts(spec: ServiceSpec, allocation: Allocation): ServiceSpec {
    if (!hasNodePorts(spec)) return spec;
    const wanted = spec.type === "NodePort" || spec.allocateLoadBalancerNodePorts !== false;
    // Ports that are requested by number are taken first, so that none of them is assigned to another port.
    (spec.ports ?? []).forEach(({ nodePort = 0 }, index) => this.#takeNodePort(nodePort, `spec.ports[${index}].nodePort`, allocation));
    return {
      ...spec,
      ports: (spec.ports ?? []).map((port) => (port.nodePort === undefined && wanted ? this.#anyNodePort(port, allocation) : port)),
    };
  }

  healthCheckPort(spec: ServiceSpec, allocation: Allocation): ServiceSpec {
    if (!needsHealthCheck(spec)) return spec;
    const { healthCheckNodePort: port = 0 } = spec;
    this.#takeNodePort(port, "spec.healthCheckNodePort", allocation);
    if (port !== 0) return spec;
    const { nodePort } = this.#anyNodePort({ port: 0 }, allocation);
    return nodePort === undefined ? spec : { ...spec, healthCheckNodePort: nodePort };
  }

  #takeNodePort(nodePort: number, field: string, allocation: Allocation): void {
    // Two protocols of one Service may share a port.
    const held = nodePort === 0 || this.#before.nodePorts.includes(nodePort) || this.takenNodePorts.includes(nodePort);
    if (held) return;
    if (allocation.take(nodePort)) return void this.takenNodePorts.push(nodePort);
    const why = allocation.inRange(nodePort)
      ? "provided port is already allocated"
      : `provided port is not in the valid range. The range of valid ports is ${NODE_PORT_FIRST}-${NODE_PORT_LAST}`;
    this.errors.push(invalid(field, nodePort, why));
  }

  #anyNodePort(port: ServicePort, allocation: Allocation): ServicePort {
    const nodePort = allocation.takeAny();
    if (nodePort === undefined) {
      this.errors.push(invalid("spec.ports", [], "failed to allocate a nodePort: range is full"));
      return port;
    }
    this.takenNodePorts.push(nodePort);
    return { ...port, nodePort };
  }
}

/** Without an address, and without a selector that would decide, a Service may resolve to both families. */
function headlessFamilies({ selector = {}, ipFamilies, ipFamilyPolicy }: ServiceSpec): Pick<ServiceSpec, "ipFamilies" | "ipFamilyPolicy"> {
  const both = Object.keys(selector).length === 0;
  return {
    ipFamilies: ipFamilies ?? (both ? ["IPv4", "IPv6"] : ["IPv4"]),
    ipFamilyPolicy: ipFamilyPolicy ?? (both ? "RequireDualStack" : "SingleStack"),
  };
}
