/**
 * Formats an expression, and a place in it, for messages.
 *
 * @module
 */
import { parseExpression } from "./syntax.ts";

/** A place in a text. Line and column count from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

const QUOTED_MAX = 80;
/** Characters that an excerpt shows on either side of its place. */
const AROUND = 24;
const OPERAND_MAX = 80;
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
const LINE_ENDS = new RegExp(LINE_END, "g");

/** Quotes and shortens `text` for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text);
}

/** Returns the line and column of an offset, which counts from 0. */
export function placeOfOffset(text: string, offset: number): TextPosition {
  return placesOfOffsets(text, [offset])[0]!;
}

/** Returns the line and column of each offset, in one pass over the text. The offsets are in ascending order. */
export function placesOfOffsets(text: string, offsets: readonly number[]): TextPosition[] {
  let [line, from] = [1, 0];
  let at = 0;
  return offsets.map((offset) => {
    for (const end of text.slice(at, offset).matchAll(LINE_ENDS)) {
      line += 1;
      from = at + end.index + end[0].length;
    }
    at = offset;
    return { line, column: offset - from + 1 };
  });
}

/**
 * Excerpt around a place, on one line, with `▸` at the place itself.
 *
 * @example
 * excerptOf("value.map(x => x)", { line: 1, column: 10 }); // "value.map▸(x => x)"
 */
export function excerptOf(text: string, place: TextPosition): string {
  const { line, at } = lineOf(text, place);
  const [from, to] = [Math.max(0, at - AROUND), at + AROUND];
  const before = (from > 0 ? "…" : "") + line.slice(from, at);
  return `${before}▸${line.slice(at, to)}${to < line.length ? "…" : ""}`.trim();
}

/** Returns ` at line 1, column 10`, followed by an excerpt unless the message already quotes the whole expression on one line. */
export function showPlace(text: string, place: TextPosition): string {
  const { line, column } = place;
  const inSight = text.length <= QUOTED_MAX && !LINE_END.test(text);
  return ` at line ${line}, column ${column}${inSight ? "" : ` (${excerptOf(text, place)})`}`;
}

/**
 * Returns the chain of members, calls and indexes that ends right before a place; undefined if there is no such chain or it is too long.
 *
 * @example
 * operandBefore("1 + value.a?.b(2).c", { line: 1, column: 18 }); // "value.a?.b(2)"
 */
export function operandBefore(text: string, place: TextPosition): string | undefined {
  const { line, at } = lineOf(text, place);
  let from = at;
  let depth = 0;
  for (; from > 0 && at - from <= OPERAND_MAX; from -= 1) {
    const unit = line[from - 1]!;
    if (/[)\]]/.test(unit)) depth += 1;
    else if (/[([]/.test(unit)) depth -= 1;
    else if (depth === 0 && !/[\w$.?]/.test(unit)) break;
    if (depth < 0) break;
  }
  const operand = line.slice(from, at).replace(/^\?\.|^\./, "");
  // Brackets inside strings make the count wrong, so the result must also parse.
  return /^[\p{L}_$([]/u.test(operand) && operand.length <= OPERAND_MAX && !("message" in parseExpression(operand)) ? operand : undefined;
}

function lineOf(text: string, { line, column }: TextPosition): { line: string; at: number } {
  const found = text.split(LINE_END)[line - 1] ?? "";
  return { line: found, at: Math.min(column - 1, found.length) };
}
