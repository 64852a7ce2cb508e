/**
 * The part of ASN.1's DER that certificates need. Every function returns the bytes of one value.
 *
 * @module
 */

const CONSTRUCTED = 0x20;
const CONTEXT = 0x80;

function value(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(count: number): Buffer {
  if (count < 0x80) return Buffer.from([count]);
  const digits = count.toString(16);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  return Buffer.concat([Buffer.from([CONTEXT | bytes.length]), bytes]);
}

/** A sequence of values. */
export function sequence(...members: readonly Uint8Array[]): Buffer {
  return value(0x30, Buffer.concat(members));
}

/** A set of one value. Larger sets would have to be sorted, and nothing here needs them. */
export function setOf(member: Uint8Array): Buffer {
  return value(0x31, member);
}

/** A positive integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const negative = bytes[0]! >= 0x80;
  return value(0x02, negative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** The value true. False is the default everywhere and is never written. */
export function yes(): Buffer {
  return value(0x01, Buffer.from([0xff]));
}

/**
 * An object identifier.
 *
 * @example
 * objectId("2.5.4.3").toString("hex"); // "0603550403"
 */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return value(0x06, Buffer.concat([first * 40 + second, ...rest].map(base128)));
}

function base128(number: number): Buffer {
  const digits = [number & 0x7f];
  for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return Buffer.from(digits);
}

/** A string, as UTF8String. */
export function utf8(text: string): Buffer {
  return value(0x0c, Buffer.from(text));
}

/** Bytes. */
export function octets(content: Uint8Array): Buffer {
  return value(0x04, content);
}

/** A bit string. Its last `unused` bits are padding. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return value(0x03, Buffer.concat([Buffer.from([unused]), content]));
}

/** A point in time, in whole seconds. */
export function derTime(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, "");
  // Years before 2050 must be written with two digits.
  return Number(digits.slice(0, 4)) < 2050 ? value(0x17, Buffer.from(digits.slice(2))) : value(0x18, Buffer.from(digits));
}

/** A value with an explicit tag in addition to the value's own tag. */
export function explicit(place: number, member: Uint8Array): Buffer {
  return value(CONTEXT | CONSTRUCTED | place, member);
}

/** Bytes with an implicit tag, which replaces their own tag. */
export function implicit(place: number, content: Uint8Array): Buffer {
  return value(CONTEXT | place, content);
}
