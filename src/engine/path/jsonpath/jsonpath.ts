/**
 * The only module that uses jsonpath-plus. It passes only paths to the library that {@link parseJsonPath} accepted, rewritten so that the
 * library interprets them identically, and always with `eval: false`: filters of the library are code, and code of patches runs only in the
 * sandbox.
 *
 * Paths returned by the library lose keys such as `~`. Its type operator `@other()` passes every match with its keys to a callback, so
 * this module uses that operator instead.
 *
 * @module
 */
import { JSONPath } from "jsonpath-plus";
import { EngineError } from "../../../base/errors.ts";
import { type JsonPathSegment, parseJsonPath, type JsonPathSelector } from "./jsonpath-parse.ts";
import { addPlace, matchesOf, noPlaces, type JsonPathNode, rebuildPlaces } from "./places.ts";
import { cite } from "../syntax/scan.ts";
import { PATH_SEGMENTS_MAX, type Segment, type PathStep } from "../syntax/segment.ts";
import { type Change, decide } from "../update.ts";
import type { Match } from "../walk.ts";

/** Maximum number of matches of one search. A place counts each time that the path reaches it. */
export const JSONPATH_MATCHES_MAX = 100_000;

const EVERY_MATCH = "@other()";

/** A compiled path with JSONPath operators. */
export interface JsonPath {
  readonly canonical: string;
  /** An approximation: one wildcard represents each `..`, slice and union. */
  readonly segments: readonly Segment[];
  find(root: unknown): Match[];
  update(root: unknown, change: Change): unknown;
}

/**
 * Compiles a path that starts with `$` and uses `..`, slices or unions.
 *
 * `find` and `update` throw PATH_UNSUPPORTED for documents that the library does not handle reliably: nested deeper than
 * {@link PATH_SEGMENTS_MAX}, with a key that is one of the path's operators (`*`, `..`, `0:2`), or with more than
 * {@link JSONPATH_MATCHES_MAX} matches.
 *
 * @throws PATH_SYNTAX when it does not parse.
 * @throws PATH_UNSUPPORTED when it uses more than those operators.
 * @example
 * compileJsonPath("$..image").find({ spec: { image: "nginx" } }); // [{ path: "spec.image", value: "nginx" }]
 */
export function compileJsonPath(text: string): JsonPath {
  const segments = parseJsonPath(text);
  const queries = alternatives(segments).map((query) => `$${query}${EVERY_MATCH}`);
  const operators = new Set([EVERY_MATCH, "*", "..", ...segments.flatMap(({ selectors }) => selectors.flatMap(sliceTexts))]);
  const search = (root: unknown) => searchDocument(root, { text, queries, operators });
  return {
    canonical: `$${segments.map(formatSegment).join("")}`,
    segments: segments.flatMap(approximation),
    find: (root) => matchesOf(search(root), root),
    update(root, change) {
      const places = search(root);
      const values = decide(matchesOf(places, root), change);
      return values === undefined ? root : rebuildPlaces(places, root, values);
    },
  };
}

/** Every path that the unions expand to, in the library's spelling: it would visit a place of a union once per alternative and segment. */
function alternatives(segments: readonly JsonPathSegment[]): string[] {
  return segments.reduce<string[]>(
    (queries, { descend, selectors }) =>
      queries.flatMap((query) => selectors.map((selector) => `${query}${descend ? ".." : ""}[${spell(selector)}]`)),
    [""],
  );
}

function spell(selector: JsonPathSelector): string {
  switch (selector.kind) {
    case "key":
      return `'${selector.key}'`;
    case "wildcard":
      return "*";
    case "slice":
      return selector.text;
    case "index":
      // The library counts from the end in slices only.
      return selector.index < 0 ? `${selector.index}:${selector.index === -1 ? "" : selector.index + 1}` : String(selector.index);
  }
}

function sliceTexts(selector: JsonPathSelector): string[] {
  const spelling = spell(selector);
  return selector.kind !== "key" && spelling.includes(":") ? [spelling] : [];
}

function formatSegment({ descend, selectors }: JsonPathSegment): string {
  const [only] = selectors;
  const key = selectors.length === 1 && only?.kind === "key" && /^[A-Za-z_][\w-]*$/.test(only.key) ? only.key : undefined;
  if (key !== undefined) return `${descend ? ".." : "."}${key}`;
  const texts = selectors.map((selector) => {
    if (selector.kind === "key") return JSON.stringify(selector.key);
    return selector.kind === "index" ? String(selector.index) : spell(selector);
  });
  return `${descend ? ".." : ""}[${texts.join(",")}]`;
}

function approximation({ descend, selectors }: JsonPathSegment): Segment[] {
  const [only] = selectors;
  const segment: Segment = selectors.length > 1 || only === undefined || only.kind === "slice" ? { kind: "wildcard" } : only;
  return descend ? [{ kind: "wildcard" }, segment] : [segment];
}

interface Search {
  readonly text: string;
  readonly queries: readonly string[];
  readonly operators: ReadonlySet<string>;
}

function searchDocument(root: unknown, { text, queries, operators }: Search): JsonPathNode {
  const places = noPlaces();
  // The library treats a falsy document as missing.
  if (typeof root !== "object" || root === null) return places;
  refuseDocument(root, { text, operators });
  let matches = 0;
  const otherTypeCallback = (_value: unknown, path: readonly PathStep[]): boolean => {
    matches += 1;
    if (matches > JSONPATH_MATCHES_MAX) throw refused(text, `the document has more than ${JSONPATH_MATCHES_MAX} matches`);
    addPlace(places, root, path.slice(1));
    return false;
  };
  for (const path of queries) JSONPath({ path, json: root, eval: false, otherTypeCallback });
  return places;
}

/** The library recurses once per level, and follows a key that is spelled like an operator instead of the operator. */
function refuseDocument(root: object, { text, operators }: { text: string; operators: ReadonlySet<string> }): void {
  const pending: { node: object; depth: number }[] = [{ node: root, depth: 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    if (depth > PATH_SEGMENTS_MAX) throw refused(text, `the document is nested deeper than ${PATH_SEGMENTS_MAX} levels`);
    const keys = Array.isArray(node) ? [] : Object.keys(node);
    const operator = keys.find((key) => operators.has(key));
    if (operator !== undefined) throw refused(text, `the document has the key "${operator}", which is an operator of the path`);
    for (const child of Object.values(node))
      if (typeof child === "object" && child !== null) pending.push({ node: child, depth: depth + 1 });
  }
}

function refused(text: string, reason: string): EngineError {
  const hint = "Write a path without .., slices and unions";
  return new EngineError("PATH_UNSUPPORTED", `Cannot search with path "${cite(text)}": ${reason}`, { details: { column: 1, hint, text } });
}
