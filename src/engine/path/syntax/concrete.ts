/**
 * Parses concrete paths, each of which leads to one place, from the text that `find` returns into steps.
 *
 * @module
 */
import { type ParsedSegment, parseParts } from "./parse.ts";
import { openScanner, syntaxError } from "./scan.ts";
import type { PathStep } from "./segment.ts";

/**
 * The steps of a concrete path: numbers select list elements, strings object members. `$` is the whole object, no steps.
 *
 * @throws PATH_SYNTAX when the text does not parse, contains a wildcard or counts from the end.
 * @throws PATH_UNSUPPORTED when it uses an operator of another path language.
 * @example
 * parseConcrete('metadata.annotations["example.com/x"]'); // ["metadata", "annotations", "example.com/x"]
 */
export function parseConcrete(path: string): PathStep[] {
  return parseParts(path).map((part) => toStep(part, path));
}

function toStep({ segment, at }: ParsedSegment, path: string): PathStep {
  if (segment.kind === "key") return segment.key;
  if (segment.kind === "index" && segment.index >= 0) return segment.index;
  const problem = segment.kind === "wildcard" ? "[*] means several places" : `[${segment.index}] depends on the length of the list`;
  throw syntaxError(openScanner(path), { at, problem, hint: "Write the path of one place, as in subsets[0].addresses[3].ip" });
}
