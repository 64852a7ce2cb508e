import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { startGarbageCollector } from "../../cluster/controllers/garbage-collector.ts";
import { startGracePeriodController } from "../../cluster/controllers/grace-period-controller.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import { startResealing, type ResealingOptions } from "../../apiserver/store/resealing.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { startDerivedRoles } from "../access/permissions/derived-role-controller.ts";
import type { KeyLives } from "../access/keys/key-lives.ts";
import { startLoginKeySweeper } from "../access/keys/login-key-sweeper.ts";
import { startLoginRefresher, type LoginRefresherOptions } from "../access/users/login-refresher.ts";
import type { ManagedObjects } from "../access/managed-objects.ts";
import type { ExpiringRecords } from "../records/expiring-records.ts";
import { startVaultSync, type VaultSyncOptions } from "../vault/vault-sync.ts";
import { startHousekeeping } from "./housekeeping.ts";
import type { Work } from "./leader-tasks.ts";
import type { Sharing } from "./sharing.ts";

/** Each value is a write that all servers send to their watches, so values are re-encrypted a few at a time. */
const RESEALING_PACE = { most: 16, pauseMs: 100 };
/** Pause before the next search for values to re-encrypt, in milliseconds: servers without the new first key still use the old one. */
const RESEALING_AGAIN_MS = 60_000;

/** Options of the background work. */
export interface BackgroundOptions extends Pick<Sharing, "compact" | "compactAfterMs" | "resealable"> {
  readonly store: Store;
  /** The same objects as those of `store`. */
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly passing: ExpiringRecords;
  readonly lives: KeyLives;
  /** The vault's current settings, the subscription to their changes, the reader of files, and the random numbers that spread renewals. */
  readonly vault: Pick<VaultSyncOptions, "settings" | "onSettings" | "readFile" | "chance">;
  /** How logins are refreshed. */
  readonly refreshing: Pick<LoginRefresherOptions, "logins" | "activity" | "providers" | "settings" | "metrics" | "onEnded">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The background work that one process does for all processes: derived roles, garbage collection, grace periods, ended login keys,
 * refreshed logins, expiring records, copies from a vault, compaction, and re-encryption of data that older keys encrypted. Each part
 * starts from the stored state, so a process that takes over misses nothing.
 */
export async function startBackground(options: BackgroundOptions): Promise<Work> {
  const { store, registry, objects, lives, clock, logger } = options;
  const works: Work[] = [];
  const stop = () => works.forEach((work) => work.stop());
  try {
    works.push(await startDerivedRoles({ registry, objects, logger }));
    works.push(await startGarbageCollector({ registry, store, logger, clock }));
    works.push(await startGracePeriodController({ registry, store, logger, clock }));
    works.push(startLoginKeySweeper({ registry, objects, lives, clock, logger }));
    works.push(startLoginRefresher({ objects, lives, clock, logger, ...options.refreshing }));
    works.push(startHousekeeping(options));
    works.push(startVaultSync({ ...options.vault, registry, objects, clock, logger }));
    if (options.resealable) works.push(startLedResealing({ store: options.resealable, clock, logger }));
  } catch (error) {
    stop();
    throw error;
  }
  return {
    async settled() {
      for (const work of works) await work.settled();
    },
    stop,
  };
}

/** Re-encrypts values until it is stopped. A step that another process does at the same time is harmless. */
function startLedResealing(options: Pick<ResealingOptions, "store" | "clock" | "logger">): Work {
  const resealing = startResealing({ ...options, ...RESEALING_PACE, againMs: RESEALING_AGAIN_MS });
  let ended = Promise.resolve();
  return {
    settled: () => ended,
    stop: () => void (ended = resealing.stop()),
  };
}
