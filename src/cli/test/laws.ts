/**
 * The laws of patches on the command line: a report as text, and as problems of the configuration.
 *
 * @module
 */
import type { Code } from "../../base/codes.ts";
import { createEngine } from "../../engine/engine.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { fieldPath, indexPath } from "../../schema/field.ts";
import { startOf, valueAt } from "../../schema/node.ts";
import { Report, type Problem } from "../../schema/problem.ts";
import {
  breachesOf,
  checkLaws,
  evidenceInWords,
  formatLawSteps,
  meaningOf,
  nameTogether,
  type LawName,
  type LawReport,
  type PairReport,
} from "../../workbench/laws/check-laws.ts";
import { readYaml } from "../../schema/yaml.ts";
import type { LoadedConfiguration } from "../input/configuration.ts";
import { patchPlaces } from "./samples/patch-places.ts";
import { visible } from "../output/output.ts";

/** Checks the patches of a configuration on values of its kinds and of `objects`. */
export async function checkConfigurationLaws(
  loaded: LoadedConfiguration,
  options: { readonly objects: readonly KubeObject[]; readonly seed?: number },
): Promise<LawReport> {
  const engine = await createEngine(loaded);
  try {
    return checkLaws(engine, { ...options, acceptedDrifts: loaded.settings.acceptedDrifts });
  } finally {
    engine.dispose();
  }
}

/**
 * Converts a report into problems of the configuration. A pair that oscillates is an error, and a pair that drifts is a warning. The same
 * applies to lists whose patches oscillate or drift only together. `texts` are the files; later files take precedence.
 */
export function lawProblems(laws: LawReport, texts: readonly { readonly file: string; readonly text: string }[]): readonly Problem[] {
  const report = new Report();
  const places = patchPlaces(texts);
  for (const { list, patches, verdict, counterExample } of breachesOf(laws)) {
    // An interaction of several patches is reported at the last of them.
    const patch = patches.at(-1)!;
    const field = indexPath(fieldPath(fieldPath("sync.toHost", list), "patches"), patch);
    const at = places({ list, patch, side: "reverseExpression" });
    const verb = verdict === "oscillates" ? "oscillate" : "drift";
    const subject = patches.length === 1 ? `The patch ${verb}s` : `Patches ${nameTogether(patches)} ${verb} together, but not individually`;
    const message = `${subject}: ${formatLawSteps(counterExample.steps)}. ${counterExample.explanation}`;
    const code: Code = "REVERSE_NOT_INVERSE";
    report[verdict === "oscillates" ? "error" : "warning"]({ code, at, field, message: message.replace(/\.$/, ""), hint: "" });
  }
  return report.problems;
}

/** Laws that are reported below a patch although they decide no verdict. */
const NOTES: Partial<Record<LawName, string>> = { typeKept: "changes its type", deterministic: "is not deterministic" };

/** Formats the evidence that a patch is lossless; "" for other verdicts. */
function evidenceOf({ verdict, evidence }: PairReport): string {
  return verdict === "lossless" ? `; ${evidenceInWords(evidence)}` : "";
}

/** Reports entries of `acceptedDrifts` in the settings file that no patch needs. They would hide a fixed drift if it occurred again. */
export function idleAcceptanceProblems(
  { idleAcceptances }: LawReport,
  settings: { readonly file: string; readonly text: string },
): readonly Problem[] {
  const report = new Report();
  const list = valueAt(readYaml(settings.text, { file: settings.file, report: new Report() }), "acceptedDrifts");
  for (const index of idleAcceptances) {
    const entry = list?.kind === "list" ? list.items[index] : undefined;
    const at = entry === undefined ? { file: settings.file, line: 0, column: 0 } : startOf(entry);
    const message = "No patch with this path drifts";
    report.warning({ code: "CONFIG_VALUE", at, field: indexPath("acceptedDrifts", index), message, hint: "Remove the entry" });
  }
  return report.problems;
}

/** Formats the report with one line per patch and its verdict, and further notes below. */
export function formatLawReport({ pairs, lists, seed }: LawReport): string {
  const lines = pairs.flatMap((pair) => [
    `${pair.list}.patches[${pair.patch}] ${pair.path}: ${pair.verdict}, ${meaningOf(pair.verdict)}${evidenceOf(pair)}${pair.cutShort ? " (until the fuel ran out)" : ""}`,
    ...(pair.accepted === undefined ? [] : [`  accepted: ${pair.accepted}`]),
    ...pair.laws.flatMap(({ law, counterExample }) => {
      if (counterExample === undefined) return [];
      const { steps } = counterExample;
      if (law === "total")
        return [`  ${steps.at(-1)!.on === "host" ? "expression" : "reverseExpression"} fails for ${formatLawSteps(steps.slice(0, 1))}`];
      return NOTES[law] === undefined ? [] : [`  ${NOTES[law]}: ${formatLawSteps(steps)}`];
    }),
  ]);
  const ofLists = lists.map(({ list, verdict, together, cutShort }) => {
    const why = together.length === 0 ? "the patches are independent" : `${nameTogether(together)} tried on the same objects`;
    return `${list}.patches combined: ${verdict}; ${why}${cutShort ? " (until the fuel ran out)" : ""}`;
  });
  const tried = [...pairs.flatMap(({ laws }) => laws), ...lists].reduce((sum, { runs }) => sum + runs, 0);
  const total = `${pairs.length} ${pairs.length === 1 ? "patch" : "patches"}, ${tried.toLocaleString("en")} checks, seed ${seed}`;
  return [...lines, ...ofLists, total, ""].map((line) => visible(line)).join("\n");
}
