/** Faults of the replicas and their etcd, while at least one replica is left in peace at any time. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import type { Etcd } from "../../support/etcd.ts";
import type { ReplicaProcess } from "./replica-process.ts";

/** Targets of the faults. */
export interface TroublesOptions {
  readonly replicas: readonly ReplicaProcess[];
  readonly etcd: Pick<Etcd, "kill" | "start">;
  /** Cuts the connections of those who watch. */
  readonly cut: () => void;
  /** A whole number below the limit. */
  readonly upTo: (limit: number) => number;
}

/** Events of a run. */
export interface TroubleCounts {
  readonly kills: number;
  /** Of the kills, those of a replica that said that it led. */
  readonly leadersKilled: number;
  readonly pauses: number;
  readonly etcdKills: number;
  /** The fewest replicas that were left in peace at any time. */
  readonly fewestUp: number;
  /** The longest time between two kills, in seconds. */
  readonly longestPeace: number;
}

/** Between two kills, in milliseconds: from 3 to 5 s, unless too many are down. */
const KILL_MS = 3_000;
const KILL_SPREAD_MS = 2_000;
/** Between two things of another sort. */
const DISTURB_MS = 4_000;
const DISTURB_SPREAD_MS = 8_000;
const LOOK_MS = 20;

/** Troubles from now on. */
export class Troubles {
  readonly #options: TroublesOptions;
  readonly #troubled = new Map<ReplicaProcess, Promise<void>>();
  readonly #counts = { kills: 0, leadersKilled: 0, pauses: 0, etcdKills: 0, fewestUp: Infinity, longestPeace: 0 };
  readonly #running: Promise<unknown>;
  #killedMs = systemClock.monotonic();
  #over = false;

  constructor(options: TroublesOptions) {
    this.#options = options;
    this.#running = Promise.all([this.#kill(), this.#disturb()]);
  }

  get counts(): TroubleCounts {
    return this.#counts;
  }

  /** Resolves when all are up again. */
  async stop(): Promise<void> {
    this.#over = true;
    await this.#running;
    await Promise.all(this.#troubled.values());
  }

  async #kill(): Promise<void> {
    while (!this.#over) {
      await this.#wait(KILL_MS + this.#options.upTo(KILL_SPREAD_MS));
      while (!this.#over && this.#free().length < 2) await delay(systemClock, LOOK_MS);
      if (this.#over) return;
      const now = systemClock.monotonic();
      this.#counts.longestPeace = Math.max(this.#counts.longestPeace, (now - this.#killedMs) / 1_000);
      this.#killedMs = now;
      this.#trouble(async (replica) => {
        this.#counts.kills += 1;
        if (replica.leading) this.#counts.leadersKilled += 1;
        await replica.kill();
        await replica.start();
        await replica.ready();
      });
    }
  }

  async #disturb(): Promise<void> {
    const { etcd, cut, upTo } = this.#options;
    while (!this.#over) {
      await this.#wait(DISTURB_MS + upTo(DISTURB_SPREAD_MS));
      const what = upTo(3);
      if (this.#over) return;
      if (what === 0) {
        this.#counts.etcdKills += 1;
        await etcd.kill();
        await delay(systemClock, upTo(1_000));
        await etcd.start();
      } else if (what === 1) cut();
      else if (this.#free().length > 1) {
        this.#trouble(async (replica) => {
          this.#counts.pauses += 1;
          replica.pause();
          await delay(systemClock, 1_000 + upTo(2_000));
          replica.resume();
          await replica.ready();
        });
      }
    }
  }

  #free(): ReplicaProcess[] {
    return this.#options.replicas.filter((replica) => !this.#troubled.has(replica));
  }

  #trouble(act: (replica: ReplicaProcess) => Promise<void>): void {
    const free = this.#free();
    const replica = free[this.#options.upTo(free.length)]!;
    this.#counts.fewestUp = Math.min(this.#counts.fewestUp, free.length - 1);
    this.#troubled.set(
      replica,
      act(replica).finally(() => this.#troubled.delete(replica)),
    );
  }

  async #wait(ms: number): Promise<void> {
    const until = systemClock.monotonic() + ms;
    while (!this.#over && systemClock.monotonic() < until) await delay(systemClock, LOOK_MS);
  }
}
