/**
 * What an Endpoints object says, independent of how it is written down.
 *
 * The API server repacks subsets on every write: it splits them by port, merges equal addresses (same IP and same
 * targetRef.uid; not-ready wins over ready, the first spelling wins), groups again and sorts by a digest of a Go dump. The
 * order and the grouping can not be predicted, so two subsets are compared as sets of (port, address, ready).
 *
 * @module
 */
import { canonicalJson } from "../base/json.ts";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "./types.ts";

/** One (port, address) pair with its state. */
interface Tuple {
  readonly port: EndpointPort | null;
  readonly address: EndpointAddress;
  readonly ready: boolean;
}

/**
 * A sorted text form: equal for subsets that mean the same.
 *
 * @example
 * const one = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }];
 * const two = [{ addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80, protocol: "TCP" }] }, { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }];
 * subsetsFingerprint(one) === subsetsFingerprint(two); // true
 */
export function subsetsFingerprint(subsets: readonly EndpointSubset[] | null | undefined): string {
  const tuples = expand(subsets ?? []);
  return [...tuples.entries()]
    .map(([id, { address, ready }]) => `${id} ${ready ? "ready" : "notReady"} ${canonicalJson(address)}`)
    .sort()
    .join("\n");
}

/** Tells whether two lists of subsets mean the same. */
export function subsetsEqual(
  left: readonly EndpointSubset[] | null | undefined,
  right: readonly EndpointSubset[] | null | undefined,
): boolean {
  return left === right || subsetsFingerprint(left) === subsetsFingerprint(right);
}

/**
 * Subsets as the API server stores them, but for its order: one subset per distinct set of addresses, addresses by IP.
 *
 * Source of the rule: `RepackSubsets` of the API server, applied to every create and update of Endpoints.
 */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const byPort = new Map<string, Tuple[]>();
  for (const [id, tuple] of expand(subsets)) {
    const port = id.slice(0, id.indexOf("\0"));
    byPort.set(port, [...(byPort.get(port) ?? []), tuple]);
  }
  const byAddresses = new Map<string, { tuples: readonly Tuple[]; ports: EndpointPort[] }>();
  for (const tuples of byPort.values()) {
    const sorted = tuples.toSorted(byAddress);
    const id = sorted.map(({ address, ready }) => `${ready} ${canonicalJson(address)}`).join("\n");
    const group = byAddresses.get(id) ?? { tuples: sorted, ports: [] };
    if (sorted[0]!.port !== null) group.ports.push(sorted[0]!.port);
    byAddresses.set(id, group);
  }
  return [...byAddresses.keys()].sort().map((id) => toSubset(byAddresses.get(id)!));
}

function toSubset({ tuples, ports }: { tuples: readonly Tuple[]; ports: EndpointPort[] }): EndpointSubset {
  const ready = tuples.filter((tuple) => tuple.ready).map((tuple) => tuple.address);
  const notReady = tuples.filter((tuple) => !tuple.ready).map((tuple) => tuple.address);
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports.length > 0 && { ports: ports.toSorted((left, right) => (portId(left) < portId(right) ? -1 : 1)) }),
  };
}

/** Every (port, address) pair once, keyed by port and by what makes an address distinct: IP and targetRef.uid. */
function expand(subsets: readonly EndpointSubset[]): Map<string, Tuple> {
  const tuples = new Map<string, Tuple>();
  const add = (port: EndpointPort | null, address: EndpointAddress, ready: boolean) => {
    const id = `${port === null ? "" : portId(port)}\0${address.ip}\0${address.targetRef?.uid ?? ""}`;
    const known = tuples.get(id);
    if (known === undefined) tuples.set(id, { port, address, ready });
    else if (known.ready && !ready) tuples.set(id, { ...known, ready: false });
  };
  for (const subset of subsets) {
    const ports = subset.ports?.length ? subset.ports.map(normalPort) : [null];
    for (const port of ports) {
      for (const address of subset.addresses ?? []) add(port, address, true);
      for (const address of subset.notReadyAddresses ?? []) add(port, address, false);
    }
  }
  return tuples;
}

function normalPort(port: EndpointPort): EndpointPort {
  return { ...port, protocol: port.protocol ?? "TCP" };
}

function portId({ name = "", port, protocol = "TCP", appProtocol = "" }: EndpointPort): string {
  return `${name}:${port}:${protocol}:${appProtocol}`;
}

function byAddress(left: Tuple, right: Tuple): number {
  const [a, b] = [left.address, right.address].map((address) => `${address.ip} ${address.targetRef?.uid ?? ""}`);
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}
