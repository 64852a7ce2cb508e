import type { TestPlace } from "../../../workbench/asserts/results.ts";
import { visible } from "../../output/output.ts";
import { failureLines } from "./result-text.ts";
import { fullName, isFailure, type TestReport } from "./report.ts";

interface Annotation {
  readonly severity: "error" | "warning";
  readonly place: TestPlace;
  readonly title: string;
  readonly text: string;
}

/** Formats the failures as workflow commands of GitHub Actions, which show each failure at its line in a pull request. */
export function githubReport({ suites }: TestReport): string {
  const annotations = suites.flatMap(({ suite }): Annotation[] => [
    ...suite.problems.map(({ severity, code, message, hint, file, line, column }) => ({
      severity,
      place: { file, line, column },
      title: code,
      text: hint === "" ? message : `${message}. ${hint}`,
    })),
    ...suite.results.filter(isFailure).flatMap((result): Annotation[] =>
      result.failures.map((failure) => ({
        severity: "error",
        place: failure.place.line > 0 ? failure.place : result.place,
        title: fullName(suite, result),
        text: failureLines(failure).join("\n"),
      })),
    ),
  ]);
  return annotations.map(annotationLine).join("");
}

function annotationLine({ severity, place, title, text }: Annotation): string {
  const at = place.line > 0 ? { line: place.line, col: place.column } : {};
  const properties = Object.entries({ file: place.file, ...at, title }).map(([name, value]) => `${name}=${property(String(value))}`);
  return `::${severity} ${properties.join(",")}::${data(text)}\n`;
}

/** Escapes the characters that end a command's text or begin an escape sequence. */
function data(text: string): string {
  return visible(text).replaceAll("%", "%25").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
