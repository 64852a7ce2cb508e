import type { Clock, Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Store } from "../../apiserver/store/store.ts";
import type { ExpiringRecords } from "../records/expiring-records.ts";
import type { Work } from "./leader-tasks.ts";
import { COMPACT_AFTER_MS, type Sharing } from "./sharing.ts";

/** Options of the housekeeping. */
export interface HousekeepingOptions extends Pick<Sharing, "compact" | "compactAfterMs"> {
  readonly store: Pick<Store, "revision">;
  readonly passing: Pick<ExpiringRecords, "sweep">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often expired records are removed, in milliseconds. */
const SWEEP_EVERY_MS = 60_000;

/** Removes expired records, and lets the store drop old history. */
export function startHousekeeping(options: HousekeepingOptions): Work {
  const { store, passing, compact, compactAfterMs = COMPACT_AFTER_MS, logger, clock } = options;
  let known: number | undefined;
  const forget = async () => {
    const before = known;
    known = await store.revision();
    if (before === undefined || before === known) return;
    await compact!(before);
    logger.debug("Compacted the history of the store", { revision: before });
  };
  const works = [
    repeat({ what: "remove expired records", everyMs: SWEEP_EVERY_MS, act: () => passing.sweep(), clock, logger }),
    ...(compact === undefined
      ? []
      : [repeat({ what: "compact the history of the store", everyMs: compactAfterMs, act: forget, clock, logger, atOnce: true })]),
  ];
  return {
    settled: async () => void (await Promise.all(works.map((work) => work.settled()))),
    stop: () => works.forEach((work) => work.stop()),
  };
}

interface Repeated extends Pick<HousekeepingOptions, "clock" | "logger"> {
  readonly what: string;
  readonly everyMs: number;
  readonly act: () => Promise<void>;
  /** Run at the beginning too. Default false. */
  readonly atOnce?: boolean;
}

function repeat({ what, everyMs, act, clock, logger, atOnce = false }: Repeated): Work {
  let timer: Timer | undefined;
  let acting: Promise<void> = Promise.resolve();
  let stopped = false;
  const run = async () => {
    try {
      await act();
    } catch (error) {
      if (!stopped) logger.warn(`Cannot ${what}`, { error: messageOf(error) });
    }
    wait();
  };
  const wait = () => {
    if (!stopped) timer = clock.schedule(everyMs, () => void (acting = run()));
  };
  if (atOnce) acting = run();
  else wait();
  return {
    settled: () => acting,
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
