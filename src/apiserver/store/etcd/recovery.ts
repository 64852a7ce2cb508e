/**
 * Reloads everything when the local state does not continue: events were lost in transit, etcd has compacted them, or a backup was
 * restored and etcd has a different history.
 *
 * After a restoration, no response contains the earlier state. The steps, in order: watches end; the current contents are checked, as at a
 * start; the fence is raised, which invalidates in-flight writes that rely on the discarded history; etcd's revision is raised above every
 * revision known here, so that no revision identifies two states; then everything is read. Nothing is written before the check has
 * succeeded, because a copy into etcd may be in progress.
 *
 * If etcd has compacted the local state, a restoration and a long absence look the same, so a restoration is assumed.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { Cipher } from "../cipher.ts";
import { unavailable } from "../../types/status.ts";
import type { EtcdClient } from "./client/client.ts";
import { demandLast, loadContents, type EtcdContents, type EtcdLayout } from "./contents.ts";
import { EtcdFailure, withHint } from "./client/failure.ts";
import { glanceAt, type Glance } from "./past/glance.ts";
import { readPresent, type KnownState, type Present } from "./past/present.ts";
import { raiseAbove, logLost } from "./past/raise.ts";
import type { Replica } from "./replica.ts";

/** Dependencies of a recovery. */
export interface RecoveryOptions {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly cipher: Cipher | undefined;
  /** Limits on the memory for the contents. */
  readonly memory: StoreMemory;
  readonly replica: Replica;
  readonly processId: string;
  /** Checks etcd's contents. Throws to refuse them. */
  readonly admit: (found: Glance) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Restarts the watch from the local state. */
  readonly follow: () => void;
  /** Called after all data was read again because of a restoration, or a possible one. */
  readonly onRestored: () => void;
}

/** The reason why all data is read again. */
export type RecoveryReason = "restored" | "compacted" | "missed";

/** Brings a replica up to date without its watch. */
export class Recovery {
  readonly #options: RecoveryOptions;
  /** The reason why the local state is void; undefined if it is valid. */
  #lost: "restored" | "compacted" | undefined;
  #stuckSince: number | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RecoveryOptions) {
    this.#options = options;
    for (const reason of ["restored", "compacted", "missed"]) options.metrics.count("management_etcd_reloads_total", { reason }, 0);
  }

  /** True if no request may be served before `run` has succeeded. */
  get due(): boolean {
    return this.#lost !== undefined;
  }

  /** Time for which etcd's contents have been unusable although etcd responds, in milliseconds; 0 if they are usable. */
  get stuckMs(): number {
    return this.#stuckSince === undefined ? 0 : this.#options.clock.monotonic() - this.#stuckSince;
  }

  /**
   * Reads all data again. Calls during a run share it.
   *
   * @param why The reason, unless etcd turns out to have been restored.
   * @param unread The key of an object that could not be read. It is read first; if that fails, nothing else is read.
   * @throws EtcdFailure while etcd cannot be reached; API_UNAVAILABLE if its contents are unusable.
   */
  run(why: Exclude<RecoveryReason, "restored">, unread?: string): Promise<void> {
    this.#running ??= this.#run(why, unread).finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(why: RecoveryReason, unread: string | undefined): Promise<void> {
    try {
      if (unread !== undefined) await glanceAt(this.#options).get(unread);
      while (!(await this.#tried(why)));
      this.#stuckSince = undefined;
    } catch (error) {
      if (error instanceof EtcdFailure && error.passing) throw error;
      this.#stuckSince ??= this.#options.clock.monotonic();
      if (this.#lost === undefined) throw error;
      throw unavailable(`etcd has lost writes that this server has seen, and its current data cannot be used: ${withHint(error)}`);
    }
  }

  /** Returns false if etcd was restored meanwhile. */
  async #tried(why: RecoveryReason): Promise<boolean> {
    const { replica, client, layout, cipher, memory, logger, metrics, follow, admit } = this.#options;
    const { known } = replica;
    const present = await this.#ask(known);
    if (this.#lost === undefined && present.past !== "same") this.#lose(known, present);
    const lost = this.#lost;
    if (lost === undefined) metrics.count("management_etcd_reloads_total", { reason: why });
    if (present.last.revision === 0 && known.last.revision > 0) await this.#refuseEmptied();
    await admit(glanceAt(this.#options));
    // If only this server has missed events, the watches of other servers must not end.
    if (lost === "restored") await raiseAbove(known.revision, this.#options);
    const contents = await loadContents({ client, layout, cipher, memory });
    if (!(await this.#isWhole(contents, lost === undefined ? known : undefined))) return false;
    await admit(glanceAt(this.#options, contents.revision));
    replica.replace(contents, lost !== undefined);
    follow();
    logger.warn("Everything in etcd was read again", { reason: lost ?? why, from: known.revision, to: contents.revision });
    this.#lost = undefined;
    if (lost !== undefined) this.#options.onRestored();
    return true;
  }

  async #refuseEmptied(): Promise<never> {
    await demandLast(this.#options);
    throw new Error("etcd was emptied. Restore a backup");
  }

  #lose(known: KnownState, present: Present): void {
    const { logger, metrics, replica } = this.#options;
    this.#lost = present.past === "other" ? "restored" : "compacted";
    metrics.count("management_etcd_reloads_total", { reason: this.#lost });
    logLost(logger, known, present);
    replica.view.disown();
  }

  /** Reports whether all pages belong to one history, which also contains the known state. */
  async #isWhole(contents: EtcdContents, known: KnownState | undefined): Promise<boolean> {
    const states = [contents, ...(known === undefined ? [] : [known])];
    const found = await Promise.all(states.map((state) => this.#ask(state)));
    return found.every(({ past }) => past === "same");
  }

  #ask(known: KnownState): Promise<Present> {
    const { client, layout } = this.#options;
    return readPresent(known, { layout, call: (path, body) => client.call(path, body) });
  }
}
