/**
 * Paths select the values that a patch changes: `metadata.annotations["example.com/x"]`, `subsets[*].addresses[*].ip`.
 *
 * The entry point of this module: other modules import only from here.
 *
 * Guarantees:
 * - Own properties only. Strings are never indexed, `length` is never special, no prototype is read or written.
 * - Nothing is created: a path that does not exist matches nothing, which is not an error. A `null` leaf is found.
 * - All matches are found before any change is decided, in document order.
 * - Documents are never modified and never cloned; an update shares unchanged parts.
 *
 * Not guaranteed: document order of an object is that of `Object.keys`, which moves names that are integers to the front.
 *
 * @module
 */
import { assert, isEngineError } from "../../base/errors.ts";
import { formatSegments } from "./syntax/format.ts";
import { compileJsonPath } from "./jsonpath/jsonpath.ts";
import { parseParts, parsePath } from "./syntax/parse.ts";
import { checkLength, openScanner, syntaxError } from "./syntax/scan.ts";
import type { Segment } from "./syntax/segment.ts";
import { stagesOf, compileFind, type Match } from "./walk.ts";
import { type Change, compileUpdate } from "./update.ts";

export { parseConcrete } from "./syntax/concrete.ts";
export { formatSteps } from "./syntax/format.ts";
export { nearestPath } from "./nearest.ts";
export { REMOVE } from "./node.ts";
export { PATH_LENGTH_MAX, PATH_SEGMENTS_MAX, type Segment, type PathStep } from "./syntax/segment.ts";
export type { Match };

/** A compiled path. Immutable; compile it once and use it often. */
export interface Path {
  /** The text as it was written. */
  readonly text: string;
  /** The path in canonical form: equal for `a.b` and `a["b"]`, and itself a path. `$` is the whole object. */
  readonly canonical: string;
  readonly segments: readonly Segment[];
  /** Number of wildcard segments; 0 means at most one match. */
  readonly wildcards: number;
  /** The current matches, in document order. */
  find(root: unknown): Match[];
  /**
   * The document with every match replaced by the result of `change`: JSON data, or REMOVE to remove the member or element. Elements are
   * removed after all results are known, so indexes do not shift. Copy-on-write: the same reference is returned if every result is the
   * matched value itself. Removing the whole object results in `undefined`. Errors of `change` are passed on.
   */
  update(root: unknown, change: Change): unknown;
}

/** Options for reading a path. */
export interface PathOptions {
  /**
   * "jsonpath" also accepts `..`, slices and unions in paths that start with `$`. `segments` of such a path are an approximation, with a
   * wildcard in place of each of these; only `canonical` distinguishes such paths. Their `find` and `update` throw PATH_UNSUPPORTED for
   * documents nested deeper than {@link PATH_SEGMENTS_MAX} or with keys that are operators. Default "field".
   */
  readonly syntax?: "field" | "jsonpath";
  /** Whether "" and `$`, which select the whole object, are accepted. Default "refuse". */
  readonly empty?: "refuse" | "whole-object";
}

/**
 * Compiles a path.
 *
 * @throws PATH_SYNTAX when it does not parse; `details` are `{ column, hint, text }`. Columns start at 1.
 * @throws PATH_UNSUPPORTED when it uses an operator of another path language; the same details.
 * @example
 * const ips = compilePath("subsets[*].addresses[*].ip");
 * ips.find({ subsets: [{ addresses: [{ ip: "10.0.0.1" }] }] }); // [{ path: "subsets[0].addresses[0].ip", value: "10.0.0.1" }]
 */
export function compilePath(text: string, options: PathOptions = {}): Path {
  assert(typeof text === "string", "a path must be a string");
  checkLength(openScanner(text));
  const path = options.syntax === "jsonpath" ? compileEither(text) : compileField(text);
  if (path.segments.length === 0 && options.empty !== "whole-object") throw emptyPath(text);
  return path;
}

/**
 * Compiles a path inside a matched value, such as `namePath`: no `$`, no wildcard, never empty.
 *
 * @throws PATH_SYNTAX as {@link compilePath}, and when it is not relative or selects more than one place.
 * @throws PATH_UNSUPPORTED as {@link compilePath}.
 * @example
 * compileRelativePath("secretRef.name").find({ secretRef: { name: "tls" } }); // [{ path: "secretRef.name", value: "tls" }]
 */
export function compileRelativePath(text: string): Path {
  const path = compilePath(text);
  const scanner = openScanner(text);
  if (/^\$[.[]/.test(text.slice(scanner.start))) {
    throw syntaxError(scanner, { problem: 'found "$" in a relative path', hint: `Write ${path.canonical}, relative to the matched value` });
  }
  const wildcard = parseParts(text).find(({ segment }) => segment.kind === "wildcard");
  if (wildcard === undefined) return path;
  const hint = "Move the wildcard to the path of the patch";
  throw syntaxError(scanner, { at: wildcard.at, problem: "found a wildcard in a path for a single value", hint });
}

/** Compiles a path without the JSONPath library if possible. Only `$`-rooted paths with operators of JSONPath need the library. */
function compileEither(text: string): Path {
  try {
    return compileField(text);
  } catch (error) {
    if (!isEngineError(error, "PATH_UNSUPPORTED") || !text.trimStart().startsWith("$")) throw error;
    const { canonical, segments, find, update } = compileJsonPath(text);
    return freeze({ text, canonical, segments, find, update });
  }
}

function compileField(text: string): Path {
  const segments = parsePath(text);
  const find = compileFind(stagesOf(segments));
  return freeze({ text, canonical: formatSegments(segments), segments, find, update: compileUpdate(segments, find) });
}

function freeze(path: Omit<Path, "wildcards">): Path {
  const wildcards = path.segments.filter(({ kind }) => kind === "wildcard").length;
  return Object.freeze({ ...path, segments: Object.freeze([...path.segments]), wildcards });
}

function emptyPath(text: string) {
  const hint = "Name a field, for example metadata.annotations";
  return syntaxError(openScanner(text), { problem: "it selects the whole object", hint });
}
