/**
 * Draws values below their places in a text.
 *
 * @module
 */
import type { ExplainedValue } from "./types.ts";

/** A value with the offset that it is drawn below. */
export interface DrawnValue extends ExplainedValue {
  readonly anchor: number;
}

/** Width of values, in columns. Longer values are cut. */
const VALUE_MAX = 60;
/** Width of lines, in columns. Longer lines are wrapped, so that values stay near their places. */
const LINE_MAX = 120;
/** Indent of the rest of a wrapped line. */
const CONTINUED = "    ";
const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** A label with the column that it starts in. */
interface Label {
  readonly column: number;
  readonly text: string;
}

/** One drawn line: `shown` is the text from offset `start` on, after the spaces in `indent`. */
interface DrawnLine {
  readonly start: number;
  readonly shown: string;
  readonly indent: string;
}

/**
 * Draws `text` with the values below each of its lines; long lines are broken. If several values have the same anchor, the value of the
 * longest text is drawn. A map or list is not drawn if one of its members is.
 */
export function draw(text: string, values: readonly DrawnValue[]): string {
  const drawn = drawnValues(values);
  let next = 0;
  return linesOf(text)
    .flatMap(({ start, shown, indent }) => {
      const labels: Label[] = [];
      let column = indent.length;
      let measured = 0;
      for (; next < drawn.length && drawn[next]!.anchor < start + Math.max(1, shown.length); next += 1) {
        const value = drawn[next]!;
        const offset = Math.max(0, value.anchor - start);
        column += columnsOf(shown.slice(measured, offset));
        measured = offset;
        labels.push({ column, text: labelOf(value) });
      }
      return [`${indent}${shown}`, ...rowsOf(labels)];
    })
    .map((line) => line.trimEnd())
    .join("\n");
}

/** One value for each anchor, in the order of the text. */
function drawnValues(values: readonly DrawnValue[]): readonly DrawnValue[] {
  const byAnchor = new Map<number, DrawnValue>();
  for (const value of values.filter(isDrawnAmong(values))) {
    const before = byAnchor.get(value.anchor);
    if (before === undefined || value.end - value.start > before.end - before.start) byAnchor.set(value.anchor, value);
  }
  return [...byAnchor.values()].sort((left, right) => left.anchor - right.anchor);
}

function linesOf(text: string): DrawnLine[] {
  const lines: DrawnLine[] = [];
  let start = 0;
  for (const end of text.matchAll(LINE_END)) {
    lines.push(...piecesOf(text.slice(start, end.index), start));
    start = end.index + end[0].length;
  }
  return [...lines, ...piecesOf(text.slice(start), start)];
}

/** Breaks a line into pieces of at most {@link LINE_MAX} columns, after a space, comma or bracket where possible. */
function piecesOf(line: string, lineStart: number): DrawnLine[] {
  const pieces: DrawnLine[] = [];
  const add = (from: number, to: number) =>
    pieces.push({ start: lineStart + from, shown: plain(line.slice(from, to)), indent: from === 0 ? "" : CONTINUED });
  let from = 0;
  let columns = 0;
  let at = 0;
  let breakable = 0;
  for (const character of line) {
    columns += columnsOf(character);
    if (columns > LINE_MAX && character !== " ") {
      const to = breakable > from ? breakable : at;
      add(from, to);
      columns = CONTINUED.length + columnsOf(line.slice(to, at + character.length));
      from = to;
    }
    at += character.length;
    if (/[\s,()[\]{}]/.test(character)) breakable = at;
  }
  add(from, line.length);
  return pieces;
}

/** Replaces control characters with spaces, because a terminal gives them no column of their own. */
function plain(line: string): string {
  return line.replace(/\p{Cc}/gu, " ");
}

/** Reports whether a value is shown; a map or list whose member is shown is not. */
function isDrawnAmong(values: readonly DrawnValue[]): (value: DrawnValue) => boolean {
  const byStart = new Map<number, DrawnValue[]>();
  for (const value of values) byStart.set(value.start, [...(byStart.get(value.start) ?? []), value]);
  return ({ first, start, text }) => {
    if (first === "function") return false;
    if (!/^[{[]/.test(first)) return true;
    const isMember = (other: DrawnValue) =>
      /^\??\.[^()]+$/.test(other.text.slice(text.length)) && other.text.startsWith(text) && other.first !== "undefined";
    return !byStart.get(start)!.some(isMember);
  };
}

function labelOf({ count, first, last }: DrawnValue): string {
  if (count === 1) return cut(first);
  return first === last ? `${cut(first)} (${count} times)` : `${cut(first)} … ${cut(last)} (${count} times)`;
}

function cut(value: string): string {
  const shown = plain(value);
  if (columnsOf(shown) <= VALUE_MAX) return shown;
  let kept = "";
  for (const character of shown) {
    if (columnsOf(kept + character) >= VALUE_MAX) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Returns a row of bars and, below it, the labels in as few rows as possible, placed from right to left. */
function rowsOf(labels: readonly Label[]): string[] {
  const rows: Label[][] = labels.length === 0 ? [] : [labels.map(({ column }) => ({ column, text: "|" }))];
  for (const label of labels.toReversed()) {
    const end = label.column + columnsOf(label.text);
    let row = 1;
    for (; row < rows.length; row += 1) {
      const leftmost = rows[row]!.at(-1)!;
      if (end < leftmost.column) break;
      rows[row]!.push({ column: label.column, text: "|" });
    }
    (rows[row] ??= []).push(label);
  }
  return rows.map((row) => rowText([...row].sort((left, right) => left.column - right.column)));
}

function rowText(row: readonly Label[]): string {
  let line = "";
  let columns = 0;
  for (const { column, text } of row) {
    const gap = Math.max(0, column - columns);
    line += " ".repeat(gap) + text;
    columns += gap + columnsOf(text);
  }
  return line;
}

/** Marks that are drawn above, below or between other characters. */
const NO_COLUMN = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Characters that terminals draw in two columns: East Asian characters and emoji. */
const TWO_COLUMNS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

/**
 * The number of terminal columns that a text occupies. An approximation: combined characters are counted one by one.
 *
 * @example
 * columnsOf("日本"); // 4
 */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += NO_COLUMN.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;
  return columns;
}
