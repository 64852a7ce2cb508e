import { CODES } from "../../../base/codes.ts";
import { isRecord, type JsonObject } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { compileText } from "../../../engine/config/patches/compile-text.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { compilePath, type Path } from "../../../engine/path/path.ts";
import { decode } from "../../../schema/decode.ts";
import { fieldPath, indexPath } from "../../../schema/field.ts";
import { isAbsent, keyStartOf, startOf, textOf, toJson, valueAt, type MapNode, type Node } from "../../../schema/node.ts";
import type { Position, Report } from "../../../schema/problem.ts";
import { readSequences } from "../../sequences/reading/read-sequences.ts";
import { readAsserts } from "../../asserts/asserts.ts";
import { copyProblems, readConfiguration, type ConfigurationSource } from "./configuration.ts";
import type { SuiteFiles } from "./files.ts";
import { mergeJson } from "./merge-json.ts";
import { regexProblem } from "../../asserts/regex.ts";
import { PATCH_TEST, type ContextDefinition, type PatchTestDefinition, type TestDefinition } from "./schema.ts";
import { shown } from "../../asserts/shown.ts";
import {
  completeObject,
  type ExpectedObject,
  type PatchExpectation,
  type SetValue,
  type Suite,
  type SuiteContext,
  type SuiteTest,
  type TestCase,
} from "./suite.ts";

/** Context for reading a part of the file. */
interface Reading {
  readonly files: SuiteFiles;
  readonly report: Report;
  readonly definition: PatchTestDefinition;
  /** The file's objects as they were written. */
  readonly objects: ReadonlyMap<string, JsonObject>;
  readonly context: SuiteContext;
}

const NO_CONTEXT: SuiteContext = { vcluster: { name: "blue", namespace: "vc-blue", config: {} } };

/**
 * Reads a patch test file and the files it refers to. Every problem goes to the report, including those of the configuration; the
 * result is undefined when there was an error.
 *
 * @example
 * const suite = await readSuite(root, { file: "web.patch-test.yaml", files, report, kinds });
 */
export async function readSuite(
  root: Node,
  { file, files, report, kinds }: { file: string } & ConfigurationSource,
): Promise<Suite | undefined> {
  const definition = decode(PATCH_TEST, root, { report });
  if (root.kind !== "map" || report.failed || definition === undefined) return undefined;
  const objects = await readObjects(valueAt(root, "objects"), { files, report });
  const first = { files, report, definition, objects, context: NO_CONTEXT };
  const reading = { ...first, context: readContext(definition.context, { node: valueAt(root, "context"), field: "context" }, first) };
  const tests = await readTests(valueAt(root, "tests"), reading);
  const sequences = readSequences(valueAt(root, "sequences"), { report, names: Object.keys(definition.objects ?? {}) });
  const configurationNodes = { config: valueAt(root, "config"), patches: valueAt(root, "patches"), settings: valueAt(root, "settings") };
  const configuration = await readConfiguration(configurationNodes, { files, report, kinds });
  const config0 = configuration?.configFor(reading.context.vcluster);
  if (config0?.ok === false) copyProblems(config0.problems, report);
  if (report.failed || configuration === undefined) return undefined;
  return {
    file,
    name: definition.metadata?.name ?? baseName(file),
    configuration,
    context: reading.context,
    objects: completeObjects(objects),
    tests,
    acceptedDrifts: definition.acceptedDrifts,
    laws: valueAt(root, "laws"),
    sequences,
    configurationNodes,
  };
}

function baseName(file: string): string {
  return file
    .split("/")
    .at(-1)!
    .replace(/(\.patch-test)?\.ya?ml$/, "");
}

function completeObjects(objects: ReadonlyMap<string, JsonObject>): Record<string, KubeObject> {
  const complete: Record<string, KubeObject> = Object.create(null) as Record<string, KubeObject>;
  for (const [name, object] of objects) complete[name] = completeObject(object, { name, namespace: "default" });
  return complete;
}

async function readObjects(
  node: Node | undefined,
  { files, report }: { files: SuiteFiles; report: Report },
): Promise<ReadonlyMap<string, JsonObject>> {
  const objects = new Map<string, JsonObject>();
  for (const [name, { value }] of node?.kind === "map" ? node.entries : []) {
    const field = fieldPath("objects", name);
    const file = textOf(value);
    const document = file === undefined ? value : await files.document(file, { report, at: startOf(value), field });
    if (document === undefined) continue;
    const object = objectOf(document, { report, field, wanted: "a file name or an object" });
    // An object without a name is named like its key in `objects`.
    if (object !== undefined) objects.set(name, withName(object, name));
  }
  return objects;
}

function withName(object: JsonObject, name: string): JsonObject {
  const { metadata = {} } = object;
  return isRecord(metadata) ? { ...object, metadata: { name, ...metadata } } : object;
}

function objectOf(node: Node, { report, field, wanted }: { report: Report; field: string; wanted: string }): JsonObject | undefined {
  const refuse = (at: Position, message: string) => report.error({ code: "CONFIG_TYPE", at, field, message });
  if (node.kind !== "map") {
    refuse(startOf(node), `Expected ${wanted}, found ${shown(toJson(node))}`);
    return undefined;
  }
  for (const name of ["metadata", "metadata.labels", "metadata.annotations"]) {
    const part = name.split(".").reduce<Node | undefined>(valueAt, node);
    if (isAbsent(part) || part.kind === "map") continue;
    refuse(startOf(part), `Expected a map under ${name}, found ${shown(toJson(part))}`);
    return undefined;
  }
  return toJson(node) as JsonObject;
}

/** An object by its name in `objects`, or written inline. */
function namedObject(node: Node, field: string, { report, objects, definition }: Reading): JsonObject | undefined {
  const name = textOf(node);
  if (name === undefined) return objectOf(node, { report, field, wanted: "a name in objects, or an object" });
  const names = Object.keys(definition.objects ?? {});
  // An existing file that could not be read is already reported.
  if (names.includes(name)) return objects.get(name);
  const meant = suggest(name, names);
  const known = names.length === 0 ? "Define it under objects" : `Known objects: ${names.join(", ")}`;
  const hint = meant === undefined ? known : `Did you mean ${JSON.stringify(meant)}?`;
  report.error({ code: "CONFIG_VALUE", at: startOf(node), field, message: `Found no object ${JSON.stringify(name)}`, hint });
  return undefined;
}

function readContext(
  definition: ContextDefinition | undefined,
  { node, field }: { node: Node | undefined; field: string },
  reading: Reading,
): SuiteContext {
  const { name, namespace, config } = definition?.vcluster ?? {};
  const outer = reading.context;
  const own = (side: "hostObject" | "virtualObject") => {
    const value = valueAt(node, side);
    const object = isAbsent(value) ? undefined : namedObject(value, fieldPath(field, side), reading);
    return object === undefined ? {} : { [side]: object };
  };
  return {
    ...outer,
    vcluster: {
      name: name ?? outer.vcluster.name,
      namespace: namespace ?? outer.vcluster.namespace,
      config: mergeJson(outer.vcluster.config, config ?? {}) as JsonObject,
    },
    ...own("hostObject"),
    ...own("virtualObject"),
  };
}

async function readTests(list: Node | undefined, reading: Reading): Promise<SuiteTest[]> {
  const tests: SuiteTest[] = [];
  const items = list?.kind === "list" ? list.items : [];
  for (const [index, definition] of reading.definition.tests.entries()) {
    const node = items[index];
    if (node?.kind !== "map") continue;
    const test = await readTest({ node, definition, field: indexPath("tests", index) }, reading);
    if (test !== undefined) tests.push(test);
  }
  return tests;
}

/** One entry of `tests` as it was written and decoded. */
interface TestSource {
  readonly node: MapNode;
  readonly definition: TestDefinition;
  readonly field: string;
}

async function readTest(source: TestSource, reading: Reading): Promise<SuiteTest | undefined> {
  const { node, definition, field } = source;
  const { report } = reading;
  const { defaults } = reading.definition;
  const direction = definition.direction ?? defaults.direction;
  const [maxFuel, maxMatches] = [definition.maxFuel ?? defaults.maxFuel, definition.maxMatches ?? defaults.maxMatches];
  const object = namedObject(valueAt(node, "object")!, fieldPath(field, "object"), reading);
  const contextNode = valueAt(node, "context");
  checkContextSide(contextNode, { direction, field: fieldPath(field, "context"), report });
  checkError(source, report);
  const casePath = readPath(valueAt(node, "path"), fieldPath(field, "path"), report);
  const expected = await readExpected(source, reading);
  const test: Omit<SuiteTest, "object"> = {
    name: definition.it,
    place: startOf(node),
    definition,
    direction,
    set: readSet(valueAt(node, "set"), fieldPath(field, "set"), report),
    context: readContext(definition.context, { node: contextNode, field: fieldPath(field, "context") }, reading),
    asserts: readAsserts(valueAt(node, "asserts"), { report, field: fieldPath(field, "asserts") }),
    patches: readPatches(source, report),
    cases: readCases(source, report),
    placeOf: (name) => placeIn(node, name),
    ...(expected && { expected }),
    ...(casePath && { casePath }),
    ...(maxFuel !== undefined && { maxFuel }),
    ...(maxMatches !== undefined && { maxMatches }),
  };
  return object && { ...test, object };
}

function placeIn(node: MapNode, field: string): Position {
  const entry = node.entries.get(field);
  return entry === undefined ? startOf(node) : keyStartOf(entry);
}

function checkContextSide(
  node: Node | undefined,
  { direction, field, report }: { direction: string; field: string; report: Report },
): void {
  const itself = direction === "toHost" ? "virtualObject" : "hostObject";
  const entry = node?.kind === "map" ? node.entries.get(itself) : undefined;
  if (entry === undefined) return;
  const message = `A ${direction} test cannot set ${itself}, which is the tested object`;
  report.error({
    code: "CONFIG_VALUE",
    at: keyStartOf(entry),
    field: fieldPath(field, itself),
    message,
    hint: "Set object instead",
  });
}

function checkCode(node: Node | undefined, field: string, report: Report): void {
  const code = textOf(node);
  if (node === undefined || code === undefined || Object.hasOwn(CODES, code)) return;
  const meant = suggest(code, Object.keys(CODES));
  const hint = meant === undefined ? "Patch codes begin with EXPRESSION_, REFERENCE_ or PATCH_" : `Did you mean ${meant}?`;
  report.error({ code: "CONFIG_VALUE", at: startOf(node), field, message: `Unknown code ${JSON.stringify(code)}`, hint });
}

function checkError({ node, definition, field }: TestSource, report: Report): void {
  const error = valueAt(node, "error");
  checkCode(valueAt(error, "code"), fieldPath(fieldPath(field, "error"), "code"), report);
  if (definition.error?.match !== "regex") return;
  for (const name of ["path", "message"]) {
    const text = valueAt(error, name);
    const problem = regexProblem(textOf(text) ?? "");
    if (text === undefined || problem === undefined) continue;
    const message = `Cannot read the regular expression: ${problem}`;
    report.error({ code: "CONFIG_VALUE", at: startOf(text), field: fieldPath(fieldPath(field, "error"), name), message });
  }
}

function readPath(node: Node | undefined, field: string, report: Report): Path | undefined {
  const text = textOf(node);
  if (node?.kind !== "scalar" || text === undefined) return undefined;
  return compileText({ report, node, field }, () => compilePath(text));
}

function readSet(node: Node | undefined, field: string, report: Report): SetValue[] {
  if (node?.kind !== "map") return [];
  return [...node.entries].map(([path, entry]) => {
    const place = keyStartOf(entry);
    // The characters of a key have no places of their own, so problems are reported at the start of the key.
    const key = { kind: "scalar", source: entry.keySource, start: entry.keyStart, value: path, style: "none" } as const;
    const at = { ...key, contentStart: entry.keyStart, contentEnd: entry.keyStart, indent: 0 };
    compileText({ report, node: at, field: fieldPath(field, path) }, () => compilePath(path));
    return { path, value: toJson(entry.value), place };
  });
}

function readPatches({ node, definition, field }: TestSource, report: Report): PatchExpectation[] {
  const list = valueAt(node, "patches");
  const items = list?.kind === "list" ? list.items : [];
  return (definition.patches ?? []).flatMap((expectation, index) => {
    const item = items[index];
    const at = indexPath(fieldPath(field, "patches"), index);
    checkCode(valueAt(item, "code"), fieldPath(at, "code"), report);
    const text = valueAt(item, "path");
    if (item?.kind !== "map" || text?.kind !== "scalar") return [];
    if (item.entries.size === 1) {
      const hint = "Add outcome, matches, changed, code or fuel";
      report.error({ code: "CONFIG_VALUE", at: startOf(item), field: at, message: "The entry contains no expectation", hint });
    }
    const compile = () => compilePath(expectation.path, { syntax: expectation.path.startsWith("$") ? "jsonpath" : "field" });
    const path = compileText({ report, node: text, field: fieldPath(at, "path") }, compile);
    return path === undefined ? [] : [{ path, definition: expectation, place: startOf(item) }];
  });
}

function readCases({ node, definition, field }: TestSource, report: Report): TestCase[] {
  const list = valueAt(node, "cases");
  const [cases, path] = [node.entries.get("cases"), node.entries.get("path")];
  const refuse = (at: Position, message: string, hint = "") => report.error({ code: "CONFIG_VALUE", at, field, message, hint });
  if (cases !== undefined && path === undefined)
    refuse(keyStartOf(cases), "Found cases without path", "Add the path at which each case sets its value");
  if (cases === undefined && path !== undefined)
    refuse(keyStartOf(path), "Found path without cases", "Add cases, or move the path into an assert");
  const items = list?.kind === "list" ? list.items : [];
  return items.flatMap((item, index) => {
    const at = indexPath(fieldPath(field, "cases"), index);
    const found = definition.cases?.[index];
    if (item.kind !== "map" || found === undefined) return [];
    const [hasOut, hasError] = [item.entries.has("out"), item.entries.has("error")];
    if (!item.entries.has("in"))
      report.error({ code: "CONFIG_REQUIRED", at: startOf(item), field: at, message: 'Missing required field "in"' });
    if (hasOut === hasError) {
      const message = hasOut ? "The case has both out and error" : "The case has neither out nor error";
      report.error({ code: "CONFIG_VALUE", at: startOf(item), field: at, message, hint: "Specify either out or error" });
    }
    checkCode(valueAt(item, "error"), fieldPath(at, "error"), report);
    return [{ label: found.it ?? shown(found.in), definition: found, hasOut, place: startOf(item) }];
  });
}

async function readExpected({ node, field }: TestSource, { files, report }: Reading): Promise<ExpectedObject | undefined> {
  const entry = node.entries.get("expected");
  if (entry === undefined || isAbsent(entry.value)) return undefined;
  const place = keyStartOf(entry);
  const inner = fieldPath(field, "expected");
  if (node.entries.has("cases")) {
    const hint = "Move expected to a separate test";
    report.error({ code: "CONFIG_VALUE", at: place, field: inner, message: "Several cases cannot share one expected object", hint });
  }
  const name = textOf(entry.value);
  if (name === undefined) {
    const object = objectOf(entry.value, { report, field: inner, wanted: "a file name or an object" });
    return object && { place, object };
  }
  // A golden file does not exist before it is written for the first time.
  const text = await files.text(name, () => undefined);
  const document = text === undefined ? undefined : await files.document(name, { report, at: startOf(entry.value), field: inner });
  return { place, file: files.resolve(name), object: document && toJson(document) };
}
