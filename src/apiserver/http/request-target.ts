import type { IncomingMessage } from "node:http";
import { isEngineError } from "../../base/errors.ts";
import type { EngineError } from "../../base/errors.ts";
import { badRequest } from "../types/status.ts";

/** Resource named by an API path. */
export interface ResourceTarget {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  readonly plural: string;
  /** "" when the path names none. */
  readonly namespace: string;
  /** "" for a collection. */
  readonly name: string;
  readonly subresource?: string;
  /** The old form `/watch/` of watching. */
  readonly watch: boolean;
}

/** Parts of a namespace itself; every other third segment is a collection in it. */
const NAMESPACE_PARTS = new Set(["status", "finalize"]);

/**
 * Parses a path; undefined if it names no resource. `/namespaces/x` is the Namespace itself, `/namespaces/x/services` a collection in it.
 *
 * @throws API_BAD_REQUEST when a segment cannot be decoded.
 * @example
 * parseTarget("/api/v1/namespaces/shop/endpoints/db"); // { apiVersion: "v1", plural: "endpoints", namespace: "shop", name: "db", watch: false }
 */
export function parseTarget(path: string): ResourceTarget | undefined {
  const parts = path.split("/");
  const segments = path.includes("%") ? parts.map(decodeSegment) : parts;
  // The first segment is the text before the first slash.
  const core = segments[1] === "api";
  if (!core && segments[1] !== "apis") return undefined;
  // A version with an encoded slash is not a group.
  if (core && segments[2]?.includes("/")) return undefined;
  const apiVersion = core ? segments[2] : `${segments[2]}/${segments[3]}`;
  const begin = core ? 3 : 4;
  const watch = segments[begin] === "watch";
  const below = segments.slice(watch ? begin + 1 : begin);
  if (apiVersion === undefined || below.length === 0 || below.includes("")) return undefined;
  const inNamespace = below[0] === "namespaces" && below.length > 2 && !(below.length === 3 && NAMESPACE_PARTS.has(below[2]!));
  const [plural = "", name = "", subresource, ...more] = inNamespace ? below.slice(2) : below;
  if (more.length > 0) return undefined;
  const namespace = inNamespace ? below[1]! : "";
  return { apiVersion, plural, namespace, name, ...(subresource !== undefined && { subresource }), watch };
}

/** Paths of collections that are remembered, which are few and asked for often, and the length of a longer one that is not. */
const COLLECTIONS_MAX = 100;
const COLLECTION_LENGTH_MAX = 256;
const collections = new Map<string, ResourceTarget>();

/** As {@link parseTarget}, but returns an error instead of throwing it: only authenticated callers may see what is wrong with a path. */
export function targetOrFault(path: string): ResourceTarget | EngineError | undefined {
  const known = collections.get(path);
  if (known !== undefined) return known;
  try {
    const target = parseTarget(path);
    if (target?.name !== "" || path.length > COLLECTION_LENGTH_MAX) return target;
    if (collections.size >= COLLECTIONS_MAX) collections.clear();
    collections.set(path, Object.freeze(target));
    return target;
  } catch (error) {
    if (isEngineError(error)) return error;
    throw error;
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) throw badRequest(`the path segment ${JSON.stringify(segment)} cannot be decoded`);
    throw error;
  }
}

/** Where the URL of a request leads. */
export interface RequestPlace {
  /** The path below the base path; the whole path if it is not below the base path. Begins with a slash. */
  readonly path: string;
  /** True if the path is below the base path. */
  readonly inside: boolean;
  /** Version and health: they need no credentials and never wait for others. */
  readonly open: boolean;
  /** The query, after the question mark. */
  readonly search: string;
}

const OPEN = /^\/(version|(healthz|livez|readyz)(\/[a-z]+)?)$/;

/** kubectl 1.36 and newer request these paths below the base path, older versions next to it. */
const WELL_KNOWN = "/.well-known/";

/**
 * Gives a request whose target is a whole URL, as proxies send it, the path of that URL and its host. A server must accept this form, and ignore
 * the header `Host` beside it (RFC 9112, section 3.2.2).
 */
export function useOriginForm(request: Pick<IncomingMessage, "url" | "headers">): void {
  const [, authority, rest] = /^https?:\/\/([^/?]*)(.*)$/is.exec(request.url ?? "") ?? [];
  if (authority === undefined || rest === undefined) return;
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  request.headers.host = authority.slice(authority.lastIndexOf("@") + 1);
}

/**
 * Parses the URL of a request. `basePath` is "" or begins with a slash.
 *
 * @example
 * parsePlace("/platform/api?limit=1", "/platform"); // { path: "/api", inside: true, open: false, search: "limit=1" }
 */
export function parsePlace(url: string, basePath: string): RequestPlace {
  const end = url.indexOf("?");
  const whole = end < 0 ? url : url.slice(0, end);
  const below = whole.startsWith(basePath) && (basePath === "" || whole.length === basePath.length || whole[basePath.length] === "/");
  const path = below ? whole.slice(basePath.length) || "/" : whole;
  const inside = below && (basePath === "" || !path.startsWith(WELL_KNOWN));
  return { path, inside, open: OPEN.test(path), search: end < 0 ? "" : url.slice(end + 1) };
}
