import { fieldPath, indexPath } from "../../../schema/field.ts";
import { isAbsent, startOf, textOf, valueAt } from "../../../schema/node.ts";
import type { Node } from "../../../schema/node.ts";
import type { ProblemInput, Report } from "../../../schema/problem.ts";

/** A value of the file that a rule looks at, absent or not, with its name and with who hears of problems. */
export interface Spot {
  readonly report: Report;
  readonly node: Node | undefined;
  readonly field: string;
}

/** The spot below `spot` that the names lead to. */
export function spotBelow(spot: Spot, ...names: readonly string[]): Spot {
  return names.reduce((at, name) => ({ report: spot.report, node: valueAt(at.node, name), field: fieldPath(at.field, name) }), spot);
}

/** The spot of a field as {@link fieldPath} and {@link indexPath} write it, where every key is a plain name. */
export function spotAt(root: Spot, field: string): Spot {
  const steps = field.split(/[.[\]]+/).filter((step) => step !== "");
  return steps.reduce((at, step) => (at.node?.kind === "list" ? itemsOf(at)[Number(step)]! : spotBelow(at, step)), root);
}

/** The spots of a list's items; of anything else none. */
export function itemsOf(spot: Spot): Spot[] {
  const items = spot.node?.kind === "list" ? spot.node.items : [];
  return items.map((node, index) => ({ report: spot.report, node, field: indexPath(spot.field, index) }));
}

/** The spots of a map's members with their keys; of anything else none. */
export function membersOf(spot: Spot): [string, Spot][] {
  const entries = spot.node?.kind === "map" ? [...spot.node.entries.keys()] : [];
  return entries.map((key) => [key, spotBelow(spot, key)]);
}

/** Whether something stands there that is not null. */
export function isWritten({ node }: Spot): boolean {
  return !isAbsent(node);
}

/** The text that stands there; an empty one is none. */
export function writtenText({ node }: Spot): string | undefined {
  return textOf(node) || undefined;
}

/** Whether true stands there. */
export function isTrue({ node }: Spot): boolean {
  return node?.kind === "scalar" && node.value === true;
}

/** What is told of a spot. CONFIG_VALUE unless `code` says otherwise. */
export interface Told extends Pick<ProblemInput, "message" | "hint"> {
  readonly code?: ProblemInput["code"];
}

/** Reports an error about a spot where something stands. */
export function refuseAt(spot: Spot, told: Told): void {
  spot.report.error({ code: "CONFIG_VALUE", at: startOf(spot.node!), field: spot.field, ...told });
}

/** Reports a warning about a spot where something stands. */
export function warn(spot: Spot, told: Told): void {
  spot.report.warning({ code: "CONFIG_VALUE", at: startOf(spot.node!), field: spot.field, ...told });
}
