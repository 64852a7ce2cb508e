import { startResealing } from "../../apiserver/store/resealing.ts";
import type { ResealingOptions } from "../../apiserver/store/resealing.ts";
import type { Work } from "./led-work.ts";

/** Each value is a write that all servers send to their watches, so values are sealed a few at a time. */
const PACE = { most: 16, pauseMs: 100 };
/** While a key is replaced on one server after the other, servers with another first key still seal with that. */
const AGAIN_MS = 60_000;

/** Seals values again until it is stopped. A step that another process does at the same time is harmless. */
export function startLedResealing(options: Pick<ResealingOptions, "store" | "clock" | "logger">): Work {
  const resealing = startResealing({ ...options, ...PACE, againMs: AGAIN_MS });
  let ended = Promise.resolve();
  return {
    settled: () => ended,
    stop: () => void (ended = resealing.stop()),
  };
}
