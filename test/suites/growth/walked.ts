/**
 * Native methods that walk over lists, maps, texts and bytes: V8's coverage counts what runs in JavaScript, and sees nothing inside of them.
 *
 * @module
 */

let counting = false;
let walked = 0;
/** Walked places, by method and caller; undefined unless requested. */
let places: Map<string, number> | undefined;

/** Letters, bytes, or items that are moved as one piece of memory, that count as much as one item that is looked at. */
const LETTERS = 8;

/** Begins to count. To be called once {@link countWalked} is done; until {@link walkedSoFar} is asked. */
export function beginWalking(byPlace?: Map<string, number>): void {
  walked = 0;
  places = byPlace;
  counting = true;
}

/** Ends the counting: items, and every eighth letter or byte, that native methods walked over. */
export function walkedSoFar(): number {
  counting = false;
  return Math.ceil(walked);
}

interface Call {
  /** Receiver of the method. */
  readonly self: unknown;
  readonly arguments: readonly unknown[];
  readonly result: unknown;
}

/** Has each of the methods count what a call of it walks over. */
function wrap(holder: object, names: readonly string[], price: (call: Call) => number): void {
  for (const name of names) {
    const native = Reflect.get(holder, name) as (...given: unknown[]) => unknown;
    const counted = {
      [name](this: unknown, ...given: unknown[]): unknown {
        const result = Reflect.apply(native, this, given);
        if (counting) {
          counting = false;
          const amount = price({ self: this, arguments: given, result });
          walked += amount;
          if (places !== undefined) attribute(places, name, amount);
          counting = true;
        }
        return result;
      },
    }[name]!;
    Object.defineProperty(holder, name, { value: counted, writable: true, configurable: true });
  }
}

function attribute(to: Map<string, number>, method: string, amount: number): void {
  const [caller = ""] = /[^/]+\/[^/]+\.[jt]s:\d+/.exec(new Error().stack!.split("\n").slice(3).join("\n")) ?? [];
  const place = `${method} in ${caller}`;
  to.set(place, (to.get(place) ?? 0) + amount);
}

const lengthOf = (value: unknown) => (value as { readonly length?: number } | undefined)?.length ?? 0;
const whole = ({ self }: Call) => lengthOf(self);
const made = ({ result }: Call) => lengthOf(result);
const one = () => 1;
/** From where the search begins to what was found, or to the end. */
function untilFound({ self, arguments: [_wanted, from = 0], result }: Call): number {
  return Math.max(Number(result) < 0 ? lengthOf(self) - Number(from) : Number(result) + 1 - Number(from), 1);
}
/** Comparators are counted by themselves, unless native. */
const sorted = ({ self, arguments: given }: Call) => lengthOf(self) * (given.length > 0 ? 1 : Math.ceil(Math.log2(lengthOf(self) + 1)));
const letters = ({ self }: Call) => lengthOf(self) / LETTERS;
const lettersMade = ({ result }: Call) => lengthOf(result) / LETTERS;
const lettersUntilFound = (call: Call) => untilFound(call) / LETTERS + 1;
const lettersGiven = ({ arguments: [first] }: Call) => lengthOf(first) / LETTERS;
const membersOf = (value: unknown) => (typeof value === "object" && value !== null ? Reflect.ownKeys(value).length : 0);
const membersGiven = ({ arguments: given }: Call) => given.reduce<number>((sum, value) => sum + membersOf(value), 0);

/** From where the search began to the end of what was found. */
function searched({ self, arguments: [text], result }: Call): number {
  const { sticky } = self as RegExp;
  const match = result as RegExpExecArray | null;
  if (match !== null) return match[0].length / LETTERS + 1;
  return sticky ? 1 : lengthOf(text) / LETTERS + 1;
}

/** Has the native methods count, in all of this process and for good. What Node has taken for itself before is not counted. */
export function countWalked(): void {
  const lists = ["map", "filter", "forEach", "flatMap", "reduce", "reduceRight", "reverse", "toReversed", "join", "fill", "with"];
  wrap(Array.prototype, [...lists, "includes", "lastIndexOf"], whole);
  wrap(Array.prototype, ["shift", "unshift", "toSpliced", "copyWithin"], letters);
  wrap(Array.prototype, ["slice"], lettersMade);
  wrap(Array.prototype, ["splice"], ({ self, arguments: [from] }) => Math.abs(lengthOf(self) - Number(from)) / LETTERS + 1);
  wrap(Array.prototype, ["indexOf"], untilFound);
  wrap(Array.prototype, ["concat", "flat"], made);
  wrap(Array.prototype, ["sort", "toSorted"], sorted);
  wrap(Array, ["from"], made);
  for (const list of [[], new Map(), new Set(), ""] as const) {
    // Spreads, loops and constructors of maps and sets go through these.
    wrap(Object.getPrototypeOf(list[Symbol.iterator]()) as object, ["next"], one);
  }
  const texts = ["replace", "replaceAll", "trim", "trimStart", "trimEnd", "normalize", "toLowerCase", "toUpperCase", "localeCompare"];
  wrap(String.prototype, [...texts, "includes", "lastIndexOf", "isWellFormed", "toWellFormed"], letters);
  wrap(String.prototype, ["indexOf"], lettersUntilFound);
  wrap(String.prototype, ["split", "match"], (call) => letters(call) + made(call));
  wrap(String.prototype, ["padStart", "padEnd", "repeat", "concat"], lettersMade);
  wrap(RegExp.prototype, ["exec"], searched);
  const members = ["keys", "values", "entries", "assign", "freeze", "isFrozen", "getOwnPropertyNames", "getOwnPropertyDescriptors"];
  wrap(Object, members, membersGiven);
  wrap(Object, ["fromEntries"], ({ result }) => membersOf(result));
  wrap(Reflect, ["ownKeys"], made);
  wrap(JSON, ["parse"], lettersGiven);
  wrap(JSON, ["stringify"], lettersMade);
  wrap(Buffer, ["from", "concat"], lettersMade);
  wrap(Buffer, ["byteLength"], lettersGiven);
  wrap(Buffer.prototype, ["toString", "equals", "compare", "includes"], letters);
  wrap(Buffer.prototype, ["indexOf"], lettersUntilFound);
  wrap(globalThis, ["encodeURIComponent", "decodeURIComponent"], lettersGiven);
  wrap(URLSearchParams.prototype, ["get", "getAll", "has"], ({ self }) => (self as URLSearchParams).size);
}
