import { keyStartOf, startOf, valueAt } from "../../../schema/node.ts";
import { Report, type Position } from "../../../schema/problem.ts";
import { readYaml } from "../../../schema/yaml.ts";

/** A patch of a list, and one of its expressions. */
export interface PatchPlace {
  /** As the configuration names it, below `sync.toHost`. */
  readonly list: string;
  readonly patch: number;
  readonly side: "expression" | "reverseExpression";
}

/**
 * Creates a function that returns the place of a patch in the files of a configuration, the last of which takes precedence. The place is
 * that of the requested expression, of the other expression, or of the patch, whichever exists. If there is no such patch, it is the last
 * file.
 *
 * @example
 * patchPlaces([{ file, text }])({ list: "endpoints", patch: 0, side: "expression" }).line; // 6
 */
export function patchPlaces(files: readonly { readonly file: string; readonly text: string }[]): (place: PatchPlace) => Position {
  const roots = files.map(({ file, text }) => readYaml(text, { file, report: new Report() }));
  return ({ list, patch, side }) => {
    const lists = roots.map((root) => valueAt(valueAt(valueAt(valueAt(root, "sync"), "toHost"), list), "patches"));
    const found = lists.findLast((node) => node?.kind === "list");
    const node = found?.kind === "list" ? found.items[patch] : undefined;
    if (node?.kind !== "map") return { file: files.at(-1)?.file ?? "vcluster.yaml", line: 0, column: 0 };
    const entry = node.entries.get(side) ?? node.entries.get("expression") ?? node.entries.get("reverseExpression");
    return entry === undefined ? startOf(node) : keyStartOf(entry);
  };
}
