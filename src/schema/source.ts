import type { Position } from "./problem.ts";

/** A text with a name, whose offsets can be converted to lines and columns. */
export interface Source {
  readonly file: string;
  /** Without a leading byte order mark. */
  readonly text: string;
  /** The offset at which each line starts. */
  readonly lineStarts: readonly number[];
}

/** Prepares `text` for {@link positionAt}; line breaks are LF, CR LF and CR. */
export function createSource(file: string, text: string): Source {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const lineStarts = [0];
  for (const match of plain.matchAll(/\r\n|\r|\n/g)) lineStarts.push(match.index + match[0].length);
  return { file, text: plain, lineStarts };
}

/** A source of values that do not come from text: every position is 0:0. */
export function sourceWithoutText(file: string): Source {
  return { file, text: "", lineStarts: [] };
}

/**
 * Line and column of an offset.
 *
 * @example
 * positionAt(createSource("a.yaml", "x: 1\ny: 2"), 8); // { file: "a.yaml", line: 2, column: 4 }
 */
export function positionAt(source: Source, offset: number): Position {
  const { file, lineStarts } = source;
  if (lineStarts.length === 0) return { file, line: 0, column: 0 };
  let [low, high] = [0, lineStarts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (lineStarts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { file, line: low + 1, column: offset - lineStarts[low]! + 1 };
}
