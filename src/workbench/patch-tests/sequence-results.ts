import { EngineError } from "../../base/errors.ts";
import type { Node } from "../../schema/node.ts";
import { objectToNode } from "../../schema/object-node.ts";
import { formatProblem, Report, type Problem } from "../../schema/problem.ts";
import type { Reload } from "../sequences/sequence.ts";
import { readConfiguration, type ConfigurationNodes } from "./suite/configuration.ts";
import type { EngineCache } from "./engines.ts";
import type { SuiteFiles } from "./suite/files.ts";
import { createRegexMatcher } from "../asserts/regex.ts";
import type { TestResult } from "../asserts/results.ts";
import { rulesOfContext, withOwnNames, type TestRules } from "./rules-of-test.ts";
import type { Timed } from "./timed.ts";
import type { Suite } from "./suite/suite.ts";

/** Options for running the sequences of a suite. */
export interface SequenceRun {
  readonly suite: Suite;
  readonly rules: TestRules;
  readonly engines: EngineCache;
  readonly files: SuiteFiles;
  readonly wanted: (name: string) => boolean;
  readonly timed: Timed;
}

/** Runs the selected sequences of a suite, in the order of the file. */
export async function sequenceResults(run: SequenceRun): Promise<readonly TestResult[]> {
  const { suite, engines, wanted } = run;
  const sequences = suite.sequences.filter(({ name }) => wanted(name));
  if (sequences.length === 0) return [];
  // This imports two whole API servers, which a page or a file without sequences does not need.
  const { runSequence } = await import("../sequences/run-sequence.ts");
  const results: TestResult[] = [];
  for (const sequence of sequences) {
    const options = {
      objects: suite.objects,
      engine: engineOf(run.rules),
      reload: async (reload: Reload) => engineOf(await reloadedRules(reload, run)),
      matcher: async () => createRegexMatcher(await engines.sandbox()),
    };
    const [result, took] = await run.timed(() => runSequence(sequence, options));
    results.push({ ...result, ...took });
  }
  return results;
}

/** An engine with its own names, so that one sequence does not know the names of another. */
function engineOf({ engine, rules }: TestRules) {
  return { ...engine, rules: withOwnNames(rules, []) };
}

async function reloadedRules(reload: Reload, { suite, files, engines }: SequenceRun): Promise<TestRules> {
  const report = new Report();
  const configuration = await readConfiguration(reloadedNodes(reload, suite, report), { files, report, kinds: engines.kinds });
  if (configuration === undefined) throw refusal(report.problems);
  const result = configuration.configFor(suite.context.vcluster);
  if (!result.ok) throw refusal(result.problems);
  return rulesOfContext({ ...suite, configuration }, suite.context, engines);
}

/** Omitted parts stay; patches and a configuration replace each other. */
function reloadedNodes(reload: Reload, { configurationNodes, file }: Suite, report: Report): ConfigurationNodes {
  const nodeOf = (value: unknown): Node | undefined => (value === undefined ? undefined : objectToNode(value, { file, report }));
  const [config, patches] = [nodeOf(reload.config), nodeOf(reload.patches)];
  const replaced = config === undefined && patches === undefined ? configurationNodes : { config, patches };
  return { ...replaced, settings: nodeOf(reload.settings) ?? configurationNodes.settings };
}

function refusal(problems: readonly Problem[]): EngineError {
  return new EngineError("CONFIG_VALUE", `Cannot load the configuration: ${problems.map((problem) => formatProblem(problem)).join("; ")}`);
}
