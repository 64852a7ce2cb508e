/**
 * Parses a JSONPath query: a subset of RFC 9535, stricter than that of jsonpath-plus, so that a path that reaches the library has the same
 * meaning in both. Names, indexes, wildcards, slices, unions and `..`; no filter, no script, no white space between segments.
 *
 * @module
 */
import type { EngineError } from "../../../base/errors.ts";
import { characterError, filterError } from "../syntax/foreign.ts";
import { accept, openScanner, peek, readQuoted, type Scanner, skipSpace, syntaxError, take, unsupported } from "../syntax/scan.ts";
import { PATH_SEGMENTS_MAX } from "../syntax/segment.ts";

/** One alternative of a JSONPath segment. */
export type JsonPathSelector =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "wildcard" }
  /** `text` is the slice as written, without white space: `0:2`. */
  | { readonly kind: "slice"; readonly text: string };

/** One segment: its selection from a node, or with `descend` from the node and everything below it. */
export interface JsonPathSegment {
  readonly descend: boolean;
  readonly selectors: readonly JsonPathSelector[];
}

/** Maximum number of `..` in one path. With more, a search could take more than cubic time. */
export const DESCENTS_MAX = 2;

/** Maximum number of paths that the unions of one path may expand to. */
export const ALTERNATIVES_MAX = 64;

// jsonpath-plus gives meaning to nearly every other character, even inside quotes.
const SAFE_KEY = /^(?!-?\d+$)(?!-?\d*:)[\w./:-]+$/;
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

/**
 * Parses a path that starts with `$`.
 *
 * @throws PATH_SYNTAX when it does not parse.
 * @throws PATH_UNSUPPORTED for filters and scripts, keys that jsonpath-plus misreads, and beyond the two limits above.
 * @example
 * parseJsonPath("$..image"); // [{ descend: true, selectors: [{ kind: "key", key: "image" }] }]
 */
export function parseJsonPath(text: string): JsonPathSegment[] {
  const scanner = openScanner(text);
  if (!accept(scanner, "$")) throw characterError(scanner, '"$"');
  const segments: JsonPathSegment[] = [];
  while (scanner.at < scanner.end) {
    segments.push(readSegment(scanner));
    refuseExcess(scanner, segments);
  }
  return segments;
}

function refuseExcess(scanner: Scanner, segments: readonly JsonPathSegment[]): void {
  const hint = "Patch a shorter path, and access deeper parts in the expression";
  if (segments.length > PATH_SEGMENTS_MAX) {
    throw syntaxError(scanner, { problem: `expected at most ${PATH_SEGMENTS_MAX} segments, found more`, hint });
  }
  if (segments.filter(({ descend }) => descend).length > DESCENTS_MAX) {
    throw unsupported(scanner, { problem: `found more than ${DESCENTS_MAX} ".."`, hint });
  }
  if (segments.reduce((product, { selectors }) => product * selectors.length, 1) > ALTERNATIVES_MAX) {
    throw unsupported(scanner, { problem: `the unions expand to more than ${ALTERNATIVES_MAX} paths`, hint: "Write one patch for each" });
  }
}

function readSegment(scanner: Scanner): JsonPathSegment {
  const descend = accept(scanner, "..");
  const dotted = descend || accept(scanner, ".");
  if ((descend || !dotted) && peek(scanner) === "[") return { descend, selectors: readBracket(scanner) };
  if (!dotted) throw characterError(scanner, '"." or "["');
  if (accept(scanner, "*")) return { descend, selectors: [{ kind: "wildcard" }] };
  const at = scanner.at;
  const name = take(scanner, /[\w-]+/y);
  if (name === "") throw characterError(scanner, "a name");
  return { descend, selectors: [INTEGER.test(name) ? { kind: "index", index: Number(name) } : keySelector(scanner, { at, key: name })] };
}

function readBracket(scanner: Scanner): JsonPathSelector[] {
  const opened = scanner.at;
  scanner.at += 1;
  const selectors: JsonPathSelector[] = [];
  do {
    skipSpace(scanner);
    selectors.push(readSelector(scanner, opened));
    skipSpace(scanner);
  } while (accept(scanner, ","));
  if (!accept(scanner, "]")) throw characterError(scanner, '"," or "]"');
  return selectors;
}

function readSelector(scanner: Scanner, opened: number): JsonPathSelector {
  const at = scanner.at;
  const next = peek(scanner);
  if (next === "?" || next === "(") throw filterError(scanner, opened);
  if (next === '"' || next === "'") return keySelector(scanner, { at, key: readQuoted(scanner) });
  if (accept(scanner, "*")) return { kind: "wildcard" };
  const numbers = take(scanner, /[-+\d][-+.\w]*|(?=:)/y);
  if (numbers === "" && next !== ":") throw characterError(scanner, 'a quoted key, an index, a slice or "*"');
  const parts = [numbers, ...readSliceRest(scanner)];
  const wrong = parts.find((part) => !(INTEGER.test(part) || (part === "" && parts.length > 1)));
  if (wrong !== undefined) {
    throw syntaxError(scanner, {
      at,
      problem: `"${wrong}" is not an index`,
      hint: 'Write an integer without leading zeros, or quote a key: ["…"]',
    });
  }
  return parts.length > 1 ? { kind: "slice", text: parts.join(":") } : { kind: "index", index: Number(numbers) };
}

/** `:end` and `:step` of a slice, if present. */
function readSliceRest(scanner: Scanner): string[] {
  const rest: string[] = [];
  while (rest.length < 2) {
    skipSpace(scanner);
    if (!accept(scanner, ":")) break;
    skipSpace(scanner);
    rest.push(take(scanner, /[-+.\w]*/y));
  }
  return rest;
}

function keySelector(scanner: Scanner, { at, key }: { at: number; key: string }): JsonPathSelector {
  if (SAFE_KEY.test(key)) return { kind: "key", key };
  throw unusualKey(scanner, at);
}

function unusualKey(scanner: Scanner, at: number): EngineError {
  const hint =
    "JSONPath libraries read such keys in different ways: write a path without .., slices and unions, where every key can be quoted";
  return unsupported(scanner, {
    at,
    problem: "found a key that consists of digits or contains characters other than letters, digits and _ . / : -",
    hint,
  });
}
