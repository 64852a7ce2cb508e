/**
 * What is wrong with a CIDR (`10.0.0.0/8`, `fd00::/8`; without a length it is one address), as the rest of a sentence, or
 * `undefined`. Canonical text only, as in address policies at run time: `010.0.0.1` is 10.0.0.1 to some programs and 8.0.0.1
 * to others.
 *
 * @example
 * cidrProblem("10.0.0.0/8"); // undefined
 * cidrProblem("10.1.2.3/8"); // 'it has bits behind its length; the network is 10.0.0.0/8'
 */
export function cidrProblem(text: string): string | undefined {
  const [, address, length] = /^([^/]{1,45})(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const bytes = address === undefined ? undefined : (bytesOfIpv4(address) ?? bytesOfIpv6(address));
  if (address === undefined || bytes === undefined) return "it is no address in canonical text, with or without /length";
  const bits = length === undefined ? bytes.length * 8 : Number(length);
  if (bits > bytes.length * 8) return `its length is more than ${bytes.length * 8}`;
  const network = bytes.map((byte, index) => byte & maskOf(bits - 8 * index));
  return network.every((byte, index) => byte === bytes[index])
    ? undefined
    : `it has bits behind its length; the network is ${format(network)}/${bits}`;
}

/** The mask of a byte of which the first `bits` belong to the network. */
function maskOf(bits: number): number {
  return 0xff & (0xff00 >> Math.min(8, Math.max(0, bits)));
}

function bytesOfIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256)) return undefined;
  return parts.map(Number);
}

function bytesOfIpv6(text: string): number[] | undefined {
  if (!/^[0-9a-f:]+$/.test(text) || canonicalIpv6(text) !== text) return undefined;
  const [head = [], tail] = text.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const zeros = Array.from({ length: 8 - head.length - (tail?.length ?? 0) }, () => "0");
  const groups = tail === undefined ? head : [...head, ...zeros, ...tail];
  return groups.map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 0xff]);
}

/** The URL parser writes IPv6 addresses as RFC 5952 does, and refuses what is none. */
function canonicalIpv6(text: string): string | undefined {
  const url = `http://[${text}]/`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
}

function format(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index]! << 8) | bytes[2 * index + 1]!).toString(16));
  return canonicalIpv6(groups.join(":")) ?? groups.join(":");
}
