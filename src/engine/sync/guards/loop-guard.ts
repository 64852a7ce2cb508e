import type { Clock } from "../../../base/clock.ts";
import type { WriteLimits } from "./write-limiter.ts";

/** Limits after which the syncer no longer undoes another writer's changes, or only rarely. */
export interface LoopGuardLimits extends WriteLimits {
  /** Number of undone host edits, or of recreated copies, within the window after which the guard acts. Default 5. */
  readonly restorations: number;
  /** Length of the window in minutes. Default 10. */
  readonly minutes: number;
}

/**
 * Detects that a client on the host keeps undoing the syncer's writes. Repeated edits of a copy are then left alone until the source
 * changes. A copy that is deleted repeatedly is still recreated, because its object does not work without it, but only rarely.
 */
export interface LoopGuard {
  /** Counts one undone host edit. */
  restored(id: string, sourceVersion: string): void;
  /** Returns the version of its source at which the object is left alone; undefined if it is not. */
  stoppedAt(id: string): string | undefined;
  /** Counts one recreation of a deleted copy. */
  recreated(id: string, sourceVersion: string): void;
  /** True while a recreation of the copy of this version counts. */
  hasRecreated(id: string, sourceVersion: string): boolean;
  /** Returns the milliseconds until the copy of this version may be recreated; 0 if that is possible immediately. */
  recreationWaitMs(id: string, sourceVersion: string): number;
  forget(id: string): void;
}

/** Creates a loop guard. It keeps a few numbers for each object that another writer changes back, and none for others. */
export function createLoopGuard(clock: Clock, limits: LoopGuardLimits): LoopGuard {
  const restorations = new Map<string, Fight>();
  const recreations = new Map<string, Fight>();
  const windowMs = limits.minutes * 60_000;

  function recent(fights: ReadonlyMap<string, Fight>, id: string, sourceVersion: string): readonly number[] {
    const known = fights.get(id);
    if (known?.sourceVersion !== sourceVersion) return [];
    return known.times.filter((time) => clock.monotonic() - time < windowMs);
  }

  function count(fights: Map<string, Fight>, id: string, sourceVersion: string): void {
    fights.set(id, { sourceVersion, times: [...recent(fights, id, sourceVersion), clock.monotonic()] });
  }

  return {
    restored: (id, sourceVersion) => count(restorations, id, sourceVersion),
    stoppedAt(id) {
      const fight = restorations.get(id);
      return fight !== undefined && fight.times.length >= limits.restorations ? fight.sourceVersion : undefined;
    },
    recreated: (id, sourceVersion) => count(recreations, id, sourceVersion),
    hasRecreated: (id, sourceVersion) => recent(recreations, id, sourceVersion).length > 0,
    recreationWaitMs(id, sourceVersion) {
      const times = recent(recreations, id, sourceVersion);
      if (times.length < limits.restorations) return 0;
      return Math.max(0, times.at(-1)! + windowMs / limits.restorations - clock.monotonic());
    },
    forget(id) {
      restorations.delete(id);
      recreations.delete(id);
    },
  };
}

/** Undone writes of one version, with times. */
interface Fight {
  readonly sourceVersion: string;
  readonly times: readonly number[];
}
