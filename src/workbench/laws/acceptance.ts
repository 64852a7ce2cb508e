/**
 * Drifts that the author knows and accepts.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import type { AcceptedDrift } from "../../engine/config/accepted-drifts.ts";
import { compilePath } from "../../engine/path/path.ts";
import type { LawReport, ListReport, PairReport } from "./report.ts";

/** Marks accepted drifts, and lists the positions of entries that match no drift. */
export function acceptDrifts(
  { pairs, lists }: Pick<LawReport, "pairs" | "lists">,
  entries: readonly AcceptedDrift[],
): Pick<LawReport, "pairs" | "lists" | "idleAcceptances"> {
  const wanted = entries.map((entry) => ({ ...entry, canonical: canonicalOf(entry.path) }));
  const used = new Set<number>();
  const reasonFor = ({ list, path }: PairReport): string | undefined => {
    const at = wanted.findIndex((entry) => entry.canonical === path && (entry.list === undefined || entry.list === list));
    if (at >= 0) used.add(at);
    return wanted[at]?.reason;
  };
  const acceptPair = (pair: PairReport): PairReport => {
    const accepted = pair.verdict === "drifts" ? reasonFor(pair) : undefined;
    return accepted === undefined ? pair : { ...pair, accepted };
  };
  const acceptList = (list: ListReport): ListReport => {
    if (list.counterExample?.verdict !== "drifts") return list;
    const members = pairs.filter((pair) => pair.list === list.list && list.together.includes(pair.patch));
    const reasons = members.map(reasonFor);
    return reasons.includes(undefined) ? list : { ...list, accepted: [...new Set(reasons)].join("; ") };
  };
  const accepted = { pairs: pairs.map(acceptPair), lists: lists.map(acceptList) };
  return { ...accepted, idleAcceptances: [...wanted.keys()].filter((at) => !used.has(at)) };
}

/** Returns undefined for an invalid path, which no patch can have. */
function canonicalOf(path: string): string | undefined {
  try {
    return compilePath(path, { syntax: "jsonpath" }).canonical;
  } catch (error) {
    if (isEngineError(error)) return undefined;
    throw error;
  }
}
