import type { ListNode, MapEntry, MapNode, Node, ScalarNode } from "./node.ts";
import type { Report } from "./problem.ts";
import { positionAt, sourceWithoutText, type Source } from "./source.ts";
import { fieldPath, indexPath } from "./field.ts";
import { DOCUMENT_DEPTH_MAX, OBJECT_VALUES_MAX } from "./limits.ts";

/**
 * Converts data that was not parsed from text to nodes; every position is 0:0. Members that are `undefined` are left out.
 *
 * Values that JSON cannot express are reported: CONFIG_TYPE for functions, symbols, BigInts, non-finite numbers and class instances,
 * CONFIG_SYNTAX for cycles and for values that are too deep or too large. Only own enumerable properties are read.
 *
 * @example
 * objectToNode({ sync: {} }, { file: "<object>", report }); // a map node
 */
export function objectToNode(value: unknown, options: { file: string; report: Report }): Node {
  const walk: Walk = { source: sourceWithoutText(options.file), report: options.report, open: new Set(), values: 0 };
  return build(walk, value, "");
}

interface Walk {
  readonly source: Source;
  readonly report: Report;
  /** The containers that are being read, from the root down. */
  readonly open: Set<object>;
  values: number;
}

function build(walk: Walk, value: unknown, field: string): Node {
  walk.values += 1;
  if (walk.values > OBJECT_VALUES_MAX) {
    if (walk.values === OBJECT_VALUES_MAX + 1) refuse(walk, field, `The object has more than ${OBJECT_VALUES_MAX} values`);
    return scalar(walk, null);
  }
  if (value === null || typeof value === "boolean" || typeof value === "string") return scalar(walk, value);
  if (typeof value === "number" && Number.isFinite(value)) return scalar(walk, value);
  if (typeof value === "object") return container(walk, value, field);
  const what = typeof value === "number" ? `the number ${value}` : `a ${typeof value}`;
  walk.report.error({ code: "CONFIG_TYPE", message: `Expected JSON data, found ${what}`, at: place(walk), field });
  return scalar(walk, null);
}

function container(walk: Walk, value: object, field: string): Node {
  if (walk.open.has(value)) return refuse(walk, field, "The object contains itself");
  if (walk.open.size >= DOCUMENT_DEPTH_MAX) return refuse(walk, field, `The object is nested more than ${DOCUMENT_DEPTH_MAX} levels deep`);
  walk.open.add(value);
  const node = Array.isArray(value) ? list(walk, value, field) : map(walk, value, field);
  walk.open.delete(value);
  return node;
}

function list(walk: Walk, value: readonly unknown[], field: string): ListNode {
  const items: Node[] = [];
  for (let index = 0; index < value.length && walk.values <= OBJECT_VALUES_MAX; index += 1) {
    items.push(build(walk, value[index] ?? null, indexPath(field, index)));
  }
  return { kind: "list", source: walk.source, start: 0, items };
}

function map(walk: Walk, value: object, field: string): MapNode | ScalarNode {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Another realm's Object.prototype counts as ours; its own prototype is null as well.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    walk.report.error({ code: "CONFIG_TYPE", message: "Expected JSON data, found a class instance", at: place(walk), field });
    return scalar(walk, null);
  }
  const entries = new Map<string, MapEntry>();
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    entries.set(key, { keySource: walk.source, keyStart: 0, value: build(walk, member, fieldPath(field, key)) });
  }
  return { kind: "map", source: walk.source, start: 0, entries };
}

function refuse(walk: Walk, field: string, message: string): ScalarNode {
  walk.report.error({ code: "CONFIG_SYNTAX", message, at: place(walk), field });
  return scalar(walk, null);
}

function scalar(walk: Walk, value: ScalarNode["value"]): ScalarNode {
  return { kind: "scalar", source: walk.source, start: 0, value, style: "none", contentStart: 0, contentEnd: 0, indent: 0 };
}

function place(walk: Walk) {
  return positionAt(walk.source, 0);
}
