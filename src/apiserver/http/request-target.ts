import type { IncomingMessage } from "node:http";
import { isEngineError, type EngineError } from "../../base/errors.ts";
import { badRequest } from "../types/status.ts";

/** The resource that an API path names. */
export interface ResourceTarget {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  readonly plural: string;
  /** "" when the path contains no namespace. */
  readonly namespace: string;
  /** "" for a collection. */
  readonly name: string;
  readonly subresource?: string;
  /** True if the path has the old form of a watch, with the segment `watch`. */
  readonly watch: boolean;
}

/** Subresources of a Namespace. Every other third segment names a collection in the namespace. */
const NAMESPACE_PARTS = new Set(["status", "finalize"]);

/**
 * Parses a path. Returns undefined if it names no resource. `/namespaces/x` is the Namespace itself, `/namespaces/x/services` a collection
 * in it.
 *
 * @throws API_BAD_REQUEST when a segment cannot be decoded.
 * @example
 * parseTarget("/api/v1/namespaces/shop/endpoints/db"); // { apiVersion: "v1", plural: "endpoints", namespace: "shop", name: "db", watch: false }
 */
export function parseTarget(path: string): ResourceTarget | undefined {
  const parts = path.split("/");
  const segments = path.includes("%") ? parts.map(decodeSegment) : parts;
  // Segment 0 is the empty text before the first slash.
  const core = segments[1] === "api";
  if (!core && segments[1] !== "apis") return undefined;
  // A core version with an encoded slash must not be parsed as `group/version`.
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

/** Maximum number of cached paths of collections, and the maximum length of a cached path. */
const COLLECTIONS_MAX = 100;
const COLLECTION_LENGTH_MAX = 256;
const collections = new Map<string, ResourceTarget>();

/** Like {@link parseTarget}, but returns an error instead of throwing it, because only authenticated callers may see it. */
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

/** The parsed URL of a request. */
export interface RequestPlace {
  /** The path below the base path; the whole path if it is not below the base path. Begins with a slash. */
  readonly path: string;
  /** True if the path is below the base path. */
  readonly inside: boolean;
  /** True for version and health, which require no credentials and never wait for other requests. */
  readonly open: boolean;
  /** The query, after the question mark. */
  readonly search: string;
}

const OPEN = /^\/(version|(healthz|livez|readyz)(\/[a-z]+)?)$/;

/** kubectl 1.36 and later request these paths below the base path; earlier versions request them without the base path. */
const WELL_KNOWN = "/.well-known/";

/**
 * Converts a request whose target is an absolute URL, as clients send it to a proxy, to the origin form: sets `url` to the path and query
 * of that URL, and the header `Host` to its host. A server must accept absolute URLs and ignore the original `Host` (RFC 9112, section
 * 3.2.2).
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
