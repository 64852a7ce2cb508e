/**
 * Regular expressions in the syntax of RE2, which match in linear time. There are no back-references and no lookaround,
 * captures are groups like any other, and lazy repetitions match what greedy ones do.
 *
 * @module
 */
import { anyCase, complement, PERL_CLASSES, POSIX_CLASSES, range, unicodeClass, anyOf, type Characters } from "./characters.ts";

/** An expression as a tree. */
export type Tree =
  | { readonly kind: "characters"; readonly set: Characters }
  | { readonly kind: "place"; readonly place: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly Tree[] }
  | { readonly kind: "choice"; readonly parts: readonly Tree[] }
  | { readonly kind: "repeat"; readonly part: Tree; readonly least: number; readonly most: number };

/** A condition on a position between characters. */
export type Assertion = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "wordEdge" | "noWordEdge";

/** Why an expression is invalid, and where: an offset in UTF-16 units from 0. */
export class RegexpRefusal extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Highest number of a counted repetition. */
const COUNT_MAX = 1_000;
/** Deepest nesting of groups. */
const DEPTH_MAX = 100;

interface Flags {
  /** Ignore case. */
  readonly i: boolean;
  /** `^` and `$` also match at the start and the end of each line. */
  readonly m: boolean;
  /** `.` matches line breaks too. */
  readonly s: boolean;
}

/** Parses an expression. Throws {@link RegexpRefusal}. */
export function parseRegexp(source: string): Tree {
  const parser = new Parser(source);
  return parser.whole();
}

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { i: false, m: false, s: false };

  constructor(source: string) {
    this.#source = source;
  }

  whole(): Tree {
    const tree = this.#choice();
    if (this.#at < this.#source.length) this.#refuse("Unexpected )");
    return tree;
  }

  #choice(): Tree {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(): Tree {
    const parts: Tree[] = [];
    while (this.#at < this.#source.length && !this.#sees("|") && !this.#sees(")")) {
      const start = this.#at;
      const atom = this.#atom();
      if (atom !== undefined) parts.push(this.#repeated(atom, start));
    }
    return { kind: "sequence", parts };
  }

  #repeated(part: Tree, start: number): Tree {
    const first = this.#repetition();
    if (first === undefined) return part;
    this.#take("?");
    const second = this.#at;
    if (this.#repetition() !== undefined) this.#refuse("Found a repetition of a repetition; put the inner one in a group", second);
    const { least, most } = first;
    if (least > COUNT_MAX || (most !== Infinity && most > COUNT_MAX)) this.#refuse(`Expected at most ${COUNT_MAX} repetitions`, start);
    if (most < least) this.#refuse("Expected the smaller number of repetitions first", start);
    return { kind: "repeat", part, least, most };
  }

  #repetition(): { least: number; most: number } | undefined {
    if (this.#take("*")) return { least: 0, most: Infinity };
    if (this.#take("+")) return { least: 1, most: Infinity };
    if (this.#take("?")) return { least: 0, most: 1 };
    const [written, least, comma, most] = this.#match(/\{(\d{1,9})(,(\d{1,9})?)?\}/y) ?? [];
    if (written === undefined) return undefined;
    return { least: Number(least), most: comma === undefined ? Number(least) : most === undefined ? Infinity : Number(comma.slice(1)) };
  }

  /** Returns undefined for a group that only sets flags. */
  #atom(): Tree | undefined {
    const start = this.#at;
    if (/[*+?]/.test(this.#source[start]!)) this.#refuse("Found nothing to repeat");
    if (this.#take("(")) return this.#group(start);
    if (this.#take("[")) return this.#characters(this.#brackets(start));
    if (this.#take(".")) return this.#characters(this.#flags.s ? () => true : complement(range(10)), false);
    if (this.#take("^")) return { kind: "place", place: this.#flags.m ? "lineStart" : "textStart" };
    if (this.#take("$")) return { kind: "place", place: this.#flags.m ? "lineEnd" : "textEnd" };
    if (!this.#take("\\")) return this.#characters(range(this.#point()));
    const place = ({ A: "textStart", z: "textEnd", b: "wordEdge", B: "noWordEdge" } as const)[this.#source[this.#at] ?? ""];
    if (place !== undefined) this.#at += 1;
    return place === undefined ? this.#characters(this.#escape(start)) : { kind: "place", place };
  }

  #characters(set: Characters, folded = this.#flags.i): Tree {
    return { kind: "characters", set: folded ? anyCase(set) : set };
  }

  #group(start: number): Tree | undefined {
    const outer = this.#flags;
    const [head, name, flags, end] = this.#match(/\?(?:P?<(\w+)>|([imsU]*(?:-[imsU]+)?)([:)]))/y) ?? [];
    if (head === undefined && this.#sees("?")) {
      const around = /^\?<?[=!]/.test(this.#source.slice(this.#at, this.#at + 3));
      this.#refuse(around ? "Lookahead and lookbehind are not supported" : "Found an unknown kind of group", start);
    }
    if (name === undefined && flags !== undefined) this.#flags = withFlags(outer, flags);
    if (end === ")") return undefined;
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) this.#refuse(`Found groups nested more than ${DEPTH_MAX} levels deep`, start);
    const tree = this.#choice();
    if (!this.#take(")")) this.#refuse("Missing ) for this group", start);
    this.#depth -= 1;
    this.#flags = outer;
    return tree;
  }

  /** Parses the part after a backslash, inside or outside brackets. */
  #escape(start: number): Characters {
    const letter = this.#source[this.#at] ?? this.#refuse("Found nothing after \\", start);
    if (Object.hasOwn(PERL_CLASSES, letter)) {
      this.#at += 1;
      return PERL_CLASSES[letter]!;
    }
    if (letter === "p" || letter === "P") return this.#unicode(start);
    return range(this.#escapedPoint(start));
  }

  #unicode(start: number): Characters {
    const [, capital, negated, long, short] = this.#match(/([pP])(?:\{(\^?)([^}]*)\}|([A-Za-z]))/y) ?? [];
    const set = unicodeClass(long ?? short ?? "") ?? this.#refuse("Unknown Unicode class", start);
    return (capital === "P") === (negated === "^") ? set : complement(set);
  }

  #escapedPoint(start: number): number {
    const [hex, long, short] = this.#match(/x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/y) ?? [];
    if (hex !== undefined) {
      const point = parseInt((long ?? short)!, 16);
      return point <= 0x10ffff ? point : this.#refuse("Found a code point above 10FFFF", start);
    }
    const letter = this.#source[this.#at] ?? this.#refuse("Found nothing after \\", start);
    if (/[1-9]/.test(letter)) this.#refuse("Backreferences are not supported", start);
    const control = Object.hasOwn(CONTROLS, letter) ? CONTROLS[letter] : undefined;
    if (control === undefined && /[A-Za-z0-9]/.test(letter)) this.#refuse(`Found the unknown \\${letter}`, start);
    const point = this.#point();
    return control ?? point;
  }

  #brackets(start: number): Characters {
    const negated = this.#take("^");
    const sets: Characters[] = [];
    for (let first = true; first || !this.#sees("]"); first = false) {
      if (this.#at >= this.#source.length) this.#refuse("Missing ] for this [", start);
      sets.push(this.#member());
    }
    this.#at += 1;
    // The other case is added before the set is negated.
    const set = this.#flags.i ? anyCase(anyOf(sets)) : anyOf(sets);
    if (!negated) return set;
    return complement(set);
  }

  #member(): Characters {
    const start = this.#at;
    const [posix, hat, name] = this.#match(/\[:(\^?)(\w+):\]/y) ?? [];
    if (posix !== undefined) {
      if (!Object.hasOwn(POSIX_CLASSES, name!)) this.#refuse(`Found the unknown class ${posix}`, start);
      const set = POSIX_CLASSES[name!]!;
      return hat === "^" ? complement(set) : set;
    }
    if (/^\\[dDsSwWpP]/.test(this.#source.slice(start, start + 2))) {
      this.#at += 1;
      return this.#escape(start);
    }
    const first = this.#memberPoint();
    if (!this.#sees("-") || this.#source[this.#at + 1] === "]" || this.#at + 1 >= this.#source.length) return range(first);
    this.#at += 1;
    const last = this.#memberPoint();
    return last < first ? this.#refuse("Found a range whose end is before its start", start) : range(first, last);
  }

  #memberPoint(): number {
    const start = this.#at;
    return this.#take("\\") ? this.#escapedPoint(start) : this.#point();
  }

  /** Takes the next character. There must be one. */
  #point(): number {
    const point = this.#source.codePointAt(this.#at)!;
    this.#at += point > 0xffff ? 2 : 1;
    return point;
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }

  #refuse(message: string, offset = this.#at): never {
    throw new RegexpRefusal(offset, message);
  }
}

/** `is-m`: on before the dash, off after it. `U` changes only the contents of captures. */
function withFlags(flags: Flags, text: string): Flags {
  const [on = "", off = ""] = text.split("-");
  const set = (name: keyof Flags) => (off.includes(name) ? false : on.includes(name) || flags[name]);
  return { i: set("i"), m: set("m"), s: set("s") };
}
