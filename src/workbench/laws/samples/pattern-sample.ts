import type { Random } from "../../simulator/model/random.ts";

/** Sample characters of `\d` and other classes. */
const CLASSES: Readonly<Record<string, string>> = {
  d: "0189",
  w: "a0_",
  s: " ",
  D: "a-",
  W: "-.",
  S: "a0-",
  n: "\n",
  t: "\t",
  b: "",
  B: "",
};

/** Maximum repetitions of an unbounded quantifier beyond its minimum. */
const REPEAT_MORE = 3;

/** Maximum number of pieces of nested repetitions. */
const PIECES_MAX = 200;

/**
 * A string that a regular expression probably matches. Unknown constructs are left out: look-around, back references and
 * Unicode classes.
 *
 * @example
 * samplePattern("^tenant-\\d+$", random); // "tenant-1"
 */
export function samplePattern(source: string, random: Random): string {
  return new Sampler(source, random).alternatives();
}

class Sampler {
  readonly #source: string;
  readonly #random: Random;
  #at = 0;
  #pieces = 0;

  constructor(source: string, random: Random) {
    this.#source = source;
    this.#random = random;
  }

  /** Samples the alternatives up to a closing parenthesis or the end. */
  alternatives(): string {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return this.#random.pick(options);
  }

  #sequence(): string {
    let text = "";
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at]!)) text += this.#repeated();
    return text;
  }

  #repeated(): string {
    const start = this.#at;
    const first = this.#atom();
    const [minimum, maximum] = this.#quantifier();
    const count = minimum + this.#random.below(maximum - minimum + 1);
    const end = this.#at;
    let text = count > 0 ? first : "";
    for (let done = 1; done < count && this.#pieces < PIECES_MAX; done += 1) {
      this.#at = start;
      text += this.#atom();
    }
    this.#at = end;
    return text;
  }

  #atom(): string {
    const character = this.#source[this.#at]!;
    this.#at += 1;
    this.#pieces += 1;
    if (character === "(") return this.#group();
    if (character === "[") return this.#class();
    if (character === "\\") return this.#escape();
    if (character === ".") return this.#random.pick(["a", "0", "-"]);
    return character === "^" || character === "$" ? "" : character;
  }

  #group(): string {
    const isLook = /^\?(?:<?[=!])/.test(this.#source.slice(this.#at));
    const head = /^\?(?:<[^>]*>|[:=!]|<[=!])/.exec(this.#source.slice(this.#at));
    this.#at += head?.[0].length ?? 0;
    const text = this.alternatives();
    this.#take(")");
    return isLook ? "" : text;
  }

  #escape(): string {
    const character = this.#source[this.#at] ?? "";
    this.#at += 1;
    const known = CLASSES[character];
    if (known !== undefined) return known === "" ? "" : this.#random.pick([...known]);
    return /[1-9pPuxkc]/.test(character) ? "" : character;
  }

  #class(): string {
    const end = this.#source.slice(this.#at).search(/(?<!\\)\]/);
    const body = end < 0 ? "" : this.#source.slice(this.#at, this.#at + end);
    this.#at = end < 0 ? this.#source.length : this.#at + end + 1;
    if (body.startsWith("^")) return this.#random.pick(["a", "0", "-", "."].filter((one) => !body.includes(one)).concat("~"));
    const members = [...body.matchAll(/\\(.)|(.)-(.)|(.)/g)].flatMap(([, escaped, from, to, single]) =>
      escaped === undefined ? [from, to, single].filter((one) => one !== undefined) : [...(CLASSES[escaped] ?? escaped)],
    );
    return members.length === 0 ? "" : this.#random.pick(members);
  }

  #quantifier(): [minimum: number, maximum: number] {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at));
    if (found === null) return [1, 1];
    this.#at += found[0].length;
    if (found[1] === undefined)
      return ({ "*": [0, REPEAT_MORE], "+": [1, REPEAT_MORE], "?": [0, 1] } as const)[found[0][0]!] as [number, number];
    const minimum = Math.min(Number(found[1]), 64);
    const maximum = found[2] === "" ? minimum : found[3] === "" ? minimum + REPEAT_MORE : Math.min(Number(found[3]), minimum + REPEAT_MORE);
    return [minimum, Math.max(minimum, maximum)];
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }
}
