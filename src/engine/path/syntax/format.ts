/**
 * Formats paths. The output parses back to the same segments.
 *
 * Plain names are joined by dots, list elements are written as `[0]`, every other name as `["…"]` with JSON escapes.
 *
 * @module
 */
import { escapeControls } from "../../../base/escape-controls.ts";
import type { Segment, PathStep } from "./segment.ts";

/** The path of the whole object. */
export const WHOLE_OBJECT = "$";

// Names that look like numbers are not plain: without quotes, they would select list elements.
const PLAIN = /^(?!-?\d+$)[\w-][\w/:-]*$/;

// A key that a message quotes must not move the cursor of a terminal or change the reading direction.
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/**
 * The text of `path` extended by an object member. `path` is "" at the root.
 *
 * @example
 * appendKey("metadata.annotations", "example.com/x"); // 'metadata.annotations["example.com/x"]'
 */
export function appendKey(path: string, key: string): string {
  if (!PLAIN.test(key)) return `${path}[${quoteKey(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/**
 * Formats segments as a path; an empty list becomes `$`.
 *
 * @example
 * formatSegments([{ kind: "key", key: "subsets" }, { kind: "wildcard" }]); // "subsets[*]"
 */
export function formatSegments(segments: readonly Segment[]): string {
  return segments.reduce(appendSegment, "") || WHOLE_OBJECT;
}

function appendSegment(path: string, segment: Segment): string {
  if (segment.kind === "key") return appendKey(path, segment.key);
  return `${path}[${segment.kind === "index" ? segment.index : "*"}]`;
}

/**
 * Formats the steps of a concrete path as `find` does; an empty list becomes `$`.
 *
 * @example
 * formatSteps(["subsets", 0, "addresses", 3, "ip"]); // "subsets[0].addresses[3].ip"
 */
export function formatSteps(steps: readonly PathStep[]): string {
  return steps.reduce<string>(appendStep, "") || WHOLE_OBJECT;
}

/** The text of `path` extended by one concrete step. `path` is "" at the root. */
export function appendStep(path: string, step: PathStep): string {
  return typeof step === "number" ? `${path}[${step}]` : appendKey(path, step);
}

function quoteKey(key: string): string {
  return escapeControls(JSON.stringify(key), INVISIBLE);
}
