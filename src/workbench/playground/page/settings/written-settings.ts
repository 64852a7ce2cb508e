/**
 * Changes single settings in a YAML text. Everything else is unchanged: comments, order, style, and settings without a field.
 *
 * @module
 */
import { isRecord, jsonEqual } from "../../../../base/json.ts";
import { toJson } from "../../../../schema/node.ts";
import { Report } from "../../../../schema/problem.ts";
import { readYaml } from "../../../../schema/yaml.ts";
import { documentsIn, items, pairKey, scalar, valueIn, type SyntaxNode } from "../editor/yaml-tree.ts";

/** The value of a setting that a field sets. */
export type SettingValue = string | number | boolean | readonly string[];

/** The keys that lead to a setting: `["addressPolicy", "allow"]`. */
export type SettingPath = readonly string[];

/** The settings of a text as data; undefined when the text is not a map. */
export function readSettings(text: string): Readonly<Record<string, unknown>> | undefined {
  const report = new Report();
  const node = readYaml(text, { file: "settings", report });
  if (node === undefined || report.failed) return undefined;
  const data = toJson(node);
  return isRecord(data) ? data : undefined;
}

/** The value at a place of the settings; undefined when there is none. */
export function settingAt(settings: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined), settings);
}

/**
 * The text with a new value of a setting; `undefined` removes the setting, and the maps that are then empty.
 *
 * @returns undefined when the text is not a map, or contains the value in a form that cannot be changed on its own, such as an alias
 *
 * @example
 * withSetting("onError: skip-patch # why\n", ["addressPolicy", "allow"], ["10.0.0.0/8"]);
 * // "onError: skip-patch # why\naddressPolicy:\n  allow: [10.0.0.0/8]\n"
 */
export function withSetting(text: string, path: SettingPath, value: SettingValue | undefined): string | undefined {
  const before = readSettings(text);
  if (before === undefined) return undefined;
  if (jsonEqual(settingAt(before, path) ?? null, value ?? null)) return text;
  const after = changed(text, path, value);
  const found = after === undefined ? undefined : readSettings(after);
  return found !== undefined && jsonEqual(found, expected(before, path, value)) ? after : undefined;
}

/** A change of the text: a range, and the text that replaces it. */
interface Change {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

function changed(text: string, path: SettingPath, value: SettingValue | undefined): string | undefined {
  const root = documentsIn(text).find((node) => node !== undefined);
  const change = root === undefined ? atTheEnd(text, path, value) : changeIn(root, { text, path, value, outer: undefined });
  return change && text.slice(0, change.from) + change.insert + text.slice(change.to);
}

function atTheEnd(text: string, path: SettingPath, value: SettingValue | undefined): Change | undefined {
  if (value === undefined) return undefined;
  const open = text !== "" && !text.endsWith("\n");
  return { from: text.length, to: text.length, insert: `${open ? "\n" : ""}${blockPair(path, value, 0)}\n` };
}

interface Place {
  readonly text: string;
  readonly path: SettingPath;
  readonly value: SettingValue | undefined;
  /** Removes the pair whose value is the map; undefined for the whole text. */
  readonly outer: Change | undefined;
}

function changeIn(map: SyntaxNode, place: Place): Change | undefined {
  const { text, path, value } = place;
  const [key, ...rest] = path;
  if (!map.name.endsWith("Mapping")) return undefined;
  const pairs = map.getChildren("Pair");
  const pair = pairs.find((each) => pairKey(each, text) === key);
  if (pair === undefined) return value === undefined ? undefined : added(map, pairs, { text, path, value });
  const removed = pairs.length === 1 && place.outer !== undefined ? place.outer : without(pair, pairs, text);
  if (value === undefined && rest.length === 0) return removed;
  const written = valueIn(pair);
  const held = written?.name === "Key" ? undefined : written;
  if (rest.length > 0 && held?.name.endsWith("Mapping") && held.getChild("Pair") !== null)
    return changeIn(held, { ...place, path: rest, outer: removed });
  return value === undefined ? undefined : replaced(pair, held, { text, rest, value, isFlow: map.name.startsWith("Flow") });
}

/** Replaces the value of an existing pair. A block list stays a block list, and the lines of items that stay are not changed. */
function replaced(
  pair: SyntaxNode,
  held: SyntaxNode | undefined,
  {
    text,
    rest,
    value,
    isFlow,
  }: { readonly text: string; readonly rest: SettingPath; readonly value: SettingValue; readonly isFlow: boolean },
): Change | undefined {
  if (held?.name === "BlockSequence" && typeof value === "object") return relisted(held, value, text);
  const from = pair.getChild(":")?.to;
  if (from === undefined) return undefined;
  const to = held?.to ?? from;
  if (rest.length === 0 || isFlow) return { from, to, insert: ` ${flowValue(rest, value)}` };
  return { from, to, insert: `\n${blockPair(rest, value, columnOf(pair.from, text) + 2)}` };
}

function relisted(list: SyntaxNode, values: readonly string[], text: string): Change {
  const starts = list.getChildren("-").map(({ from }) => lineStart(from, text));
  const end = lineEnd(list.to, text);
  const lines = (items(list) ?? []).map((item, index) => ({
    value: scalar(item, text),
    text: text.slice(starts[index], starts[index + 1] ?? end).replace(/\n$/, ""),
  }));
  const indent = " ".repeat(columnOf(list.from, text));
  const kept = values.map((value) => {
    const at = lines.findIndex((line) => line.value === value);
    return at === -1 ? `${indent}- ${flowScalar(value)}` : lines.splice(at, 1)[0]!.text;
  });
  return { from: starts[0]!, to: end, insert: kept.join("\n") };
}

/** Removes a pair: its lines, or its part of a line. */
function without(pair: SyntaxNode, pairs: readonly SyntaxNode[], text: string): Change {
  if (pair.parent?.name.startsWith("Flow")) {
    const lines = flowLines(pair, text);
    if (lines !== undefined) return lines;
    const at = pairs.findIndex(({ from }) => from === pair.from);
    const next = pairs[at + 1];
    if (next !== undefined) return { from: pair.from, to: next.from, insert: "" };
    return { from: pairs[at - 1]?.to ?? pair.from, to: pair.to, insert: "" };
  }
  const end = lineEnd(pair.to, text);
  return { from: lineStart(pair.from, text), to: Math.min(end + 1, text.length), insert: "" };
}

/** Removes the lines of a pair of a flow map if they contain nothing else; comments of its neighbours stay. */
function flowLines(pair: SyntaxNode, text: string): Change | undefined {
  let next = pair.nextSibling;
  while (next?.name === "Comment") next = next.nextSibling;
  const [from, to] = [lineStart(pair.from, text), next?.name === "," ? next.to : pair.to];
  const end = lineEnd(to, text);
  const isAlone = text.slice(from, pair.from).trim() === "" && /^[ \t]*(?:#.*)?$/.test(text.slice(to, end));
  return isAlone ? { from, to: Math.min(end + 1, text.length), insert: "" } : undefined;
}

function added(
  map: SyntaxNode,
  pairs: readonly SyntaxNode[],
  { text, path, value }: { readonly text: string; readonly path: SettingPath; readonly value: SettingValue },
): Change {
  const last = pairs.at(-1);
  if (map.name.startsWith("Flow")) {
    const at = last?.to ?? map.from + 1;
    return { from: at, to: at, insert: `${last === undefined ? " " : ", "}${flowPair(path, value)}${last === undefined ? " " : ""}` };
  }
  const at = lineEnd(last?.to ?? map.to, text);
  return { from: at, to: at, insert: `\n${blockPair(path, value, columnOf(pairs[0]?.from ?? map.from, text))}` };
}

function blockPair([key, ...rest]: SettingPath, value: SettingValue, column: number): string {
  const head = `${" ".repeat(column)}${key!}:`;
  return rest.length === 0 ? `${head} ${flowValue([], value)}` : `${head}\n${blockPair(rest, value, column + 2)}`;
}

function flowPair([key, ...rest]: SettingPath, value: SettingValue): string {
  return `${key!}: ${flowValue(rest, value)}`;
}

function flowValue(path: SettingPath, value: SettingValue): string {
  if (path.length > 0) return `{ ${flowPair(path, value)} }`;
  return typeof value === "object" ? `[${value.map(flowScalar).join(", ")}]` : flowScalar(value);
}

/** Formats a scalar, with quotes only if YAML needs them. */
function flowScalar(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z0-9](?:[-\w./:*]*[-\w./*])?$/.test(value) && readSettings(`a: ${value}`)?.["a"] === value;
  return plain ? value : JSON.stringify(value);
}

function expected(settings: unknown, [key, ...rest]: SettingPath, value: SettingValue | undefined): Readonly<Record<string, unknown>> {
  const { [key!]: held, ...others } = isRecord(settings) ? settings : {};
  const inner = rest.length === 0 ? value : expected(held, rest, value);
  const isEmpty = inner === undefined || (value === undefined && isRecord(inner) && Object.keys(inner).length === 0);
  return isEmpty ? others : { ...others, [key!]: inner };
}

function lineStart(at: number, text: string): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(at: number, text: string): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function columnOf(at: number, text: string): number {
  return at - lineStart(at, text);
}
