/**
 * Parses the text of a path into segments. A path either parses completely or is refused with a code, a column and a hint; nothing is
 * guessed.
 *
 *     path     = [ "$" | "." ] segments            "$" is the root only before ".", "[" or the end, so that "$ref" stays a key
 *     segments = first { "." ( name | "*" | quoted ) | [ "." ] bracket }
 *     bracket  = "[" ( "*" | quoted | raw ) "]"    white space is allowed inside
 *     name     = characters except . [ ] quotes, operators and white space; \. \[ \] \\ are escapes
 *     raw      = characters except [ ] quotes, operators and white space: dots and slashes are literal
 *
 * A name or raw that is an integer is an index on lists and a key on objects; a quoted one is always a key.
 *
 * @module
 */
import { isEngineError } from "../../../base/errors.ts";
import { characterError, descentError, filterError, globError, pointerError, sliceError, templateError, unionError } from "./foreign.ts";
import { formatSegments } from "./format.ts";
import { accept, openScanner, peek, readQuoted, type Scanner, skipSpace, syntaxError, take } from "./scan.ts";
import { PATH_SEGMENTS_MAX, type Segment } from "./segment.ts";

// Names cannot contain operators of other languages, white space, invisible characters and curly quotes.
const NAME = /(?:[^.[\]"'*\\~^@?(){},|`“”„‘’\s\p{Cc}\p{Cf}\p{Cs}]|\\[.[\]\\])+/uy;
const RAW = /[^[\]"'*\\~^@?(){},|`“”„‘’$\s\p{Cc}\p{Cf}\p{Cs}]+/uy;
const INTEGER = /^(?:0|-?[1-9]\d*)$/;
/** The beginning of a slice, valid or not: an optional number and a colon. */
const SLICE = /^[+-]?(?:\d*|\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?:/;

const WILDCARD: Segment = { kind: "wildcard" };

/**
 * Parses a path. Without segments, the result selects the whole object.
 *
 * @throws PATH_SYNTAX when it does not parse; `details` are `{ column, hint, text }`, the column from 1.
 * @throws PATH_UNSUPPORTED when it uses an operator of another path language.
 * @example
 * parsePath("subsets[*].ports"); // [{ kind: "key", key: "subsets" }, { kind: "wildcard" }, { kind: "key", key: "ports" }]
 */
export function parsePath(text: string): Segment[] {
  return parseParts(text).map(({ segment }) => segment);
}

/** A segment and the offset where it starts. */
export interface ParsedSegment {
  readonly segment: Segment;
  readonly at: number;
}

/** Like {@link parsePath}, for callers that refuse some segments and report their position. */
export function parseParts(text: string): ParsedSegment[] {
  const scanner = openScanner(text);
  refuseOtherDialects(scanner);
  const rooted = /^\$(?=[.[]|$)/.test(text.slice(scanner.start, scanner.end)) && accept(scanner, "$");
  const parts: ParsedSegment[] = [];
  while (scanner.at < scanner.end) {
    if (parts.length === PATH_SEGMENTS_MAX) throw tooManySegments(scanner);
    parts.push({ at: scanner.at, segment: readSegment(scanner, { bare: parts.length === 0 && !rooted }) });
  }
  return parts;
}

function refuseOtherDialects(scanner: Scanner): void {
  if (peek(scanner) === "/") throw pointerError(scanner);
  if (peek(scanner) !== "{") return;
  const inner = scanner.text.slice(scanner.start, scanner.end).replace(/^[{\s]+|[}\s]+$/g, "");
  throw templateError(scanner, canonicalOf(inner));
}

function canonicalOf(text: string): string | undefined {
  try {
    return formatSegments(parsePath(text));
  } catch (error) {
    if (isEngineError(error, "PATH_SYNTAX", "PATH_UNSUPPORTED")) return undefined;
    throw error;
  }
}

/** `bare`: the first segment of a path without root needs no dot before its name. */
function readSegment(scanner: Scanner, { bare }: { bare: boolean }): Segment {
  const at = scanner.at;
  const dotted = accept(scanner, ".");
  if (dotted && peek(scanner) === ".") throw descentError(scanner, at);
  if (peek(scanner) === "[") return readBracket(scanner);
  if (!dotted && !bare) throw missingDot(scanner);
  return readName(scanner);
}

function missingDot(scanner: Scanner) {
  const problem = `found "${peek(scanner)}", expected "." or "["`;
  return /[\w"']/.test(peek(scanner))
    ? syntaxError(scanner, { problem, hint: "Put a dot before it" })
    : characterError(scanner, '"." or "["');
}

function readName(scanner: Scanner): Segment {
  const at = scanner.at;
  const quote = peek(scanner);
  if (quote === '"' || quote === "'") return { kind: "key", key: readQuoted(scanner) };
  if (accept(scanner, "*")) {
    if (!/^[.[]?$/.test(peek(scanner))) throw globError(scanner, at);
    return WILDCARD;
  }
  const name = take(scanner, NAME);
  if (name === "") throw characterError(scanner, "a field name");
  // A character that ends the name, but cannot follow a name, gets a specific error here.
  const next = peek(scanner);
  if (next === '"' || next === "'") throw misplacedQuote(scanner, name);
  if (!/^[.[]?$/.test(next)) throw characterError(scanner, '".", "[" or the end');
  return toSegment(name.replace(/\\(.)/g, "$1"));
}

function misplacedQuote(scanner: Scanner, name: string) {
  const hint = `Write ${name}["…"] or ${name}."…"`;
  return syntaxError(scanner, { problem: `found a quote, expected ".", "[" or the end`, hint });
}

function readBracket(scanner: Scanner): Segment {
  const opened = scanner.at;
  scanner.at += 1;
  skipSpace(scanner);
  const segment = readSelector(scanner, opened);
  skipSpace(scanner);
  if (accept(scanner, "]")) return segment;
  const next = peek(scanner);
  if (next === ",") throw unionError(scanner, opened);
  if (next === ":") throw sliceError(scanner, opened);
  throw characterError(scanner, '"]"');
}

function readSelector(scanner: Scanner, opened: number): Segment {
  const at = scanner.at;
  const next = peek(scanner);
  if (next === '"' || next === "'") return { kind: "key", key: readQuoted(scanner) };
  if (next === "?" || next === "(") throw filterError(scanner, opened);
  if (next === "]") throw emptyBracket(scanner, opened);
  if (accept(scanner, "*")) {
    skipSpace(scanner);
    if (peek(scanner) !== "]" && peek(scanner) !== "") throw globError(scanner, at);
    return WILDCARD;
  }
  const raw = take(scanner, RAW);
  if (raw === "") throw characterError(scanner, 'a key, an index or "*"');
  if (SLICE.test(raw)) throw sliceError(scanner, opened);
  if (raw.includes("=")) throw filterError(scanner, opened);
  const segment = toSegment(raw);
  if (segment.kind === "key" && /^[+-]?\d+$/.test(raw)) throw notAnIndex(scanner, { at, raw });
  return segment;
}

function emptyBracket(scanner: Scanner, opened: number) {
  const path = scanner.text.slice(scanner.start, opened);
  return syntaxError(scanner, { problem: 'found "]", expected a key, an index or "*"', hint: `Write ${path}[*] for every element` });
}

function notAnIndex(scanner: Scanner, { at, raw }: { at: number; raw: string }) {
  const index = Number.parseInt(raw, 10) || 0;
  const asIndex = Number.isSafeInteger(index) ? `[${index}], or ` : "";
  return syntaxError(scanner, { at, problem: `"${raw}" is not an index`, hint: `Write ${asIndex}["${raw}"] for a key` });
}

function tooManySegments(scanner: Scanner) {
  return syntaxError(scanner, {
    problem: `expected at most ${PATH_SEGMENTS_MAX} segments, found more`,
    hint: "Patch a shorter path, and access deeper parts in the expression",
  });
}

function toSegment(name: string): Segment {
  const index = INTEGER.test(name) ? Number(name) : Number.NaN;
  return Number.isSafeInteger(index) ? { kind: "index", index } : { kind: "key", key: name };
}
