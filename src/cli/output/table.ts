import { visible } from "./output.ts";

const GAP = "  ";
/** No cell is cut below this width. */
const CELL_MIN = 12;

/**
 * Formats a table. Columns are as wide as their widest cell, and two spaces apart. With `width`, cells of the widest columns are shortened
 * in the middle until lines fit, as far as that is possible.
 *
 * @example
 * formatTable([["NAME", "AGE"], ["web", "3s"]]); // "NAME  AGE\nweb   3s\n"
 */
export function formatTable(rows: readonly (readonly string[])[], { width }: { width?: number | undefined } = {}): string {
  const shown = rows.map((row) => row.map(visible));
  const widths = fittingWidths(shown, width);
  const line = (row: readonly string[]) => row.map((cell, column) => cut(cell, widths[column]!).padEnd(widths[column]!)).join(GAP);
  return shown.map((row) => `${line(row).trimEnd()}\n`).join("");
}

function fittingWidths(rows: readonly (readonly string[])[], width = Infinity): number[] {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const gaps = GAP.length * (widths.length - 1);
  for (let excess = gaps - width + widths.reduce((sum, one) => sum + one, 0); excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= CELL_MIN) break;
    widths[widest]! -= 1;
  }
  return widths;
}

/** Shortens a long cell in the middle, because long names often differ only in their last characters. */
function cut(cell: string, width: number): string {
  if (cell.length <= width) return cell;
  const head = Math.ceil((width - 1) / 2);
  return `${cell.slice(0, head)}…${cell.slice(cell.length - (width - 1 - head))}`;
}
