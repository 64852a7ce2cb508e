import type { Attributes } from "../../apiserver/access/authorization.ts";

/** Paths that clients read before other requests, with everything below them. */
const OPEN_PATHS = ["/api", "/apis", "/healthz", "/livez", "/openapi", "/readyz", "/version"];

/** Resources by which users ask about themselves, with their groups. */
const SELF_REVIEWS: ReadonlyMap<string, string> = new Map([
  ["selfsubjectreviews", "authentication.k8s.io"],
  ["selfsubjectaccessreviews", "authorization.k8s.io"],
  ["selfsubjectrulesreviews", "authorization.k8s.io"],
]);

/**
 * Reports whether this request is exempt from every scope: reads of discovery and health, and reviews of the caller's own permissions are.
 * The authorizer may still refuse the request.
 *
 * @example
 * alwaysAllowed({ verb: "get", path: "/version" }); // true
 */
export function alwaysAllowed(attributes: Attributes): boolean {
  const { verb } = attributes;
  if ("path" in attributes) return (verb === "get" || verb === "head") && OPEN_PATHS.some((open) => isAtOrBelow(open, attributes.path));
  const { group, resource, subresource } = attributes;
  return verb === "create" && subresource === "" && SELF_REVIEWS.get(resource) === group;
}

function isAtOrBelow(open: string, path: string): boolean {
  return path === open || path.startsWith(`${open}/`);
}
