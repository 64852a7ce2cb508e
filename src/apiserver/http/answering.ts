import { ServerResponse, type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders } from "node:http";
import { nextMacrotask, type Clock } from "../../base/clock.ts";
import type { Status } from "../../kube/object/status.ts";
import { indentedParts, jsonParts, listBytes, type Each } from "./answer/json-text.ts";
import { negotiate, type Offer } from "./answer/negotiation.ts";
import { yamlParts } from "./answer/yaml-text.ts";
import type { Exchange, OpenExchange } from "./exchange.ts";

/** The format of a response. */
export type ResponseFormat = "json" | "yaml";

/** Response to a request, before it is written. `code` is the HTTP status. */
export interface ApiResponse {
  readonly code: number;
  readonly format: ResponseFormat;
  readonly object: object;
  /** Maps each element of a list to the value to write; called when the element is written. Default: elements are written unchanged. */
  readonly each?: Each;
  /** Returns the object for the audit. Default: the object in the response. */
  readonly audited?: () => object;
}

const OFFERS: readonly Offer<ResponseFormat>[] = [
  { type: "application/json", value: "json" },
  { type: "application/yaml", value: "yaml" },
];

/** Writes responses. */
export class Answering {
  readonly #writer: AnswerWriter;

  /** See {@link AnswerWriter}. */
  readonly drained: AnswerWriter["drained"];

  constructor(writer: AnswerWriter) {
    this.#writer = writer;
    this.drained = writer.drained;
  }

  /**
   * Sends a document in JSON or YAML.
   *
   * @throws API_ERROR (406) when the client accepts neither.
   */
  object({ request, response, query, audit }: OpenExchange, code: number, object: object): void {
    const format = negotiate(request.headers.accept, OFFERS);
    audit?.responseObject(() => object);
    write(response, code, `application/${format}`, [...partsOf(object, format, pretty(request, query))].join(""));
  }

  /** Sends a response in its final form, of any size. Returns undefined if it is already written. */
  send(
    { request, response, query, audit, caller }: Exchange,
    { code, format, object, each, audited }: ApiResponse,
  ): Promise<void> | undefined {
    audit?.responseObject(audited ?? (() => object));
    const head = { code, type: `application/${format}`, caller: caller.name };
    const forPeople = pretty(request, query);
    const bytes = format === "json" && !forPeople ? listBytes(object, each) : undefined;
    if (bytes === undefined) return this.#writer.write(response, head, partsOf(object, format, forPeople, each));
    this.#writer.writeBytes(response, head, bytes);
    return undefined;
  }

  /** Sends a document that clients cache. A client that already has the current version gets 304. */
  tagged(
    { request, response }: OpenExchange,
    { text, type, hash }: { readonly text: string; readonly type: string; readonly hash: string },
  ): void {
    const tag = `"${hash}"`;
    response.setHeader("ETag", tag);
    if (request.headers["if-none-match"] === tag) return void response.writeHead(304).end();
    write(response, 200, type, text);
  }

  /**
   * Sends a Status, as JSON if the client accepts no known format.
   *
   * @param before Awaited between the last byte and the end of the response. Default: nothing.
   */
  status(
    { request, response, query, audit }: Pick<OpenExchange, "request" | "query" | "audit"> & { readonly response: ServerResponse },
    status: Status,
    before?: Promise<void>,
  ): void {
    audit?.responseObject(() => status);
    const retryAfter = status.details?.retryAfterSeconds;
    if (retryAfter !== undefined && status.code !== 409) response.setHeader("Retry-After", String(retryAfter));
    response.setHeader("X-Content-Type-Options", "nosniff");
    write(response, status.code, "application/json", pretty(request, query) ? indented(status) : `${JSON.stringify(status)}\n`, before);
  }
}

function write(response: ServerResponse, code: number, type: string, text: string, before?: Promise<void>): void {
  const bytes = Buffer.from(text);
  response.writeHead(code, { "Content-Type": type, "Content-Length": bytes.length });
  if (before === undefined) return void response.end(bytes);
  response.write(bytes);
  void before.then(() => response.end());
}

function partsOf(object: object, format: ResponseFormat, forPeople: boolean, each?: Each): Iterable<string> {
  if (format === "yaml") return yamlParts(object, each);
  return forPeople ? indentedParts(object, each) : jsonParts(object, each);
}

function indented(object: object): string {
  return `${JSON.stringify(object, null, 2)}\n`;
}

/** User agents whose output is for human readers. */
const READERS = /^(curl|Wget|Mozilla\/5\.0)/;

function pretty({ headers }: IncomingMessage, query: URLSearchParams): boolean {
  const asked = query.size === 0 ? null : query.get("pretty");
  if (asked !== null) return asked !== "false" && asked !== "0";
  return READERS.test(headers["user-agent"] ?? "");
}

/** Maximum number of characters that are written at once. Longer texts are written in pieces. */
const PIECE_LENGTH = 64 * 1024;

/** The beginning of a response. */
export interface AnswerHead {
  /** The HTTP status. */
  readonly code: number;
  readonly type: string;
  /** The caller. For each caller, only one response at a time is written in pieces. */
  readonly caller: string;
}

/** Writes responses no faster than clients read them. */
export interface AnswerWriter {
  /**
   * Writes a text whose parts are produced while it is written. Returns undefined if the text is short and already written. A long text
   * waits for the caller's other long texts, lets other requests proceed after each piece, and holds only one piece in memory.
   */
  write(response: ServerResponse, head: AnswerHead, parts: Iterable<string>): Promise<void> | undefined;
  /** Writes a text at once. Its second, larger part is already encoded. */
  writeBytes(response: ServerResponse, head: Omit<AnswerHead, "caller">, text: readonly [string, Buffer]): void;
  /** Resolves when the written data was sent, or the connection has ended. Ends the connection if the client does not read in time. */
  drained(response: ServerResponse): Promise<void>;
}

/**
 * Creates a writer of responses.
 *
 * @param readMs Time limit for receiving one piece, in milliseconds.
 */
export function createAnswerWriter({ clock, readMs }: { readonly clock: Clock; readonly readMs: number }): AnswerWriter {
  const turns = createTurns();
  const drained = (response: ServerResponse) =>
    new Promise<void>((resolve) => {
      if (response.destroyed || !response.writableNeedDrain) return resolve();
      const timer = clock.schedule(readMs, () => response.destroy());
      const done = () => {
        timer.cancel();
        response.off("drain", done).off("close", done);
        resolve();
      };
      response.once("drain", done).once("close", done);
    });
  const writePieces = async (response: ServerResponse, text: string) => {
    for (let from = 0; from < text.length && !response.destroyed;) {
      const to = endOfPiece(text, from);
      response.write(text.slice(from, to));
      from = to;
      await drained(response);
      await nextMacrotask();
    }
  };
  const writeLong = async (response: ServerResponse, { code, type, caller }: AnswerHead, first: string, rest: Iterator<string>) => {
    const leave = await turns.take(caller);
    try {
      if (!response.destroyed) response.writeHead(code, ["Content-Type", type]);
      for (let text = first; text !== "" && !response.destroyed; text = readPiece(rest)) await writePieces(response, text);
      response.end();
    } finally {
      leave();
    }
  };
  return {
    drained,
    writeBytes(response, { code, type }, [begin, rest]) {
      response.writeHead(code, ["Content-Type", type, "Content-Length", Buffer.byteLength(begin) + rest.length]);
      response.cork();
      response.write(begin);
      response.end(rest);
      response.uncork();
    },
    write(response, head, parts) {
      const rest = parts[Symbol.iterator]();
      const text = readPiece(rest);
      if (text.length > PIECE_LENGTH) return writeLong(response, head, text, rest);
      response.writeHead(head.code, ["Content-Type", head.type, "Content-Length", Buffer.byteLength(text)]);
      response.end(text);
      return undefined;
    },
  };
}

/** Joins parts until the text is longer than one piece, or no part is left. */
function readPiece(parts: Iterator<string>): string {
  let text = "";
  while (text.length <= PIECE_LENGTH) {
    const { done, value } = parts.next();
    if (done === true) break;
    text += value;
  }
  return text;
}

/** Returns the end of a piece. A character of two code units is not split. */
function endOfPiece(text: string, from: number): number {
  const to = from + PIECE_LENGTH;
  return (text.codePointAt(to - 1) ?? 0) > 0xffff ? to + 1 : to;
}

/** Lets one task at a time run for each name, in the order of the calls. */
function createTurns(): { take(name: string): Promise<() => void> } {
  const last = new Map<string, Promise<void>>();
  return {
    async take(name) {
      const before = last.get(name);
      let leave = () => {};
      const over = new Promise<void>((resolve) => (leave = resolve));
      last.set(name, over);
      await before;
      return () => {
        leave();
        if (last.get(name) === over) last.delete(name);
      };
    },
  };
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A response that writes its headers from a list, which is several times faster than setting them one by one. */
export class HeadedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Alternating names and values of headers to write. A header that was set in another way takes precedence. */
  readonly later: string[] = [];

  override writeHead(code: number, reason?: string | Headers, more?: Headers): this {
    if (typeof reason === "string") this.statusMessage = reason;
    const given = typeof reason === "string" ? more : reason;
    const own: OutgoingHttpHeader[] = Array.isArray(given) ? given : (Object.entries(given ?? {}).flat() as OutgoingHttpHeader[]);
    if (this.getHeaderNames().length === 0) return super.writeHead(code, [...this.later, ...own]);
    for (let at = 0; at < this.later.length; at += 2) {
      if (!this.hasHeader(this.later[at]!)) this.setHeader(this.later[at]!, this.later[at + 1]!);
    }
    return super.writeHead(code, own);
  }
}
