/**
 * Tries patches on many values, and reports those whose values come back changed or never settle.
 *
 * The same engine, objects and seed give the same report. The code uses only the language itself, so it also runs in a browser.
 *
 * @module
 */
import type { AcceptedDrift } from "../../engine/config/accepted-drifts.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Rules } from "../../engine/reconcile/rules/rules.ts";
import { checkList } from "./checks/check-list.ts";
import { checkPair } from "./checks/check-pair.ts";
import type { LawReport, ListReport, PairReport, PatchListName } from "./report.ts";
import type { TripRules } from "./trips/trip.ts";
import { isEngineError } from "../../base/errors.ts";
import { compilePath } from "../../engine/path/path.ts";

export type { LawName, LawReport, LawResult, LawStep, ListReport, PairEvidence, PairReport, PairVerdict, PatchListName } from "./report.ts";
export { breachesOf, nameTogether } from "./breaches.ts";
export type { LawBreach } from "./breaches.ts";
export { evidenceInWords, formatLawSteps, meaningOf } from "./wording.ts";

/** The patches to check. An engine has this shape. */
export interface CheckedRules {
  readonly rules: readonly (TripRules & Pick<Rules, "patches">)[];
}

/** Options of {@link checkLaws}. */
export interface LawOptions {
  /** Objects of any kind whose values are also tried. Default none. */
  readonly objects?: readonly KubeObject[];
  /** Number of values to try for each patch, and of objects to try for patches that interact. Default 300. */
  readonly runs?: number;
  /** Default 1. */
  readonly seed?: number;
  /** Number of round trips to the host and back after which a value must have stopped changing. Default 10. */
  readonly rounds?: number;
  /**
   * Fuel for the evaluations of each patch and each list; when it is used up, the check ends early. Default 20 million, a few tenths of a
   * second.
   */
  readonly fuel?: number;
  /** Source of the values. "objects": only the values in `objects`. Default "schema". */
  readonly domain?: "schema" | "objects";
  /** Known and intended drifts. Default none. */
  readonly acceptedDrifts?: readonly AcceptedDrift[];
  /** Selects the patches to check. Default: all. */
  readonly only?: (patch: { readonly list: PatchListName; readonly index: number; readonly path: string }) => boolean;
}

const DEFAULTS = { objects: [], runs: 300, seed: 1, rounds: 10, fuel: 20_000_000, domain: "schema" } as const;

/**
 * Checks the patches of a configuration on many values.
 *
 * @example
 * const engine = await createEngine({ config, vcluster: { name: "blue", namespace: "vc-blue" } });
 * checkLaws(engine).pairs.filter(({ verdict }) => verdict === "oscillates");
 */
export function checkLaws(engine: CheckedRules, options: LawOptions = {}): LawReport {
  const { objects, only = () => true, acceptedDrifts = [], ...settings } = { ...DEFAULTS, ...options };
  const pairs: PairReport[] = [];
  const lists: ListReport[] = [];
  let fuel = 0;
  for (const rules of engine.rules) {
    const { section: list, resource } = rules.kind;
    const wanted = rules.patches.filter(({ index, path }) => only({ list, index, path: path.canonical }));
    const checks = { list, rules, ...settings, objects: objects.filter((object) => object.kind === resource.kind) };
    const own: PairReport[] = [];
    for (const patch of wanted) {
      const checked = checkPair(patch, checks);
      own.push(checked.report);
      fuel += checked.fuel;
    }
    pairs.push(...own);
    if (wanted.length < 2) continue;
    const together = checkList(wanted, { ...checks, pairs: own });
    lists.push(together.report);
    fuel += together.fuel;
  }
  return { ...acceptDrifts({ pairs, lists }, acceptedDrifts), seed: settings.seed, fuel };
}

/** Marks accepted drifts, and lists the positions of entries that match no drift. */
function acceptDrifts(
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
