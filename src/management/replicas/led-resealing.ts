import { startResealing } from "../../apiserver/store/resealing.ts";
import type { ResealingOptions } from "../../apiserver/store/resealing.ts";
import type { Work } from "./led-work.ts";

/** Each value is a write that all servers tell their watches of, so they come few at a time. */
const PACE = { most: 16, pauseMs: 100 };
/** Servers whose first key is another one, while a key is replaced on one after the other, seal with it meanwhile. */
const AGAIN_MS = 60_000;

/** Seals values again until it is stopped. A step that another process does at the same time does no harm. */
export function startLedResealing(options: Pick<ResealingOptions, "store" | "clock" | "logger">): Work {
  const resealing = startResealing({ ...options, ...PACE, againMs: AGAIN_MS });
  let ended = Promise.resolve();
  return {
    settled: () => ended,
    stop: () => void (ended = resealing.stop()),
  };
}
