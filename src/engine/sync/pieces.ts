/**
 * Splits the syncer's work on the main thread into pieces: between two pieces, sockets are read, timers fire and probes are answered.
 * Otherwise, immediate answers, such as those of a cluster in the same process, would block all other work.
 *
 * @module
 */
import { nextMacrotask, type Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import { FairQueue } from "../../kube/runtime/queue/fair-queue.ts";
import { namespaceOfId } from "./state/sync-id.ts";

/** Time of continuous work after which other work proceeds, in milliseconds. */
const BREATH_MS = 10;
/** Time beyond which a piece is counted and logged, in milliseconds. */
export const LONG_PIECE_MS = 50;
/** Maximum number of objects remembered as logged for a long piece. */
const REPORTED_MAX = 1_000;

/** Owner of a piece. */
export interface PieceOf {
  /** The id of the object. */
  readonly id: string;
  /** Called with its duration, in milliseconds. */
  readonly charge?: ((costMs: number) => void) | undefined;
}

/** Runs work in pieces, so that other work can proceed between them. */
export interface Pieces {
  /**
   * Runs work that yields by itself. Other work proceeds between pieces; waiting pieces take turns by tenant namespace, so that each
   * namespace gets a fair share of the time. Rejects with the error of the work.
   */
  runAll<Result>(of: PieceOf, work: Iterator<undefined, Result>): Promise<Result>;
}

/** Dependencies of the scheduler. */
export interface PiecesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Resolves when other pending work has run. Default: {@link nextMacrotask}. */
  readonly breathe?: () => Promise<void>;
}

/** Creates a scheduler that runs work in pieces. It starts with nothing to run. */
export function createPieces({ clock, logger, metrics, breathe = nextMacrotask }: PiecesOptions): Pieces {
  const reported = new Set<string>();
  const waiting = new FairQueue<() => void>(flowOfPlace);
  let places = 0;
  let workedMs = 0;
  /** True while a piece runs or is about to run, or while other work proceeds. */
  let taken = false;
  metrics.count("endpoint_sync_long_pieces_total", {}, 0);

  function report(id: string, tookMs: number): void {
    metrics.count("endpoint_sync_long_pieces_total");
    if (reported.has(id) || reported.size >= REPORTED_MAX) return;
    reported.add(id);
    logger.info("One object blocked all other work for a long time", { id, tookMs: Math.round(tookMs) });
  }

  /** Starts the next waiting piece, after other work if that is due. */
  async function handOn(): Promise<void> {
    taken = true;
    if (workedMs >= BREATH_MS) {
      await breathe();
      workedMs = 0;
    }
    waiting.shift()![1]();
  }

  /** Resolves when it is this object's turn. */
  async function turnOf(id: string): Promise<void> {
    places += 1;
    await new Promise<void>((go) => {
      waiting.push(`${places} ${id}`, go);
      if (!taken) void handOn();
    });
  }

  return {
    async runAll({ id, charge }, work) {
      for (;;) {
        // Usually, no other work is running. Work that is added at the same moment is waiting when the piece ends.
        const isFree = !taken && waiting.size === 0 && workedMs < BREATH_MS;
        if (isFree) taken = true;
        await (isFree ? undefined : turnOf(id));
        const begunMs = clock.monotonic();
        let step;
        try {
          do step = work.next();
          while (!step.done && clock.monotonic() - begunMs < BREATH_MS);
        } finally {
          const tookMs = clock.monotonic() - begunMs;
          workedMs += tookMs;
          if (waiting.size > 0) waiting.charge(namespaceOfId(id), tookMs);
          charge?.(tookMs);
          if (tookMs > LONG_PIECE_MS) report(id, tookMs);
          taken = false;
          if (waiting.size > 0) void handOn();
        }
        if (step.done) return step.value;
      }
    },
  };
}

/** Returns the tenant namespace of a queue entry, which is a unique number and the id of an object. */
function flowOfPlace(place: string): string {
  return namespaceOfId(place.slice(place.indexOf(" ") + 1));
}
