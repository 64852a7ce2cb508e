import { formatKey, parseKey } from "../object/key.ts";
import type { ObjectKey } from "../object/key.ts";

/**
 * The id of one object in the queue.
 *
 * @example
 * syncId("endpoints", { namespace: "shop", name: "db" }); // "endpoints|shop/db"
 */
export function syncId(plural: string, key: ObjectKey): string {
  return `${plural}|${formatKey(key)}`;
}

/** The inverse of {@link syncId}. */
export function parseSyncId(id: string): { plural: string; key: ObjectKey } {
  const bar = id.indexOf("|");
  return { plural: id.slice(0, bar), key: parseKey(id.slice(bar + 1)) };
}
