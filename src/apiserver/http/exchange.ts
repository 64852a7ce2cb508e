import type { IncomingMessage, ServerResponse } from "node:http";
import type { Status } from "../../kube/object/status.ts";
import type { AuditRecord } from "../types/audit-record.ts";
import { indentedParts, jsonParts, listBytes } from "./answer/json-text.ts";
import type { Each } from "./answer/json-text.ts";
import type { AnswerWriter } from "./answer/answer-writer.ts";
import type { HeadedResponse } from "./answer/headed-response.ts";
import type { Judge } from "../types/resource-definition.ts";
import { negotiate } from "./answer/negotiation.ts";
import type { Offer } from "./answer/negotiation.ts";
import type { UserInfo } from "../types/user-info.ts";
import { yamlParts } from "./answer/yaml-text.ts";

/** One request on its way through the handlers, no matter who makes it. */
export interface OpenExchange {
  readonly request: IncomingMessage;
  readonly response: HeadedResponse;
  readonly method: string;
  /** Below the base path; the whole one outside of it. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
  /** Absent if the request is not audited. */
  readonly audit?: AuditRecord | undefined;
}

/** The body of a request as something that takes up room and time. */
export interface Body {
  /**
   * Counts bytes of it against the caller's share.
   *
   * @throws API_TOO_MANY_REQUESTS when that is used up.
   */
  readonly claim: (bytes: number) => void;
  /** The body is complete: waits until it may be processed. Undefined if that is now. */
  readonly begin: () => Promise<void> | undefined;
  /** Lets other requests proceed if the body is large; undefined if it is not. */
  readonly pause: () => Promise<void> | undefined;
}

/** A request of a known caller. */
export interface Exchange extends OpenExchange {
  readonly user: UserInfo;
  /** The owner of the request's credentials; the same as `user` unless impersonated. */
  readonly caller: UserInfo;
  /** Judges the request again. */
  readonly judge: Judge;
  readonly body: Body;
}

/** How an answer is written. */
export type ResponseFormat = "json" | "yaml";

/** Answer to a request, before it is written. `code` is the HTTP status. */
export interface ApiResponse {
  readonly code: number;
  readonly format: ResponseFormat;
  readonly object: object;
  /** Maps each element of a list to what is written; called on writing. Default: as it is. */
  readonly each?: Each;
  /** The object for the audit. Default: the one answered. */
  readonly audited?: () => object;
}

const OFFERS: readonly Offer<ResponseFormat>[] = [
  { type: "application/json", value: "json" },
  { type: "application/yaml", value: "yaml" },
];

/** Writes answers. */
export class Answering {
  readonly #writer: AnswerWriter;

  /** See {@link AnswerWriter}. */
  readonly drained: AnswerWriter["drained"];

  constructor(writer: AnswerWriter) {
    this.#writer = writer;
    this.drained = writer.drained;
  }

  /**
   * A document in JSON or YAML.
   *
   * @throws API_ERROR (406) when the client accepts neither.
   */
  object({ request, response, query, audit }: OpenExchange, code: number, object: object): void {
    const format = negotiate(request.headers.accept, OFFERS);
    audit?.responseObject(() => object);
    write(response, code, `application/${format}`, [...partsOf(object, format, pretty(request, query))].join(""));
  }

  /** An answer in its final form, of any size; undefined once it is written. */
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

  /** A document that clients cache: they name the version they have, and get 304 while it is current. */
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
   * A Status; always in JSON when the client accepts nothing that is known.
   *
   * @param before Awaited between the last byte and the end of the answer. Default: nothing.
   */
  status(
    { request, response, audit }: Pick<OpenExchange, "request" | "audit"> & { readonly response: ServerResponse },
    status: Status,
    before?: Promise<void>,
  ): void {
    audit?.responseObject(() => status);
    const retryAfter = status.details?.retryAfterSeconds;
    if (retryAfter !== undefined && status.code !== 409) response.setHeader("Retry-After", String(retryAfter));
    response.setHeader("X-Content-Type-Options", "nosniff");
    const query = new URLSearchParams(request.url?.split("?", 2)[1]);
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

/** Clients whose output people read. */
const READERS = /^(curl|Wget|Mozilla\/5\.0)/;

function pretty({ headers }: IncomingMessage, query: URLSearchParams): boolean {
  const asked = query.size === 0 ? null : query.get("pretty");
  if (asked !== null) return asked !== "false" && asked !== "0";
  return READERS.test(headers["user-agent"] ?? "");
}
