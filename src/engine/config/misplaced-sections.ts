import { keyStartOf, startOf, textOf, valueAt, type Node } from "../../schema/node.ts";
import type { Report } from "../../schema/problem.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** The parts of a file that are never read. */
interface Misplaced {
  readonly parent: Node | undefined;
  /** Path of `parent`; empty for the whole file. */
  readonly field: string;
  readonly names: readonly string[];
  /** Returns what to do about the part `name`. */
  readonly hint: (name: string) => string;
}

/**
 * Reports sections in places where they are not read. Unknown fields are allowed there, so no other check finds them. `lists` are the sections
 * of `sync.toHost` that contain patches. Errors: CONFIG_TYPE for a Kubernetes object. Warnings: CONFIG_UNKNOWN_FIELD.
 */
export function checkPlaces(root: Node, lists: readonly string[], report: Report): void {
  const [apiVersion, kind] = [textOf(valueAt(root, "apiVersion")), textOf(valueAt(root, "kind"))];
  if (apiVersion !== undefined && kind !== undefined) {
    const message = `Expected a vcluster.yaml, found a Kubernetes object (${apiVersion} ${kind})`;
    report.error({ code: "CONFIG_TYPE", at: startOf(root), field: "", message, hint: "Pass the values file of the virtual cluster" });
    return;
  }
  const [sync, settings] = [valueAt(root, "sync"), Object.keys(SETTINGS_SCHEMA.fields)];
  const moved = (name: string) => `Move it to ${placeOf(name, lists)}`;
  const misplaced: readonly Misplaced[] = [
    { parent: root, field: "", names: ["toHost", "fromHost", ...lists, "patches"], hint: moved },
    { parent: root, field: "", names: settings, hint: () => "Move it to the settings file, and pass that with --settings" },
    { parent: valueAt(root, "vcluster"), field: "vcluster", names: ["sync"], hint: () => "Move it to the top level" },
    { parent: sync, field: "sync", names: [...lists, "patches"], hint: moved },
    { parent: valueAt(sync, "toHost"), field: "sync.toHost", names: ["patches"], hint: moved },
    { parent: valueAt(sync, "fromHost"), field: "sync.fromHost", names: [...lists, "patches"], hint: moved },
  ];
  for (const part of misplaced) warnOf(part, report);
}

function warnOf({ parent, field, names, hint }: Misplaced, report: Report): void {
  if (parent?.kind !== "map") return;
  for (const [name, entry] of parent.entries) {
    if (!names.includes(name)) continue;
    const message = `"${name}" is not read ${field === "" ? "at the top level" : "here"}`;
    report.warning({ code: "CONFIG_UNKNOWN_FIELD", at: keyStartOf(entry), field, message, hint: hint(name) });
  }
}

function placeOf(name: string, lists: readonly string[]): string {
  if (name === "patches") return "the kind that it patches, for example sync.toHost.endpoints.patches";
  return lists.includes(name) ? `sync.toHost.${name}` : `sync.${name}`;
}
