import { EngineError } from "../../base/errors.ts";
import { groupOf, type ResourceType } from "../object/resource.ts";

/** Target of a request path. */
export interface PathTarget {
  /** "" or left out: every namespace, or a cluster-scoped object. */
  readonly namespace?: string | undefined;
  /** Left out: the collection. */
  readonly name?: string | undefined;
}

/** Values of query parameters; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Returns the path of an object or a collection below the server's address.
 *
 * @throws API_BAD_REQUEST when namespace or name cannot be a path segment: "." and ".." would point elsewhere.
 * @example
 * resourcePath(ENDPOINTS, { namespace: "shop", name: "db" }); // "/api/v1/namespaces/shop/endpoints/db"
 */
export function resourcePath(resource: ResourceType, { namespace, name }: PathTarget): string {
  const base = groupOf(resource) === "" ? "/api/" : "/apis/";
  const scope = resource.namespaced && namespace ? `/namespaces/${segment(namespace)}` : "";
  const object = name === undefined ? "" : `/${segment(name)}`;
  return `${base}${resource.apiVersion}${scope}/${resource.plural}${object}`;
}

function segment(text: string): string {
  if (text === "" || text === "." || text === "..") {
    throw new EngineError("API_BAD_REQUEST", `Cannot address an object by ${JSON.stringify(text)}: expected a name`);
  }
  return encodeURIComponent(text);
}

/**
 * Formats a query string with its question mark; "" if nothing is set.
 *
 * @example
 * queryString({ limit: 500, continue: undefined }); // "?limit=500"
 */
export function queryString(query: Query): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parts.push(`${name}=${encodeURIComponent(value)}`);
  }
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
