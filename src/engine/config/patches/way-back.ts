/**
 * Checks the handling of host edits: patches that undo them, and reverse expressions that never run.
 *
 * @module
 */
import type { CheckedExpression } from "../../expression/check.ts";
import { inverseOf } from "../../expression/inverse.ts";
import type { SyncedKind } from "../../reconcile/rules/rules.ts";
import { fieldPath } from "../../../schema/field.ts";
import { keyStartOf, textOf, valueAt } from "../../../schema/node.ts";
import type { Report } from "../../../schema/problem.ts";
import type { CheckedPatch } from "./patches.ts";

/** Warns about every `reverseExpression` at a path where host edits are never synced back. */
export function warnOfUnreachedReverses(kind: SyncedKind, patches: readonly CheckedPatch[], report: Report): void {
  for (const { node, field, path, parsed } of patches) {
    const reverse = node.entries.get("reverseExpression");
    const why =
      path && reverse
        ? neverComesBack(
            kind,
            path.segments.map((segment) => (segment.kind === "key" ? segment.key : "*")),
          )
        : undefined;
    const message = why ?? (reverse && isConstant(parsed.expression) ? CONSTANT : undefined);
    if (message === undefined || reverse === undefined) continue;
    const hint = "Remove it";
    report.warning({
      code: "CONFIG_VALUE",
      at: keyStartOf(reverse),
      field: fieldPath(field, "reverseExpression"),
      message: `reverseExpression never takes effect: ${message}`,
      hint,
    });
  }
}

const CONSTANT = "expression gives the same result for every value, so no edit survives the round trip";

function neverComesBack(kind: SyncedKind, [first, second]: readonly string[]): string | undefined {
  if (first === "metadata") {
    const comesBack = second === undefined || ["labels", "annotations", "*"].includes(second);
    return comesBack ? undefined : `only edits of labels and annotations in metadata are synced back`;
  }
  const isBody = first !== undefined && first !== "*";
  return isBody && !kind.bodyFlows ? `only the tenant writes the body of a ${kind.resource.kind}` : undefined;
}

/** Reports whether an expression reads nothing that an edit could change. */
function isConstant(expression: CheckedExpression | undefined): boolean {
  if (expression === undefined) return false;
  const { reads, text } = expression;
  return reads !== "all" && reads.every(([name]) => name === "vcluster") && !/\bvalue\b|\\u/.test(text);
}

/**
 * Warns about patches without a `reverseExpression` if other patches of the list have one: host edits of the fields that they write are
 * not synced back. Only patches with an obvious reverse are reported, because a patch that is meant to be one-way (a constant, a deletion, a name)
 * has none.
 */
export function warnOfOneWayPatches(kind: SyncedKind, patches: readonly CheckedPatch[], report: Report): void {
  if (!patches.some(({ node }) => node.entries.has("reverseExpression"))) return;
  for (const { node, field, path } of patches) {
    const expression = node.entries.get("expression");
    const [first, second] = (path?.segments ?? []).map((segment) => (segment.kind === "key" ? segment.key : "*"));
    if (expression === undefined || node.entries.has("reverseExpression") || first === undefined) continue;
    if (neverComesBack(kind, second === undefined ? [first] : [first, second]) !== undefined) continue;
    const inverse = inverseOf(textOf(valueAt(node, "expression")) ?? "");
    if (inverse === undefined) continue;
    const message =
      "Host edits of the fields that this patch writes are not synced back: unlike other patches here, it has no reverseExpression";
    report.warning({ code: "CONFIG_VALUE", at: keyStartOf(expression), field, message, hint: `Add reverseExpression: ${inverse}` });
  }
}
