/**
 * Paths that vCluster's own syncer interprets differently when it reads the same file.
 *
 * @module
 */
import type { Path } from "../../path/path.ts";
import { startOf, type ScalarNode } from "../../../schema/node.ts";
import type { Report } from "../../../schema/problem.ts";

/** Constructs that vCluster's own syncer reads differently, with the difference. The first match counts. */
const DIFFERENCES: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  { pattern: /^\$(?=[.[]|$)/, message: "vCluster's own syncer reads $ as a key" },
  { pattern: /\[\s*'|\.'|^'/, message: "vCluster's own syncer reads the single quotes as part of the key" },
  { pattern: /\[\s*"\*"\s*\]/, message: 'vCluster\'s own syncer reads ["*"] as every key, not as the key *' },
  { pattern: /\[\s*-\d+\s*\]|\.-\d+(?=[.[]|$)/, message: "vCluster's own syncer fails on an index from the end" },
  { pattern: /\\/, message: "vCluster's own syncer reads a backslash as part of the key" },
];

/** Warns about a path that vCluster's own syncer reads differently. The hint is the canonical spelling, unless that differs too. */
export function warnOfForeignReading(path: Path, { node, field, report }: { node: ScalarNode; field: string; report: Report }): void {
  const text = path.text.trim();
  const difference = DIFFERENCES.find(({ pattern }) => pattern.test(text));
  if (difference === undefined) return;
  const { pattern, message } = difference;
  const hint =
    pattern.test(path.canonical) || path.canonical === "$"
      ? "Write the path differently if vCluster's own syncer uses the file too"
      : `Write ${path.canonical}`;
  report.warning({ code: "CONFIG_VALUE", at: startOf(node), field, message, hint });
}
