/**
 * Sets of characters that one step of a regular expression matches.
 *
 * @module
 */

/** Reports whether a character, by its code point, is in the set. */
export type Characters = (point: number) => boolean;

/** The characters from `first` to `last`. */
export function range(first: number, last = first): Characters {
  return (point) => point >= first && point <= last;
}

/** The characters of any of the sets. */
export function anyOf(sets: readonly Characters[]): Characters {
  return (point) => sets.some((set) => set(point));
}

/** All characters that are not in the set. */
export function complement(set: Characters): Characters {
  return (point) => !set(point);
}

/** The set, with the other case of its letters added. */
export function anyCase(set: Characters): Characters {
  return (point) => {
    const letter = String.fromCodePoint(point);
    return [letter, letter.toLowerCase(), letter.toUpperCase()].some((form) => set(form.codePointAt(0)!));
  };
}

/** The set of the characters of `text`, in which `a-z` is a range. */
function among(text: string): Characters {
  const parts = [...text.matchAll(/([^])-([^])|([^])/gu)];
  return anyOf(parts.map(([, first, last, single]) => range((first ?? single)!.codePointAt(0)!, (last ?? single)!.codePointAt(0)!)));
}

const DIGITS = among("0-9");
const SPACES = among("\t\n\f\r ");

/** Digits, letters and the underscore, which `\w` and `\b` use. */
export const WORD_CHARACTERS = among("0-9A-Za-z_");

/** The classes that a backslash and a letter name; the capital letter means the complement. */
export const PERL_CLASSES: Readonly<Record<string, Characters>> = {
  d: DIGITS,
  D: complement(DIGITS),
  s: SPACES,
  S: complement(SPACES),
  w: WORD_CHARACTERS,
  W: complement(WORD_CHARACTERS),
};

/** The classes `[:name:]` within brackets. */
export const POSIX_CLASSES: Readonly<Record<string, Characters>> = {
  alnum: among("0-9A-Za-z"),
  alpha: among("A-Za-z"),
  ascii: range(0, 0x7f),
  blank: among("\t "),
  cntrl: anyOf([range(0, 0x1f), range(0x7f)]),
  digit: DIGITS,
  graph: range(0x21, 0x7e),
  lower: among("a-z"),
  print: range(0x20, 0x7e),
  punct: anyOf([range(0x21, 0x2f), range(0x3a, 0x40), range(0x5b, 0x60), range(0x7b, 0x7e)]),
  space: among("\t\n\v\f\r "),
  upper: among("A-Z"),
  word: WORD_CHARACTERS,
  xdigit: among("0-9A-Fa-f"),
};

/** The set of a Unicode category or script such as `L`, `Lu` or `Greek`; undefined for an unknown name. */
export function unicodeClass(name: string): Characters | undefined {
  if (!/^[A-Za-z_]{1,40}$/.test(name)) return undefined;
  for (const property of [name, `Script=${name}`]) {
    try {
      const one = new RegExp(`^\\p{${property}}$`, "u");
      return (point) => one.test(String.fromCodePoint(point));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}
