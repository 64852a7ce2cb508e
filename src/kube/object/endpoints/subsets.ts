/**
 * Content of an Endpoints object, independent of its notation.
 *
 * An API server before Kubernetes 1.36 repacks subsets on every write (`RepackSubsets`), a later one stores them as they are written.
 * No comparison may depend on the version of the server. Repacked, each port collects its addresses, and ports that end up
 * with the same addresses become one subset. The result is sorted by a digest of a Go dump, so that its order cannot be
 * predicted. Subsets are therefore compared as sets of (port, address, ready) after the server's own merging:
 * - An address is identified by its IP and targetRef.uid, anywhere in the object. Its first spelling replaces the others.
 * - For one port, not-ready wins over ready.
 * - Addresses without ports are dropped if a port has exactly the same addresses.
 * - A port with an appProtocol does not merge with the same port of another subset: the server compares a pointer. For such
 *   ports, the grouping matters.
 * - A subset without addresses is ignored.
 *
 * Absent, `null` and empty text are the same, a missing protocol is TCP, and fields that the API does not define are ignored:
 * the server drops them, and a comparison that included them would always find differences.
 *
 * Nothing here throws for a value that no server stores, because expressions can return such values. A subset, address or port that is not
 * an object counts as an object without fields, a value that is not a list counts as a list of that value, and a field of the wrong type
 * never equals one of the right type. A wrong address or port is therefore never mistaken for a stored one.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../types.ts";

/** Distinct addresses, ascending: twice the number of the address, plus one if it is ready. */
type Members = readonly number[];

/** Replaces a value that is not an object. */
const NO_FIELDS: object = Object.freeze({});

/** Ports that have the same addresses; no port at all for addresses without ports. */
interface Group {
  readonly members: Members;
  readonly ports: EndpointPort[];
}

/** Addresses of one port, collected subset by subset. */
interface Collected {
  readonly port: EndpointPort | undefined;
  readonly parts: Members[];
}

/** The distinct addresses of an object, and the number of each. */
interface Registry {
  readonly addresses: EndpointAddress[];
  readonly numbers: Map<string, number>;
}

/**
 * Returns a sorted text form that is equal for equivalent subsets.
 *
 * The time grows with the size of the object; if several subsets have the same port, it grows with ports × addresses.
 *
 * @example
 * const one = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }];
 * const two = [{ addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80, protocol: "TCP" }] }, { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }];
 * subsetsFingerprint(one) === subsetsFingerprint(two); // true
 */
export function subsetsFingerprint(subsets: readonly EndpointSubset[] | null | undefined): string {
  const { addresses, groups } = pack(listOf(subsets));
  const texts = addresses.map(addressText);
  return groups
    .map(({ members, ports }) => {
      const lines = members.map((code) => `${code % 2 === 1 ? "+" : "-"}${texts[code >> 1]!}`);
      // A port that occurs twice with the same addresses counts once.
      return [...new Set(ports.map(portText)), ...lines].sort().join("\n");
    })
    .sort()
    .join("\n\n");
}

/**
 * Returns the subsets as an API server before Kubernetes 1.36 stores them, but in a different order: one subset for each distinct set of
 * addresses, with the addresses sorted by IP.
 *
 * Source: `RepackSubsets` in Kubernetes. API servers before 1.36 apply it to every create and update of Endpoints; the endpoints controller
 * still applies it.
 *
 * @example
 * repackSubsets([
 *   { addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] },
 *   { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] },
 * ]); // [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80, protocol: "TCP" }] }]
 */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const { addresses, groups } = pack(listOf(subsets));
  return groups
    .map((group) => toSubset(group, addresses))
    .map((subset) => ({ subset, text: subsetText(subset) }))
    .sort((left, right) => compare(left.text, right.text))
    .map(({ subset }) => subset);
}

function toSubset({ members, ports }: Group, addresses: readonly EndpointAddress[]): EndpointSubset {
  const pick = (codes: Members) => codes.map((code) => addresses[code >> 1]!).sort(byAddress);
  const ready = pick(members.filter((code) => code % 2 === 1));
  const notReady = pick(members.filter((code) => code % 2 === 0));
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports.length > 0 && { ports: ports.toSorted((left, right) => compare(portText(left), portText(right))) }),
  };
}

function subsetText({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset): string {
  return [...ports.map(portText), ...addresses.map(addressText), "-", ...notReadyAddresses.map(addressText)].join("\n");
}

function byAddress(left: EndpointAddress, right: EndpointAddress): number {
  // The identity also orders IPs that are not strings.
  return compare(ipOf(left), ipOf(right)) || compare(identityOf(left), identityOf(right));
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function pack(subsets: readonly EndpointSubset[]): { addresses: readonly EndpointAddress[]; groups: readonly Group[] } {
  const registry: Registry = { addresses: [], numbers: new Map() };
  const collected = new Map<string, Collected>();
  for (const subset of subsets.map(fieldsOf)) {
    const members = membersOf(subset, registry);
    if (members.length === 0) continue;
    const ports = listOf(subset.ports).map(withProtocol);
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const id = port === undefined ? "" : port.appProtocol ? `#${collected.size}` : portText(port);
      const known = collected.get(id);
      if (known === undefined) collected.set(id, { port, parts: [members] });
      else known.parts.push(members);
    }
  }
  return { addresses: registry.addresses, groups: groupByMembers(collected.values()) };
}

function membersOf(subset: EndpointSubset, registry: Registry): Members {
  const codes: number[] = [];
  for (const address of listOf(subset.addresses)) codes.push(2 * register(fieldsOf(address), registry) + 1);
  for (const address of listOf(subset.notReadyAddresses)) codes.push(2 * register(fieldsOf(address), registry));
  return distinct(codes);
}

function register(address: EndpointAddress, { addresses, numbers }: Registry): number {
  const id = identityOf(address);
  const known = numbers.get(id);
  if (known !== undefined) return known;
  numbers.set(id, addresses.length);
  return addresses.push(address) - 1;
}

/** Keeps one code per address. The code for not-ready is the lower one, so it sorts first and wins. */
function distinct(codes: readonly number[]): Members {
  const kept: number[] = [];
  let last = -1;
  for (const code of Int32Array.from(codes).sort()) {
    if (code >> 1 !== last) kept.push(code);
    last = code >> 1;
  }
  return kept;
}

function groupByMembers(collected: Iterable<Collected>): Group[] {
  // The ports of one subset share its list of addresses, so most lists are formatted only once.
  const idByMembers = new Map<Members, string>();
  const groups = new Map<string, Group>();
  for (const { port, parts } of collected) {
    const members = parts.length === 1 ? parts[0]! : distinct(parts.flat());
    const id = idByMembers.get(members) ?? members.join();
    idByMembers.set(members, id);
    const group = groups.get(id) ?? { members, ports: [] };
    groups.set(id, group);
    if (port !== undefined) group.ports.push(port);
  }
  return [...groups.values()];
}

function ipOf(address: EndpointAddress): string {
  return typeof address.ip === "string" ? address.ip : "";
}

/** Identity of an address: its IP and targetRef.uid. */
function identityOf(address: EndpointAddress): string {
  return `${textOf(address.ip)} ${textOf(address.targetRef?.uid)}`;
}

function withProtocol(port: EndpointPort): EndpointPort {
  const fields = fieldsOf(port);
  return { ...fields, protocol: fields.protocol || "TCP" };
}

function portText({ name, port, protocol, appProtocol }: EndpointPort): string {
  return `:${textOf(port)} ${textOf(protocol)} ${textOf(name)} ${textOf(appProtocol)}`;
}

function addressText({ ip, hostname, nodeName, targetRef }: EndpointAddress): string {
  const address = `${textOf(ip)} ${textOf(hostname)} ${textOf(nodeName)}`;
  if (targetRef === undefined || targetRef === null) return address;
  const { kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath } = targetRef;
  const target = `${textOf(kind)} ${textOf(namespace)} ${textOf(name)} ${textOf(uid)}`;
  return `${address} ${target} ${textOf(apiVersion)} ${textOf(resourceVersion)} ${textOf(fieldPath)}`;
}

/** Text of one field. The length in front of it prevents confusion with adjacent fields. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value === "" ? "" : `${value.length}:${value}`;
  if (value === undefined || value === null) return "";
  return typeof value === "number" ? String(value) : typeof value;
}

function listOf<T>(value: readonly T[] | null | undefined): readonly T[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [NO_FIELDS as T];
}

function fieldsOf<T extends object>(value: T): T {
  return isRecord(value) ? value : (NO_FIELDS as T);
}
