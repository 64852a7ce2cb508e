import type { EndpointAddress, EndpointPort, EndpointSubset, KubeObject, ServicePort } from "../../kube/object/types.ts";
import { dnsLabel, dnsSubdomain, type TextRule } from "../../apiserver/types/objects/names.ts";
import { endpointAddressErrors } from "../kinds/addresses.ts";
import { integerAt, listAt, textAt } from "../kinds/opaque/read.ts";
import { isHeadless, serviceSpecOf } from "../kinds/services.ts";

/**
 * The subsets of a Service with a selector, before the API server groups them: one per Pod and port, ready or not.
 * Pods without an address of the Service's first family, Pods that have ended, and ports that a Pod does not name are left out. Pods that
 * are being deleted are left out too, unless the Service publishes addresses that are not ready. Source: `ShouldPodBeInEndpoints`,
 * `podToEndpointAddressForService`, `FindPort`.
 *
 * Pods are not validated. Values that are invalid in Endpoints are ignored, so that a single Pod cannot block the Endpoints of its Service.
 */
export function subsetsOf(service: KubeObject, pods: readonly KubeObject[]): EndpointSubset[] {
  const published = serviceSpecOf(service).publishNotReadyAddresses === true;
  return pods
    .filter((pod) => published || !isTerminating(pod))
    .flatMap((pod) => {
      const address = addressOf(service, pod);
      if (address === undefined) return [];
      const list = isReady(pod) || published ? "addresses" : "notReadyAddresses";
      return portsOf(service, pod).map((ports) => ({ [list]: [address], ports }));
    });
}

function isTerminating({ metadata }: KubeObject): boolean {
  return typeof metadata.deletionTimestamp === "string";
}

function isReady(pod: KubeObject): boolean {
  return listAt(pod, "status", "conditions").some(
    (condition) => textAt(condition, "type") === "Ready" && textAt(condition, "status") === "True",
  );
}

/** Undefined for a Pod that has ended or has no address. */
function addressOf(service: KubeObject, pod: KubeObject): EndpointAddress | undefined {
  const ip = ipOf(service, pod);
  const phase = textAt(pod, "status", "phase");
  if (ip === undefined || phase === "Succeeded" || phase === "Failed") return undefined;
  const { namespace, name, uid } = pod.metadata;
  const hostname = textAt(pod, "spec", "subdomain") === service.metadata.name ? named(pod, "hostname", dnsLabel) : undefined;
  const nodeName = named(pod, "nodeName", dnsSubdomain);
  return {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    targetRef: { kind: "Pod", namespace: namespace!, name: name!, uid: uid! },
  };
}

/** A name in the spec, if it is valid. */
function named(pod: KubeObject, field: string, rule: TextRule): string | undefined {
  const name = textAt(pod, "spec", field);
  return name === undefined || rule(name).length > 0 ? undefined : name;
}

/** The address of a Pod in the first family of the Service. */
function ipOf(service: KubeObject, pod: KubeObject): string | undefined {
  const [family] = serviceSpecOf(service).ipFamilies ?? [];
  const ips = [textAt(pod, "status", "podIP"), ...listAt(pod, "status", "podIPs").map((entry) => textAt(entry, "ip"))];
  return ips.find(
    (ip) =>
      ip !== undefined &&
      endpointAddressErrors(ip, "ip").length === 0 &&
      (family === undefined || ip.includes(":") === (family === "IPv6")),
  );
}

/** A list of ports for each subset; a headless Service without ports has one subset with an empty list. */
function portsOf(service: KubeObject, pod: KubeObject): EndpointPort[][] {
  const { ports = [] } = serviceSpecOf(service);
  if (ports.length === 0) return isHeadless(serviceSpecOf(service)) ? [[]] : [];
  const named = ports.some(({ targetPort }) => typeof targetPort === "string") ? namedPorts(pod) : NO_PORTS;
  return ports.flatMap((port) => {
    const number = portNumber(port, named);
    return number === undefined ? [] : [[endpointPort(port, number)]];
  });
}

function endpointPort({ name, protocol = "TCP", appProtocol }: ServicePort, port: number): EndpointPort {
  return { ...(name !== undefined && { name }), port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

const PORT_MAX = 65_535;

function portNumber({ targetPort, port, protocol = "TCP" }: ServicePort, named: NamedPorts): number | undefined {
  if (typeof targetPort !== "string") return targetPort ?? port;
  const number = integerAt(named.get(portKey(targetPort, protocol)), "containerPort") ?? 0;
  return number >= 1 && number <= PORT_MAX ? number : undefined;
}

/** Ports of containers by name and protocol. */
type NamedPorts = ReadonlyMap<string, unknown>;

const NO_PORTS: NamedPorts = new Map();

const portKey = (name: string, protocol: string) => `${protocol}/${name}`;

/** Created once for each Pod: a Service and a Pod may both have thousands of ports. Of several with the same name, the first counts. */
function namedPorts(pod: KubeObject): NamedPorts {
  // A sidecar is an init container that keeps running.
  const sidecars = listAt(pod, "spec", "initContainers").filter((container) => textAt(container, "restartPolicy") === "Always");
  const found = new Map<string, unknown>();
  for (const port of [...listAt(pod, "spec", "containers"), ...sidecars].flatMap((container) => listAt(container, "ports"))) {
    const name = textAt(port, "name");
    const key = name === undefined ? undefined : portKey(name, textAt(port, "protocol") ?? "TCP");
    if (key !== undefined && !found.has(key)) found.set(key, port);
  }
  return found;
}
