import { aggregated, AGGREGATED, AGGREGATED_TYPE, coreVersions, group, groupList, resourceList } from "./discovery.ts";
import type { Answering } from "../http/answering.ts";
import type { OpenExchange } from "../http/exchange.ts";
import { sha256Hex } from "../../base/digest.ts";
import { methodNotAllowed } from "../types/status.ts";
import { negotiate } from "../http/answer/negotiation.ts";
import { createOpenApiRoutes } from "./openapi-routes.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";

/** Version of the server. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  /** A semantic version with the prefix `v`. The product's own version follows a plus sign. */
  readonly gitVersion: string;
}

/** Dependencies of the document routes. */
export interface DocumentRoutesOptions {
  readonly definitions: readonly ResourceDefinition[];
  readonly answering: Answering;
  readonly version: VersionInfo;
  /** Returns the reason why the server is not ready; undefined when it is ready. */
  readonly notReady: () => Promise<string | undefined>;
  /** Returns false when the process must be restarted. */
  readonly alive: () => boolean;
  /** Prefix of every path as clients see it. Default: none. */
  readonly basePath?: string;
}

/** Handles a request for a document. Returns false if there is no document at the path. */
export type DocumentRoutes = (exchange: OpenExchange) => Promise<boolean>;

const HEALTH = /^\/(healthz|livez|readyz)(\/[a-z]+)?$/;

/** Creates the routes for discovery, schemas, version and health. */
export function createDocumentRoutes(options: DocumentRoutesOptions): DocumentRoutes {
  const { definitions, answering, version, notReady, alive, basePath = "" } = options;
  const documents = new Map<string, () => object | undefined>([
    ["/version", () => versionDocument(version)],
    ["/", () => ({ paths: rootPaths(definitions).map((path) => `${basePath}${path}`) })],
  ]);
  for (const apiVersion of new Set(definitions.map(({ type }) => type.apiVersion))) {
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    documents.set(path, () => resourceList(definitions, apiVersion));
    if (apiVersion.includes("/")) documents.set(`/apis/${apiVersion.split("/")[0]}`, () => group(definitions, apiVersion.split("/")[0]!));
  }
  const roots = new Map<string, { plain: () => object; aggregated: object }>([
    ["/api", { plain: () => coreVersions(definitions), aggregated: aggregated(definitions, { core: true }) }],
    ["/apis", { plain: () => groupList(definitions), aggregated: aggregated(definitions, { core: false }) }],
  ]);
  const reasonAt = async (path: string) => {
    if (!path.startsWith("/livez")) return notReady();
    return alive() ? undefined : "this process must be restarted";
  };
  const openApi = createOpenApiRoutes({ definitions, answering, basePath });
  return async (exchange) => {
    if (openApi(exchange)) return true;
    const path = exchange.path === "/" ? "/" : exchange.path.replace(/\/$/, "");
    const root = roots.get(path);
    const document = documents.get(path);
    if (root === undefined && document === undefined && !HEALTH.test(path)) return false;
    if (exchange.method !== "GET" && exchange.method !== "HEAD") throw methodNotAllowed();
    if (HEALTH.test(path)) answerHealth(exchange, await reasonAt(path));
    else if (root !== undefined) answerRoot(exchange, root, answering);
    else answering.object(exchange, 200, document!()!);
    return true;
  };
}

function rootPaths(definitions: readonly ResourceDefinition[]): string[] {
  const versions = [...new Set(definitions.map(({ type }) => type.apiVersion))];
  const named = versions.map((version) => (version.includes("/") ? `/apis/${version}` : `/api/${version}`));
  return ["/api", "/apis", ...named, "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"].sort();
}

function versionDocument(version: VersionInfo): object {
  return {
    ...version,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: "linux/amd64",
  };
}

function answerHealth({ response }: OpenExchange, reason: string | undefined): void {
  response.writeHead(reason === undefined ? 200 : 503, { "Content-Type": "text/plain; charset=utf-8" });
  response.end(reason === undefined ? "ok" : `not ready: ${reason}`);
}

function answerRoot(exchange: OpenExchange, root: { plain: () => object; aggregated: object }, answering: Answering): void {
  const { request, response } = exchange;
  response.setHeader("Vary", "Accept");
  const offers = [
    { type: "application/json", value: false },
    { type: "application/json", as: AGGREGATED, value: true },
    { type: "application/yaml", value: false },
  ];
  if (!negotiate(request.headers.accept, offers)) return answering.object(exchange, 200, root.plain());
  const text = JSON.stringify(root.aggregated);
  answering.tagged(exchange, { text, type: AGGREGATED_TYPE, hash: sha256Hex(text).toUpperCase() });
}
