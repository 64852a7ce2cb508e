import type { Clock } from "../../../base/clock.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { GONE_RETRY_MS } from "../../reconcile/machine.ts";
import type { GoneObject } from "../../reconcile/object-strategy.ts";

/**
 * Tracks cached objects of which a cluster has said that they are gone. A cache that lags shows the deletion within moments. One that still
 * has the object when the cluster is asked again has missed an event, and is doubted.
 */
export interface GoneObjects {
  /** Records the objects that a reconcile of an id has found gone, unless some are recorded: later reconciles may not ask for them again. */
  look(id: string, gone: readonly GoneObject[]): void;
  /** Doubts the caches that still have the objects of an id. Call this before each reconcile. */
  check(id: string): void;
}

/** Dependencies of the record. */
export interface GoneObjectsOptions {
  readonly clock: Clock;
  /** Returns an object as its cache has it. */
  cached(gone: GoneObject): KubeObject | undefined;
  /** Called for an object that its cache still has. */
  doubt(gone: GoneObject): void;
}

/** Creates the record, empty at first. */
export function createGoneObjects({ clock, cached, doubt }: GoneObjectsOptions): GoneObjects {
  const known = new Map<string, { readonly since: number; readonly gone: readonly GoneObject[] }>();
  return {
    look(id, gone) {
      if (gone.length > 0 && !known.has(id)) known.set(id, { since: clock.monotonic(), gone });
    },
    check(id) {
      const found = known.get(id);
      if (found === undefined || clock.monotonic() - found.since < GONE_RETRY_MS) return;
      known.delete(id);
      for (const one of found.gone) if (cached(one)?.metadata.uid === one.object.metadata.uid) doubt(one);
    },
  };
}
