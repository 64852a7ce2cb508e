import type { TestFailure } from "../../../workbench/asserts/results.ts";
import { visible } from "../../output/output.ts";

/** Formats the details of a failure as plain lines, for reports that other programs show. */
export function failureLines(failure: TestFailure): string[] {
  const { place, expected, actual, patch, explanation } = failure;
  return [
    `${place.file}${place.line > 0 ? `:${place.line}:${place.column}` : ""}: ${headline(failure)}`,
    ...(patch === undefined ? [] : [`patch #${patch.index} ${patch.path}${patch.at === undefined ? "" : ` at ${patch.at}`}`]),
    ...(explanation === undefined ? [] : explanation.split("\n")),
    ...(expected === undefined ? [] : [`expected: ${JSON.stringify(expected)}`]),
    ...(actual === undefined ? [] : [`actual: ${JSON.stringify(actual)}`]),
  ];
}

/** The message of a failure, with its code in front: `PATCH_TYPE: expected …`. */
export function headline({ message, code }: Pick<TestFailure, "message" | "code">): string {
  return code === undefined || message.startsWith(code) ? message : `${code}: ${message}`;
}

/** A name on one line, with special characters escaped. */
export function oneLine(name: string): string {
  return visible(name).replace(/\s+/g, " ");
}
