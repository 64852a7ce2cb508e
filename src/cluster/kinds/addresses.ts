import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";

/** A range that endpoints may not use, and the message about it. */
interface RefusedRange {
  readonly ranges: BlockList;
  readonly detail: string;
}

function refused(v4: readonly [string, number], v6: readonly [string, number], detail: string): RefusedRange {
  const ranges = new BlockList();
  ranges.addSubnet(...v4, "ipv4");
  ranges.addSubnet(...v6, "ipv6");
  return { ranges, detail };
}

/** Multicast beyond the link is accepted, as in Kubernetes. */
const REFUSED: readonly RefusedRange[] = [
  refused(["0.0.0.0", 32], ["::", 128], "may not be unspecified (0.0.0.0 or ::)"),
  refused(["127.0.0.0", 8], ["::1", 128], "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
  refused(["169.254.0.0", 16], ["fe80::", 10], "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
  refused(["224.0.0.0", 24], ["ff02::", 16], "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
];

/**
 * The problems of an address behind a Service. Source: `ValidateNonSpecialIP` with strict parsing: no leading zeros, no
 * zones, no IPv4 inside IPv6.
 *
 * @example
 * endpointAddressErrors("10.0.0.1", "ip"); // []
 */
export function endpointAddressErrors(ip: string, field: string): FieldError[] {
  if (isIP(ip) === 0 || ip.includes("%")) return [invalid(field, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
  if (isIPv6(ip) && isMappedIpv4(ip)) return [invalid(field, ip, "must not be an IPv4-mapped IPv6 address")];
  const family = isIPv4(ip) ? "ipv4" : "ipv6";
  return REFUSED.filter(({ ranges }) => ranges.check(ip, family)).map(({ detail }) => invalid(field, ip, detail));
}

const MAPPED = new BlockList();
MAPPED.addSubnet("::ffff:0:0", 96, "ipv6");

function isMappedIpv4(ip: string): boolean {
  return MAPPED.check(ip, "ipv6");
}
