/**
 * Converts the events of a store to the records of a watch that includes only some objects: an object that starts to match is ADDED, and
 * an object that no longer matches is DELETED.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { deepFreeze } from "../../types/objects/json-data.ts";
import { withMetadata } from "../../types/objects/metadata.ts";
import type { ResourceDefinition } from "../../types/resource-definition.ts";
import type { Matches } from "../../types/selection.ts";
import { seal } from "../stages.ts";
import type { StoredObject, StoreEvent } from "../../store/store.ts";
import type { WatchRecord } from "./watch-queue.ts";

/** Returns the record of an event; undefined if the watch must not receive it. */
export type Recorder = (event: StoreEvent) => WatchRecord | undefined;

const RECORD_TYPES = { created: "ADDED", updated: "MODIFIED", deleted: "DELETED" } as const;

/** Creates the records of the objects that match, or of all objects if there is no condition. */
export function recordSelected(matches: Matches | undefined): Recorder {
  if (matches === undefined) return ({ type, object }) => ({ type: RECORD_TYPES[type], object });
  return (event) => {
    const was = event.previous !== undefined && matches(event.previous);
    const is = event.type !== "deleted" && matches(event.object);
    if (is) return { type: was ? "MODIFIED" : "ADDED", object: event.object };
    if (!was) return undefined;
    return { type: "DELETED", object: event.type === "deleted" ? event.object : lastSeen(event.previous!, event) };
  };
}

/** The objects that a watcher may see (`visible`) and wants to see (`matches`). */
export interface WatchFilter {
  readonly definition: ResourceDefinition;
  readonly visible: Matches;
  readonly matches: Matches | undefined;
  /** Objects that the watcher has seen already. */
  readonly seen: readonly StoredObject[];
}

/**
 * Creates the records for a watcher with restricted permissions. Objects can become visible or invisible without being changed, so the
 * recorder remembers which objects the watcher has received. An object that is no longer visible is reported as deleted, with only its
 * metadata.
 */
export function recordVisible({ definition, visible, matches, seen: before }: WatchFilter): Recorder {
  const seen = new Map(before.map(({ key, object }) => [key, object]));
  return (event) => {
    const { type, key, object } = event;
    const last = seen.get(key);
    const may = visible(object);
    if (type !== "deleted" && may && (matches?.(object) ?? true)) {
      seen.set(key, object);
      return { type: last === undefined ? "ADDED" : "MODIFIED", object };
    }
    if (last === undefined) return undefined;
    seen.delete(key);
    if (!may) return { type: "DELETED", object: lastSeen(bare(definition, last), event) };
    return { type: "DELETED", object: type === "deleted" ? object : lastSeen(last, event) };
  };
}

/** The last state that the watcher saw, with the revision of the event that removed it from the watch. */
function lastSeen(object: KubeObject, { revision }: StoreEvent): KubeObject {
  return deepFreeze(withMetadata(object, { resourceVersion: String(revision) }));
}

function bare(definition: ResourceDefinition, { apiVersion, kind, metadata }: KubeObject): KubeObject {
  return seal(definition, { apiVersion, kind, metadata });
}
