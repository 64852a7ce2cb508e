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

/**
 * Takes a path apart; undefined when it names no resource. `/namespaces/x` is the object, `/namespaces/x/services` a collection in it.
 *
 * @throws API_BAD_REQUEST when a segment is not decodable.
 * @example
 * parseTarget("/api/v1/namespaces/shop/endpoints/db"); // { apiVersion: "v1", plural: "endpoints", namespace: "shop", name: "db", watch: false }
 */
export function parseTarget(path: string): ResourceTarget | undefined {
  const segments = path.split("/").map(decodeSegment);
  // The first one is what comes before the first slash.
  const core = segments[1] === "api";
  if (!core && segments[1] !== "apis") return undefined;
  const apiVersion = core ? segments[2] : `${segments[2]}/${segments[3]}`;
  const begin = core ? 3 : 4;
  const watch = segments[begin] === "watch";
  const below = segments.slice(watch ? begin + 1 : begin);
  if (apiVersion === undefined || below.length === 0 || below.includes("")) return undefined;
  const target = parseSegments(below);
  return target && { apiVersion, ...target, watch };
}

/** The same, with the error as a value: only known callers learn what is wrong with a path. */
export function targetOrFault(path: string): ResourceTarget | EngineError | undefined {
  try {
    return parseTarget(path);
  } catch (error) {
    if (isEngineError(error)) return error;
    throw error;
  }
}

/** Parts of a namespace itself; every other third segment is a collection in it. */
const NAMESPACE_PARTS = new Set(["status", "finalize"]);

function parseSegments(segments: readonly string[]): Omit<ResourceTarget, "apiVersion" | "watch"> | undefined {
  const inNamespace = segments[0] === "namespaces" && segments.length > 2 && !(segments.length === 3 && NAMESPACE_PARTS.has(segments[2]!));
  const [plural = "", name = "", subresource, ...more] = inNamespace ? segments.slice(2) : segments;
  if (more.length > 0) return undefined;
  return { plural, namespace: inNamespace ? segments[1]! : "", name, ...(subresource !== undefined && { subresource }) };
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) throw badRequest(`the path segment ${JSON.stringify(segment)} cannot be decoded`);
    throw error;
  }
}

/**
 * The path below the base path; undefined when it is outside.
 *
 * @example
 * pathBelow("/kubernetes/management", "/kubernetes/management/api"); // "/api"
 */
export function pathBelow(basePath: string, path: string): string | undefined {
  if (basePath === "") return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/**
 * Splits a text at the first separator; without one, returns the whole text and "".
 *
 * @example
 * splitOnce("a?b?c", "?"); // ["a", "b?c"]
 */
export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
