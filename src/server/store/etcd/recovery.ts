/**
 * Everything is read anew when what is known here does not go on: events were lost on the way, etcd has forgotten them, or etcd was put back
 * to another past by the restoration of a backup.
 *
 * After a restoration nothing is answered from before it, and it is finished in this order: watches end; the fence is raised, which makes void
 * what counts on the past that is no more, wherever it is on its way; it is raised until etcd counts from above all that was known here, so
 * that no revision stands for two states; then everything is read.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { Cipher } from "../sqlite/cipher.ts";
import { unavailable } from "../../status.ts";
import type { EtcdClient } from "./client.ts";
import { loadContents } from "./contents.ts";
import type { EtcdContents, Layout } from "./contents.ts";
import { EtcdFailure } from "./failure.ts";
import { encodeBase64 } from "./protocol.ts";
import type { WireRange } from "./protocol.ts";
import { askPresent } from "./question.ts";
import type { KnownState, Present } from "./question.ts";
import type { Replica } from "./replica.ts";

/** What a recovery works with. */
export interface RecoveryOptions {
  readonly client: EtcdClient;
  readonly layout: Layout;
  readonly cipher: Cipher | undefined;
  /** How much of all is read. */
  readonly memory: StoreMemory;
  readonly replica: Replica;
  readonly processId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Follows etcd from what is known now. */
  readonly follow: () => void;
  /** Told when everything was read anew after a restoration. */
  readonly onRestored: () => void;
}

/** Why everything is read anew. */
export type RecoveryReason = "restored" | "compacted" | "missed";

/** Revisions by which etcd is raised at most; where more are missing, clients that were away begin anew. */
export const RAISE_MAX = 200_000;
/** Revisions that are asked for at once. */
const AT_ONCE = 128;

/** Brings a replica to the present some other way than by its watch. */
export class Recovery {
  readonly #options: RecoveryOptions;
  /** A restoration was noticed and is not finished. */
  #lost = false;
  #stuckSince: number | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RecoveryOptions) {
    this.#options = options;
    for (const reason of ["restored", "compacted", "missed"]) options.metrics.count("management_etcd_reloads_total", { reason }, 0);
  }

  /** Nothing may be answered before `run` has succeeded. */
  get due(): boolean {
    return this.#lost;
  }

  /** For how long what is in etcd could not be used although etcd answers, in milliseconds; 0 when it can be. */
  get stuckMs(): number {
    return this.#stuckSince === undefined ? 0 : this.#options.clock.monotonic() - this.#stuckSince;
  }

  /**
   * Reads everything anew, once for all who call meanwhile.
   *
   * @param why The reason, unless etcd turns out to have been restored.
   * @throws EtcdFailure while etcd can not be reached; API_UNAVAILABLE when what is there can not be used.
   */
  run(why: Exclude<RecoveryReason, "restored">): Promise<void> {
    this.#running ??= this.#run(why).finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(why: RecoveryReason): Promise<void> {
    try {
      while (!(await this.#tried(why)));
      this.#stuckSince = undefined;
    } catch (error) {
      if (error instanceof EtcdFailure && error.passing) throw error;
      this.#stuckSince ??= this.#options.clock.monotonic();
      if (!this.#lost) throw error;
      throw unavailable(`etcd has lost writes that this server has seen, and what is there now can not be used: ${messageOf(error)}`);
    }
  }

  /** False when etcd was restored meanwhile. */
  async #tried(why: RecoveryReason): Promise<boolean> {
    const { replica, client, layout, cipher, memory, logger, metrics, follow } = this.#options;
    const { known } = replica;
    const present = await this.#ask(known);
    if (!this.#lost && present.past === "other") this.#lose(known, present);
    const lost = this.#lost;
    if (!lost) metrics.count("management_etcd_reloads_total", { reason: why });
    if (present.last.revision === 0 && known.last.revision > 0) throw new Error("it was emptied");
    if (lost) await this.#raiseAbove(known.revision);
    const contents = await loadContents({ client, layout, cipher, memory });
    if (!(await this.#isWhole(contents, lost ? undefined : known))) return false;
    replica.replace(contents, lost);
    follow();
    logger.warn("Everything in etcd was read anew", { reason: lost ? "restored" : why, from: known.revision, to: contents.revision });
    this.#lost = false;
    if (lost) this.#options.onRestored();
    return true;
  }

  #lose(known: KnownState, { revision, last }: Present): void {
    const { logger, metrics, replica } = this.#options;
    this.#lost = true;
    metrics.count("management_etcd_reloads_total", { reason: "restored" });
    const states = { known: known.revision, lastKnown: known.last.revision, found: revision, lastFound: last.revision };
    logger.error("etcd has gone back in time: a backup was restored, or it was emptied", states);
    replica.view.disown();
  }

  /** All pages are of one past, which goes on from what is known here. */
  async #isWhole(contents: EtcdContents, known: KnownState | undefined): Promise<boolean> {
    const states = [contents, ...(known === undefined ? [] : [known])];
    const found = await Promise.all(states.map((state) => this.#ask(state)));
    return found.every(({ past }) => past !== "other");
  }

  async #raiseAbove(known: number): Promise<void> {
    const { client, layout, processId, logger } = this.#options;
    const put = async () => {
      const body = { key: encodeBase64(layout.fence), value: encodeBase64(`${processId} recovers`) };
      return Number(((await client.call("/v3/kv/put", body)) as WireRange).header?.revision);
    };
    let revision = await put();
    if (known - revision > RAISE_MAX) {
      logger.warn("etcd counts from far below what this server has seen: start clients anew that were away meanwhile", { known, revision });
      return;
    }
    while (revision <= known) {
      const missing = Math.min(AT_ONCE, known + 1 - revision);
      revision = Math.max(...(await Promise.all(Array.from({ length: missing }, put))));
    }
  }

  #ask(known: KnownState): Promise<Present> {
    const { client, layout } = this.#options;
    return askPresent(known, { layout, call: (path, body) => client.call(path, body) });
  }
}
