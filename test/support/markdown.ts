/**
 * Reads what a test can run out of Markdown: fenced blocks, and tables that a comment `<!-- run: name -->` announces.
 *
 * @module
 */

/** A fenced block. */
export interface Block {
  /** First word behind the fence, `yaml` for example. */
  readonly language: string;
  /** The other words behind the fence. */
  readonly words: readonly string[];
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

/** A table whose rows are cases. */
export interface RunTable {
  readonly name: string;
  /** Per row, cells by head. Code spans come without their backticks. */
  readonly rows: readonly (Readonly<Record<string, string>> & { readonly line: number })[];
}

/** All fenced blocks in order. One inside a list is indented with it; its text is not. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^( *)```(\S*)([^\n]*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ 1: indent = "", 2: language = "", 3: rest = "", 4: text = "", index }) => ({
      language,
      words: rest.trim().split(/\s+/).filter(Boolean),
      text: indent === "" ? text : text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      line: lineAt(markdown, index),
    }),
  );
}

/** All announced tables in order. */
export function tablesOf(markdown: string): RunTable[] {
  return [...markdown.matchAll(/^<!-- run: ([\w ]+) -->\n\n?((?:\|.*\n)+)/gm)].map(({ 0: all, 1: name = "", 2: text = "", index }) => {
    const [head = [], , ...rows] = text.trimEnd().split("\n").map(cellsOf);
    const first = lineAt(markdown, index + all.length - text.length) + 2;
    return {
      name,
      rows: rows.map(
        (cells, at) =>
          Object.assign(Object.fromEntries(head.map((title, column) => [title, cells[column] ?? ""])), { line: first + at }) as never,
      ),
    };
  });
}

/** The cells of one line; `\|` is a bar inside a cell. */
function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => withoutTicks(cell.trim().replaceAll("\\|", "|")));
}

function withoutTicks(cell: string): string {
  return /^(`+) ?([\s\S]*?) ?\1$/.exec(cell)?.[2] ?? cell;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
