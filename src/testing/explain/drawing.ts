/**
 * Draws values below the places of a text that they belong to.
 *
 * @module
 */
import type { ExplainedValue } from "./types.ts";
import { columnsOf } from "./columns.ts";

/** A value with the offset that it is drawn below. */
export interface DrawnValue extends ExplainedValue {
  readonly anchor: number;
}

/** Longer values are cut. In columns. */
const VALUE_MAX = 60;
const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** A label with the column that it starts in. */
interface Label {
  readonly column: number;
  readonly text: string;
}

/**
 * `text` with the values below each of its lines. Of several values with the same anchor, that of the longest text is drawn; what is
 * only a step on the way to a member that is there is left out.
 */
export function draw(text: string, values: readonly DrawnValue[]): string {
  const byAnchor = new Map<number, DrawnValue>();
  for (const value of values.filter((one) => isDrawn(one, values))) {
    const before = byAnchor.get(value.anchor);
    if (before === undefined || value.end - value.start > before.end - before.start) byAnchor.set(value.anchor, value);
  }
  return linesOf(text)
    .flatMap(({ start, line }) => {
      const labels = [...byAnchor.values()]
        .filter(({ anchor }) => anchor >= start && anchor < start + Math.max(1, line.length))
        .sort((left, right) => left.anchor - right.anchor)
        .map((value) => ({ column: columnsOf(plain(line.slice(0, value.anchor - start))), text: labelOf(value) }));
      return [plain(line), ...rowsOf(labels)];
    })
    .map((line) => line.trimEnd())
    .join("\n");
}

function linesOf(text: string): { start: number; line: string }[] {
  const lines: { start: number; line: string }[] = [];
  let start = 0;
  for (const end of text.matchAll(LINE_END)) {
    lines.push({ start, line: text.slice(start, end.index) });
    start = end.index + end[0].length;
  }
  return [...lines, { start, line: text.slice(start) }];
}

/** One character for one: what a terminal would not draw in a column of its own. */
function plain(line: string): string {
  return line.replace(/\p{Cc}/gu, " ");
}

function isDrawn({ first, start, text }: DrawnValue, values: readonly DrawnValue[]): boolean {
  if (first === "function") return false;
  if (!/^[{[]/.test(first)) return true;
  const isMember = (other: DrawnValue) =>
    other.start === start && other.text.startsWith(text) && /^\??\.[^()]+$/.test(other.text.slice(text.length));
  return !values.some((other) => isMember(other) && other.first !== "undefined");
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

/** A row of bars, and the labels in as few rows below it as they fit into, from the right. */
function rowsOf(labels: readonly Label[]): string[] {
  const rows: Label[][] = labels.length === 0 ? [] : [labels.map(({ column }) => ({ column, text: "|" }))];
  for (const label of [...labels].reverse()) {
    let row = 1;
    for (; row < rows.length; row += 1) {
      const leftmost = rows[row]!.at(-1)!;
      if (label.column + columnsOf(label.text) < leftmost.column) break;
      rows[row]!.push({ column: label.column, text: "|" });
    }
    (rows[row] ??= []).push(label);
  }
  return rows.map((row) => rowText([...row].sort((left, right) => left.column - right.column)));
}

function rowText(row: readonly Label[]): string {
  return row.reduce((line, { column, text }) => line + " ".repeat(Math.max(0, column - columnsOf(line))) + text, "");
}
