/**
 * SHA-256 (FIPS 180-4) without platform functions: browsers have no synchronous one, and outside secure contexts none at all.
 *
 * @module
 */

/** The first 32 bits of the fractional parts of the cube roots (for rounds) and square roots (to start from) of the first primes. */
const ROUND = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
const START = Uint32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

const BLOCK_BYTES = 64;

/**
 * SHA-256 of bytes, as 64 lower-case hex digits.
 *
 * @example
 * sha256(new TextEncoder().encode("release")).slice(0, 10); // "a4d451ec23"
 */
export function sha256(bytes: Uint8Array): string {
  const state = START.slice();
  const words = new Int32Array(64);
  const whole = bytes.length - (bytes.length % BLOCK_BYTES);
  for (let offset = 0; offset < whole; offset += BLOCK_BYTES) addBlock(state, words, new DataView(bytes.buffer, bytes.byteOffset + offset));
  const tail = tailOf(bytes, whole);
  for (let offset = 0; offset < tail.byteLength; offset += BLOCK_BYTES) addBlock(state, words, new DataView(tail.buffer, offset));
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The bytes after the last whole block, followed by a bit that is set and by the length in bits. */
function tailOf(bytes: Uint8Array, whole: number): Uint8Array {
  const rest = bytes.subarray(whole);
  const tail = new Uint8Array(rest.length + 9 > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES);
  tail.set(rest);
  tail[rest.length] = 0x80;
  const view = new DataView(tail.buffer);
  view.setUint32(tail.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(tail.length - 4, (bytes.length << 3) >>> 0);
  return tail;
}

function addBlock(state: Uint32Array, words: Int32Array, block: DataView): void {
  for (let index = 0; index < 16; index += 1) words[index] = block.getUint32(4 * index);
  for (let index = 16; index < 64; index += 1) {
    const early = words[index - 15]!;
    const late = words[index - 2]!;
    const sigma0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const sigma1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words[index] = words[index - 16]! + sigma0 + words[index - 7]! + sigma1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index += 1) {
    const sum1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + ROUND[index]! + words[index]!) | 0;
    const sum0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = state[index]! + word;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let number = 2; found.length < count; number += 1) if (found.every((prime) => number % prime !== 0)) found.push(number);
  return found;
}

function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32);
}
