/**
 * Reads statements about one object from a test file, and checks them.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import { isRecord, jsonEqual } from "../../base/json.ts";
import { compileText } from "../../engine/config/patches/compile-text.ts";
import { compilePath, nearestPath, type Match, type Path } from "../../engine/path/path.ts";
import { decode } from "../../schema/decode.ts";
import { fieldPath, indexPath } from "../../schema/field.ts";
import { keyStartOf, startOf, textOf, valueAt, type MapNode, type Node } from "../../schema/node.ts";
import type { Report } from "../../schema/problem.ts";
import { ASSERT, type AssertDefinition } from "./assert-schema.ts";
import { differencesExcept } from "./differences.ts";
import { misspelling } from "./kind-fields.ts";
import { regexProblem, type RegexMatcher } from "./regex.ts";
import type { TestFailure, TestPlace } from "./results.ts";
import { shown } from "./shown.ts";

type AssertName = Exclude<keyof AssertDefinition, "not">;

/** A statement that is ready to be checked. */
export interface Assert {
  readonly place: TestPlace;
  readonly name: AssertName;
  readonly definition: AssertDefinition;
  /** The path to check; for `unchanged`, the exceptions. */
  readonly paths: readonly Path[];
}

/** The object to check, and the functions that some statements need. */
export interface AssertSubject {
  readonly object: unknown;
  /** The object as it would be without any patch, for `unchanged`; called when such a statement is checked. */
  readonly baseline: () => unknown;
  /** For `matchRegex`; called when such a statement is checked. */
  readonly matches: RegexMatcher;
}

/**
 * Reads an `asserts` list. Reports mismatches with {@link ASSERTS}, entries that do not have exactly one statement, and paths and
 * regular expressions that do not parse. The result is only meaningful without errors.
 *
 * @example
 * const asserts = readAsserts(valueAt(test, "asserts"), { report, field: "tests[0].asserts" });
 */
export function readAsserts(list: Node | undefined, { report, field }: { report: Report; field: string }): readonly Assert[] {
  const items = list?.kind === "list" ? list.items : [];
  return items.flatMap((node, index) => {
    const at = indexPath(field, index);
    const definition = decode(ASSERT, node, { report, field: at });
    return node.kind === "map" && definition !== undefined ? readAssert(node, definition, { report, field: at }) : [];
  });
}

/** Reports whether checking these statements needs {@link AssertSubject.matches}. */
export function needsMatcher(asserts: readonly Assert[]): boolean {
  return asserts.some(({ name }) => name === "matchRegex");
}

/** The field that a statement requires besides its path, although its value may be null. */
const WRITTEN: Partial<Record<AssertName, string>> = { equal: "value", notEqual: "value", contains: "content" };

function readAssert(node: MapNode, definition: AssertDefinition, { report, field }: { report: Report; field: string }): Assert[] {
  const names = [...node.entries.keys()].filter((name) => name !== "not" && Object.hasOwn(ASSERT.fields, name)) as AssertName[];
  const [name] = names;
  if (name === undefined || names.length > 1) {
    const statements = Object.keys(ASSERT.fields).filter((known) => known !== "not");
    const message = name === undefined ? "The entry has no statement" : `Found ${names.join(" and ")} in one entry`;
    const hint = name === undefined ? `Write one of ${statements.join(", ")}` : "Write a separate entry for each statement";
    // A misspelt name is already reported as an unknown field.
    if (name !== undefined || node.entries.size <= Number(node.entries.has("not")))
      report.error({ code: "CONFIG_VALUE", at: startOf(node), field, message, hint });
    return [];
  }
  const entry = node.entries.get(name)!;
  const inner = fieldPath(field, name);
  const written = WRITTEN[name];
  if (written !== undefined && entry.value.kind === "map" && !entry.value.entries.has(written)) {
    const message = `Missing required field ${JSON.stringify(written)}`;
    report.error({
      code: "CONFIG_REQUIRED",
      at: keyStartOf(entry),
      field: inner,
      message,
      hint: `If you mean null, write ${written}: null`,
    });
  }
  checkPattern(valueAt(entry.value, "pattern"), { report, field: fieldPath(inner, "pattern") });
  const paths = readPaths(entry.value, { report, field: inner });
  if (name === "unchanged" && paths.some(isWhole)) {
    const message = "The exception covers the whole object, so the statement cannot fail";
    report.error({ code: "CONFIG_VALUE", at: keyStartOf(entry), field: inner, message, hint: "Name the fields that the patches change" });
  }
  return [{ place: keyStartOf(entry), name, definition, paths }];
}

function isWhole({ segments }: Path): boolean {
  return segments.length === 0 || (segments.length === 1 && segments[0]!.kind === "wildcard");
}

function checkPattern(node: Node | undefined, { report, field }: { report: Report; field: string }): void {
  const pattern = textOf(node);
  const problem = pattern === undefined ? undefined : regexProblem(pattern);
  if (node === undefined || problem === undefined) return;
  report.error({ code: "CONFIG_VALUE", at: startOf(node), field, message: `Cannot read the regular expression: ${problem}` });
}

function readPaths(node: Node, { report, field }: { report: Report; field: string }): Path[] {
  const except = valueAt(node, "except");
  const nodes = except?.kind === "list" ? except.items : [valueAt(node, "path")];
  return nodes.flatMap((item) => {
    const text = textOf(item);
    if (item?.kind !== "scalar" || text === undefined) return [];
    return compileText({ report, node: item, field }, () => compilePath(text, { empty: "whole-object" })) ?? [];
  });
}

/** A property of one value, with its wording for messages. */
interface Property {
  readonly to: string;
  readonly notTo: string;
  readonly expected?: unknown;
  holds(value: unknown): boolean;
  /** Reports whether the statement applies to such a value. If not, neither it nor its opposite holds. Default: it always applies. */
  speaksOf?(value: unknown): boolean;
}

/** A failure, with its place in the object if there is one: a concrete path, or the path as written in the test. */
export interface AssertFinding {
  readonly failure: TestFailure;
  readonly at?: string;
}

/** Checks one statement; undefined when it holds. A regular expression that takes too many steps counts as a failure. */
export function checkAssert(assert: Assert, subject: AssertSubject): TestFailure | undefined {
  return findFailure(assert, subject)?.failure;
}

/** Like {@link checkAssert}, but also returns the place in the object. */
export function findFailure(assert: Assert, subject: AssertSubject): AssertFinding | undefined {
  try {
    return check(assert, subject);
  } catch (error) {
    if (!isEngineError(error) || error.code === "INTERNAL") throw error;
    return { failure: { message: error.message, place: assert.place, code: error.code } };
  }
}

function check(assert: Assert, subject: AssertSubject): AssertFinding | undefined {
  const { name, definition } = assert;
  const negated = definition.not !== (name === "notEqual" || name === "notExists");
  if (name === "unchanged") return checkFrame(assert, subject, negated);
  const path = assert.paths[0]!;
  const found = path.find(subject.object);
  if (name === "exists" || name === "notExists")
    return checkPresence(assert, { path, found, negated }) ?? (found.length === 0 ? slipIn(path, assert, subject) : undefined);
  const property = propertyOf(assert, subject.matches);
  // An absent value is empty, and matches nothing else.
  const matches: readonly Partial<Match>[] = found.length === 0 && name === "isNullOrEmpty" ? [{ path: path.canonical }] : found;
  const wrong = matches.find(({ value }) => property.speaksOf?.(value) === false || property.holds(value) === negated);
  if (wrong === undefined && (matches.length > 0 || negated)) return found.length === 0 ? slipIn(path, assert, subject) : undefined;
  const to = negated ? property.notTo : property.to;
  const place = wrong?.path ?? path.canonical;
  const absent = found.length === 0 ? `nothing there${whereItEnds(path, subject.object)}` : shown(wrong?.value);
  const failure = {
    message: `Expected ${place} ${to}, found ${absent}`,
    place: assert.place,
    ...(property.expected !== undefined && !negated && { expected: property.expected }),
    ...(wrong !== undefined && "value" in wrong && { actual: wrong.value }),
  };
  return { failure, at: place };
}

/** Returns a failure if the kind cannot have the path: a statement that something is absent there would hold, but prove nothing. */
function slipIn({ canonical, segments }: Path, { place }: Assert, { object }: AssertSubject): AssertFinding | undefined {
  const slip = misspelling(isRecord(object) ? object["kind"] : undefined, segments);
  return slip === undefined ? undefined : { failure: { message: `Cannot look at ${canonical}: ${slip}`, place } };
}

function checkFrame(assert: Assert, subject: AssertSubject, negated: boolean): AssertFinding | undefined {
  const { place, paths } = assert;
  const { object, baseline } = subject;
  for (const path of paths) {
    const slip = slipIn(path, assert, subject);
    if (slip !== undefined) return slip;
  }
  const changes = differencesExcept(baseline(), object, paths);
  if (changes.length === 0 && negated) return { failure: { message: "Expected the patches to make other changes, found none", place } };
  const [first] = changes;
  if (first === undefined || negated) return undefined;
  const others = changes.length > 1 ? `, and ${changes.length - 1} more` : "";
  const failure = {
    message: `Expected ${first.path} to stay ${shown(first.before)}, found ${shown(first.after)}${others}`,
    place,
    ...("before" in first && { expected: first.before }),
    ...("after" in first && { actual: first.after }),
  };
  return { failure, at: first.path };
}

function checkPresence(
  { place }: Assert,
  { path, found, negated }: { path: Path; found: readonly Match[]; negated: boolean },
): AssertFinding | undefined {
  if (found.length > 0 !== negated) return undefined;
  const [match] = found;
  const at = match?.path ?? path.canonical;
  if (match === undefined) return { failure: { message: `Expected ${at} to exist, found nothing there`, place }, at };
  return { failure: { message: `Expected nothing at ${at}, found ${shown(match.value)}`, place, actual: match.value }, at };
}

function whereItEnds(path: Path, object: unknown): string {
  const { reached, suggestion } = nearestPath(path, object);
  const meant = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  return reached === "$" ? meant : ` (the path ends at ${reached}${meant})`;
}

function propertyOf({ name, definition }: Assert, matches: RegexMatcher): Property {
  switch (name) {
    case "contains":
      return containsProperty(definition.contains!);
    case "isSubset": {
      const { content } = definition.isSubset!;
      return {
        ...words(`have at least ${shown(content)}`),
        expected: content,
        holds: (value) => isSubset(content, value),
        speaksOf: isRecord,
      };
    }
    case "matchRegex": {
      const { pattern } = definition.matchRegex!;
      return {
        ...words(`match /${pattern}/`),
        holds: (value) => typeof value === "string" && matches(pattern, value),
        speaksOf: (value) => typeof value === "string",
      };
    }
    case "lengthEqual": {
      const { count } = definition.lengthEqual!;
      return {
        ...words(`have length ${count}`),
        holds: (value) => lengthOf(value) === count,
        speaksOf: (value) => lengthOf(value) !== undefined,
      };
    }
    case "isType": {
      const { type } = definition.isType!;
      return { ...words(`be of type ${type}`), holds: (value) => typesOf(value).includes(type) };
    }
    case "isNullOrEmpty":
      return { ...words("be null or empty"), holds: (value) => (value ?? null) === null || lengthOf(value) === 0 };
    default: {
      const value = (name === "equal" ? definition.equal : definition.notEqual)!.value;
      return { ...words(`equal ${shown(value)}`), expected: value, holds: (actual) => jsonEqual(actual, value) };
    }
  }
}

function words(verb: string): Pick<Property, "to" | "notTo"> {
  return { to: `to ${verb}`, notTo: `not to ${verb}` };
}

function containsProperty({ content, count, any }: NonNullable<AssertDefinition["contains"]>): Property {
  const times = count === undefined ? "" : ` ${count} times`;
  const isItem = (item: unknown) => (any && isRecord(content) ? isSubset(content, item) : jsonEqual(item, content));
  const countIn = (value: unknown): number => {
    if (Array.isArray(value)) return value.filter(isItem).length;
    return typeof value === "string" && typeof content === "string" && content !== "" ? value.split(content).length - 1 : 0;
  };
  return {
    ...words(`contain ${shown(content)}${times}`),
    holds: (value) => (count === undefined ? countIn(value) > 0 : countIn(value) === count),
    speaksOf: (value) => Array.isArray(value) || typeof value === "string",
  };
}

function isSubset(part: unknown, whole: unknown): boolean {
  if (!isRecord(part) || !isRecord(whole)) return jsonEqual(part, whole);
  return Object.entries(part).every(([key, value]) => Object.hasOwn(whole, key) && isSubset(value, whole[key]));
}

function lengthOf(value: unknown): number | undefined {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : undefined;
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  return Number.isInteger(value) ? ["number", "integer"] : [typeof value];
}
