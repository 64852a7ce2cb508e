import { fieldPath, indexPath } from "../../../schema/field.ts";
import { isAbsent, startOf, textOf, valueAt, type Node } from "../../../schema/node.ts";
import type { ProblemInput, Report } from "../../../schema/problem.ts";

/** A value of the file that a rule checks, present or absent, with its field path and the report for its problems. */
export interface Spot {
  readonly report: Report;
  readonly node: Node | undefined;
  readonly field: string;
}

/** The spot that the names lead to, below `spot`. */
export function spotBelow(spot: Spot, ...names: readonly string[]): Spot {
  return names.reduce((at, name) => ({ report: spot.report, node: valueAt(at.node, name), field: fieldPath(at.field, name) }), spot);
}

/** The spot of a field path in the format of {@link fieldPath} and {@link indexPath}. Every key in the path must be a plain name. */
export function spotAt(root: Spot, field: string): Spot {
  const steps = field.split(/[.[\]]+/).filter((step) => step !== "");
  return steps.reduce((at, step) => (at.node?.kind === "list" ? itemsOf(at)[Number(step)]! : spotBelow(at, step)), root);
}

/** The spots of a list's items; none for other values. */
export function itemsOf(spot: Spot): Spot[] {
  const items = spot.node?.kind === "list" ? spot.node.items : [];
  return items.map((node, index) => ({ report: spot.report, node, field: indexPath(spot.field, index) }));
}

/** The spots of a map's members with their keys; none for other values. */
export function membersOf(spot: Spot): [string, Spot][] {
  const entries = spot.node?.kind === "map" ? [...spot.node.entries.keys()] : [];
  return entries.map((key) => [key, spotBelow(spot, key)]);
}

/** Reports whether the value is present and not null. */
export function isWritten({ node }: Spot): boolean {
  return !isAbsent(node);
}

/** The value if it is a non-empty string. */
export function writtenText({ node }: Spot): string | undefined {
  return textOf(node) || undefined;
}

/** Reports whether the value is true. */
export function isTrue({ node }: Spot): boolean {
  return node?.kind === "scalar" && node.value === true;
}

/** A problem of a spot. The code is CONFIG_VALUE unless `code` is given. */
export interface SpotProblem extends Pick<ProblemInput, "message" | "hint"> {
  readonly code?: ProblemInput["code"];
}

/** Reports an error about a value that is present. */
export function refuseAt(spot: Spot, problem: SpotProblem): void {
  spot.report.error({ code: "CONFIG_VALUE", at: startOf(spot.node!), field: spot.field, ...problem });
}

/** Reports a warning about a value that is present. */
export function warn(spot: Spot, problem: SpotProblem): void {
  spot.report.warning({ code: "CONFIG_VALUE", at: startOf(spot.node!), field: spot.field, ...problem });
}
