import type { EndpointAddress, EndpointPort, EndpointSubset, KubeObject, ServicePort } from "../../kube/object/types.ts";
import type { Pod } from "../kinds/pod-types.ts";
import { isHeadless, serviceSpecOf } from "../kinds/services.ts";

/**
 * The subsets of a Service with a selector, before the API server groups them: one per Pod and port, ready or not.
 * A Pod without an address of the Service's first family, one that has ended, and a port that the Pod does not name are left out; a Pod that is being deleted, too,
 * unless the Service publishes addresses that are not ready. Source: `ShouldPodBeInEndpoints`, `podToEndpointAddressForService`, `FindPort`.
 */
export function subsetsOf(service: KubeObject, pods: readonly Pod[]): EndpointSubset[] {
  const published = serviceSpecOf(service).publishNotReadyAddresses === true;
  return pods
    .filter((pod) => isPlaced(pod) && (published || !isTerminating(pod)))
    .flatMap((pod) => {
      const address = addressOf(service, pod);
      if (address === undefined) return [];
      const list = isReady(pod) || published ? "addresses" : "notReadyAddresses";
      return portsOf(service, pod).map((ports) => ({ [list]: [address], ports }));
    });
}

function isTerminating({ metadata }: Pod): boolean {
  return typeof metadata.deletionTimestamp === "string";
}

function isPlaced({ status = {} }: Pod): boolean {
  const ended = status.phase === "Succeeded" || status.phase === "Failed";
  return (status.podIP ?? "") !== "" && !ended;
}

function isReady({ status = {} }: Pod): boolean {
  return status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

function addressOf(service: KubeObject, pod: Pod): EndpointAddress | undefined {
  const { metadata, spec = {} } = pod;
  const { namespace, name, uid } = metadata;
  const ip = ipOf(service, pod);
  if (ip === undefined) return undefined;
  const named = (spec.hostname ?? "") !== "" && spec.subdomain === service.metadata.name;
  return {
    ip,
    ...(named && { hostname: spec.hostname! }),
    ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }),
    targetRef: { kind: "Pod", namespace: namespace!, name: name!, uid: uid! },
  };
}

/** The address of a Pod in the first family of the Service. */
function ipOf(service: KubeObject, { status = {} }: Pod): string | undefined {
  const [family] = serviceSpecOf(service).ipFamilies ?? [];
  const ips = [status.podIP ?? "", ...(status.podIPs ?? []).map(({ ip }) => ip)];
  return ips.find((ip) => ip !== "" && (family === undefined || ip.includes(":") === (family === "IPv6")));
}

/** The ports of one subset each; a headless Service without ports has one subset that names none. */
function portsOf(service: KubeObject, pod: Pod): EndpointPort[][] {
  const { ports = [] } = serviceSpecOf(service);
  if (ports.length === 0) return isHeadless(serviceSpecOf(service)) ? [[]] : [];
  return ports.flatMap((port) => {
    const number = portNumber(port, pod);
    return number === undefined ? [] : [[endpointPort(port, number)]];
  });
}

function endpointPort({ name, protocol = "TCP", appProtocol }: ServicePort, port: number): EndpointPort {
  return { ...(name !== undefined && { name }), port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

function portNumber({ targetPort, port, protocol = "TCP" }: ServicePort, { spec = {} }: Pod): number | undefined {
  if (typeof targetPort !== "string") return targetPort ?? port;
  // A sidecar is an init container that stays.
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const ports = [...(spec.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  return ports.find((candidate) => candidate.name === targetPort && (candidate.protocol ?? "TCP") === protocol)?.containerPort;
}
