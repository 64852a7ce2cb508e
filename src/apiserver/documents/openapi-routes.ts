import type { Answering } from "../http/answering.ts";
import type { OpenExchange } from "../http/exchange.ts";
import { negotiate, parseAccept } from "../http/answer/negotiation.ts";
import { openApiDocuments, openApiIndex, type OpenApiDocument } from "./openapi.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import { methodNotAllowed, noSuchPath } from "../types/status.ts";

/** Dependencies of the schema routes. */
export interface OpenApiRoutesOptions {
  readonly definitions: readonly ResourceDefinition[];
  readonly answering: Answering;
  /** Prefix of every path as clients see it; "" for none. */
  readonly basePath: string;
}

const ROOT = "/openapi/v3";
const JSON_ONLY = [{ type: "application/json", value: "json" }];

const SECOND_VERSION = "/openapi/v2";
const SECOND_VERSION_ACCEPTED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/**
 * An OpenAPI v2 document in protobuf that describes no kind. kubectl requests it before it writes a List (old versions: before any write),
 * and validates only kinds that the document describes. The server validates the others.
 */
const NO_SCHEMAS = {
  text: protobuf(1, "2.0") + protobuf(2, protobuf(1, "endpoint-sync") + protobuf(2, "unversioned")) + protobuf(8, ""),
  type: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  hash: "none",
};

/** Encodes a field of a protobuf message. The number must be below 16, and the content ASCII text of fewer than 128 characters. */
function protobuf(number: number, content: string): string {
  return String.fromCharCode((number << 3) | 2, content.length) + content;
}

/** Creates the handler of requests below `/openapi`. It returns false for other paths, and builds the documents at the first request. */
export function createOpenApiRoutes({ definitions, answering, basePath }: OpenApiRoutesOptions): (exchange: OpenExchange) => boolean {
  let made: readonly OpenApiDocument[] | undefined;
  return (exchange) => {
    if (!exchange.path.startsWith("/openapi/")) return false;
    if (exchange.method !== "GET" && exchange.method !== "HEAD") throw methodNotAllowed();
    const { accept = "" } = exchange.request.headers;
    if (exchange.path === SECOND_VERSION && parseAccept(accept).some(({ type }) => type === SECOND_VERSION_ACCEPTED)) {
      answering.tagged(exchange, NO_SCHEMAS);
      return true;
    }
    negotiate(accept, JSON_ONLY);
    const documents = (made ??= openApiDocuments(definitions));
    if (exchange.path === ROOT) answering.object(exchange, 200, openApiIndex(documents, basePath));
    else answerDocument(exchange, { answering, documents, basePath });
    return true;
  };
}

interface Published extends Omit<OpenApiRoutesOptions, "definitions"> {
  readonly documents: readonly OpenApiDocument[];
}

function answerDocument(exchange: OpenExchange, { answering, documents, basePath }: Published): void {
  const { path, query, response } = exchange;
  const document = documents.find((candidate) => path === `${ROOT}/${candidate.path}`);
  if (document === undefined) throw noSuchPath();
  const { text, hash } = document;
  const wanted = query.get("hash");
  if (wanted !== null && wanted !== hash) {
    return void response.writeHead(301, { Location: `${basePath}${ROOT}/${document.path}?hash=${hash}` }).end();
  }
  // A URL with the hash always has the same content.
  if (wanted !== null) response.setHeader("Cache-Control", "public, immutable");
  answering.tagged(exchange, { text, type: "application/json", hash });
}
