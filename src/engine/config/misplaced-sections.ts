import { keyStartOf, valueAt } from "../../schema/node.ts";
import type { Node } from "../../schema/node.ts";
import type { Report } from "../../schema/problem.ts";

/**
 * Warns about sections that are one or two levels too high: unknown fields are allowed there, so nothing else reports that they are not
 * read. `lists` are the sections of `sync.toHost` that contain patches, which no other level of the file has.
 */
export function warnOfMisplacedSections(root: Node, lists: readonly string[], report: Report): void {
  const sync = valueAt(root, "sync");
  const warn = (parent: Node | undefined, field: string, names: readonly string[]) => warnOf(parent, { field, names, lists }, report);
  warn(root, "", ["toHost", "fromHost", ...lists, "patches"]);
  warn(sync, "sync", [...lists, "patches"]);
  warn(valueAt(sync, "toHost"), "sync.toHost", ["patches"]);
}

interface Misplaced {
  readonly field: string;
  readonly names: readonly string[];
  readonly lists: readonly string[];
}

function warnOf(parent: Node | undefined, { field, names, lists }: Misplaced, report: Report): void {
  if (parent?.kind !== "map") return;
  for (const [name, entry] of parent.entries) {
    if (!names.includes(name)) continue;
    const message = `"${name}" is not read ${field === "" ? "at the top level" : "here"}`;
    report.warning({ code: "CONFIG_UNKNOWN_FIELD", at: keyStartOf(entry), field, message, hint: `Move it to ${placeOf(name, lists)}` });
  }
}

function placeOf(name: string, lists: readonly string[]): string {
  if (name === "patches") return "the kind that it patches, for example sync.toHost.endpoints.patches";
  return lists.includes(name) ? `sync.toHost.${name}` : `sync.${name}`;
}
