import { dump } from "js-yaml";
import { EngineError, isEngineError } from "../../base/errors.ts";
import { canonicalJson, jsonEqual } from "../../base/json.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { Report, sortProblems, type Problem } from "../../schema/problem.ts";
import { readYaml } from "../../schema/yaml.ts";
import { mergeCoverage } from "../coverage/report.ts";
import type { SuiteCoverage } from "../coverage/types.ts";
import { explain } from "../explain/explain.ts";
import { needsMatcher } from "../asserts/asserts.ts";
import { createEngineCache, type EngineCache } from "./engines.ts";
import type { PatchEvaluation } from "./evaluations.ts";
import type { ConfigurationSource } from "./suite/configuration.ts";
import { createSuiteFiles, type SuiteFiles } from "./suite/files.ts";
import { readSuite } from "./suite/read-suite.ts";
import { createRegexMatcher, type RegexMatcher } from "../asserts/regex.ts";
import type { GoldenWrite, SuiteResult, TestResult } from "../asserts/results.ts";
import { createTimed, type Timed } from "./timed.ts";
import { rulesOfContext, withCoverage, type TestRules } from "./rules-of-test.ts";
import { nameOfTest, runTest } from "./run-test.ts";
import { sequenceResults } from "./sequence-results.ts";
import type { Suite, SuiteContext, SuiteTest } from "./suite/suite.ts";
import { decode } from "../../schema/decode.ts";
import { startOf } from "../../schema/node.ts";
import { runLaws } from "../laws/run-laws.ts";
import { LAW, type LawDefinition } from "../laws/schema.ts";

/** Options for running a suite. */
export interface SuiteOptions {
  /** Returns the text of a file, or throws if it does not exist. Names are relative to the test file, separated by "/". */
  read(file: string): Promise<string>;
  /** Selects tests by the names of their results; others do not run and are not listed. Default: all. */
  readonly filter?: (name: string) => boolean;
  /** Accepts golden files that differ: their new content is in `writes`, unless the test fails for another reason. Default false. */
  readonly update?: boolean;
  /** Measures which patches and which branches of their expressions the tests reach. Default false. */
  readonly coverage?: boolean;
  /** Shares engines between files with the same configuration. The caller disposes of them. Default: separate engines. */
  readonly engines?: EngineCache;
  /** The kinds that configurations can sync. Default: those of `engines` if it is set, otherwise all synced kinds. */
  readonly kinds?: readonly SyncedKind[];
  /** A monotonic clock in milliseconds. With it, every result contains its duration. Default: no durations. */
  readonly now?: () => number;
}

/**
 * Runs one patch test file.
 *
 * Errors in the file are in `problems`; the function never throws for the content of a file or an expression.
 *
 * @example
 * const { results } = await runSuite("web.patch-test.yaml", { read: (file) => readFile(file, "utf8") });
 */
export async function runSuite(file: string, options: SuiteOptions): Promise<SuiteResult> {
  const files = createSuiteFiles(file, options.read);
  const report = new Report();
  const name = file.split("/").at(-1)!;
  const kinds = options.engines?.kinds ?? options.kinds ?? SYNCED_KINDS;
  const suite = await openSuite(file, { files, report, kinds });
  const nothing = { file, name, results: [], writes: [] };
  if (suite === undefined) return { ...nothing, problems: sortProblems(report.problems), reads: files.reads };
  const engines = options.engines ?? createEngineCache({ kinds });
  try {
    const run = await startRun(suite, { ...options, engines, files });
    return { file, name: suite.name, problems: [], ...(await runAll(run)), reads: files.reads };
  } catch (error) {
    if (!isEngineError(error) || error.code === "INTERNAL") throw error;
    return { ...nothing, name: suite.name, problems: [problemOf(error, suite)], reads: files.reads };
  } finally {
    if (options.engines === undefined) engines.dispose();
  }
}

async function openSuite(file: string, source: ConfigurationSource): Promise<Suite | undefined> {
  const { files, report } = source;
  const at = { file, line: 0, column: 0 };
  const text = await files.text(file.split("/").at(-1)!, (message) => report.error({ code: "CONFIG_FILE", at, field: "", message }));
  const root = text === undefined ? undefined : readYaml(text, { file, report });
  return root && readSuite(root, { file, ...source });
}

/** The problem of a configuration that is valid but takes too much fuel to compile. */
function problemOf({ code, message, details }: EngineError, { file }: Suite): Problem {
  const hint = typeof details["hint"] === "string" ? details["hint"] : "";
  return { code, severity: "error", message, file, line: 0, column: 0, field: "", hint };
}

/** A suite that is running. */
interface Run {
  readonly suite: Suite;
  readonly engines: EngineCache;
  readonly files: SuiteFiles;
  readonly objects: readonly KubeObject[];
  readonly wanted: (name: string) => boolean;
  readonly update: boolean;
  /** The rules of the file's own context. */
  readonly rules: TestRules;
  /** Returns the rules of a context, created once for each virtual cluster. */
  rulesIn(context: SuiteContext): Promise<TestRules>;
  coverage(): Promise<SuiteCoverage | undefined>;
  readonly matches: RegexMatcher;
  readonly timed: Timed;
}

type StartOptions = SuiteOptions & Pick<Run, "engines" | "files">;

async function startRun(suite: Suite, { engines, files, filter, update, coverage = false, now }: StartOptions): Promise<Run> {
  const known = new Map<string, Promise<TestRules>>();
  const make = async (context: SuiteContext) => {
    const rules = await rulesOfContext(suite, context, engines);
    return coverage ? withCoverage(rules, engines) : rules;
  };
  const rulesIn = (context: SuiteContext) => {
    const key = canonicalJson(context.vcluster);
    const rules = known.get(key) ?? make(context);
    known.set(key, rules);
    return rules;
  };
  const hasPatterns = suite.tests.some(({ asserts, definition }) => needsMatcher(asserts) || definition.error?.match === "regex");
  return {
    suite,
    engines,
    files,
    objects: Object.values(suite.objects),
    wanted: filter ?? (() => true),
    update: update ?? false,
    rules: await rulesIn(suite.context),
    rulesIn,
    coverage: async () => (coverage ? takeCoverage(await Promise.allSettled(known.values()), suite) : undefined),
    matches: hasPatterns ? createRegexMatcher(await engines.sandbox()) : refuseToMatch,
    timed: createTimed(now),
  };
}

const refuseToMatch: RegexMatcher = () => {
  throw new EngineError("INTERNAL", "Tried to match a regular expression in a suite that contains none");
};

/** Returns the coverage for all virtual clusters of the suite, except those without a valid configuration. */
function takeCoverage(all: readonly PromiseSettledResult<TestRules>[], { configuration }: Suite): SuiteCoverage {
  const taken = all.flatMap((rules) => {
    const counted = rules.status === "fulfilled" ? rules.value.counted : undefined;
    return counted === undefined ? [] : [counted.coverage.take(counted.rules, configuration.source)];
  });
  return mergeCoverage(taken);
}

async function runAll(run: Run): Promise<Pick<SuiteResult, "results" | "writes" | "coverage">> {
  const writes: GoldenWrite[] = [];
  const tests: TestResult[] = [];
  for (const test of run.suite.tests) tests.push(...(await runCases(test, run, writes)));
  const coverage = await run.coverage();
  return { results: [...tests, ...(await lawResults(run)), ...(await sequenceResults(run))], writes, ...(coverage && { coverage }) };
}

async function runCases(test: SuiteTest, run: Run, writes: GoldenWrite[]): Promise<TestResult[]> {
  const all = test.cases.length === 0 ? [undefined] : test.cases;
  const entries = all.filter((entry) => run.wanted(nameOfTest(test, entry)));
  if (entries.length === 0) return [];
  const { skip } = test.definition;
  const ends = (entry: SuiteTest["cases"][number] | undefined, rest: Pick<TestResult, "verdict" | "failures" | "reason">): TestResult => ({
    kind: "test",
    name: nameOfTest(test, entry),
    place: (entry ?? test).place,
    fuel: 0,
    ...rest,
  });
  if (skip !== undefined) return entries.map((entry) => ends(entry, { verdict: "skipped", reason: skip, failures: [] }));
  const rules = await rulesOf(test, run);
  if (isEngineError(rules)) {
    const failure = { message: rules.message, code: rules.code, place: test.placeOf("context") };
    return entries.map((entry) => ends(entry, { verdict: "error", failures: [failure] }));
  }
  const results: TestResult[] = [];
  for (const entry of entries) {
    const options = { ...run, rules, drawer: () => drawerOf(rules, run.engines) };
    const [end, took] = await run.timed(() => runTest(test, entry, options));
    // The result of a broken patch must not become a golden file.
    const write = end.result.verdict === "passed" && end.object ? goldenWrite(test, end.object, run.update) : undefined;
    if (write !== undefined) writes.push(write);
    results.push({ ...end.result, ...took });
  }
  return results;
}

async function drawerOf({ engine }: TestRules, engines: EngineCache): Promise<(evaluation: PatchEvaluation) => string> {
  const sandbox = await engines.watchingSandbox(engine);
  return ({ text, scope }) => explain(sandbox, text, scope).drawing;
}

/** Returns the rules for the context of a test, or the error that prevents their use. */
async function rulesOf({ context }: SuiteTest, { rulesIn }: Run): Promise<TestRules | EngineError> {
  try {
    return await rulesIn(context);
  } catch (error) {
    if (!isEngineError(error) || error.code === "INTERNAL") throw error;
    return error;
  }
}

function goldenWrite({ expected }: SuiteTest, object: KubeObject, update: boolean): GoldenWrite | undefined {
  if (!update || expected === undefined || !("file" in expected) || jsonEqual(expected.object, object)) return undefined;
  return { file: expected.file, text: dump(object, { lineWidth: -1, noRefs: true }) };
}

/** Options for checking the laws of a suite. */
interface LawRun {
  readonly suite: Suite;
  readonly rules: TestRules;
  readonly objects: readonly KubeObject[];
  readonly wanted: (name: string) => boolean;
  readonly timed: Timed;
}

/** Checks the selected laws of a suite, in the order of the file. */
async function lawResults({ suite, rules, objects, wanted, timed }: LawRun): Promise<readonly TestResult[]> {
  const items = suite.laws?.kind === "list" ? suite.laws.items : [];
  const drifts = { acceptedDrifts: suite.acceptedDrifts, settingsDrifts: suite.configuration.settings.acceptedDrifts };
  const all: TestResult[] = [];
  for (const node of items) {
    // The shape was checked when the file was read.
    const law = decode(LAW, node, { report: new Report() })!;
    if (!wanted(nameOfLaw(law))) continue;
    const [results, took] = await timed(() => runLaws([law], { engine: rules, objects, ...drifts, placeOf: () => startOf(node) }));
    all.push(...results.map((result) => ({ ...result, ...took })));
  }
  return all;
}

/** The name in results: the law and its path. */
function nameOfLaw(law: LawDefinition): string {
  const named = Object.keys(law) as (keyof LawDefinition)[];
  const path = named.length === 1 ? law[named[0]!]?.path : undefined;
  return [named.join(", "), ...(path === undefined ? [] : [path])].join(" ");
}
