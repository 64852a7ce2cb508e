import { suggest } from "../../../base/suggest.ts";
import { referableKinds } from "../../kinds/synced-kinds.ts";
import { compileRelativePath, type Path } from "../../path/path.ts";
import { fieldPath } from "../../../schema/field.ts";
import { keyStartOf, startOf, textOf, valueAt, type MapNode, type Node } from "../../../schema/node.ts";
import { compileText } from "./compile-text.ts";
import type { PatchRules } from "./patch-rules.ts";

const PATHS = ["namePath", "namespacePath", "kindPath", "apiVersionPath"] as const;

/**
 * Checks the `reference` of a patch beyond its shape, and returns its relative paths.
 *
 * Reported: PATH_SYNTAX and PATH_UNSUPPORTED of its relative paths. Warnings: CONFIG_VALUE for paths that cannot find anything,
 * REFERENCE_KIND for a kind that is not configured. `isSelector`: the patch has labels next to its reference.
 */
export function checkReference(
  node: Node | undefined,
  options: { field: string; rules: PatchRules; isSelector: boolean },
): readonly Path[] {
  if (node?.kind !== "map") return [];
  const { field, rules } = options;
  const paths = PATHS.flatMap((name) => checkRelativePath(valueAt(node, name), { field: fieldPath(field, name), rules }) ?? []);
  warnOfIdlePaths(node, options);
  if (!options.isSelector && !node.entries.has("labels")) warnOfKind(node, options);
  return paths;
}

function checkRelativePath(node: Node | undefined, { field, rules }: { field: string; rules: PatchRules }): Path | undefined {
  const text = textOf(node);
  if (node?.kind !== "scalar" || text === undefined) return undefined;
  return compileText({ report: rules.report, node, field }, () => compileRelativePath(text));
}

/** Without namePath, the matched value is the name itself: a string, in which a path finds nothing. */
function warnOfIdlePaths(node: MapNode, { field, rules }: { field: string; rules: PatchRules }): void {
  const idle = PATHS.filter((name) => node.entries.has(name));
  if (idle.length === 0 || idle.includes("namePath")) return;
  const at = keyStartOf(node.entries.get(idle[0]!)!);
  const message = `Found ${idle.join(" and ")} without namePath: the matched value itself is the name, so a path finds nothing in it`;
  rules.report.warning({ code: "CONFIG_VALUE", at, field, message, hint: "Add namePath, or remove the other paths" });
}

function warnOfKind(node: MapNode, { field, rules }: { field: string; rules: PatchRules }): void {
  const [apiVersion, kind] = [textOf(valueAt(node, "apiVersion")), textOf(valueAt(node, "kind"))];
  if (!apiVersion || !kind) return;
  const known = [...referableKinds(), ...rules.settings.references.kinds];
  if (known.some((entry) => entry.apiVersion === apiVersion && entry.kind === kind)) return;
  const at = startOf(valueAt(node, "kind")!);
  const message = `The kind ${apiVersion} ${kind} is not translated`;
  const meant = suggest(kind, new Set(known.map((entry) => entry.kind)));
  const add = "it to references.kinds of the settings";
  rules.report.warning({
    code: "REFERENCE_KIND",
    at,
    field: fieldPath(field, "kind"),
    message,
    hint: meant === undefined ? `Add ${add}` : `Did you mean ${meant}? Otherwise add ${add}`,
  });
}
