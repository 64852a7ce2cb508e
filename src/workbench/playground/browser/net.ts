/**
 * The functions of `node:net` that the rules of an API server use, for browsers.
 *
 * @module
 */

/** An IPv4 address, without leading zeros. */
export function isIPv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
}

/** An IPv6 address, in any spelling, without a zone. */
export function isIPv6(text: string): boolean {
  return /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) && URL.canParse(`http://[${text}]/`);
}

/** 4, 6, or 0 for anything that is not an address. */
export function isIP(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return isIPv6(text) ? 6 : 0;
}

/** Addresses by their subnets. An IPv6 address that maps an IPv4 one is in the subnets of both. */
export class BlockList {
  readonly #subnets: { readonly family: 4 | 6; readonly shift: bigint; readonly network: bigint }[] = [];

  addSubnet(address: string, length: number, family: "ipv4" | "ipv6"): void {
    const shift = BigInt((family === "ipv4" ? 32 : 128) - length);
    this.#subnets.push({ family: family === "ipv4" ? 4 : 6, shift, network: bitsOf(address, family) >> shift });
  }

  check(address: string, family: "ipv4" | "ipv6"): boolean {
    if (isIP(address) !== (family === "ipv4" ? 4 : 6)) return false;
    const bits = bitsOf(address, family);
    const within = (wanted: 4 | 6, own: bigint) => this.#subnets.some((one) => one.family === wanted && own >> one.shift === one.network);
    if (family === "ipv4") return within(4, bits);
    return within(6, bits) || (bits >> 32n === 0xffffn && within(4, bits & 0xffffffffn));
  }
}

function bitsOf(address: string, family: "ipv4" | "ipv6"): bigint {
  if (family === "ipv4") return address.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
  // A URL writes every address in hexadecimal groups.
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const groups = (part: string | undefined) => (part === undefined || part === "" ? [] : part.split(":"));
  const [start, end] = [groups(head), groups(tail)];
  const all = [...start, ...Array.from({ length: 8 - start.length - end.length }, () => "0"), ...end];
  return all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}
