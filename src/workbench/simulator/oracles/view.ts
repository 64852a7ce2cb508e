/**
 * The backends that readers get from slices, with what they learn about each: its family, address and port, and whether it takes traffic.
 * It is independent of the engine's own view.
 *
 * @module
 */
import type { Endpoints, EndpointSlice, KubeObject } from "../../../kube/object/types.ts";

/** Whether a backend takes new connections, takes them only if no other backend does, because it terminates, or takes none. */
type Traffic = "ready" | "terminating" | "none";

/** Backends by family, address and port. A backend in several slices takes as much traffic as one of them says. */
export type Backends = ReadonlyMap<string, Traffic>;

const ORDER: readonly (Traffic | undefined)[] = [undefined, "none", "terminating", "ready"];

/** The backends in slices, as readers see them. */
export function backendsIn(slices: Iterable<KubeObject>): Backends {
  const all = new Map<string, Traffic>();
  for (const slice of slices) {
    const { addressType, endpoints, ports } = slice as EndpointSlice;
    const texts = (ports ?? []).map(({ name = "", port, protocol = "TCP" }) => `:${port}/${protocol}/${name}`);
    for (const { addresses, conditions } of endpoints ?? []) {
      const traffic = trafficOf(conditions);
      // Readers of a slice without ports, such as DNS, see only the addresses.
      for (const text of texts.length > 0 ? texts : [""]) {
        const id = `${addressType} ${addresses?.[0]}${text}`;
        if (ORDER.indexOf(traffic) > ORDER.indexOf(all.get(id))) all.set(id, traffic);
      }
    }
  }
  return all;
}

/** A missing condition "ready" counts as true, and a missing condition "serving" is equal to it. */
function trafficOf({ ready, serving, terminating }: NonNullable<EndpointSlice["endpoints"]>[number]["conditions"] = {}): Traffic {
  if (ready !== false) return "ready";
  return serving === true && terminating === true ? "terminating" : "none";
}

/** Endpoints in the form of slices. */
export function slicesFrom({ subsets = [] }: Endpoints): readonly KubeObject[] {
  const slices = subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    ["IPv4", "IPv6"].map((addressType) => {
      const isOf = ({ ip }: { ip: string }) => ip.includes(":") === (addressType === "IPv6");
      return {
        ...{ addressType, ports },
        endpoints: [
          ...addresses.filter(isOf).map(({ ip }) => ({ addresses: [ip] })),
          ...notReadyAddresses.filter(isOf).map(({ ip }) => ({ addresses: [ip], conditions: { ready: false } })),
        ],
      };
    }),
  );
  return slices as unknown as KubeObject[];
}

/** The backends in Endpoints, in the same form as those in slices. */
export function backendsOf(endpoints: Endpoints): Backends {
  return backendsIn(slicesFrom(endpoints));
}

const MARKS: Readonly<Record<Traffic, string>> = { ready: "", terminating: "~", none: "!" };

/** One text per backend. It ends with "~" or "!" if the backend terminates or takes no traffic. */
function textsOf(backends: Backends): Set<string> {
  return new Set([...backends].map(([id, traffic]) => id + MARKS[traffic]));
}

/** One text per backend that a reader takes from these slices. */
export function readBy(slices: Iterable<KubeObject>): Set<string> {
  return textsOf(backendsIn(slices));
}

/** The same for stored Endpoints. */
export function readOf(endpoints: Endpoints): Set<string> {
  return textsOf(backendsOf(endpoints));
}

/** Reports whether a backend in such a text takes new connections. */
export function isReady(text: string): boolean {
  return !/[~!]$/.test(text);
}
