import type { KubeObject } from "./types.ts";

/** Namespace and name within one kind; the namespace is "" for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The key of an object that has a name.
 *
 * @example
 * keyOf({ apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name: "db" } }); // { namespace: "shop", name: "db" }
 */
export function keyOf(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

/**
 * `namespace/name`, or just the name of a cluster-scoped object.
 *
 * @example
 * formatKey({ namespace: "shop", name: "db" }); // "shop/db"
 */
export function formatKey(key: ObjectKey): string {
  return key.namespace === "" ? key.name : `${key.namespace}/${key.name}`;
}

/**
 * Parses the output of {@link formatKey}. Namespaces and names cannot contain a slash, so the two functions are exact inverses.
 *
 * @example
 * parseKey("shop/db"); // { namespace: "shop", name: "db" }
 */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash < 0 ? { namespace: "", name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/**
 * Reports whether both keys name the same object, if they are of one kind.
 *
 * @example
 * sameKey({ namespace: "shop", name: "db" }, { namespace: "test", name: "db" }); // false
 */
export function sameKey(left: ObjectKey, right: ObjectKey): boolean {
  return left.name === right.name && left.namespace === right.namespace;
}
