/**
 * Compares the results of the patches with all statements of a test.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { formatKey } from "../../kube/object/key.ts";
import type { CompiledPatch } from "../../engine/patch/compile.ts";
import type { Outcome, PatchFailure } from "../../engine/patch/types.ts";
import type { Patched } from "../../engine/patcher.ts";
import { nearestPath } from "../../engine/path/path.ts";
import { findFailure, type AssertSubject, type AssertFinding } from "../asserts/asserts.ts";
import { differences, isPathWithin } from "../asserts/differences.ts";
import type { RegexMatcher } from "../asserts/regex.ts";
import { shown } from "../asserts/shown.ts";
import type { PatchExpectation, SuiteTest, TestCase } from "./suite/suite.ts";

/** Overall result of all patches of a test. */
type Overall = NonNullable<SuiteTest["definition"]["result"]>;

/** One run of a test. */
export interface TestRun {
  readonly test: SuiteTest;
  /** The case, of a data-driven test. */
  readonly entry?: TestCase;
  /** The input, with values set. */
  readonly input: unknown;
  readonly patched: Patched;
  /** The patches of the object's kind. */
  readonly patches: readonly CompiledPatch[];
  readonly baseline: AssertSubject["baseline"];
  readonly matches: RegexMatcher;
  /** Golden files that differ are not compared. */
  readonly update: boolean;
}

/**
 * All failures of a test run, in the order in which reports show them: failed patches first, because they often cause the other failures,
 * then failed statements in the order of the file. Statements about a place where a patch failed unexpectedly are left out, because the
 * failure of the patch is reported.
 *
 * @throws EXPRESSION_FUEL if a regular expression of `error` takes too many steps.
 */
export function checkRun(run: TestRun): readonly AssertFinding[] {
  const overall = checkOverall(run);
  const failed = failedPlaces(overall, run.patched);
  const values = [...checkCase(run), ...checkAsserts(run), ...checkExpected(run, failed)];
  const stated = [
    ...checkError(run),
    ...run.test.patches.flatMap((expectation) => checkPatch(expectation, run)),
    ...values.filter(({ at }) => at === undefined || !touches(at, failed)).map((finding) => withRefusals(finding, run.patched)),
    ...checkReferences(run),
    ...checkCost(run),
    ...checkReach(run),
  ];
  return [...overall, ...stated.sort(byPlace)];
}

/** Every place of a reported patch failure. */
function failedPlaces(reported: readonly AssertFinding[], { outcomes }: Patched): readonly string[] {
  const indexes = new Set(
    reported.flatMap(({ failure: { code, patch } }) => (code === undefined || patch === undefined ? [] : [patch.index])),
  );
  return outcomes.filter(({ patch }) => indexes.has(patch)).flatMap(({ failures = [] }) => failures.map(({ place }) => place));
}

function touches(at: string, places: readonly string[]): boolean {
  return places.some((place) => isPathWithin(at, place) || isPathWithin(place, at));
}

function byPlace({ failure: left }: AssertFinding, { failure: right }: AssertFinding): number {
  return left.place.line - right.place.line || left.place.column - right.place.column;
}

/** Returns a failure for a test without assertions whose patches find no value: it would prove nothing. */
function checkReach({ test, entry, patched }: TestRun): AssertFinding[] {
  const { result, error, references } = test.definition;
  const states = [result, error, references, test.expected, entry, test.asserts[0], test.patches[0]].some((one) => one !== undefined);
  if (states || patched.outcomes.some(({ matches }) => matches > 0)) return [];
  const message = `The test has no assertions, and no patch finds a value${describeOutcomes(patched)}; write result: unchanged if that is intended`;
  return [{ failure: { message, place: test.place } }];
}

/** Adds refused addresses to a failure, because the address policy may have removed a missing address. */
function withRefusals({ failure, ...rest }: AssertFinding, { refusedAddresses }: Patched): AssertFinding {
  if (refusedAddresses.length === 0) return { failure, ...rest };
  const reasons = refusedAddresses.map(({ ip, reason }) => `${shown(ip)} was left out: ${reason}`);
  return { failure: { ...failure, message: `${failure.message} (${reasons.join("; ")})` }, ...rest };
}

/** Total cost of all patches. */
export function fuelOf({ outcomes }: Patched): number {
  return outcomes.reduce((sum, { fuel }) => sum + fuel, 0);
}

function overallOf({ outcomes, rejected }: Patched): Overall {
  if (rejected !== undefined) return "rejected";
  const first = (["error", "denied", "applied"] as const).find((kind) => outcomes.some(({ outcome }) => outcome === kind));
  return first ?? "unchanged";
}

const BAD: readonly string[] = ["error", "denied", "rejected"];

function checkOverall({ test, entry, patched }: TestRun): AssertFinding[] {
  const found = overallOf(patched);
  const { result, error } = test.definition;
  if (result !== undefined) {
    if (result === found) return [];
    const failed = BAD.includes(found) ? whatFailed(patched, () => false, test) : [];
    const message = `Expected the result ${result}, found ${found}${describeOutcomes(patched)}`;
    return [{ failure: { message, place: test.placeOf("result"), expected: result, actual: found } }, ...failed];
  }
  if (error !== undefined || entry?.definition.error !== undefined) {
    if (BAD.includes(found)) return [];
    const place = error === undefined ? entry!.place : test.placeOf("error");
    return [{ failure: { message: `Expected a patch to fail, found the result ${found}${describeOutcomes(patched)}`, place } }];
  }
  const excused = test.patches.filter(({ definition }) => definition.code !== undefined || BAD.includes(definition.outcome ?? ""));
  const isExcused = ({ path }: Outcome) => excused.some((expectation) => expectation.path.canonical === path);
  const failed = whatFailed(patched, isExcused, test, entry);
  if (failed.length > 0 || patched.rejected === undefined || excused.length > 0) return failed;
  return [{ failure: { message: `Expected an object that may be written, but ${patched.rejected}`, place: (entry ?? test).place } }];
}

/** Hints for fixing a failing test. */
const HINTS: Readonly<Record<string, string>> = {
  REFERENCE_UNMAPPED: ". A test knows only the names of its own objects: list the tenant's object, with apiVersion and kind, under objects",
};

function whatFailed({ outcomes }: Patched, isExcused: (outcome: Outcome) => boolean, test: SuiteTest, entry?: TestCase): AssertFinding[] {
  return outcomes.flatMap((outcome) => {
    const { patch, path, code, message, place } = outcome;
    if (code === undefined || isExcused(outcome)) return [];
    const others = outcome.failures!.length > 1 ? ` (and ${outcome.failures!.length - 1} more)` : "";
    const failure = {
      message: `Patch ${patch} (${path}) ${outcome.outcome === "denied" ? "was denied" : "failed"} at ${place}${others}: ${message}${HINTS[code] ?? ""}`,
      place: (entry ?? test).place,
      code,
      patch: { index: patch, path, ...(place !== undefined && { at: place }) },
    };
    return [{ failure, ...(place !== undefined && { at: place }) }];
  });
}

/** Lists each patch with its outcome, to explain a failure. */
function describeOutcomes({ outcomes, rejected }: Patched): string {
  if (rejected !== undefined) return ` (${rejected})`;
  const texts = outcomes.map(({ patch, path, outcome }) => `patch ${patch} (${path}): ${outcome}`);
  return texts.length === 0 ? " (there are no patches for this kind)" : ` (${texts.join(", ")})`;
}

function checkError({ test, patched, matches }: TestRun): AssertFinding[] {
  const { error } = test.definition;
  const failures = failuresOf(patched);
  // The absence of any failure is already reported.
  if (error === undefined || (failures.length === 0 && patched.rejected === undefined)) return [];
  const fits = (wanted: string | undefined, found: string) => {
    if (wanted === undefined) return true;
    if (error.match === "regex") return matches(wanted, found);
    return error.match === "startsWith" ? found.startsWith(wanted) : found === wanted;
  };
  const isMeant = ({ code, place, message }: PatchFailure) =>
    (error.code ?? code) === code && fits(error.path, place) && fits(error.message, message);
  const { match, ...wanted } = error;
  if (failures.some(isMeant) || (failures.length === 0 && Object.keys(wanted).length === 0)) return [];
  const verb = { exact: "", startsWith: " that starts with it", regex: " that matches it" }[match];
  const found = failures.map(({ code, place, message }) => ({ code, path: place, message }));
  const isPart =
    match === "exact" &&
    error.message !== undefined &&
    found.some((one) => one.message !== error.message && one.message.includes(error.message!));
  const message = `Expected a failure ${shown(wanted)}${verb}, found ${shown(found)}${isPart ? "; with match: regex, a part of it is enough" : ""}`;
  const at = failures[0]?.place;
  return [{ failure: { message, place: test.placeOf("error"), expected: wanted, actual: found }, ...(at !== undefined && { at }) }];
}

function failuresOf({ outcomes }: Patched): readonly PatchFailure[] {
  return outcomes.flatMap(({ failures = [] }) => failures);
}

function checkPatch({ path, definition, place }: PatchExpectation, { input, patched, patches, test }: TestRun): AssertFinding[] {
  const outcome = patched.outcomes.find((candidate) => candidate.path === path.canonical);
  if (outcome === undefined) {
    const known = patches.map((patch) => patch.path.canonical);
    const meant = suggest(path.canonical, known);
    const hint =
      meant !== undefined ? `did you mean ${meant}?` : known.length > 0 ? `its patches: ${known.join(", ")}` : "it has no patches";
    return [{ failure: { message: `Expected a patch of ${path.canonical}, found none for this kind; ${hint}`, place } }];
  }
  const patch = { index: outcome.patch, path: outcome.path };
  const detail = outcome.message === undefined ? "" : `: ${outcome.code}: ${outcome.message}`;
  const ends = outcome.outcome === "noMatch" && test.direction === "toHost" ? nearest(path, input) : "";
  const wrong = (what: string, expected: unknown, actual: unknown, more = ""): AssertFinding => ({
    failure: {
      message: `Expected patch ${outcome.patch} (${outcome.path}) to have ${what}, found ${shown(actual)}${more}`,
      place,
      expected,
      actual,
      patch,
    },
    ...(outcome.place !== undefined && { at: outcome.place }),
  });
  const found: AssertFinding[] = [];
  for (const field of ["outcome", "matches", "changed", "code"] as const) {
    const wanted = definition[field];
    if (wanted === undefined || wanted === outcome[field]) continue;
    found.push(wrong(`${field} ${wanted}`, wanted, outcome[field], field === "outcome" ? detail + ends : ""));
  }
  const limit = definition.fuel?.max;
  if (limit !== undefined && outcome.fuel > limit) found.push(wrong(`at most ${limit} fuel`, limit, outcome.fuel));
  return found;
}

function nearest(path: PatchExpectation["path"], input: unknown): string {
  const { reached, suggestion } = nearestPath(path, input);
  return `: the path ends at ${reached}${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`;
}

function checkCase({ test, entry, patched }: TestRun): AssertFinding[] {
  if (entry === undefined || test.casePath === undefined) return [];
  const { definition, hasOut, place } = entry;
  const found = test.casePath.find(patched.object);
  // With [*], every match must equal `out`.
  const match = (hasOut ? found.find(({ value }) => !jsonEqual(value ?? null, definition.out ?? null)) : undefined) ?? found[0];
  const at = match?.path ?? test.casePath.canonical;
  if (!hasOut) {
    const failures = failuresOf(patched);
    const wanted = failures.filter(({ place: failed }) => isPathWithin(at, failed) || isPathWithin(failed, at) || match === undefined);
    const isReported = failures.length === 0 && patched.rejected === undefined;
    if (isReported || wanted.some(({ code }) => code === definition.error)) return [];
    const actual = wanted[0]?.code;
    const message = `Expected ${at} to fail with ${definition.error}, found ${actual ?? "no failure there"}`;
    return [{ failure: { message, place, expected: definition.error, actual: actual ?? null }, at }];
  }
  const [expected, actual] = [definition.out ?? null, match?.value ?? null];
  if (jsonEqual(expected, actual)) return [];
  const message = `Expected ${shown(definition.in)} at ${at} to become ${shown(expected)}, found ${shown(actual)}`;
  return [{ failure: { message, place, expected, actual }, at }];
}

function checkAsserts({ test, patched, baseline, matches }: TestRun): AssertFinding[] {
  return test.asserts.flatMap((assert) => findFailure(assert, { object: patched.object, baseline, matches }) ?? []);
}

function checkExpected({ test, patched, update }: TestRun, failed: readonly string[]): AssertFinding[] {
  const { expected } = test;
  if (expected === undefined || jsonEqual(expected.object, patched.object)) return [];
  if ("file" in expected && update) return [];
  const { place, object } = expected;
  if (object === undefined && "file" in expected) {
    const message = `Expected a golden file ${expected.file}, found none; update golden files (-u) to write it`;
    return [{ failure: { message, place, actual: patched.object } }];
  }
  const [first, ...others] = differences(object, patched.object).filter(({ path }) => !touches(path, failed));
  if (first === undefined) return [];
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  const message = `Expected the whole object, found a different one: ${first.path} is ${shown(first.after)} in place of ${shown(first.before)}${more}`;
  return [{ failure: { message, place, expected: object, actual: patched.object }, at: first.path }];
}

function checkReferences({ test, patched }: TestRun): AssertFinding[] {
  const wanted = test.definition.references;
  if (wanted === undefined) return [];
  const found = patched.references.map(({ apiVersion, kind, tenant, host }) => ({
    apiVersion,
    kind,
    tenant: formatKey(tenant),
    host: formatKey(host),
  }));
  const isSame = (left: (typeof wanted)[number], right: (typeof found)[number]) => jsonEqual({ ...right, ...left }, right);
  const missing = wanted.find((reference) => !found.some((candidate) => isSame(reference, candidate)));
  const extra = found.find((candidate) => !wanted.some((reference) => isSame(reference, candidate)));
  if (missing === undefined && extra === undefined) return [];
  const message =
    missing === undefined
      ? `Expected no reference ${shown(extra)}, found it`
      : `Expected a reference ${shown(missing)}, found ${shown(found)}`;
  return [{ failure: { message, place: test.placeOf("references"), expected: wanted, actual: found } }];
}

function checkCost({ test, patched }: TestRun): AssertFinding[] {
  const { maxFuel, maxMatches } = test;
  const fuel = fuelOf(patched);
  const found: AssertFinding[] = [];
  if (maxFuel !== undefined && fuel > maxFuel) {
    const message = `Expected at most ${maxFuel} fuel for all patches, found ${fuel}`;
    found.push({ failure: { message, place: test.placeOf("maxFuel"), expected: maxFuel, actual: fuel } });
  }
  const greedy = patched.outcomes.find(({ matches }) => matches > (maxMatches ?? Infinity));
  if (greedy !== undefined) {
    const { patch, path, matches } = greedy;
    const message = `Expected patch ${patch} (${path}) to find at most ${maxMatches} values, found ${matches}`;
    const failure = { message, place: test.placeOf("maxMatches"), expected: maxMatches, actual: matches, patch: { index: patch, path } };
    found.push({ failure });
  }
  return found;
}
