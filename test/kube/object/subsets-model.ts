/**
 * The API server's rule for subsets, a second time and as plainly as possible: slow, by its words, for comparison only.
 */
import * as fc from "fast-check";
import { canonicalJson } from "../../../src/base/json.ts";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../../src/kube/object/types.ts";

const uidOf = (address: EndpointAddress) => address.targetRef?.uid ?? "";
const sameAddress = (left: EndpointAddress, right: EndpointAddress) => left.ip === right.ip && uidOf(left) === uidOf(right);
const canonicalOrder = <T>(items: Iterable<T>): T[] =>
  [...items].sort((left, right) => (canonicalJson(left) < canonicalJson(right) ? -1 : 1));

interface Entry {
  readonly address: EndpointAddress;
  ready: boolean;
}

/** The stored form of `subsets`, in one definite order. */
export function storedSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const entriesByPort = new Map<unknown, { port: EndpointPort | undefined; entries: Entry[] }>();
  const spellings = subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses]);
  for (const subset of subsets) {
    for (const port of subset.ports?.length ? subset.ports : [undefined]) {
      const named = port && { ...port, protocol: port.protocol ?? "TCP" };
      // Go compares the pointer of an appProtocol: each is a port of its own.
      const id = named?.appProtocol === undefined ? canonicalJson(named) : named;
      const { entries } = entriesByPort.get(id) ?? entriesByPort.set(id, { port: named, entries: [] }).get(id)!;
      const add = (address: EndpointAddress, ready: boolean) => {
        const known = entries.find((entry) => sameAddress(entry.address, address));
        if (known === undefined) entries.push({ address: spellings.find((spelling) => sameAddress(spelling, address))!, ready });
        else known.ready &&= ready;
      };
      for (const address of subset.addresses ?? []) add(address, true);
      for (const address of subset.notReadyAddresses ?? []) add(address, false);
    }
  }
  const portsByEntries = new Map<string, { entries: Entry[]; ports: EndpointPort[] }>();
  for (const { port, entries } of entriesByPort.values()) {
    if (entries.length === 0) continue;
    const id = canonicalJson(canonicalOrder(entries));
    const { ports } = portsByEntries.get(id) ?? portsByEntries.set(id, { entries, ports: [] }).get(id)!;
    if (port !== undefined) ports.push(port);
  }
  const stored = [...portsByEntries.values()].map(({ entries, ports }): EndpointSubset => {
    const ready = entries.filter((entry) => entry.ready).map((entry) => entry.address);
    const notReady = entries.filter((entry) => !entry.ready).map((entry) => entry.address);
    return {
      ...(ready.length > 0 && { addresses: ready }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ...(ports.length > 0 && { ports }),
    };
  });
  return inOrder(stored);
}

/** The same subsets with every list in one definite order. */
export function inOrder(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  return canonicalOrder(
    subsets.map(
      (subset) =>
        Object.fromEntries(Object.entries(subset).map(([field, list]) => [field, canonicalOrder<unknown>(list)])) as EndpointSubset,
    ),
  );
}

/** The same subsets with every list turned by `turn`: another order. */
export function turned(subsets: readonly EndpointSubset[], turn: number): EndpointSubset[] {
  const turnedList = <T>(list: readonly T[]): T[] => [...list.slice(turn % (list.length + 1)), ...list.slice(0, turn % (list.length + 1))];
  return turnedList(subsets).map(
    (subset) =>
      Object.fromEntries(
        Object.entries(subset).map(([field, list]) => [field, turnedList(list as readonly unknown[]).toReversed()]),
      ) as EndpointSubset,
  );
}

/** Spellings of an address: `vary: false` gives one per IP and uid. */
function address({ vary }: { vary: boolean }): fc.Arbitrary<EndpointAddress> {
  const fields = { ip: fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1"), uid: fc.constantFrom(undefined, "u1", "u2") };
  return fc
    .record({ ...fields, nodeName: vary ? fc.constantFrom(undefined, "node-a", "node-b") : fc.constant(undefined) })
    .map(({ ip, uid, nodeName }) => ({
      ip,
      ...(nodeName !== undefined && { nodeName }),
      ...(uid !== undefined && { targetRef: { kind: "Pod", namespace: "shop", name: `db-${uid}`, uid } }),
    }));
}

const port: fc.Arbitrary<EndpointPort> = fc.record(
  {
    port: fc.constantFrom(80, 443),
    name: fc.constantFrom("web", "tls"),
    protocol: fc.constantFrom("TCP", "UDP"),
    appProtocol: fc.constant("http"),
  },
  { requiredKeys: ["port"] },
);

/** Subsets whose addresses and ports meet often. One in a few lists is missing or empty. */
export function subsets(options: { vary: boolean; appProtocol?: boolean }): fc.Arbitrary<EndpointSubset[]> {
  const addresses = fc.array(address(options), { maxLength: 4 });
  const plain = port.map(({ appProtocol: _dropped, ...rest }) => rest);
  const ports = fc.array(options.appProtocol === false ? plain : port, { maxLength: 3 });
  return fc.array(fc.record({ addresses, notReadyAddresses: addresses, ports }, { requiredKeys: [] }), { maxLength: 4 });
}
