/**
 * Parses YAML text into nodes with positions. Supports YAML 1.2 core values (`yes` and `on` are strings), merge keys as in YAML 1.1, one
 * document, and only JSON data. Everything has limits (`limits.ts`).
 *
 * js-yaml parses; the nodes are built here from its events, because its own constructor does not keep positions.
 *
 * @module
 */
import { EVENT_ID, parseEvents, YAMLException, type Event } from "js-yaml";
import { messageOf } from "../base/errors.ts";
import { ALIASED_VALUES_MAX, DOCUMENT_DEPTH_MAX, TEXT_MAX } from "./limits.ts";
import type { Node } from "./node.ts";
import type { Report } from "./problem.ts";
import { createSource, positionAt, type Source } from "./source.ts";
import { buildDocument, TOO_DEEP, YamlRefusal } from "./yaml-nodes.ts";

/** js-yaml counts keys and scalars as levels too, so this limit is higher; `yaml-nodes.ts` enforces the exact one. */
const PARSER_DEPTH_MAX = 2 * DOCUMENT_DEPTH_MAX;

/** Options of {@link readYaml}. */
export interface YamlOptions {
  /** The file's name, for positions. */
  readonly file: string;
  readonly report: Report;
  /** Maximum number of values that aliases may add if all of them are expanded. Default: {@link ALIASED_VALUES_MAX}. */
  readonly aliasedValuesMax?: number;
}

/**
 * Parses one YAML document. An empty text, or one of comments only, is an empty map.
 *
 * Problems go to the report with code CONFIG_SYNTAX: bad syntax, duplicate keys, tags other than those of JSON data,
 * several documents, `.nan` and `.inf`, and anything that exceeds a limit. Duplicate keys and tags do not stop the parser, so that all
 * of them are found at once. If a problem stops the parser, the result is `undefined`.
 *
 * @example
 * const report = new Report();
 * readYaml("sync: {}\n", { file: "vcluster.yaml", report }); // a map node; report.problems is empty
 */
export function readYaml(text: string, options: YamlOptions): Node | undefined {
  const source = createSource(options.file, text);
  try {
    return readSource(source, options);
  } catch (error) {
    const found = refusalOf(source, error);
    options.report.error({
      code: "CONFIG_SYNTAX",
      at: positionAt(source, found.offset),
      field: "",
      message: found.message,
      hint: found.hint,
    });
    return undefined;
  }
}

function readSource(source: Source, { report, aliasedValuesMax = ALIASED_VALUES_MAX }: YamlOptions): Node {
  if (source.text.length > TEXT_MAX) throw new YamlRefusal(0, `The text is longer than ${TEXT_MAX} characters`);
  const events = parseEvents(source.text, { maxDepth: PARSER_DEPTH_MAX });
  const documents = splitDocuments(events).filter((document) => !isEmpty(document));
  if (documents.length > 1)
    throw new YamlRefusal(offsetOf(documents[1]!), "Found a second document in the file", "Put each document in a separate file");
  const document = documents[0];
  if (document === undefined) return { kind: "map", source, start: 0, entries: new Map() };
  return buildDocument(document, { source, report, aliasedValuesMax });
}

function splitDocuments(events: readonly Event[]): Event[][] {
  const documents: Event[][] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) documents.push([]);
    documents.at(-1)?.push(event);
  }
  return documents;
}

/** Reports whether a document has no content, as after a lone separator, which editors and templates can leave behind. */
function isEmpty(document: readonly Event[]): boolean {
  const [, content] = document;
  return content?.type === EVENT_ID.SCALAR && content.valueStart < 0 && content.tagStart < 0;
}

function offsetOf(document: readonly Event[]): number {
  const [, content] = document;
  if (content?.type === EVENT_ID.SCALAR) return Math.max(0, content.valueStart);
  if (content?.type === EVENT_ID.MAPPING || content?.type === EVENT_ID.SEQUENCE) return content.start;
  return 0;
}

function refusalOf(source: Source, error: unknown): { offset: number; message: string; hint: string } {
  if (error instanceof YamlRefusal) return error;
  if (!(error instanceof YAMLException)) return { offset: 0, message: `Cannot parse YAML: ${messageOf(error)}`, hint: "" };
  const offset = Math.min(error.mark?.position ?? 0, source.text.length);
  if (error.reason.includes("maxDepth")) return { offset, message: TOO_DEEP, hint: "" };
  return {
    offset,
    message: `Cannot parse YAML: ${error.reason}`,
    hint: syntaxHint(source, offset) || indentHint(error.reason, source.text.slice(offset, offset + 1)),
  };
}

function indentHint(reason: string, rest: string): string {
  if (reason === "deficient indentation" && /^[\]}]/.test(rest)) return "Indent the closing bracket further than the key of its value";
  return reason.startsWith("bad indentation") ? "Begin the line in the same column as the fields that belong to the same map" : "";
}

/** The most likely intention behind a configuration line that does not parse. */
function syntaxHint(source: Source, offset: number): string {
  const start = source.lineStarts[positionAt(source, offset).line - 1] ?? 0;
  const line = source.text.slice(start, start + 1_000).split(/[\r\n]/, 1)[0]!;
  if (/^ *\t/.test(line)) return "Indent with spaces";
  const value = /^[ -]*[\w"'/.-]+:[ \t]+(.*)$/.exec(line)?.[1];
  if (value === undefined) return "";
  if (/^["'[{*&@`%!|>]|: | #/.test(value)) return "Quote the whole value with '…', or write it on separate lines below a |";
  return "";
}

/**
 * Reports whether a YAML text has only white space, comments and document markers. A file that is written in place looks like
 * that for a moment; an intentionally empty configuration is `{}`.
 *
 * @example
 * saysNothing("# later\n---\n"); // true
 */
export function saysNothing(text: string): boolean {
  return text.split(/\r?\n|\r/).every((line) => /^(\uFEFF|---|\.\.\.)?\s*(#.*)?$/.test(line));
}
