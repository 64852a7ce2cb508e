import { keyStartOf, valueAt } from "../../schema/node.ts";
import type { Node } from "../../schema/node.ts";
import type { Report } from "../../schema/problem.ts";

/** Sections of `sync.toHost` that hold patches, which no other level of the file has. */
const LISTS: readonly string[] = ["endpoints", "services", "endpointSlices"];

/**
 * Warns of sections that stand one level or two above their place: the file is open there, so that nothing else says that they are not
 * read.
 */
export function warnOfMisplacedSections(root: Node, report: Report): void {
  const sync = valueAt(root, "sync");
  warn(root, { field: "", names: ["toHost", "fromHost", ...LISTS, "patches"] }, report);
  warn(sync, { field: "sync", names: [...LISTS, "patches"] }, report);
  warn(valueAt(sync, "toHost"), { field: "sync.toHost", names: ["patches"] }, report);
}

function warn(parent: Node | undefined, { field, names }: { field: string; names: readonly string[] }, report: Report): void {
  if (parent?.kind !== "map") return;
  for (const [name, entry] of parent.entries) {
    if (!names.includes(name)) continue;
    const message = `"${name}" is not read ${field === "" ? "at the top level" : "here"}`;
    report.warning({ code: "CONFIG_UNKNOWN_FIELD", at: keyStartOf(entry), field, message, hint: `Move it to ${placeOf(name)}` });
  }
}

function placeOf(name: string): string {
  if (name === "patches") return "the kind that it patches, as sync.toHost.endpoints.patches";
  return LISTS.includes(name) ? `sync.toHost.${name}` : `sync.${name}`;
}
