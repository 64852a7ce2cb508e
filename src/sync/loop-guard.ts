import type { Clock } from "../base/clock.ts";

/** How much fighting is too much. */
export interface LoopGuardLimits {
  /** This many undone host edits within the window stop the sync of an object. Default 5. */
  readonly restorations: number;
  /** Length of the window in minutes. Default 10. */
  readonly minutes: number;
}

/** Notices that somebody on the host keeps undoing what the syncer writes. */
export interface LoopGuard {
  /** Counts one undone host edit. */
  restored(id: string, sourceVersion: string): void;
  /** The version of its source at which the object is left alone, if it is. */
  stoppedAt(id: string): string | undefined;
  forget(id: string): void;
}

/** A guard with nothing on its record. Keeps a few numbers per fought-over object, none for others. */
export function createLoopGuard(clock: Clock, limits: LoopGuardLimits): LoopGuard {
  const fights = new Map<string, { sourceVersion: string; times: number[] }>();
  return {
    restored(id, sourceVersion) {
      const now = clock.monotonic();
      const known = fights.get(id);
      const recent = known?.sourceVersion === sourceVersion ? known.times.filter((time) => now - time < limits.minutes * 60_000) : [];
      fights.set(id, { sourceVersion, times: [...recent, now] });
    },
    stoppedAt(id) {
      const fight = fights.get(id);
      return fight !== undefined && fight.times.length >= limits.restorations ? fight.sourceVersion : undefined;
    },
    forget: (id) => void fights.delete(id),
  };
}
