import type { EndpointAddress, EndpointPort, Endpoints, EndpointSlice, EndpointSubset } from "../types.ts";

/** Content of one slice, in its stored form. */
export type SliceContent = Pick<EndpointSlice, "addressType" | "endpoints" | "ports">;

/** Rules for the conversion of addresses into endpoints. */
export interface SliceRules {
  /** Maximum number of addresses of one subset; ready addresses come first. */
  readonly addressesMax: number;
  /** Maximum number of endpoints in one slice. */
  readonly endpointsMax: number;
  /** Conditions of an address besides its readiness. */
  readonly conditions: (ready: boolean) => Readonly<Record<string, boolean>>;
}

/** Returns the slices that are equivalent to the subsets of Endpoints: at least one for each address family that a subset contains. */
export function slicesOf({ subsets = [] }: Pick<Endpoints, "subsets">, rules: SliceRules): SliceContent[] {
  return subsets.flatMap((subset) => {
    const placed = placedOf(subset).slice(0, rules.addressesMax);
    const ports = portsOf(subset);
    const families = [
      ["IPv4", placed.filter(({ address }) => !isIPv6(address))],
      ["IPv6", placed.filter(({ address }) => isIPv6(address))],
    ] as const;
    return families.flatMap(([addressType, addresses]) =>
      chunksOf(addresses, rules.endpointsMax).map((chunk) => ({
        addressType,
        endpoints: chunk.map((one) => endpointOf(one, rules)),
        ports,
      })),
    );
  });
}

/** Reports whether an address, which an API server has accepted, is an IPv6 address. */
function isIPv6({ ip }: EndpointAddress): boolean {
  return ip.includes(":");
}

interface Placed {
  readonly address: EndpointAddress;
  readonly ready: boolean;
}

function placedOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset): Placed[] {
  return [...addresses.map((address) => ({ address, ready: true })), ...notReadyAddresses.map((address) => ({ address, ready: false }))];
}

function endpointOf({ address: { ip, hostname, nodeName, targetRef }, ready }: Placed, { conditions }: SliceRules) {
  return {
    addresses: [ip],
    conditions: { ready, ...conditions(ready) },
    ...(hostname !== undefined && { hostname }),
    ...(targetRef !== undefined && { targetRef }),
    ...(nodeName !== undefined && { nodeName }),
  };
}

function portsOf({ ports = [] }: EndpointSubset): SliceContent["ports"] {
  const named = ({ name = "", protocol = "TCP", ...rest }: EndpointPort) => ({ name, protocol, ...rest });
  return ports.length === 0 ? null : ports.map(named);
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_none, index) => items.slice(index * size, (index + 1) * size));
}
