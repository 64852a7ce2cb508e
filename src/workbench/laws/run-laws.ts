/**
 * The laws of a patch test file.
 *
 * @module
 */
import { isEngineError, messageOf } from "../../base/errors.ts";
import type { AcceptedDrift } from "../../engine/config/accepted-drifts.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { compilePath } from "../../engine/path/path.ts";
import type { TestFailure, TestPlace, TestResult } from "../asserts/results.ts";
import { breachesOf, nameTogether, type LawBreach } from "./breaches.ts";
import { checkLaws, type CheckedRules, type LawOptions } from "./check-laws.ts";
import type { LawName, LawReport, LawResult, PairReport } from "./report.ts";
import { LAW, type LawDefinition } from "./schema.ts";
import { formatLawSteps } from "./wording.ts";

/** Input for checking the laws of a test file. */
export interface RunLawsOptions {
  /** An engine of the file's configuration. */
  readonly engine: CheckedRules;
  /** The objects of the file; their values are tried too. Default none. */
  readonly objects?: readonly KubeObject[];
  /** `acceptedDrifts` of the file. Default none. */
  readonly acceptedDrifts?: readonly AcceptedDrift[];
  /** `acceptedDrifts` of its settings. An unused entry is no failure, because other files may need it. Default none. */
  readonly settingsDrifts?: readonly AcceptedDrift[];
  /** Returns the position of an entry of `laws`. */
  placeOf(index: number): TestPlace;
}

/**
 * Checks every entry of `laws`, in order. An entry without a law, or with a path that no patch has, is an error. An entry that
 * applies to all patches but concerns none of them is skipped.
 *
 * @example
 * runLaws([{ total: { domain: "schema", runs: 300, seed: 1 } }], { engine, placeOf: () => ({ file: "a.patch-test.yaml", line: 1, column: 1 }) });
 */
export function runLaws(laws: readonly LawDefinition[], options: RunLawsOptions): readonly TestResult[] {
  return laws.map((law, index) => runLaw(law, options, options.placeOf(index)));
}

/** Cost limit of all evaluations for one patch: a second or two, or more if more values are requested. */
const FUEL_MIN = 100_000_000;
const FUEL_PER_VALUE = 50_000;

type Entry = NonNullable<LawDefinition[keyof LawDefinition]> & { readonly rounds?: number };

function runLaw(law: LawDefinition, options: RunLawsOptions, place: TestPlace): TestResult {
  const { engine, objects = [], acceptedDrifts = [], settingsDrifts = [] } = options;
  const named = Object.keys(LAW.fields).filter((name) => law[name as keyof LawDefinition] !== undefined) as (keyof LawDefinition)[];
  const [name] = named;
  if (name === undefined || named.length > 1) {
    const message = `Expected one law, found ${named.length === 0 ? "none" : named.join(" and ")}`;
    return { kind: "law", name: named.join(", "), place, verdict: "error", failures: [{ message, place }], fuel: 0 };
  }
  const entry: Entry = law[name]!;
  const result = { kind: "law", name: entry.path === undefined ? name : `${name} ${entry.path}`, place, seed: entry.seed } as const;
  const error = (message: string): TestResult => ({ ...result, verdict: "error", failures: [{ message, place }], fuel: 0 });
  const chosen = choose(entry);
  if ("message" in chosen) return error(chosen.message);

  const report = checkLaws(
    engine,
    optionsOf(entry, { objects, only: chosen.only, acceptedDrifts: [...acceptedDrifts, ...settingsDrifts] }),
  );
  if (report.pairs.length === 0 && entry.path !== undefined) return error(`No patch has the path ${entry.path}`);
  const judged = report.pairs.map((pair) => ({ pair, own: lawOf(pair, name === "convergent" ? "settles" : name) }));
  const concerned = judged.filter(({ own }) => own.runs > 0 || !own.held);
  const runs = concerned.reduce((sum, { own }) => sum + own.runs, 0);
  const failures = [
    ...concerned.flatMap(({ pair, own }) => failureOf(pair, own, place)),
    ...breachesOf(report).flatMap((breach) => failureTogether(breach, { name, place })),
    ...(name === "roundTrip" && entry.path === undefined && entry.list === undefined ? idleFailures(report, acceptedDrifts, place) : []),
  ];
  const all = { ...result, failures, fuel: report.fuel, runs };
  if (failures.length > 0) return { ...all, verdict: "failed" };
  const tooCostly = concerned.filter(({ pair }) => pair.cutShort);
  if (tooCostly.length > 0) {
    return {
      ...all,
      verdict: "failed",
      failures: tooCostly.map(({ pair, own }) => cutShort(pair, { tried: own.runs, wanted: entry.runs, place })),
    };
  }
  // Only an expression that reads its own result can break `idempotent`, so there may be nothing to try.
  if (concerned.length > 0 || (name === "idempotent" && judged.length > 0)) return { ...all, verdict: "passed" };
  if (entry.path !== undefined) return { ...all, verdict: "failed", failures: [nothingTried(judged[0]!.pair, { name, place })] };
  return { ...all, verdict: "skipped", reason: "no patch that the law applies to has values to try" };
}

function optionsOf({ domain, runs, seed, rounds }: Entry, rest: Pick<LawOptions, "only" | "objects" | "acceptedDrifts">): LawOptions {
  const fuel = Math.max(FUEL_MIN, runs * FUEL_PER_VALUE);
  return { ...rest, domain, runs, seed, fuel, ...(rounds !== undefined && { rounds }) };
}

/** Returns a selector of the patches that an entry applies to, or the problem of its path. */
function choose({ path, list }: Entry): { readonly only: NonNullable<LawOptions["only"]> } | { readonly message: string } {
  try {
    const wanted = path === undefined ? undefined : compilePath(path, { syntax: "jsonpath" }).canonical;
    return { only: (patch) => (list === undefined || patch.list === list) && (wanted === undefined || patch.path === wanted) };
  } catch (error) {
    if (isEngineError(error)) return { message: messageOf(error) };
    throw error;
  }
}

function lawOf(pair: PairReport, law: LawName): LawResult {
  return pair.laws.find((result) => result.law === law)!;
}

/** Laws that a drifting patch breaks. */
const OF_DRIFTS: readonly LawName[] = ["roundTrip", "idempotent"];

function failureOf({ patch, path, accepted }: PairReport, { law, counterExample }: LawResult, place: TestPlace): TestFailure[] {
  if (counterExample === undefined || (accepted !== undefined && OF_DRIFTS.includes(law))) return [];
  const { steps, explanation, context } = counterExample;
  const [first, , third] = steps;
  const compares = (law === "roundTrip" || law === "hostEdits") && third?.error === undefined;
  return [
    {
      message: `${law} does not hold: ${formatLawSteps(steps)}. ${explanation}`,
      place,
      ...(compares && third && { expected: first!.value, actual: third.value }),
      patch: { index: patch, path, ...(context && { at: context.path }) },
    },
  ];
}

/** Reports an effect of several patches for the law that it breaks. */
function failureTogether({ patches, paths, verdict, counterExample }: LawBreach, law: { name: string; place: TestPlace }): TestFailure[] {
  const { name, place } = law;
  // A value that never settles does not come back unchanged either.
  const broken = verdict === "oscillates" ? ["settles", "convergent", "roundTrip"] : ["roundTrip"];
  if (patches.length === 1 || !broken.includes(name)) return [];
  const { steps, explanation } = counterExample;
  const message = `${name} does not hold for patches ${nameTogether(patches)} together: ${formatLawSteps(steps)}. ${explanation}`;
  return [{ message, place, patch: { index: patches.at(-1)!, path: paths.at(-1)! } }];
}

/** Failures for entries of the file that accept a drift that does not happen. */
function idleFailures({ idleAcceptances }: LawReport, own: readonly AcceptedDrift[], place: TestPlace): TestFailure[] {
  return idleAcceptances
    .filter((at) => at < own.length)
    .map((at) => ({ message: `acceptedDrifts[${at}] is not needed: no patch of ${own[at]!.path} drifts; remove the entry`, place }));
}

/** Laws about the way back. */
const OF_PAIRS: readonly string[] = ["roundTrip", "hostEdits"];

function nothingTried({ patch, path, verdict }: PairReport, { name, place }: { name: string; place: TestPlace }): TestFailure {
  const why =
    OF_PAIRS.includes(name) && verdict === "one-way"
      ? `the patch of ${path} has no reverseExpression, or no value is synced back`
      : `no value of ${path} reaches the point where the law applies`;
  return { message: `Nothing could be tried: ${why}`, place, patch: { index: patch, path } };
}

/** The failure of a law that was tried on only some of the requested values. */
function cutShort({ patch, path }: PairReport, { tried, wanted, place }: { tried: number; wanted: number; place: TestPlace }): TestFailure {
  const message = `Only ${tried} of ${wanted} values of ${path} could be tried before the fuel was used up; use fewer runs, or a cheaper expression`;
  return { message, place, patch: { index: patch, path } };
}
