import {
  boolCoreTag,
  EVENT_ID,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  type Event,
  type ScalarEvent,
} from "js-yaml";
import { assert } from "../base/errors.ts";
import { ALIASES_MAX, DOCUMENT_DEPTH_MAX, MERGED_KEYS_MAX } from "./limits.ts";
import type { ListNode, MapEntry, MapNode, Node, ScalarNode, ScalarStyle } from "./node.ts";
import type { Report } from "./problem.ts";
import { positionAt, type Source } from "./source.ts";

/** Error that stops reading a document, with the offset of the cause. `readYaml` catches it. */
export class YamlRefusal extends Error {
  readonly offset: number;
  readonly hint: string;

  constructor(offset: number, message: string, hint = "") {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

/** The message for a document that is nested too deeply, by itself or through aliases. */
export const TOO_DEEP = `Values are nested more than ${DOCUMENT_DEPTH_MAX} levels deep`;

type EventOf<Type extends number> = Extract<Event, { type: Type }>;
type CollectionEvent = EventOf<typeof EVENT_ID.MAPPING> | EventOf<typeof EVENT_ID.SEQUENCE>;

/** Expanded size of a node, which aliases multiply: number of values and depth. */
interface Extent {
  readonly values: number;
  readonly depth: number;
}

const SCALAR: Extent = { values: 1, depth: 0 };

interface Reader {
  readonly source: Source;
  readonly report: Report;
  readonly events: readonly Event[];
  /** The next event. */
  next: number;
  /** Number of collections around the next event. */
  depth: number;
  /** Where the last node with a position ended: empty values have no position of their own. */
  lastEnd: number;
  /** `"open"` while the anchored collection is being read. */
  readonly anchors: Map<string, { node: Node; extent: Extent } | "open">;
  readonly extents: Map<Node, Extent>;
  /** Last results of {@link skipBlank}, because consecutive empty values all start the search at the same offset. */
  readonly skipped: Map<RegExp, { readonly from: number; readonly to: number }>;
  readonly aliasedValuesMax: number;
  aliases: number;
  aliasedValues: number;
  mergedKeys: number;
}

/**
 * Builds the nodes of one document from its events. Aliases share the node that they name.
 *
 * Duplicate keys, unsuitable keys, tags and numbers that are not JSON go to the report.
 *
 * @throws YamlRefusal when a limit is exceeded, or an alias is unknown or inside its own anchor.
 */
export function buildDocument(events: readonly Event[], options: Pick<Reader, "source" | "report" | "aliasedValuesMax">): Node {
  const start: Reader = {
    ...options,
    events,
    next: 1,
    depth: 0,
    lastEnd: 0,
    anchors: new Map(),
    extents: new Map(),
    skipped: new Map(),
    aliases: 0,
    aliasedValues: 0,
    mergedKeys: 0,
  };
  return readNode(start, 0);
}

/** Reads the next node. `fallback` is the offset of an empty value. */
function readNode(reader: Reader, fallback: number): Node {
  const event = reader.events[reader.next];
  reader.next += 1;
  switch (event?.type) {
    case EVENT_ID.ALIAS:
      return readAlias(reader, event);
    case EVENT_ID.SCALAR: {
      const node = readScalar(reader, event, fallback);
      if (event.valueStart >= 0) reader.lastEnd = event.valueEnd + (isQuoted(event) ? 1 : 0);
      return anchored(reader, event, node, SCALAR);
    }
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return readCollection(reader, event);
    case EVENT_ID.DOCUMENT:
    case EVENT_ID.POP:
    case undefined:
      assert(false, "the first event of a node opens it");
  }
}

function readAlias(reader: Reader, event: EventOf<typeof EVENT_ID.ALIAS>): Node {
  const name = reader.source.text.slice(event.anchorStart, event.anchorEnd);
  const at = event.anchorStart - 1;
  const target = reader.anchors.get(name);
  if (target === undefined) throw new YamlRefusal(at, `No anchor &${name} precedes the alias *${name}`);
  if (target === "open") throw new YamlRefusal(at, `The alias *${name} is inside the value that it names`);
  reader.aliases += 1;
  if (reader.aliases > ALIASES_MAX) throw new YamlRefusal(at, `Found more than ${ALIASES_MAX} aliases`);
  reader.aliasedValues += target.extent.values;
  const { aliasedValues, aliasedValuesMax } = reader;
  if (aliasedValues > aliasedValuesMax) throw new YamlRefusal(at, `Aliases expand to more than ${aliasedValuesMax} values`);
  if (reader.depth + target.extent.depth > DOCUMENT_DEPTH_MAX) throw new YamlRefusal(at, TOO_DEEP);
  reader.lastEnd = event.anchorEnd;
  return target.node;
}

function readCollection(reader: Reader, event: CollectionEvent): Node {
  const allowed = ["", "!", event.type === EVENT_ID.MAPPING ? "map" : "seq"];
  if (!allowed.includes(tagName(reader, event))) refuseTag(reader, event);
  const anchor = anchorName(reader, event);
  if (anchor !== undefined) reader.anchors.set(anchor, "open");
  reader.depth += 1;
  if (reader.depth > DOCUMENT_DEPTH_MAX) throw new YamlRefusal(event.start, TOO_DEEP);
  reader.lastEnd = event.start;
  const node = event.type === EVENT_ID.MAPPING ? readMap(reader, event.start) : readList(reader, event.start);
  reader.depth -= 1;
  return anchored(reader, event, node, extentOf(reader, node));
}

function readList(reader: Reader, start: number): ListNode {
  const items: Node[] = [];
  while (reader.events[reader.next]?.type !== EVENT_ID.POP) items.push(readNode(reader, nextDash(reader) ?? start));
  reader.next += 1;
  return { kind: "list", source: reader.source, start, items };
}

function readMap(reader: Reader, start: number): MapNode {
  const entries = new Map<string, MapEntry>();
  const merges: { at: number; value: Node }[] = [];
  while (reader.events[reader.next]?.type !== EVENT_ID.POP) {
    const key = readKey(reader);
    const value = readNode(reader, key.start);
    if (key.merge) merges.push({ at: key.start, value });
    else if (key.text !== undefined) addEntry(reader, entries, { text: key.text, keyStart: key.start, value });
  }
  reader.next += 1;
  for (const merge of merges) mergeInto(reader, entries, merge);
  return { kind: "map", source: reader.source, start, entries };
}

function readKey(reader: Reader): { text?: string; start: number; merge: boolean } {
  const event = reader.events[reader.next];
  const node = readNode(reader, skipBlank(reader, SPACE));
  if (node.kind !== "scalar") {
    problem(reader, startOffset(event) ?? node.start, `Expected text as a key, found a ${node.kind}`);
    return { start: node.start, merge: false };
  }
  const start = event?.type === EVENT_ID.ALIAS ? event.anchorStart - 1 : node.start;
  const written = reader.source.text.slice(node.contentStart, node.contentEnd);
  if (node.style === "plain" && written === "<<") return { start, merge: true };
  if (node.style === "plain" && written === "") problem(reader, start, "Expected text as a key, found nothing");
  // Keys such as 8080 and true are used as they are written, because keys in JSON are strings.
  const text = typeof node.value === "string" ? node.value : written;
  return { ...(node.style === "plain" && written === "" ? {} : { text }), start, merge: false };
}

function addEntry(reader: Reader, entries: Map<string, MapEntry>, entry: { text: string; keyStart: number; value: Node }): void {
  const first = entries.get(entry.text);
  if (first === undefined) {
    entries.set(entry.text, { keySource: reader.source, keyStart: entry.keyStart, value: entry.value });
    return;
  }
  const { line, column } = positionAt(reader.source, first.keyStart);
  problem(reader, entry.keyStart, `Duplicate key ${JSON.stringify(entry.text)}, first written at line ${line}, column ${column}`);
}

/** Own keys take precedence over merged ones, regardless of the position of `<<`, and earlier merged ones over later ones. */
function mergeInto(reader: Reader, entries: Map<string, MapEntry>, merge: { at: number; value: Node }): void {
  const sources = merge.value.kind === "list" ? merge.value.items : [merge.value];
  for (const source of sources) {
    if (source.kind !== "map") {
      problem(reader, merge.at, "Expected a map, or a list of maps, to merge with <<", "Quote the key if it is meant as text");
      return;
    }
    reader.mergedKeys += 1 + source.entries.size;
    if (reader.mergedKeys > MERGED_KEYS_MAX) throw new YamlRefusal(merge.at, `Merge keys (<<) add more than ${MERGED_KEYS_MAX} keys`);
    for (const [key, entry] of source.entries) if (!entries.has(key)) entries.set(key, entry);
  }
}

const STYLES: Readonly<Record<number, ScalarStyle>> = {
  [SCALAR_STYLE.PLAIN]: "plain",
  [SCALAR_STYLE.SINGLE_QUOTED]: "single-quoted",
  [SCALAR_STYLE.DOUBLE_QUOTED]: "double-quoted",
  [SCALAR_STYLE.LITERAL_BLOCK]: "literal",
  [SCALAR_STYLE.FOLDED_BLOCK]: "folded",
};

/** The tags of JSON data, in the order in which YAML tries them on plain scalars. */
const JSON_TAGS = { null: nullCoreTag, bool: boolCoreTag, int: intCoreTag, float: floatCoreTag } as const;

function readScalar(reader: Reader, event: ScalarEvent, fallback: number): ScalarNode {
  const text = getScalarValue(reader.source.text, event);
  const written = event.valueStart >= 0;
  const contentStart = written ? event.valueStart : fallback;
  const start = contentStart - (written && isQuoted(event) ? 1 : 0) + (isBlock(event) ? Math.max(0, event.indent) : 0);
  const value = scalarValue(reader, event, { text, start });
  return {
    kind: "scalar",
    source: reader.source,
    start,
    value,
    style: STYLES[event.style] ?? "plain",
    contentStart,
    contentEnd: written ? event.valueEnd : contentStart,
    indent: Math.max(0, event.indent),
  };
}

/** Null replaces a value with a refused tag, so that it causes no further problem. */
function scalarValue(reader: Reader, event: ScalarEvent, { text, start }: { text: string; start: number }): ScalarNode["value"] {
  const tag = tagName(reader, event);
  if (tag === "str" || tag === "!" || (tag === "" && event.style !== SCALAR_STYLE.PLAIN)) return text;
  const candidates =
    tag === "" ? Object.values(JSON_TAGS) : Object.hasOwn(JSON_TAGS, tag) ? [JSON_TAGS[tag as keyof typeof JSON_TAGS]] : [];
  for (const candidate of candidates) {
    const value = candidate.resolve(text, tag !== "", candidate.tagName);
    if (value !== NOT_RESOLVED) return finite(reader, { value, start, text });
  }
  if (tag === "") return text;
  if (candidates.length === 0) refuseTag(reader, event);
  else problem(reader, event.tagStart, `The tag !!${tag} does not fit the value ${JSON.stringify(text)}`);
  return null;
}

function finite(reader: Reader, { value, start, text }: { value: null | boolean | number; start: number; text: string }) {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  problem(reader, start, `Expected a number that JSON can represent, found ${text}`);
  return 0;
}

type Properties = { anchorStart: number; anchorEnd: number; tagStart: number; tagEnd: number };

function anchorName(reader: Reader, event: Properties): string | undefined {
  return event.anchorStart < 0 ? undefined : reader.source.text.slice(event.anchorStart, event.anchorEnd);
}

/** Returns `str` for `!!str` and `!<tag:yaml.org,2002:str>`, other tags as they are written, and "" if there is none. */
function tagName(reader: Reader, event: Properties): string {
  const raw = event.tagStart < 0 ? "" : reader.source.text.slice(event.tagStart, event.tagEnd);
  return /^(?:!!([a-z]+)|!<tag:yaml\.org,2002:([a-z]+)>)$/.exec(raw)?.slice(1).find(Boolean) ?? raw;
}

function refuseTag(reader: Reader, event: Properties): void {
  const raw = reader.source.text.slice(event.tagStart, event.tagEnd);
  problem(
    reader,
    event.tagStart,
    `The tag ${raw} is not supported`,
    "Remove the tag; only tags of JSON data, such as !!str, are supported",
  );
}

function anchored(reader: Reader, event: Properties, node: Node, extent: Extent): Node {
  const name = anchorName(reader, event);
  if (name !== undefined) reader.anchors.set(name, { node, extent });
  if (extent !== SCALAR) reader.extents.set(node, extent);
  return node;
}

function extentOf(reader: Reader, node: MapNode | ListNode): Extent {
  const children = node.kind === "list" ? node.items : [...node.entries.values()].map((entry) => entry.value);
  let [values, depth] = [1, 0];
  for (const child of children) {
    const extent = reader.extents.get(child) ?? SCALAR;
    values += extent.values;
    depth = Math.max(depth, extent.depth);
  }
  return { values, depth: depth + 1 };
}

function isQuoted(event: ScalarEvent): boolean {
  return event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
}

function isBlock(event: ScalarEvent): boolean {
  return event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
}

/** Returns the offset of the dash of an empty item. */
function nextDash(reader: Reader): number | undefined {
  const at = skipBlank(reader, SPACE_OR_COLON);
  return reader.source.text[at] === "-" ? at : undefined;
}

const SPACE = /\s/;
const SPACE_OR_COLON = /[\s:]/;

/** Returns the next offset that is not in a comment and does not match `blank`. */
function skipBlank({ source: { text }, lastEnd, skipped }: Reader, blank: RegExp): number {
  const known = skipped.get(blank);
  if (known?.from === lastEnd) return known.to;
  let at = lastEnd;
  while (at < text.length && (text[at] === "#" || blank.test(text[at]!))) {
    const lineEnd = text[at] === "#" ? text.indexOf("\n", at) : at;
    at = lineEnd < 0 ? text.length : lineEnd + 1;
  }
  skipped.set(blank, { from: lastEnd, to: at });
  return at;
}

function startOffset(event: Event | undefined): number | undefined {
  return event !== undefined && "start" in event ? event.start : undefined;
}

function problem(reader: Reader, offset: number, message: string, hint = ""): void {
  reader.report.error({ code: "CONFIG_SYNTAX", at: positionAt(reader.source, offset), field: "", message, hint });
}
