/**
 * Draws values of a shape to try, from those that the kind allows, those in objects, and those in the expressions.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import { createRandom, type Random } from "../../simulator/model/random.ts";
import type { FormatRules } from "./formats.ts";
import { samplePattern } from "./pattern-sample.ts";
import { accepts, formatOf, isAlwaysTried, triedFields } from "./shapes.ts";
import type { Words } from "./words.ts";
import type { NumberSchema, ObjectSchema, Schema } from "../../../schema/schema.ts";

/** Sources of values. */
export interface Sources {
  readonly words: Words;
  /** Values seen at the place itself: in objects, and as results of the expressions. */
  readonly seen: readonly unknown[];
}

/** Maximum number of members of lists and maps. */
const MEMBERS_MAX = 3;

/** Draws a random value that the shape allows, sometimes one that the objects contain. */
export function drawValue(shape: Schema, sources: Sources, random: Random): unknown {
  if (sources.seen.length > 0 && random.happens(0.15)) {
    const value = random.pick(sources.seen);
    if (accepts(shape, value)) return value;
  }
  switch (shape.type) {
    case "any":
      return undefined;
    case "string":
      return drawText(formatOf(shape), sources, random);
    case "literals":
      return random.pick(shape.values);
    case "boolean":
      return random.happens(0.5);
    case "integer":
    case "number":
      return drawInteger(shape, sources.words.numbers, random);
    case "either":
      return drawValue(random.pick(shape.options), sources, random);
    case "list":
      return members(random, () => drawValue(shape.items, sources, random));
    case "map":
      return Object.fromEntries(
        members(random, () => [drawKey(formatOf(shape.keys), sources, random), drawValue(shape.values, sources, random)] as const),
      );
    case "object":
      return drawObject(shape, sources, random);
  }
}

function members<Item>(random: Random, draw: () => Item): Item[] {
  return Array.from({ length: random.below(MEMBERS_MAX + 1) }, draw);
}

function drawObject(shape: ObjectSchema, sources: Sources, random: Random): unknown {
  const present = triedFields(shape).filter(([, field]) => isAlwaysTried(field) || random.happens(0.5));
  // Values seen at the place itself do not fit its fields.
  const inner = { ...sources, seen: [] };
  return Object.fromEntries(present.map(([name, field]) => [name, drawValue(field, inner, random)]));
}

/** Limit of integers if the schema has none. */
const WIDE = 2_147_483_647;

function drawInteger({ minimum = -WIDE, maximum = WIDE }: NumberSchema, numbers: readonly number[], random: Random): number {
  const near = numbers.flatMap((value) => [value - 1, value, value + 1]).filter((value) => Number.isInteger(value));
  const edges = [minimum, maximum, minimum + 1, maximum - 1, 80, 443, ...near].filter((value) => value >= minimum && value <= maximum);
  return random.happens(0.6) ? random.pick(edges) : minimum + random.below(maximum - minimum + 1);
}

/** Draws a key, in half of the cases one that an expression mentions. */
function drawKey(rules: FormatRules, { words }: Sources, random: Random): string {
  const known = [...words.keys, ...words.texts].filter((key) => rules.accepts(key));
  if (known.length > 0 && random.happens(0.5)) return random.pick(known);
  return random.happens(0.5) ? random.pick(rules.samples) : rules.draw(random);
}

const TRIES = 4;

function drawText(rules: FormatRules, sources: Sources, random: Random): string {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const text = anyText(rules, sources, random);
    if (rules.accepts(text)) return text;
  }
  return rules.draw(random);
}

function anyText({ samples, draw }: FormatRules, { words, seen }: Sources, random: Random): string {
  const base = () => (random.happens(0.5) ? random.pick(samples) : draw(random));
  const dice = random.fraction();
  if (dice < 0.4 || (words.texts.length === 0 && words.patterns.length === 0)) return base();
  if (words.patterns.length > 0 && random.happens(0.4)) {
    const sample = samplePattern(random.pick(words.patterns), random);
    return random.pick([sample, sample + base(), base() + sample]);
  }
  if (words.texts.length === 0) return base();
  const word = random.pick(words.texts);
  const seenText = seen.find((value) => typeof value === "string") ?? base();
  return mutate(word, { base: base(), other: random.pick([...words.texts, String(seenText)]) }, random);
}

/** Puts a literal where expressions look for one, or returns a text that almost contains it. */
function mutate(word: string, { base, other }: { base: string; other: string }, random: Random): string {
  const options = [
    () => word + base,
    () => base + word,
    () => word,
    () => word + word + base,
    () => base + word + base,
    () => word + other,
    () => word.slice(0, -1),
    () => word.slice(1) + base,
    () => word.slice(0, -1) + base,
    () => word.toUpperCase() + base,
    () => word.toLowerCase(),
  ];
  return random.pick(options)();
}

/** The values that are tried first: the plain ones, and each literal alone, doubled, as a prefix and as a suffix. */
export function* edgeValues(shape: Schema, { words, seen }: Sources): Generator<unknown> {
  yield* seen.filter((value) => accepts(shape, value));
  yield* edges(shape, words);
}

function* edges(shape: Schema, words: Words): Generator<unknown> {
  switch (shape.type) {
    case "string":
      yield* textEdges(formatOf(shape), words);
      break;
    case "literals":
      yield* shape.values;
      break;
    case "boolean":
      yield* [true, false];
      break;
    case "integer":
    case "number": {
      const near = words.numbers.flatMap((value) => [value, value - 1, value + 1]);
      yield* [80, shape.minimum ?? -WIDE, shape.maximum ?? WIDE, ...near].filter((value) => accepts(shape, value));
      break;
    }
    case "either":
      for (const one of shape.options) yield* edges(one, words);
      break;
    case "list":
      yield [];
      for (const item of first(edges(shape.items, words), EDGE_MEMBERS)) yield [item];
      break;
    case "map":
      yield {};
      for (const key of [...words.keys, ...words.texts, "a"].filter((name) => formatOf(shape.keys).accepts(name)))
        for (const item of first(edges(shape.values, words), 2)) yield { [key]: item };
      break;
    case "object":
      yield Object.fromEntries(
        triedFields(shape)
          .filter(([, field]) => isAlwaysTried(field))
          .map(([name, field]) => [name, [...first(edges(field, words), 1)][0]]),
      );
      break;
    case "any":
  }
}

const EDGE_MEMBERS = 5;

function* first(values: Iterable<unknown>, count: number): Generator<unknown> {
  let done = 0;
  for (const value of values) {
    if (done >= count) return;
    done += 1;
    yield value;
  }
}

function* textEdges(rules: FormatRules, words: Words): Generator<string> {
  const { samples, accepts: fits } = rules;
  const [plain = "a"] = samples;
  const withWord = words.texts.flatMap((word) => [word + plain, word, plain + word, word + word + plain, word.slice(0, -1), word.slice(1)]);
  yield* new Set([plain, ...withWord, ...completions(rules, words), ...samples.slice(1)].filter(fits));
}

/** Number of samples of one pattern. */
const PATTERN_SAMPLES = 2;
/** Number of texts that are tried with numbers appended, as in templates. */
const NUMBERED_MAX = 6;
/** Maximum length of samples that are used as the end of other texts. */
const TAIL_MAX = 70;

/**
 * Texts that expressions look for, alone and as the beginning of a whole value of the format: for example, an address that begins with
 * "10.1.". They are the same for every seed, because pairs are most often wrong for such texts.
 */
function completions({ samples, accepts: fits }: FormatRules, { texts, numbers, patterns }: Words): string[] {
  const random = createRandom(1);
  const matching = patterns.flatMap((pattern) => Array.from({ length: PATTERN_SAMPLES }, () => samplePattern(pattern, random)));
  const few = numbers.slice(0, NUMBERED_MAX);
  const numbered = texts.slice(0, NUMBERED_MAX).flatMap((text) => few.map((number) => `${text}${number}`));
  const short = samples.filter(({ length }) => length <= TAIL_MAX);
  const tails = short.flatMap((sample) => Array.from({ length: sample.length }, (_, index) => sample.slice(index)));
  return [...texts, ...matching, ...numbered].flatMap((beginning) => {
    const tail = tails.find((end) => fits(beginning + end));
    return tail === undefined ? [beginning] : [beginning, beginning + tail];
  });
}

/** Draws a possible edit of `value`: a different value of the same JSON type. */
export function editOf(value: unknown, random: Random): unknown {
  if (typeof value === "string") return editText(value, random);
  if (typeof value === "number") return value + random.pick([1, -1, 10]);
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return random.happens(0.5) ? value.slice(1) : value.map((item: unknown) => editOf(item, random));
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  if (keys.length === 0) return { a: "a" };
  const key = random.pick(keys);
  if (random.happens(0.3)) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  return random.happens(0.3) ? { ...value, "example.com/edit": "a" } : { ...value, [key]: editOf(value[key], random) };
}

function editText(value: string, random: Random): string {
  const at = random.below(value.length + 1);
  return random.pick([
    value + "a",
    value.slice(0, -1),
    value.slice(0, at) + "x" + value.slice(at),
    value.slice(0, at) + value.slice(at + 1),
    `a${value}`,
  ]);
}
