/** An IP address as a number. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** All addresses that share the first `length` bits of `address`. */
export interface Cidr {
  readonly address: IpAddress;
  readonly length: number;
  /** The last address of the range; `address` is the first. */
  readonly last: bigint;
}

/**
 * Reads an address in its canonical text only: no leading zeros, no zone, no IPv4 inside IPv6, IPv6 as RFC 5952 writes it.
 * Anything else is `undefined`, because parsers of other programs may read it as a different address.
 *
 * @example
 * parseIp("10.0.0.1"); // { family: 4, bits: 167772161n }
 * parseIp("010.0.0.1"); // undefined
 */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/**
 * Reads `address/length`; bits beyond the length must be zero.
 *
 * @example
 * cidrContains(parseCidr("10.0.0.0/8")!, parseIp("10.1.2.3")!); // true
 */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  const address = parseIp(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const lengthText = slash < 0 ? String(width(address)) : text.slice(slash + 1);
  const length = Number(lengthText);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(lengthText) || length > width(address)) return undefined;
  const last = address.bits | ((1n << BigInt(width(address) - length)) - 1n);
  return networkOf(address, length).bits === address.bits ? { address, length, last } : undefined;
}

/** Reports whether `address` is in `cidr`; false if they are of different families. */
export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  return cidr.address.family === address.family && cidr.address.bits <= address.bits && address.bits <= cidr.last;
}

/** The number of bits in an address of this family. */
export function width(address: IpAddress): number {
  return address.family === 4 ? 32 : 128;
}

const DOT = 46;
const ZERO = 48;

/** Parses digit by digit, because this runs for every address of every object. */
function parseIpv4(text: string): IpAddress | undefined {
  let [bits, octet, digits, dots] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      if (digits === 0) return undefined;
      [bits, octet, digits, dots] = [bits * 256 + octet, 0, 0, dots + 1];
      continue;
    }
    // No further digit may follow a leading zero.
    if (code < ZERO || code > ZERO + 9 || (digits > 0 && octet === 0)) return undefined;
    octet = octet * 10 + code - ZERO;
    digits += 1;
    if (octet > 255) return undefined;
  }
  return dots === 3 && digits > 0 ? { family: 4, bits: BigInt(bits * 256 + octet) } : undefined;
}

function parseIpv6(text: string): IpAddress | undefined {
  const groups = expandIpv6(text);
  if (groups === undefined) return undefined;
  const bits = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  return formatIpv6(groups) === text ? { family: 6, bits } : undefined;
}

function expandIpv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head!.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...head!, ...Array.from({ length: missing }, () => "0"), ...(tail ?? [])];
  return all.every((group) => /^[0-9a-f]{1,4}$/.test(group)) ? all.map((group) => Number.parseInt(group, 16)) : undefined;
}

/**
 * Formats an address as canonical text, which {@link parseIp} can read.
 *
 * @example
 * formatIp({ family: 6, bits: 1n }); // "::1"
 */
export function formatIp({ family, bits }: IpAddress): string {
  const parts = (count: number, size: bigint) =>
    Array.from({ length: count }, (_, index) => Number((bits >> (size * BigInt(count - 1 - index))) & ((1n << size) - 1n)));
  return family === 4 ? parts(4, 8n).join(".") : formatIpv6(parts(8, 16n));
}

/** The first address of the network of `length` bits that contains `address`. */
export function networkOf(address: IpAddress, length: number): IpAddress {
  const shift = BigInt(width(address) - length);
  return { ...address, bits: (address.bits >> shift) << shift };
}

/** RFC 5952: the longest run of at least two zero groups, the first of equals, becomes "::". */
function formatIpv6(groups: readonly number[]): string {
  let best = { start: 0, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  if (best.length < 2) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

/** A range of IPv6 addresses that contain IPv4 addresses, and the function that extracts these. */
interface Embedding {
  /** The first `length` bits of every address of the range. */
  readonly prefix: bigint;
  readonly length: number;
  /** Returns the IPv4 addresses that an address of the range may contain, as numbers. */
  readonly read: (bits: bigint) => readonly bigint[];
}

const IPV4_MASK = 0xffff_ffffn;
const atEnd = (bits: bigint) => [bits & IPV4_MASK];

const EMBEDDINGS: readonly Embedding[] = [
  // IPv4-compatible (RFC 4291, deprecated), IPv4-mapped, and IPv4-translated (RFC 2765).
  { prefix: 0n, length: 96, read: atEnd },
  { prefix: 0xffffn, length: 96, read: atEnd },
  { prefix: 0xffff_0000n, length: 96, read: atEnd },
  // NAT64 (RFC 6052) and its prefixes for local use (RFC 8215).
  { prefix: 0x0064_ff9b_0000_0000_0000_0000n, length: 96, read: atEnd },
  { prefix: 0x0064_ff9b_0001n, length: 48, read: nat64 },
  // 6to4 (RFC 3056).
  { prefix: 0x2002n, length: 16, read: (bits) => [(bits >> 80n) & IPV4_MASK] },
  // Teredo (RFC 4380): its server, and the client with every bit flipped.
  { prefix: 0x2001_0000n, length: 32, read: (bits) => [(bits >> 64n) & IPV4_MASK, (bits & IPV4_MASK) ^ IPV4_MASK] },
];

/**
 * Returns the IPv4 addresses that traffic to an IPv6 address may reach, because a translator or a tunnel unwraps it; none for others. If an
 * address can be read in several ways, all of them are returned.
 *
 * @example
 * embeddedIpv4(parseIp("64:ff9b::a00:1")!); // [{ family: 4, bits: 0x0a000001n }]
 */
export function embeddedIpv4({ family, bits }: IpAddress): readonly IpAddress[] {
  if (family === 4) return [];
  const found = EMBEDDINGS.filter(({ prefix, length }) => bits >> BigInt(128 - length) === prefix);
  return found.flatMap(({ read }) => read(bits)).map((ipv4) => ({ family: 4, bits: ipv4 }));
}

/**
 * Returns the IPv4 addresses that a NAT64 address may contain; the operator chooses the length of the prefix. The IPv4 address follows the
 * prefix, without bits 64 to 71, and the bits after it are zero (RFC 6052, 2.2). Addresses that begin with zero result from the wrong
 * length.
 */
function nat64(bits: bigint): readonly bigint[] {
  const isZeroFrom = (bit: number) => (bits & ((1n << BigInt(128 - bit)) - 1n)) === 0n;
  const joined = ((bits >> 64n) << 56n) | (bits & ((1n << 56n) - 1n));
  const shorter = [48, 56, 64].filter((length) => isZeroFrom(length + 40));
  const readings = [...shorter.map((length) => (joined >> BigInt(88 - length)) & IPV4_MASK), ...atEnd(bits)];
  const likely = readings.filter((ipv4) => ipv4 >> 24n !== 0n);
  return likely.length > 0 ? likely : atEnd(bits);
}
