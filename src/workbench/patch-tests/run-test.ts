import { EngineError, isEngineError } from "../../base/errors.ts";
import { isRecord, type JsonObject } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { patcherOf, type Patched } from "../../engine/patcher.ts";
import { remembered } from "../../engine/reconcile/rules/remembered.ts";
import type { Rules } from "../../engine/reconcile/rules/rules.ts";
import { formatRefusals, refusalsOf } from "../host-api.ts";
import type { AssertFinding } from "../asserts/asserts.ts";
import { misfitOf } from "../asserts/kind-fields.ts";
import { checkRun, fuelOf } from "./checks.ts";
import { evaluationAt, watched, type PatchEvaluation } from "./evaluations.ts";
import type { RegexMatcher } from "../asserts/regex.ts";
import type { TestFailure, TestPlace, TestResult } from "../asserts/results.ts";
import { withOwnNames, type TestRules } from "./rules-of-test.ts";
import { setValue } from "../asserts/set-value.ts";
import { completeObject, type SuiteTest, type TestCase } from "./suite/suite.ts";

/** Options for running tests. */
export interface TestOptions {
  readonly rules: TestRules;
  /** Objects that references may name. */
  readonly objects: readonly KubeObject[];
  readonly matches: RegexMatcher;
  readonly update: boolean;
  /** Draws the values of the parts of expressions; called when something failed. */
  readonly drawer: () => Promise<(evaluation: PatchEvaluation) => string>;
}

/** The result of a test, and the resulting object unless the test could not run. */
export interface TestEnd {
  readonly result: TestResult;
  readonly object?: KubeObject;
}

/**
 * The name of a result: `it`, with the label of the case after " › ".
 *
 * @example
 * nameOfTest(test, test.cases[0]); // 'cases › "10.0.0.1"'
 */
export function nameOfTest(test: SuiteTest, entry?: TestCase): string {
  return entry === undefined ? test.name : `${test.name} › ${entry.label}`;
}

/** Runs one test, or one case of it. */
export async function runTest(test: SuiteTest, entry: TestCase | undefined, options: TestOptions): Promise<TestEnd> {
  const { place } = entry ?? test;
  const result = { kind: "test", name: nameOfTest(test, entry), place } as const;
  try {
    const input = inputOf(test, entry);
    const { rules, counted } = options.rules;
    const names = withOwnNames(counted?.rules ?? rules, options.objects);
    const patched = judged(pass(names, { test, input }), { test, input, unpatched: options.rules.unpatched });
    const findings = checkRun({
      test,
      ...(entry && { entry }),
      input,
      patched,
      patches: names.find(({ kind }) => kind.resource.kind === input.kind)!.patches,
      baseline: () => baselineOf(options.rules.unpatched, { test, input }),
      matches: options.matches,
      update: options.update,
    });
    const failures = findings.length === 0 ? [] : await explain(findings, { test, input, options });
    const verdict = failures.length === 0 ? "passed" : "failed";
    return { result: { ...result, verdict, failures, fuel: fuelOf(patched) }, object: patched.object };
  } catch (error) {
    if (!isEngineError(error) || error.code === "INTERNAL") throw error;
    const failure: TestFailure = { message: error.message, code: error.code, place: placeIn(error) ?? place };
    return { result: { ...result, verdict: "error", failures: [failure], fuel: 0 } };
  }
}

/** The place in an error of the test itself, if it has one. */
function placeIn({ details }: EngineError): TestPlace | undefined {
  return details["testPlace"] as TestPlace | undefined;
}

function inputOf(test: SuiteTest, entry: TestCase | undefined): KubeObject {
  const { vcluster } = test.context;
  const base = completeOnce(test.object)(test.direction === "toHost" ? "default" : vcluster.namespace);
  const values = [...test.set];
  if (entry !== undefined && test.casePath !== undefined)
    values.push({ path: test.casePath.text, value: entry.definition.in, place: entry.place });
  const input = values.reduce<unknown>((object, { path, value, place }) => {
    try {
      return setValue(object, path, value);
    } catch (error) {
      if (!isEngineError(error)) throw error;
      throw new EngineError(error.code, error.message, { details: { ...error.details, testPlace: place }, cause: error });
    }
  }, base);
  refuseMisfit(input);
  return input as KubeObject;
}

/** Throws CONFIG_VALUE for an object that cannot exist: a test may, for example, set a list in place of the labels. */
function refuseMisfit(input: unknown): void {
  const { metadata, kind } = input as JsonObject;
  const nameless = isRecord(metadata) ? ["name", "namespace"].find((name) => typeof metadata[name] !== "string") : undefined;
  const why =
    misfitOf(input) ??
    (typeof kind === "string" && typeof (input as JsonObject)["apiVersion"] === "string"
      ? undefined
      : "it has kind without apiVersion, or apiVersion without kind") ??
    (isRecord(metadata) ? undefined : "metadata is not a map") ??
    (nameless === undefined ? undefined : `metadata.${nameless} is not a string`);
  if (why !== undefined) throw new EngineError("CONFIG_VALUE", `Cannot use the object: ${why}`);
}

/** Completes an object. The same object gives the same result, so that cached results are found again. */
const completeOnce = remembered((object: JsonObject) => {
  const byNamespace = new Map<string, KubeObject>();
  return (namespace: string): KubeObject => {
    const known = byNamespace.get(namespace) ?? completeObject(object, { name: "example", namespace });
    byNamespace.set(namespace, known);
    return known;
  };
});

/** Patches an object. The engine expects objects as API servers return them, but a test may have, for example, a string as a list. */
function pass(rules: readonly Rules[], from: { test: SuiteTest; input: KubeObject }): Patched {
  try {
    return patch(rules, from);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const { apiVersion, kind } = from.input;
    const message = `Cannot use the object: its structure is not valid for ${apiVersion} ${kind} (${error.message})`;
    throw new EngineError("CONFIG_VALUE", message, { cause: error });
  }
}

function patch(rules: readonly Rules[], { test, input }: { test: SuiteTest; input: KubeObject }): Patched {
  const { direction, context } = test;
  const { namespace } = context.vcluster;
  const patcher = patcherOf(rules);
  if (direction === "toHost") {
    const host = context.hostObject && completeOnce(context.hostObject)(namespace);
    return patcher.toHost(input, host && { host });
  }
  const tenant = context.virtualObject && completeOnce(context.virtualObject)("default");
  return patcher.toTenant(input, tenant && { tenant });
}

/**
 * Returns the result, marked as rejected if an API server would refuse the patched object. An object of a test need not be complete, so
 * errors that also exist without patches do not count.
 */
function judged(patched: Patched, from: { test: SuiteTest; input: KubeObject; unpatched: readonly Rules[] }): Patched {
  if (patched.rejected !== undefined) return patched;
  const kinds = from.unpatched.map(({ kind }) => kind);
  const refusals = refusalsOf(patched.object, kinds);
  if (refusals.length === 0) return patched;
  const before = new Set(refusalsOf(baselineOf(from.unpatched, from), kinds).map(({ field, message }) => field + message));
  const made = refusals.filter(({ field, message }) => !before.has(field + message));
  const side = from.test.direction === "toHost" ? "host" : "tenant";
  return made.length === 0 ? patched : { ...patched, rejected: `the ${side}'s API server would refuse it: ${formatRefusals(made)}` };
}

function baselineOf(unpatched: readonly Rules[], from: { test: SuiteTest; input: KubeObject }): KubeObject {
  return pass(unpatched, from).object;
}

/** Adds to each failure the patch that produced the value, and its explanation. For this, the object is patched again. */
async function explain(
  findings: readonly AssertFinding[],
  { test, input, options }: { test: SuiteTest; input: KubeObject; options: TestOptions },
): Promise<readonly TestFailure[]> {
  const { rules, evaluations } = watched(withOwnNames(options.rules.rules, options.objects));
  // An identical object may be cached; a new one is not.
  pass(rules, { test, input: { ...input } });
  const draw = await options.drawer();
  return findings.map(({ failure, at }) => {
    const own = evaluations.filter(({ patch }) => failure.patch === undefined || patch.index === failure.patch.index);
    const evaluation = at === undefined ? undefined : evaluationAt(own, at);
    if (evaluation === undefined) return failure;
    const { patch, scope } = evaluation;
    const where = { index: patch.index, path: patch.path.canonical, at: scope.context.path };
    return { ...failure, patch: where, explanation: draw(evaluation) };
  });
}
