/**
 * Refusals of constructs of other path languages, each with the equivalent path as a hint. Their code is PATH_UNSUPPORTED, except for
 * characters that no path language uses.
 *
 * Guessing would be worse: in most JSONPath libraries, `metadata..name` selects every name below `metadata`, but in others it means
 * `metadata.name`. A patch that matches more than its author intended overwrites data.
 *
 * @module
 */
import type { EngineError } from "../../../base/errors.ts";
import { formatSegments } from "./format.ts";
import { cite, peek, type Scanner, syntaxError, unsupported } from "./scan.ts";
import type { Segment } from "./segment.ts";

const DECIDE = 'and decide in the expression, as in: value.name === "x" ? "new" : value';
const BY_PLACE = "and test context.path in the expression";

/** The error for recursive descent, such as `a..b`. */
export function descentError(scanner: Scanner, at: number): EngineError {
  const [head, tail] = [before(scanner, at), after(scanner, at + 2).replace(/^\.+/, "")];
  const hint =
    tail === "" ? "Remove the dots" : `Write ${cite(join(head, tail))}, or ${cite(join(`${head}[*]`, tail))} to reach one level deeper`;
  return unsupported(scanner, { at, problem: 'found ".." (recursive descent)', hint: `${hint}${orJsonPath(scanner)}` });
}

/** The error for a slice, such as `[0:2]`; `opened` is the offset of the bracket. */
export function sliceError(scanner: Scanner, opened: number): EngineError {
  const hint = `Write ${cite(everyElement(scanner, opened))} ${BY_PLACE}${orJsonPath(scanner)}`;
  return unsupported(scanner, { at: opened, problem: "found a slice", hint });
}

/** The error for a union, such as `["a","b"]`; `opened` is the offset of the bracket. */
export function unionError(scanner: Scanner, opened: number): EngineError {
  const hint = `Write one patch for each member of the union, or ${cite(everyElement(scanner, opened))} ${BY_PLACE}${orJsonPath(scanner)}`;
  return unsupported(scanner, { at: opened, problem: "found a union", hint });
}

/** The error for a filter or script, such as `[?(…)]`, `[(…)]` or `[name=x]`; `opened` is the offset of the bracket. */
export function filterError(scanner: Scanner, opened: number): EngineError {
  const script = scanner.text.startsWith("(", opened + 1);
  const hint = `Write ${cite(`${before(scanner, opened)}[*]`)} ${DECIDE}`;
  const last = `Write an index; ${cite(`${before(scanner, opened)}[-1]`)} is the last element`;
  return unsupported(scanner, { at: opened, problem: script ? "found a script" : "found a filter", hint: script ? last : hint });
}

/** The error for a `*` next to other characters, such as `foo*`, `**` or `[*x]`. */
export function globError(scanner: Scanner, at: number): EngineError {
  const parent = before(scanner, at)
    .replace(/[^.[\]]*$/, "")
    .replace(/[.[]$/, "");
  return unsupported(scanner, { at, problem: 'found "*" next to other characters', hint: `Write ${cite(`${parent}[*]`)} ${BY_PLACE}` });
}

/** The error for a JSON Pointer, such as `/spec/x`. */
export function pointerError(scanner: Scanner): EngineError {
  const tokens = after(scanner, scanner.start + 1).split("/");
  const rewrite = formatSegments(tokens.map(pointerSegment));
  return unsupported(scanner, { at: scanner.start, problem: 'found a JSON Pointer ("/")', hint: `Write ${cite(rewrite)}` });
}

function pointerSegment(token: string): Segment {
  if (token === "*") return { kind: "wildcard" };
  if (/^(0|[1-9]\d{0,14})$/.test(token)) return { kind: "index", index: Number(token) };
  return { kind: "key", key: token.replaceAll("~1", "/").replaceAll("~0", "~") };
}

/** The error for a template, such as `{.spec}`; `rewrite` is the path inside the braces, if it is valid. */
export function templateError(scanner: Scanner, rewrite: string | undefined): EngineError {
  const hint = rewrite === undefined ? "Write the path alone, without braces" : `Write ${cite(rewrite)}`;
  return unsupported(scanner, { at: scanner.start, problem: 'found a template ("{")', hint });
}

/** The error for a character that is not allowed at the scanner's position, with a hint for other path languages. */
export function characterError(scanner: Scanner, wanted: string): EngineError {
  const found = peek(scanner);
  if (found === "") {
    const hint = `Add ${wanted}; a path does not end in "." or "["`;
    return syntaxError(scanner, { problem: `found the end, expected ${wanted}`, hint });
  }
  if (found === "*") return globError(scanner, scanner.at);
  if (Object.hasOwn(OPERATORS, found)) {
    const { name, hint } = OPERATORS[found]!;
    return unsupported(scanner, { problem: `found "${found}" (${name})`, hint });
  }
  const hint = Object.hasOwn(TYPOS, found) ? TYPOS[found]! : QUOTE_IT;
  return syntaxError(scanner, { problem: `found ${JSON.stringify(found)}, expected ${wanted}`, hint });
}

const QUOTE_IT = 'Quote the key to use special characters in it: ["…"]';
const STRAIGHT = "Use straight quotes: \"…\" or '…'";

const OPERATORS: Readonly<Record<string, { readonly name: string; readonly hint: string }>> = {
  "~": { name: "key selector", hint: `Keys cannot be patched: patch the map itself and return a map with other keys. ${QUOTE_IT}` },
  "^": { name: "parent selector", hint: `Patch the parent and return a changed copy: {...value, name: "x"}. ${QUOTE_IT}` },
  "@": { name: "current node", hint: `Leave it out: paths start at the object. ${QUOTE_IT}` },
  "?": { name: "filter or optional member", hint: "Leave it out: a missing field is not an error" },
  "(": { name: "call or script", hint: `Paths cannot call functions: call them in the expression. ${QUOTE_IT}` },
  ")": { name: "call or script", hint: `Paths cannot call functions: call them in the expression. ${QUOTE_IT}` },
  "{": { name: "template", hint: `Write the path alone, without braces. ${QUOTE_IT}` },
  "}": { name: "template", hint: `Write the path alone, without braces. ${QUOTE_IT}` },
  ",": { name: "union", hint: `Write one patch for each path. ${QUOTE_IT}` },
  "|": { name: "pipe", hint: `Paths cannot call functions: call them in the expression. ${QUOTE_IT}` },
};

const TYPOS: Readonly<Record<string, string>> = {
  "“": STRAIGHT,
  "”": STRAIGHT,
  "„": STRAIGHT,
  "‘": STRAIGHT,
  "’": STRAIGHT,
  "`": STRAIGHT,
  "]": 'Remove it, or open it: ["…"], [0] or [*]',
  "[": 'Close the bracket before this one: ["…"], [0] or [*]',
  "\\": 'Only \\. \\[ \\] and \\\\ are escapes outside quotes; other keys go in ["…"]',
};

function orJsonPath({ text, start }: Scanner): string {
  return text.startsWith("$", start) ? ", or set pathSyntax: jsonpath" : "";
}

function before(scanner: Scanner, at: number): string {
  return scanner.text.slice(scanner.start, at);
}

function after(scanner: Scanner, at: number): string {
  return scanner.text.slice(at, scanner.end);
}

/** The path with `[*]` in place of the bracket at `opened`. */
function everyElement(scanner: Scanner, opened: number): string {
  // A bracket in a quoted key does not end the selector.
  const bracket = /\[(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\]"'])*\]?/y;
  bracket.lastIndex = opened;
  return `${before(scanner, opened)}[*]${after(scanner, opened + bracket.exec(scanner.text)![0].length)}`;
}

function join(head: string, tail: string): string {
  return head === "" || tail.startsWith("[") ? `${head}${tail}` : `${head}.${tail}`;
}
