import { formatIp, networkOf, parseCidr, parseIp, width } from "../../kube/object/endpoints/ip.ts";

/**
 * Validates a CIDR such as `10.0.0.0/8` or `fd00::/8`; without a length, it is a single address. Returns the error as the rest of a
 * sentence, or `undefined`. Accepts only canonical text, as address policies do at run time: `010.0.0.1` is 10.0.0.1 to some programs and
 * 8.0.0.1 to others.
 *
 * @example
 * cidrProblem("10.0.0.0/8"); // undefined
 * cidrProblem("10.1.2.3/8"); // 'it has bits set beyond its prefix length; the network is 10.0.0.0/8'
 */
export function cidrProblem(text: string): string | undefined {
  const [, addressText = "", lengthText] = /^([^/]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const address = parseIp(addressText);
  if (address === undefined) return "it is not an address in canonical form, with or without /length";
  const length = lengthText === undefined ? width(address) : Number(lengthText);
  if (length > width(address)) return `its prefix length is more than ${width(address)}`;
  const network = networkOf(address, length);
  return network.bits === address.bits
    ? undefined
    : `it has bits set beyond its prefix length; the network is ${formatIp(network)}/${length}`;
}

/**
 * Reports whether several CIDRs together contain every address of one. All must be valid.
 *
 * @example
 * isCovered("10.0.0.0/8", ["10.128.0.0/9", "10.0.0.0/9"]); // true
 */
export function isCovered(text: string, by: readonly string[]): boolean {
  const { address, last } = parseCidr(text)!;
  const ranges = by.map((one) => parseCidr(one)!).filter((one) => one.address.family === address.family);
  let next = address.bits;
  for (const range of ranges.sort((left, right) => (left.address.bits < right.address.bits ? -1 : 1)))
    if (range.address.bits <= next && range.last >= next) next = range.last + 1n;
  return next > last;
}
