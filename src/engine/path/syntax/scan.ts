/**
 * Shared parts of both path parsers: a position in a text, quoted names, and refusals with the column.
 *
 * @module
 */
import { EngineError } from "../../../base/errors.ts";
import { PATH_LENGTH_MAX } from "./segment.ts";

/** A place in a path text. White space around the path is outside `[start, end)`. */
export interface Scanner {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The next unread unit. */
  at: number;
}

/** Creates a scanner at the first character of `text` that is not white space. */
export function openScanner(text: string): Scanner {
  const end = text.trimEnd().length;
  const start = Math.min(end, text.length - text.trimStart().length);
  return { text, start, end, at: start };
}

/** The next unread character, or "" at the end. */
export function peek(scanner: Scanner): string {
  return scanner.at < scanner.end ? String.fromCodePoint(scanner.text.codePointAt(scanner.at)!) : "";
}

/** Reads `expected` if it comes next, and reports whether it did. */
export function accept(scanner: Scanner, expected: string): boolean {
  if (!scanner.text.startsWith(expected, scanner.at) || scanner.at + expected.length > scanner.end) return false;
  scanner.at += expected.length;
  return true;
}

/** Reads the match of a sticky pattern at the current position; "" if there is none. */
export function take(scanner: Scanner, sticky: RegExp): string {
  sticky.lastIndex = scanner.at;
  const found = sticky.exec(scanner.text)?.[0] ?? "";
  const taken = found.slice(0, scanner.end - scanner.at);
  scanner.at += taken.length;
  return taken;
}

/** Skips the white space that is allowed inside brackets. */
export function skipSpace(scanner: Scanner): void {
  take(scanner, /[ \t\n\r]*/y);
}

/** Content of a refusal in addition to the path itself. */
export interface PathRefusal {
  /** Offset of the offending character, in UTF-16 units. Default: the position of the scanner. */
  readonly at?: number;
  /** Describes what was found or expected, as the rest of a sentence. */
  readonly problem: string;
  /** The corrected path, or another correction. */
  readonly hint: string;
}

/** The error PATH_SYNTAX, for a path that does not parse. */
export function syntaxError(scanner: Scanner, refusal: PathRefusal): EngineError {
  return pathError("PATH_SYNTAX", scanner, refusal);
}

/** The error PATH_UNSUPPORTED, for an operator of another path language. */
export function unsupported(scanner: Scanner, refusal: PathRefusal): EngineError {
  return pathError("PATH_UNSUPPORTED", scanner, refusal);
}

function pathError(code: "PATH_SYNTAX" | "PATH_UNSUPPORTED", { text, at }: Scanner, refusal: PathRefusal): EngineError {
  const column = (refusal.at ?? at) + 1;
  const message = `Cannot parse path "${cite(text)}": ${refusal.problem} at column ${column}`;
  return new EngineError(code, message, { details: { column, hint: refusal.hint, text } });
}

/** Formats a path for messages and hints: short and on one line, so that a hostile path cannot flood a log. */
export function cite(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\uFFFD");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/**
 * Refuses a path that is longer than {@link PATH_LENGTH_MAX}.
 *
 * @throws PATH_SYNTAX when the path is longer.
 */
export function checkLength(scanner: Scanner): void {
  if (scanner.text.length <= PATH_LENGTH_MAX) return;
  throw syntaxError(scanner, {
    at: PATH_LENGTH_MAX,
    problem: `it has ${scanner.text.length} characters, but at most ${PATH_LENGTH_MAX} are allowed`,
    hint: "Patch a shorter path, and access deeper parts in the expression",
  });
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", "/": "/", "\\": "\\" };

/**
 * Reads a quoted name at its opening quote (`"` or `'`). The escapes are those of RFC 9535; unlike there, a lone
 * surrogate is allowed, because a key of a document may contain one and its concrete path must parse.
 *
 * @throws PATH_SYNTAX when the quote is not closed, or an escape is none of these.
 */
export function readQuoted(scanner: Scanner): string {
  const opened = scanner.at;
  const quote = peek(scanner);
  scanner.at += 1;
  let name = "";
  while (!accept(scanner, quote)) {
    name += take(scanner, quote === '"' ? /[^"\\\0-\x1f]*/y : /[^'\\\0-\x1f]*/y);
    const next = peek(scanner);
    if (next === "\\") name += readEscape(scanner, quote);
    else if (next !== quote) throw brokenQuote(scanner, { opened, quote });
  }
  return name;
}

function brokenQuote(scanner: Scanner, { opened, quote }: { opened: number; quote: string }): EngineError {
  if (peek(scanner) === "") {
    return syntaxError(scanner, { at: opened, problem: `the quote ${quote} is not closed`, hint: `Close it with another ${quote}` });
  }
  return syntaxError(scanner, {
    problem: "found a control character in a quoted key",
    hint: "Write it as an escape, such as \\n or \\u0000",
  });
}

function readEscape(scanner: Scanner, quote: string): string {
  const at = scanner.at;
  scanner.at += 1;
  const unit = take(scanner, /u[0-9a-fA-F]{4}/y);
  if (unit !== "") return String.fromCharCode(Number.parseInt(unit.slice(1), 16));
  const letter = peek(scanner);
  scanner.at += letter.length;
  if (letter === quote) return quote;
  if (Object.hasOwn(SIMPLE_ESCAPES, letter)) return SIMPLE_ESCAPES[letter]!;
  throw syntaxError(scanner, {
    at,
    problem: `"\\${letter}" is not an escape`,
    hint: `Valid escapes are \\${quote} \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hex digits`,
  });
}
