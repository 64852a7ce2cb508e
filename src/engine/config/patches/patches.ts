/**
 * Rules for a `patches` list beyond its shape. The checks read nodes instead of decoded values, so that every problem of a list is found
 * at once, regardless of other errors in it.
 *
 * @module
 */
import { readExpression, type CheckedExpression } from "../../expression/check.ts";
import { warnOfOptionalFields, type KnownValues } from "../../expression/optional-fields.ts";
import type { ParsedPatch } from "../../patch/parsed-patch.ts";
import { compilePath, type Path, type Segment } from "../../path/path.ts";
import type { SyncedKind } from "../../reconcile/rules/rules.ts";
import { anything } from "../../../schema/builders.ts";
import { fieldPath, indexPath } from "../../../schema/field.ts";
import { keyStartOf, positionInside, startOf, textOf, valueAt, type MapNode, type Node, type ScalarNode } from "../../../schema/node.ts";
import type { Position, Report } from "../../../schema/problem.ts";
import type { Schema } from "../../../schema/schema.ts";
import { suggest } from "../../../base/suggest.ts";
import { compileText } from "./compile-text.ts";
import type { PatchRules } from "./patch-rules.ts";
import { PATCH } from "./patch-schema.ts";
import { protectedReason } from "./protected-paths.ts";
import { checkReference } from "./reference.ts";
import { warnOfUnknownField } from "./unknown-paths.ts";

/** A patch in its list. */
interface ListedPatch {
  readonly index: number;
  /** `sync.toHost.endpoints.patches[1]` */
  readonly field: string;
  readonly node: MapNode;
}

/** One patch of a checked list. */
export interface CheckedPatch extends ListedPatch {
  /** Absent if the path does not compile or must not be patched. */
  readonly path?: Path;
  /** What compiled. */
  readonly parsed: ParsedPatch;
}

/**
 * Checks every patch of a list and returns the patches for checks across lists.
 *
 * Reported: PATCH_MODE, PATH_SYNTAX, PATH_UNSUPPORTED, EXPRESSION_SYNTAX (with the place inside the text), PATCH_PROTECTED_PATH,
 * PATCH_DUPLICATE_PATH, the findings of `checkReference`, and warnings. The decoder reports items that are not maps.
 */
export function checkPatches(list: Node | undefined, options: { field: string; kind: SyncedKind; rules: PatchRules }): CheckedPatch[] {
  const items = list?.kind === "list" ? list.items : [];
  const patches = items.flatMap((node, index) => (node.kind === "map" ? [{ index, field: indexPath(options.field, index), node }] : []));
  const checked = patches.map((patch) => checkPatch(patch, options));
  checkDuplicates(checked, options.rules.report);
  return checked;
}

function checkPatch(patch: ListedPatch, { kind, rules }: { kind: SyncedKind; rules: PatchRules }): CheckedPatch {
  checkMode(patch, rules.report);
  const path = checkPath(patch, kind, rules);
  const { schema } = kind;
  const value = path === undefined ? anything : schemaAt(schema, path.segments);
  // Before the first copy there is no host object.
  const known = (optional: boolean) => ({ value, virtualObject: schema, hostObject: { schema, optional } });
  const expression = checkText(patch, "expression", rules, known(true));
  const reverseExpression = checkText(patch, "reverseExpression", rules, known(false));
  const options = { field: fieldPath(patch.field, "reference"), rules, isSelector: patch.node.entries.has("labels") };
  const relativePaths = checkReference(valueAt(patch.node, "reference"), options);
  const parsed = {
    ...{ pathSyntax: rules.settings.pathSyntax, relativePaths },
    ...(path !== undefined && { path }),
    ...(expression !== undefined && { expression }),
    ...(reverseExpression !== undefined && { reverseExpression }),
  };
  return { ...patch, parsed, ...(path !== undefined && { path }) };
}

/** The schema of the values that a path matches. Labels and annotations are always present while patches run. */
function schemaAt(schema: Schema, segments: readonly Segment[]): Schema {
  let at = schema;
  for (const segment of segments) {
    if (at.type === "list") at = segment.kind === "key" ? anything : at.items;
    else if (at.type === "map") at = at.values;
    else if (at.type === "object" && segment.kind === "key" && Object.hasOwn(at.fields, segment.key)) at = at.fields[segment.key]!;
    else return anything;
  }
  return at;
}

/** The fields that give a patch an effect, each with its mode. */
const MODES: Readonly<Record<string, "expression" | "reference">> = {
  expression: "expression",
  reverseExpression: "expression",
  reference: "reference",
};

function checkMode({ node, field }: ListedPatch, report: Report): void {
  const used = Object.keys(MODES).filter((name) => node.entries.has(name));
  const labels = node.entries.get("labels");
  const refuse = (at: Position, message: string, hint: string) => report.error({ code: "PATCH_MODE", at, field, message, hint });
  if (new Set(used.map((name) => MODES[name])).size > 1) {
    return refuse(
      keyStartOf(node.entries.get("reference")!),
      `Found ${used.join(" and ")} in one patch`,
      "Write two patches, or remove one of the two",
    );
  }
  if (labels !== undefined && !used.includes("reference")) {
    const hint = "Write reference: {apiVersion: …, kind: …, labels: {}}";
    return refuse(keyStartOf(labels), "Found labels without reference", used.length === 0 ? hint : `${hint}, in a separate patch`);
  }
  if (labels !== undefined) {
    const input = {
      at: keyStartOf(labels),
      field,
      message: "labels belongs inside reference; here it means the same",
      hint: "Write labels: {} inside reference",
    };
    report.warning({ code: "CONFIG_VALUE", ...input });
  }
  if (used.length > 0 || meantMode(node)) return;
  refuse(startOf(node), "The patch does nothing", "Add expression (with or without reverseExpression) or reference");
}

/** Reports whether an unknown field is probably a misspelled mode, which the decoder reports. */
function meantMode(node: MapNode): boolean {
  const unknown = [...node.entries.keys()].filter((name) => !Object.hasOwn(PATCH.fields, name));
  return unknown.some((name) => suggest(name, Object.keys(MODES)) !== undefined);
}

function checkPath({ node, field }: ListedPatch, kind: SyncedKind, { report, settings }: PatchRules): Path | undefined {
  const value = valueAt(node, "path");
  const text = textOf(value);
  if (value?.kind !== "scalar" || text === undefined) return undefined;
  const place = { report, node: value, field: fieldPath(field, "path") };
  const path = compileText(place, () => compilePath(text, { syntax: settings.pathSyntax, empty: "whole-object" }));
  const reason = path && protectedReason(path, settings);
  if (path !== undefined && reason === undefined && settings.pathSyntax !== "jsonpath") {
    warnOfForeignReading(path, { node: value, field: place.field, report });
    warnOfUnknownField(path, { kind, node: value, field: place.field, report });
  }
  if (reason === undefined) return path;
  const hint = "Patch labels, annotations or the body of the object";
  report.error({
    code: "PATCH_PROTECTED_PATH",
    at: startOf(value),
    field: place.field,
    message: `The path ${JSON.stringify(text)} cannot be patched: ${reason}`,
    hint,
  });
  return undefined;
}

function checkDuplicates(patches: readonly CheckedPatch[], report: Report): void {
  const first = new Map<string, CheckedPatch>();
  for (const patch of patches) {
    if (patch.path === undefined) continue;
    const before = first.get(patch.path.canonical);
    if (before === undefined) {
      first.set(patch.path.canonical, patch);
      continue;
    }
    const message = `patches[${patch.index}] has the same path as patches[${before.index}]: ${patch.path.canonical}`;
    const at = startOf(valueAt(patch.node, "path") ?? patch.node);
    report.error({ code: "PATCH_DUPLICATE_PATH", at, field: fieldPath(patch.field, "path"), message, hint: "Merge them into one patch" });
  }
}

function checkText(patch: ListedPatch, name: string, { report, settings }: PatchRules, start: KnownValues): CheckedExpression | undefined {
  const node = valueAt(patch.node, name);
  const text = textOf(node);
  if (node?.kind !== "scalar" || text === undefined) return undefined;
  const field = fieldPath(patch.field, name);
  const read = compileText({ report, node, field }, () => readExpression(text, { maximumBytes: settings.limits.sourceBytes }));
  if (read === undefined) return undefined;
  for (const warning of [...read.checked.warnings, ...warnOfOptionalFields(read, start)]) {
    report.warning({ code: "CONFIG_VALUE", at: positionInside(node, warning), field, message: warning.message, hint: warning.hint });
  }
  return read.checked;
}

/** Constructs that vCluster's own syncer reads differently, with the difference. The first match counts. */
const DIFFERENCES: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  { pattern: /^\$(?=[.[]|$)/, message: "vCluster's own syncer reads $ as a key" },
  { pattern: /\[\s*'|\.'|^'/, message: "vCluster's own syncer reads the single quotes as part of the key" },
  { pattern: /\[\s*"\*"\s*\]/, message: 'vCluster\'s own syncer reads ["*"] as every key, not as the key *' },
  { pattern: /\[\s*-\d+\s*\]|\.-\d+(?=[.[]|$)/, message: "vCluster's own syncer fails on an index from the end" },
  { pattern: /\\/, message: "vCluster's own syncer reads a backslash as part of the key" },
];

/** Warns about a path that vCluster's own syncer reads differently. The hint is the canonical spelling, unless that differs too. */
function warnOfForeignReading(path: Path, { node, field, report }: { node: ScalarNode; field: string; report: Report }): void {
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
