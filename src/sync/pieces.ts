/**
 * The syncer's work on the thread that all share, in pieces: between two of them sockets are read, timers fire and probes are answered.
 * Answers that are there already, as those of a cluster in the same process, would otherwise let nothing else have its turn.
 *
 * @module
 */
import { nextMacrotask } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Metrics } from "../base/metrics.ts";

/** After so much work in a row everything else has its turn, in milliseconds. */
const BREATH_MS = 10;
/** A piece that takes longer is counted and told, in milliseconds. */
export const LONG_PIECE_MS = 50;
/** Objects of which it is remembered that a long piece was told. */
const TOLD_MAX = 1_000;

/** What a piece belongs to. */
export interface PieceOf {
  /** The id of the object. */
  readonly id: string;
  /** Hears how long it took, in milliseconds. */
  readonly charge?: ((costMs: number) => void) | undefined;
}

/** Runs pieces of work, see the module comment. */
export interface Pieces {
  /** Others should have their turn before the next piece. */
  readonly tired: boolean;
  /** Resolves when they have had it. Whoever else waited for that may have worked since: ask again. */
  rest(): Promise<void>;
  /** Runs one piece. Throws what it throws. */
  run<Result>(of: PieceOf, work: () => Result): Result;
  /** Runs work that stops by itself, and lets others have their turn where it does, after some time. Rejects with what it throws. */
  runAll<Result>(of: PieceOf, work: Iterator<undefined, Result>): Promise<Result>;
}

/** What pieces are measured with. */
export interface PiecesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Resolves when everything else has had its turn. Default: the machine's event loop decides. */
  readonly breathe?: () => Promise<void>;
}

/** No work yet. */
export function createPieces({ clock, logger, metrics, breathe = nextMacrotask }: PiecesOptions): Pieces {
  const told = new Set<string>();
  let workedMs = 0;
  let breath: Promise<void> | undefined;
  metrics.count("endpoint_sync_long_pieces_total", {}, 0);

  async function takeBreath(): Promise<void> {
    await breathe();
    workedMs = 0;
    breath = undefined;
  }

  function tell(id: string, tookMs: number): void {
    metrics.count("endpoint_sync_long_pieces_total");
    if (told.has(id) || told.size >= TOLD_MAX) return;
    told.add(id);
    logger.info("An object takes long in one piece", { id, tookMs: Math.round(tookMs) });
  }

  const pieces: Pieces = {
    get tired() {
      return workedMs >= BREATH_MS;
    },
    rest: () => (breath ??= takeBreath()),
    run({ id, charge }, work) {
      const begunMs = clock.monotonic();
      try {
        return work();
      } finally {
        const tookMs = clock.monotonic() - begunMs;
        workedMs += tookMs;
        charge?.(tookMs);
        if (tookMs > LONG_PIECE_MS) tell(id, tookMs);
      }
    },
    async runAll(of, work) {
      const untilTired = () => {
        const begunMs = clock.monotonic();
        let step = work.next();
        while (!step.done && clock.monotonic() - begunMs < BREATH_MS) step = work.next();
        return step;
      };
      for (;;) {
        while (pieces.tired) await pieces.rest();
        const step = pieces.run(of, untilTired);
        if (step.done) return step.value;
      }
    },
  };
  return pieces;
}
