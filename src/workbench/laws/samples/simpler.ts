import { canonicalJson, isRecord } from "../../../base/json.ts";

/** Number of characters at the start of a text that are replaced one by one. */
const CHARACTERS_MAX = 40;

/**
 * Measures how hard a value is to read: more characters, then less common ones, give a higher number. A string of one letter counts as
 * simpler than an empty string, which is easy to overlook.
 */
export function sizeOf(value: unknown): number {
  if (value === "") return 3.5;
  if (typeof value === "string") return 2 + [...value].reduce((sum, character) => sum + weightOf(character), 0);
  if (Array.isArray(value)) return 2 + value.reduce<number>((sum, item) => sum + 1 + sizeOf(item), 0);
  if (isRecord(value)) return 2 + Object.entries(value).reduce((sum, [key, item]) => sum + 1 + sizeOf(key) + sizeOf(item), 0);
  if (typeof value === "number") return String(value).length + Math.abs(value) / (Math.abs(value) + LARGE);
  return canonicalJson(value).length;
}

/** Makes the smaller of two numbers with equally many digits the simpler one. */
const LARGE = 1_000_000;

function weightOf(character: string): number {
  if (character === "a") return 1;
  if (character === "A") return 1.15;
  if (/[a-z]/.test(character)) return 1.1;
  return /[0-9A-Z._/-]/.test(character) ? 1.2 : 1.4;
}

/** Values that are simpler than `value`, simplest first. */
export function simplerThan(value: unknown): unknown[] {
  const size = sizeOf(value);
  const candidates = [...simpler(value)].map((candidate) => ({ candidate, size: sizeOf(candidate) }));
  return candidates
    .filter((one) => one.size < size)
    .sort((left, right) => left.size - right.size)
    .map(({ candidate }) => candidate);
}

function* simpler(value: unknown): Generator<unknown> {
  if (typeof value === "string") yield* simplerTexts(value);
  else if (typeof value === "number") yield* simplerNumbers(value);
  else if (Array.isArray(value)) yield* simplerLists(value);
  else if (isRecord(value)) yield* simplerRecords(value);
}

/** Largest exponent of a step: not every larger integer is a number in JavaScript. */
const EXPONENT_MAX = 52;

/** Subtracts every power of two, because single steps would take too long to find an edge. */
function* simplerNumbers(value: number): Generator<number> {
  yield* [0, 1, Math.trunc(value)];
  for (let step = 2 ** Math.min(EXPONENT_MAX, Math.floor(Math.log2(Math.abs(value) + 1))); step >= 1; step /= 2)
    yield value - Math.sign(value) * step;
}

function* simplerTexts(value: string): Generator<string> {
  yield* ["a", "", "ab", "10.0.0.1", "1.1.1.1"];
  const characters = [...value];
  for (let part = characters.length >> 1; part >= 1; part >>= 1) {
    for (let at = 0; at + part <= characters.length; at += part)
      yield [...characters.slice(0, at), ...characters.slice(at + part)].join("");
  }
  for (let at = 0; at < Math.min(characters.length, CHARACTERS_MAX); at += 1)
    yield* ["a", "A", "0"].map((plain) => [...characters.slice(0, at), plain, ...characters.slice(at + 1)].join(""));
}

function* simplerLists(value: readonly unknown[]): Generator<unknown> {
  yield [];
  for (let at = 0; at < value.length; at += 1) {
    yield value.toSpliced(at, 1);
    for (const item of simplerThan(value[at])) yield value.with(at, item);
  }
}

function* simplerRecords(value: Record<string, unknown>): Generator<unknown> {
  yield {};
  for (const [key, item] of Object.entries(value)) {
    const others = Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
    yield others;
    yield { ...others, a: item };
    for (const smaller of simplerThan(item)) yield { ...value, [key]: smaller };
  }
}

/**
 * The simplest value found for which `fails` is true, starting from a value for which `fails` is true. Makes at most `tries` attempts.
 */
export function shrinkValue(value: unknown, fails: (candidate: unknown) => boolean, tries = 300): unknown {
  let best = value;
  let left = tries;
  for (;;) {
    let next: { readonly value: unknown } | undefined;
    for (const candidate of simplerThan(best)) {
      if (left <= 0) return best;
      left -= 1;
      if (!fails(candidate)) continue;
      next = { value: candidate };
      break;
    }
    if (next === undefined) return best;
    best = next.value;
  }
}
