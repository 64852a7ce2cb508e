/** A line of both texts (" "), of only the first one ("-"), or of only the second one ("+"). */
interface Edit {
  readonly mark: " " | "-" | "+";
  readonly line: string;
}

/** Lines of context around a change. */
const CONTEXT = 3;
/** Texts that differ in more lines are shown as one removed and one added text. */
const DIFFERENCES_MAX = 2_000;

/**
 * Formats the changes from one text to another as a unified diff with three lines of context; "" when the texts are equal. The text ""
 * stands for a missing object, and has no lines.
 *
 * @example
 * unifiedDiff({ name: "host Endpoints vc-blue/db", before: "a\nb\n", after: "a\nc\n" });
 * // "--- host Endpoints vc-blue/db\n+++ host Endpoints vc-blue/db\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
 */
export function unifiedDiff({ name, before, after }: { name: string; before: string; after: string }): string {
  if (before === after) return "";
  const none = (text: string) => (text === "" ? "/dev/null" : name);
  const hunks = hunksOf(editsOf(linesOf(before), linesOf(after)));
  return [`--- ${none(before)}`, `+++ ${none(after)}`, ...hunks].map((line) => `${line}\n`).join("");
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - start;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const same = (line: string): Edit => ({ mark: " ", line });
  const middle = editsBetween(before.slice(start, before.length - tail), after.slice(start, after.length - tail));
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - tail).map(same)];
}

/**
 * Finds the shortest sequence of edits from one list to the other: Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
 * `reached[d]` contains, for each diagonal, the furthest position in `before` that d differences reach.
 */
function editsBetween(before: readonly string[], after: readonly string[]): Edit[] {
  const reached: Map<number, number>[] = [];
  const most = Math.min(before.length + after.length, DIFFERENCES_MAX);
  for (let differences = 0; differences <= most; differences += 1) {
    const last = reached.at(-1) ?? new Map([[1, 0]]);
    const next = new Map<number, number>();
    reached.push(next);
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      let x = comesDown(last, diagonal, differences) ? last.get(diagonal + 1)! : last.get(diagonal - 1)! + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return walkBack(reached, before, after);
    }
  }
  const all =
    (mark: Edit["mark"]) =>
    (line: string): Edit => ({ mark, line });
  return [...before.map(all("-")), ...after.map(all("+"))];
}

/** True if the path to a diagonal adds a line of `after`; false if it removes a line of `before`. */
function comesDown(last: ReadonlyMap<number, number>, diagonal: number, differences: number): boolean {
  return diagonal === -differences || (diagonal !== differences && (last.get(diagonal - 1) ?? -1) < (last.get(diagonal + 1) ?? -1));
}

function walkBack(reached: readonly Map<number, number>[], before: readonly string[], after: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [before.length, after.length];
  for (let differences = reached.length - 1; differences >= 0; differences -= 1) {
    const last = reached[differences - 1] ?? new Map([[1, 0]]);
    const diagonal = x - y;
    const down = comesDown(last, diagonal, differences);
    const startX = last.get(down ? diagonal + 1 : diagonal - 1)!;
    const startY = startX - (down ? diagonal + 1 : diagonal - 1);
    for (; x > Math.max(startX, 0) && y > Math.max(startY, 0) && before[x - 1] === after[y - 1]; x -= 1, y -= 1) {
      edits.push({ mark: " ", line: before[x - 1]! });
    }
    if (differences === 0) break;
    edits.push(down ? { mark: "+", line: after[startY]! } : { mark: "-", line: before[startX]! });
    [x, y] = [startX, startY];
  }
  return edits.reverse();
}

function hunksOf(edits: readonly Edit[]): string[] {
  const lines: string[] = [];
  let [oldLine, newLine] = [1, 1];
  let index = 0;
  for (const [from, to] of rangesOf(edits)) {
    for (; index < from; index += 1) [oldLine, newLine] = [oldLine + 1, newLine + 1];
    const part = edits.slice(from, to);
    const [gone, come] = [part.filter(({ mark }) => mark !== "+").length, part.filter(({ mark }) => mark !== "-").length];
    lines.push(`@@ -${range(oldLine, gone)} +${range(newLine, come)} @@`, ...part.map(({ mark, line }) => mark + line));
    [oldLine, newLine, index] = [oldLine + gone, newLine + come, to];
  }
  return lines;
}

/** The position of an empty range is that of the line before it. */
function range(start: number, count: number): string {
  const first = count === 0 ? start - 1 : start;
  return count === 1 ? String(first) : `${first},${count}`;
}

/** The ranges of the changes with their context. Changes whose contexts overlap are merged. */
function rangesOf(edits: readonly Edit[]): [number, number][] {
  const ranges: [number, number][] = [];
  edits.forEach(({ mark }, index) => {
    if (mark === " ") return;
    const [from, to] = [Math.max(index - CONTEXT, 0), Math.min(index + CONTEXT + 1, edits.length)];
    const last = ranges.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else ranges.push([from, to]);
  });
  return ranges;
}
