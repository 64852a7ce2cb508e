import type { Attributes } from "../../apiserver/access/authorization.ts";

/** A name that no namespace has; only rules for every namespace match it. */
const EVERY_NAMESPACE = "\0";

/**
 * Converts a request into the form that scopes match. A request across all namespaces has the namespace "", and so has a request for
 * cluster-scoped objects; a rule for the namespace "" must allow only the latter.
 *
 * @example
 * inEveryNamespace({ verb: "get", path: "/version" }, () => true); // the same
 */
export function inEveryNamespace(attributes: Attributes, isNamespaced: (group: string, resource: string) => boolean): Attributes {
  if ("path" in attributes || attributes.namespace !== "" || !isNamespaced(attributes.group, attributes.resource)) return attributes;
  return { ...attributes, namespace: EVERY_NAMESPACE };
}
