import { formatSeconds } from "../durations.ts";

/** Log of one run of a sequence, for users: actions with author and time. */
export interface Chronicle {
  /** `who` did `what` at a virtual time in milliseconds. */
  add(atMs: number, who: string, what: string): void;
  /** All lines so far, in order. */
  readonly lines: readonly string[];
}

/** Maximum number of lines. Longer logs are cut in the middle: the end matters most, then the beginning. */
const LINES_MAX = 40;
const LINES_AT_THE_START = 8;
const TIME_WIDTH = 9;
const WHO_WIDTH = 6;

/** Creates an empty chronicle. */
export function createChronicle(): Chronicle {
  const lines: string[] = [];
  return {
    add: (atMs, who, what) => void lines.push(`${formatSeconds(atMs).padStart(TIME_WIDTH)}  ${who.padEnd(WHO_WIDTH)}  ${what}`),
    lines,
  };
}

/** Joins lines into one text, and shortens it for readers. */
export function shownLines(lines: readonly string[]): string {
  if (lines.length <= LINES_MAX) return lines.join("\n");
  const last = lines.slice(LINES_AT_THE_START - LINES_MAX + 1);
  const left = lines.length - LINES_AT_THE_START - last.length;
  return [...lines.slice(0, LINES_AT_THE_START), `${"".padStart(TIME_WIDTH)}  … ${left} more`, ...last].join("\n");
}
