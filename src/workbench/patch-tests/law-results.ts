import type { KubeObject } from "../../kube/object/types.ts";
import { decode } from "../../schema/decode.ts";
import { startOf } from "../../schema/node.ts";
import { Report } from "../../schema/problem.ts";
import { runLaws } from "../laws/run-laws.ts";
import { LAW, type LawDefinition } from "../laws/schema.ts";
import type { TestResult } from "../asserts/results.ts";
import type { TestRules } from "./rules-of-test.ts";
import type { Timed } from "./timed.ts";
import type { Suite } from "./suite/suite.ts";

/** Options for checking the laws of a suite. */
export interface LawRun {
  readonly suite: Suite;
  readonly rules: TestRules;
  readonly objects: readonly KubeObject[];
  readonly wanted: (name: string) => boolean;
  readonly timed: Timed;
}

/** Checks the selected laws of a suite, in the order of the file. */
export async function lawResults({ suite, rules, objects, wanted, timed }: LawRun): Promise<readonly TestResult[]> {
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
