import type { IpAddress } from "./ip.ts";

/** A range of IPv6 addresses that stand for IPv4 ones, and how to read them. */
interface Embedding {
  /** The first `length` bits of every address of the range. */
  readonly prefix: bigint;
  readonly length: number;
  /** IPv4 addresses that an address of the range may stand for, as numbers. */
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
 * The IPv4 addresses that traffic to an IPv6 address may end at, because a translator or a tunnel unwraps it; none for others. Where
 * an address can be read in several ways, all of them.
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
 * The operator of a translator chooses the length of its prefix. The address follows the prefix, bits 64 to 71 are left out, and what
 * remains behind it is zero (RFC 6052, 2.2). Zeros that are read as the beginning of an address come from another length.
 */
function nat64(bits: bigint): readonly bigint[] {
  const isZeroFrom = (bit: number) => (bits & ((1n << BigInt(128 - bit)) - 1n)) === 0n;
  const joined = ((bits >> 64n) << 56n) | (bits & ((1n << 56n) - 1n));
  const shorter = [48, 56, 64].filter((length) => isZeroFrom(length + 40));
  const readings = [...shorter.map((length) => (joined >> BigInt(88 - length)) & IPV4_MASK), ...atEnd(bits)];
  const likely = readings.filter((ipv4) => ipv4 >> 24n !== 0n);
  return likely.length > 0 ? likely : atEnd(bits);
}
