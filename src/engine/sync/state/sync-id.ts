import { formatKey, parseKey, type ObjectKey } from "../../../kube/object/key.ts";

/** First part of an id that means the backends of a Service instead of a single object. */
export const BACKENDS = "backends";

/**
 * The id of one object in the queue.
 *
 * @example
 * syncId("endpoints", { namespace: "shop", name: "db" }); // "endpoints|shop/db"
 */
export function syncId(plural: string, key: ObjectKey): string {
  return `${plural}|${formatKey(key)}`;
}

/**
 * The tenant namespace of an id, or "" if it belongs to none. Namespaces share the workers fairly.
 *
 * @example
 * namespaceOfId("endpoints|shop/db"); // "shop"
 */
export function namespaceOfId(id: string): string {
  const bar = id.indexOf("|");
  const slash = id.indexOf("/", bar);
  return bar < 0 || slash < 0 ? "" : id.slice(bar + 1, slash);
}

/** Parses an id; the inverse of {@link syncId}. */
export function parseSyncId(id: string): { plural: string; key: ObjectKey } {
  const bar = id.indexOf("|");
  return { plural: id.slice(0, bar), key: parseKey(id.slice(bar + 1)) };
}
