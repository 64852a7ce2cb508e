/**
 * Completions at the cursor: names and members in expressions, keys in paths. They are derived from the texts of the page, even if these
 * contain errors.
 *
 * @module
 */
import { parsePath } from "../../../../engine/path/syntax/parse.ts";
import type { Segment } from "../../../../engine/path/syntax/segment.ts";
import { SYNCED_KINDS } from "../../../../engine/kinds/synced-kinds.ts";
import type { PatchListName } from "../../../laws/report.ts";
import { SAMPLE_VCLUSTER, type PlaygroundState } from "../../protocol.ts";
import { KNOWN_SHAPES, MEMBERS_OF_NAME, MEMBERS_OF_TYPE, NAMES_IN_SCOPE } from "./known-names.ts";
import { writtenData, writtenObject, writtenPatches } from "./places.ts";

/** One completion. */
export interface FoundCompletion {
  readonly label: string;
  readonly detail?: string;
  readonly about?: string;
  /** Number of characters before {@link FoundCompletions.from} to remove: a key in brackets has no dot before it. Default 0. */
  readonly cut?: number;
}

/** The completions for the text from an offset of the configuration on. */
export interface FoundCompletions {
  readonly from: number;
  readonly options: readonly FoundCompletion[];
}

/** The text around the cursor. */
interface Cursor {
  readonly field: "path" | "expression" | "reverseExpression";
  readonly list: PatchListName;
  /** The value before the cursor, without YAML's own quotes. */
  readonly typed: string;
  /** YAML's quote around the value, or nothing. */
  readonly quote: string;
  /** Path of the patch, if there is one. */
  readonly path: string | undefined;
}

/**
 * The completions at an offset of the configuration; undefined if there are none.
 *
 * @param asked Whether the user requested completion: then names are offered before a letter is typed.
 *
 * @example
 * completionsAt({ config, tenant }, config.indexOf("value.") + 6)?.options.map(({ label }) => label); // ["at", "charAt", …]
 */
export function completionsAt(state: PlaygroundState, offset: number, asked = false): FoundCompletions | undefined {
  const cursor = cursorAt(state.config, offset);
  if (cursor === undefined) return undefined;
  const found = cursor.field === "path" ? inPath(state, cursor) : inExpression(state, cursor, asked);
  if (found === undefined || found.options.length === 0) return undefined;
  const options = cursor.quote === '"' ? found.options.map((one) => ({ ...one, label: one.label.replaceAll('"', '\\"') })) : found.options;
  return { from: offset - found.back, options };
}

/** The line that begins a section. */
const SECTION = new RegExp(`^\\s*(${SYNCED_KINDS.map(({ section }) => section).join("|")}):`, "gm");
const LINE = /^\s*(?:-\s+)?(path|expression|reverseExpression):[ \t]+(["']?)([^]*)$/;

function cursorAt(config: string, offset: number): Cursor | undefined {
  const before = config.slice(0, offset);
  const patch = writtenPatches(config)
    .filter(({ span }) => span.from <= offset)
    .toSorted((one, other) => other.span.from - one.span.from)[0];
  const list = [...before.matchAll(SECTION)].at(-1)?.[1];
  if (list === undefined) return undefined;
  const about = { list, path: patch?.path };
  const [, field, quote = "", text = ""] = LINE.exec(before.slice(before.lastIndexOf("\n") + 1)) ?? [];
  if (field === undefined) {
    const fields = ["expression", "reverseExpression"] as const;
    const within = fields.find((name) => {
      const span = patch?.expressions[name];
      return span !== undefined && /^[|>]/.test(config.slice(span.from, span.to)) && span.from < offset && offset <= span.to;
    });
    if (within === undefined) return undefined;
    return { field: within, ...about, quote: "", typed: config.slice(patch!.expressions[within]!.from, offset).replace(/^.*\n/, "") };
  }
  const typed = unquoted(text, quote);
  return typed === undefined ? undefined : { field: field as Cursor["field"], ...about, quote, typed };
}

/** The value of a YAML scalar; undefined after its closing quote, in a comment, and at the start of a block. */
function unquoted(text: string, quote: string): string | undefined {
  if (quote === "") return / #|^[|>]/.test(text) ? undefined : text;
  const isOpen = quote === "'" ? /^(?:[^']|'')*$/ : /^(?:[^"\\]|\\.)*$/;
  if (!isOpen.test(text)) return undefined;
  return quote === "'" ? text.replaceAll("''", "'") : text.replace(/\\(.)/g, "$1");
}

interface Found {
  /** Characters before the cursor that are replaced. */
  readonly back: number;
  readonly options: readonly FoundCompletion[];
}

/** A chain of names at the end of a text: `context.virtualObject.meta`. */
const CHAIN = /(?:[A-Za-z_$][\w$]*(?:\?\.|\.))*(?:[A-Za-z_$][\w$]*)?$/;

function inExpression(state: PlaygroundState, { typed, list, path }: Cursor, asked: boolean): Found | undefined {
  const chain = CHAIN.exec(typed)![0];
  const before = typed.slice(0, typed.length - chain.length);
  if (isInString(before) || /[.\w$]$/.test(before)) return undefined;
  const links = chain.split(/\?\.|\./);
  const last = links.pop()!;
  const back = last.length;
  if (links.length === 0) {
    if (last === "" && !asked) return undefined;
    return { back, options: NAMES_IN_SCOPE.map(({ name, ...rest }) => ({ label: name, ...rest })) };
  }
  const [first, ...rest] = links;
  if (rest.length === 0 && Object.hasOwn(MEMBERS_OF_NAME, first!))
    return { back, options: MEMBERS_OF_NAME[first!]!.map((label) => ({ label })) };
  const roots = first === "value" ? valuesAt(state, list, path) : first === "context" ? [contextOf(state, list)] : [];
  const segments = rest.map((key): Segment => ({ kind: "key", key }));
  // `?.` stays, because a bracket may follow it.
  const cut = /(?<!\?)\.[\w$]*$/.test(chain) ? 1 : 0;
  return {
    back,
    options: roots
      .flatMap((root) => find(root, segments))
      .flatMap((value) => membersOf(value, cut))
      .filter(firstOfLabel()),
  };
}

/** Reports whether a piece of JavaScript ends within a string. */
function isInString(text: string): boolean {
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at]!;
    if (quote !== "" && unit === "\\") at += 1;
    else if (unit === quote) quote = "";
    else if (quote === "" && /["'`]/.test(unit)) quote = unit;
  }
  return quote !== "";
}

/** The values that the patch of a path receives; an empty string if no object has a value there. */
function valuesAt(state: PlaygroundState, list: PatchListName, path: string | undefined): readonly unknown[] {
  const segments = path === undefined ? undefined : segmentsOf(path);
  const values = segments === undefined ? [] : objectsOf(state, list).flatMap((object) => find(object, segments));
  return values.length === 0 ? [""] : values;
}

function contextOf({ config, tenant, host, vcluster = SAMPLE_VCLUSTER }: PlaygroundState, list: PatchListName): object {
  const virtualObject = writtenObject(tenant, list) ?? KNOWN_SHAPES[list];
  const hostObject = writtenObject(host ?? "", list) ?? virtualObject;
  return { vcluster: { ...vcluster, config: writtenData(config) ?? {} }, hostObject, virtualObject, path: "" };
}

function membersOf(value: unknown, cut: number): FoundCompletion[] {
  const methods = typeof value === "string" ? "string" : typeof value === "number" ? "number" : Array.isArray(value) ? "list" : undefined;
  if (methods !== undefined) return MEMBERS_OF_TYPE[methods].map((label) => ({ label }));
  return entriesOf(value).map(([key, member]) => {
    const isName = /^[A-Za-z_$][\w$]*$/.test(key);
    return { label: isName ? key : `[${JSON.stringify(key)}]`, detail: wordFor(member), ...(!isName && cut > 0 && { cut }) };
  });
}

/** The last part of an unfinished path: in brackets with a quote, in brackets, or after a dot. */
const ENDINGS = [/\[["'][^"'\]]*$/, /\[[\d*]*$/, /(?:^|(?<=\.))[\w-]*$/];

function inPath(state: PlaygroundState, { typed, list }: Cursor): Found | undefined {
  const ending = ENDINGS.map((pattern) => pattern.exec(typed)).find((match) => match !== null);
  if (ending === undefined) return undefined;
  const parent = typed
    .slice(0, ending.index)
    .replace(/\.$/, "")
    .replace(/^\$\.?/, "");
  const segments = parent === "" ? [] : segmentsOf(parent);
  if (segments === undefined) return undefined;
  const isBracket = ending[0].startsWith("[");
  const hasDot = typed[ending.index - 1] === ".";
  const options = objectsOf(state, list)
    .flatMap((object) => find(object, segments))
    .flatMap((value) => (isBracket ? inBrackets(value) : keysOf(value, { parent, cut: hasDot ? 1 : 0 })))
    .filter(firstOfLabel());
  return { back: ending[0].length, options };
}

function inBrackets(value: unknown): FoundCompletion[] {
  if (Array.isArray(value))
    return [{ label: "[*]", detail: "each element" }, ...value.map((one, index) => ({ label: `[${index}]`, detail: wordFor(one) }))];
  return entriesOf(value).map(([key, member]) => ({ label: `[${JSON.stringify(key)}]`, detail: wordFor(member) }));
}

/** Fields that no patch may change. */
const FIXED: Readonly<Record<string, (key: string) => boolean>> = {
  "": (key) => key === "apiVersion" || key === "kind",
  metadata: (key) => key !== "labels" && key !== "annotations",
};

function keysOf(value: unknown, { parent, cut }: { readonly parent: string; readonly cut: number }): FoundCompletion[] {
  const isFixed = Object.hasOwn(FIXED, parent) ? FIXED[parent]! : () => false;
  return entriesOf(value)
    .filter(([key]) => !isFixed(key))
    .map(([key, member]) => {
      if (!/^[A-Za-z_][\w-]*$/.test(key)) return { label: `[${JSON.stringify(key)}]`, detail: wordFor(member), ...(cut > 0 && { cut }) };
      return { label: Array.isArray(member) ? `${key}[*]` : key, detail: wordFor(member) };
    });
}

/** The tenant's object, and an example of its kind. */
function objectsOf({ tenant }: PlaygroundState, list: PatchListName): readonly unknown[] {
  return [writtenObject(tenant, list), KNOWN_SHAPES[list]];
}

function segmentsOf(path: string): readonly Segment[] | undefined {
  try {
    return path === "$" ? [] : parsePath(path);
  } catch {
    return undefined;
  }
}

function find(value: unknown, segments: readonly Segment[]): unknown[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) return [value];
  return childrenOf(value, segment).flatMap((child) => find(child, rest));
}

function childrenOf(value: unknown, segment: Segment): readonly unknown[] {
  if (segment.kind === "wildcard") return Array.isArray(value) ? value : entriesOf(value).map(([, member]) => member);
  if (Array.isArray(value)) return segment.kind === "index" && value.at(segment.index) !== undefined ? [value.at(segment.index)] : [];
  const key = segment.kind === "key" ? segment.key : String(segment.index);
  return entriesOf(value).flatMap(([name, member]) => (name === key ? [member] : []));
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

function wordFor(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? "text" : typeof value;
}

/** Returns a filter that keeps the first completion with each label: lists may have thousands of items. */
function firstOfLabel(): (completion: FoundCompletion) => boolean {
  const seen = new Set<string>();
  return ({ label }) => seen.size < seen.add(label).size;
}
