/**
 * Splits the syncer's work on the main thread into pieces: between two pieces, sockets are read, timers fire and probes are answered.
 * Otherwise, immediate answers, such as those of a cluster in the same process, would block all other work.
 *
 * @module
 */
import { nextMacrotask } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import { FairQueue } from "../../kube/runtime/queue/fair-queue.ts";
import { namespaceOfId } from "./state/sync-id.ts";

/** Time of continuous work after which other work proceeds, in milliseconds. */
const BREATH_MS = 10;
/** Time beyond which a piece is counted and logged, in milliseconds. */
export const LONG_PIECE_MS = 50;
/** Maximum number of objects remembered as logged for a long piece. */
const TOLD_MAX = 1_000;

/** Owner of a piece. */
export interface PieceOf {
  /** The id of the object. */
  readonly id: string;
  /** Called with its duration, in milliseconds. */
  readonly charge?: ((costMs: number) => void) | undefined;
}

/** Runs pieces of work, see the module comment. */
export interface Pieces {
  /**
   * Runs work that yields by itself. After some of it other work proceeds, and then those waiting for the next piece, one tenant
   * namespace after the other by what their pieces have cost. Rejects with the error of the work.
   */
  runAll<Result>(of: PieceOf, work: Iterator<undefined, Result>): Promise<Result>;
}

/** Dependencies of measuring pieces. */
export interface PiecesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Resolves when everything else has had its turn. Default: the machine's event loop decides. */
  readonly breathe?: () => Promise<void>;
}

/** Creates a scheduler that runs work in pieces. It starts with nothing to run. */
export function createPieces({ clock, logger, metrics, breathe = nextMacrotask }: PiecesOptions): Pieces {
  const told = new Set<string>();
  const waiting = new FairQueue<() => void>(flowOfPlace);
  let places = 0;
  let workedMs = 0;
  /** A task is about to run, or other work is proceeding. */
  let taken = false;
  metrics.count("endpoint_sync_long_pieces_total", {}, 0);

  function tell(id: string, tookMs: number): void {
    metrics.count("endpoint_sync_long_pieces_total");
    if (told.has(id) || told.size >= TOLD_MAX) return;
    told.add(id);
    logger.info("One object blocked all other work for a long time", { id, tookMs: Math.round(tookMs) });
  }

  /** The work goes to the next that waits. */
  async function handOn(): Promise<void> {
    taken = true;
    if (workedMs >= BREATH_MS) {
      await breathe();
      workedMs = 0;
    }
    waiting.shift()![1]();
  }

  /** Resolves when the next piece is this object's. */
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
        // Mostly nothing else is at work; what is handed in at the same moment is waiting by the end of the piece.
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
          if (tookMs > LONG_PIECE_MS) tell(id, tookMs);
          taken = false;
          if (waiting.size > 0) void handOn();
        }
        if (step.done) return step.value;
      }
    },
  };
}

/** A place in the row: a number that tells it from others, and the id of an object. */
function flowOfPlace(place: string): string {
  return namespaceOfId(place.slice(place.indexOf(" ") + 1));
}
