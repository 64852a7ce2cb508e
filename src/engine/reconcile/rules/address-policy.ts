/**
 * Limits which addresses of a tenant may appear on the host. A tenant can write any address into Endpoints, and the host's load balancers,
 * proxies and policies trust these addresses (CVE-2021-25740).
 *
 * @module
 */
import { EngineError } from "../../../base/errors.ts";
import { embeddedIpv4, cidrContains, formatIp, parseCidr, parseIp, type Cidr, type IpAddress } from "../../../kube/object/endpoints/ip.ts";
import type { EndpointAddress, EndpointSubset, SliceEndpoint } from "../../../kube/object/types.ts";
import { remembered } from "./remembered.ts";

/**
 * The operator's rules. `deny` overrides `allow`; with a non-empty `allow` everything else is refused. An IPv6 address that embeds an
 * IPv4 one (NAT64, 6to4, Teredo, IPv4-mapped, …) must pass as itself and as that one.
 */
export interface AddressPolicy {
  /** CIDRs. Empty: every address that is not refused otherwise. */
  readonly allow: readonly string[];
  /** CIDRs. */
  readonly deny: readonly string[];
  /** Effect of a refused address on its object. */
  readonly action: "drop-address" | "reject-object";
}

/** Refused regardless of the settings. */
const ALWAYS_REFUSED: readonly (readonly [cidr: string, name: string])[] = [
  ["0.0.0.0/8", "unspecified"],
  ["::/128", "unspecified"],
  ["127.0.0.0/8", "loopback"],
  ["::1/128", "loopback"],
  ["169.254.0.0/16", "link-local"],
  ["fe80::/10", "link-local"],
  ["224.0.0.0/4", "multicast"],
  ["ff00::/8", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["100.100.100.200/32", "cloud metadata"],
  ["168.63.129.16/32", "cloud metadata"],
  ["192.0.0.192/32", "cloud metadata"],
  ["fd00:ec2::254/128", "cloud metadata"],
];

const REFUSED_ALWAYS: readonly { cidr: Cidr; name: string }[] = ALWAYS_REFUSED.map(([text, name]) => ({ cidr: parseCidr(text)!, name }));

/** An address that was left out, and why. */
export interface RefusedAddress {
  readonly ip: string;
  readonly reason: string;
}

/** Returns the reason why `ip` is refused, or `undefined` if it may pass. */
export type AddressCheck = (ip: string) => string | undefined;

/** A policy that is ready to use. */
export interface CompiledAddressPolicy {
  readonly check: AddressCheck;
  /** The same for a host name in place of an address. */
  readonly checkName: AddressCheck;
  readonly action: AddressPolicy["action"];
}

/**
 * Compiles a policy once.
 *
 * @throws CONFIG_VALUE when an entry of `allow` or `deny` is not a CIDR.
 * @example
 * const { check } = compileAddressPolicy({ allow: ["10.0.0.0/8"], deny: ["10.9.0.0/16"], action: "drop-address" });
 * check("10.1.0.1"); // undefined
 * check("169.254.169.254"); // "link-local"
 */
export function compileAddressPolicy(policy: AddressPolicy): CompiledAddressPolicy {
  const [allow, deny] = [policy.allow.map(readCidr), policy.deny.map(readCidr)];
  const judge = (address: IpAddress) => {
    const always = REFUSED_ALWAYS.find(({ cidr }) => cidrContains(cidr, address));
    if (always !== undefined) return always.name;
    if (deny.some((cidr) => cidrContains(cidr, address))) return "denied by addressPolicy.deny";
    if (allow.length > 0 && !allow.some((cidr) => cidrContains(cidr, address))) return "not in addressPolicy.allow";
    return undefined;
  };
  const check = (ip: string) => {
    const address = parseIp(ip);
    if (address === undefined) return "not an address in canonical form";
    const refused = judge(address);
    if (refused !== undefined) return refused;
    // An IPv6 address that embeds an IPv4 one counts as that one too, because a translator on the path extracts it.
    for (const embedded of embeddedIpv4(address)) {
      const reason = judge(embedded);
      if (reason !== undefined) return `it embeds ${formatIp(embedded)}: ${reason}`;
    }
    return undefined;
  };
  const limited = allow.length + deny.length > 0;
  const checkName = (name: string) => {
    const local = nameProblem(name);
    if (local !== undefined || !limited) return local;
    return "a host name, whose address addressPolicy cannot check";
  };
  return { check, checkName, action: policy.action };
}

/** Refuses names that are addresses in another form, or that mean the local host; the addresses of other names are unknown. */
function nameProblem(name: string): string | undefined {
  const last = name.toLowerCase().replace(/\.$/, "").split(".").at(-1)!;
  if (name.includes(":") || /^(\d+|0x[\da-f]*)$/.test(last)) return "it is an IP address, but addressType FQDN requires a host name";
  return last === "localhost" ? "loopback" : undefined;
}

/** Parses an entry. An invalid one is an error, because skipping it could permit an address that the operator denied. */
function readCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new EngineError("CONFIG_VALUE", `Cannot use "${text}" in addressPolicy: expected a CIDR in canonical form`);
  return cidr;
}

/**
 * Removes refused addresses, whether ready or not, and then the subsets that have no addresses left. Returns the same reference when
 * nothing was refused. The list must not change.
 */
export function admitAddresses(
  subsets: readonly EndpointSubset[],
  check: AddressCheck,
): { subsets: readonly EndpointSubset[]; refused: readonly RefusedAddress[] } {
  if (passes(check)(subsets)) return { subsets, refused: [] };
  const refused: RefusedAddress[] = [];
  const admitted = (addresses: readonly EndpointAddress[] | undefined) =>
    addresses?.filter(({ ip }) => {
      const reason = check(ip);
      if (reason !== undefined) refused.push({ ip, reason });
      return reason === undefined;
    });
  const kept = subsets.map((subset) => {
    const addresses = admitted(subset.addresses) ?? [];
    const notReadyAddresses = admitted(subset.notReadyAddresses) ?? [];
    return {
      ...(addresses.length > 0 && { addresses }),
      ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
      ...(subset.ports !== undefined && { ports: subset.ports }),
    } satisfies EndpointSubset;
  });
  return { subsets: kept.filter((subset) => subset.addresses !== undefined || subset.notReadyAddresses !== undefined), refused };
}

/** Reports whether a policy refuses nothing in a list. Remembered, because most changes of an object leave the list unchanged. */
const passes = remembered((check: AddressCheck) =>
  remembered((subsets: readonly EndpointSubset[]): boolean => {
    const pass = (addresses: readonly EndpointAddress[] = []) => addresses.every(({ ip }) => check(ip) === undefined);
    return subsets.every(({ addresses, notReadyAddresses }) => pass(addresses) && pass(notReadyAddresses));
  }),
);

/**
 * Removes refused addresses from the endpoints of a slice, and then the endpoints that have no addresses left. Returns the same reference
 * when nothing was refused.
 */
export function admitEndpoints(
  endpoints: readonly SliceEndpoint[],
  check: AddressCheck,
): { endpoints: readonly SliceEndpoint[]; refused: readonly RefusedAddress[] } {
  const refused: RefusedAddress[] = [];
  const admitted = (address: string) => {
    const reason = check(address);
    if (reason !== undefined) refused.push({ ip: address, reason });
    return reason === undefined;
  };
  const kept = endpoints.map((endpoint) => ({ ...endpoint, addresses: (endpoint.addresses ?? []).filter(admitted) }));
  const filled = kept.filter(({ addresses }) => addresses.length > 0);
  return { endpoints: refused.length === 0 && filled.length === endpoints.length ? endpoints : filled, refused };
}
