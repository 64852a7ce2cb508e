/**
 * Follows one kind in one cluster for as long as it runs: it lists, watches, and starts again after every failure.
 *
 * A state machine with four states. Each step does one thing and names the state that follows:
 *
 *     list ──────────────► watch ──► watch      the server closed the stream, as it does every few minutes
 *      ▲ ▲                  │  └───► list       its resourceVersion is too old, or a relist is due
 *      │ └── wait ◄─────────┘                   anything else; then watch from the same position, or list after too many failures
 *      └──── wait ◄── list                      the list failed, or is older than the known state
 *
 * `stopped` is reached from every state.
 *
 * @module
 */
import { backoffDelay, type BackoffOptions } from "../../../base/backoff.ts";
import type { Chance } from "../../../base/chance.ts";
import { delay, type Clock, type Timer } from "../../../base/clock.ts";
import { EngineError, isEngineError } from "../../../base/errors.ts";
import type { ClusterClient, ListScope, WatchEvent, WatchOptions } from "../../object/cluster-client.ts";
import { compareResourceVersions } from "../../object/resource-version.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import { listAll } from "./list-all.ts";
import type { Replacement } from "./object-cache.ts";
import { retryAfterMs } from "../retry.ts";

/** Why a list is read. */
export type ListReason = "start" | "expired" | "failures" | "periodic" | "contradicted";

/** Receives what the reflector finds. */
export interface ReflectorSink {
  /** The whole state. `history: "new"` when resourceVersions began again, as after a restore from backup. */
  replace(list: Required<Replacement>): void;
  /** One change; never a bookmark. */
  apply(event: WatchEvent): void;
  /** All changes up to this resourceVersion have been delivered, according to a bookmark. */
  passed(resourceVersion: string): void;
  /** The copy is known to be current (again), or no longer. Called on changes only. */
  setCurrent(current: boolean): void;
  /** Something failed and is tried again in `retryMs`. `failures` counts from 1 since the last time all was well. */
  failed(failure: { readonly state: "list" | "watch"; readonly error: unknown; readonly failures: number; readonly retryMs: number }): void;
  listed(reason: ListReason): void;
}

/** Times and sizes, each with a default. */
export interface ReflectorTimes {
  /** Objects per page of a list; fewer after the server's answers turned out too large. Default 500. */
  readonly pageSize?: number;
  /** Lists again after this time, give or take a fifth, which heals events that a server lost. 0 = never. Default 30 min. */
  readonly relistMs?: number;
  /**
   * The server is asked to end a watch after a random time between this and a fifth more, in seconds. Default 28.
   *
   * That is what tells a dead connection from a quiet one: a watch that ends as agreed is followed by another one on the same
   * connection, at the price of one request; one that does not is given up a few seconds later, whatever TCP believes. Bookmarks
   * alone would not do, since API servers send one a minute.
   */
  readonly watchSeconds?: number;
  /** A resumed watch that has been open for this long has delivered what was missed. Default 1 s. */
  readonly settleMs?: number;
  /**
   * Delays between attempts. Default 0.4 s × 1.15^n up to 30 s, and up to 1 s in the first 5 s of an outage, when most of them end.
   * An outage is over when a watch has lived for a second or has delivered something.
   */
  readonly backoff?: BackoffOptions;
}

/** How a reflector is set up. */
export interface ReflectorOptions extends ReflectorTimes {
  readonly client: Pick<ClusterClient, "list" | "watch">;
  readonly resource: ResourceType;
  readonly scope: ListScope;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly sink: ReflectorSink;
}

type State =
  | { readonly name: "list"; readonly reason: ListReason }
  | { readonly name: "watch" }
  | { readonly name: "wait"; readonly delayMs: number; readonly asked: boolean; readonly then: State }
  | { readonly name: "stopped" };

const DEFAULTS: Required<ReflectorTimes> = {
  pageSize: 500,
  relistMs: 30 * 60_000,
  watchSeconds: 28,
  settleMs: 1_000,
  backoff: { initialMs: 400, maximumMs: 30_000, factor: 1.15, jitter: 0.1 },
};

/** A watch that does not end as agreed is given up this long after. */
const OVERDUE_MS = 8_000;
/** A watch that lived this long was healthy, even if nothing happened. */
const HEALTHY_MS = 5_000;
/** Time at the start of an outage in which no delay is longer than {@link DENSE_DELAY_MS}, so that repeated short ones cost little. */
const DENSE_MS = 5_000;
const DENSE_DELAY_MS = 1_000;
/** While another cluster answers, no delay is longer: the check is for one object, and it is shared. */
const OTHER_CLUSTER_DELAY_MS = 3_000;
/** A watch that ends sooner than this, with nothing in it, counts as failed. */
const SHORT_MS = 1_000;
/** Number of failed watches in a row after which the state is listed: the server may refuse the resourceVersion itself. */
const WATCH_FAILURES_MAX = 5;
/** Number of lists in a row older than the known state that mean a rewritten history. */
const STALE_LISTS_MAX = 5;
/** Contradictions cause at most one list in this time: most contradictions are a cache that lags. */
const RELIST_PAUSE_MS = 60_000;
/** A server's Retry-After counts up to this. */
const RETRY_AFTER_MAX_MS = 5 * 60_000;
/** Failures after which a watch continues from the same resourceVersion. */
const RESUMABLE = ["API_UNAVAILABLE", "API_TOO_MANY_REQUESTS", "API_UNAUTHORIZED", "API_FORBIDDEN"] as const;

/** Follows one collection by lists and watches, as the module comment describes. Starts once. */
export class Reflector {
  readonly #options: ReflectorOptions & Required<ReflectorTimes>;
  readonly #stopping = new AbortController();
  /** The newest state seen; "" before the first list. */
  #resourceVersion = "";
  /** Since the last time all was well. */
  #failures = 0;
  /** The failures of one outage, however often it was all well for less than a healthy while before. */
  #outage: { readonly sinceMs: number; failures: number } | undefined;
  #staleLists = 0;
  #relistDueMs = Infinity;
  #relistReason: ListReason = "periodic";
  /** Monotonic time at which a list was last asked for by {@link relist}, and the timer that ends the watch for it. */
  #askedMs = -Infinity;
  #asked: Timer | undefined;
  /** Ends the watch that is open. */
  #endWatch: () => void = () => {};
  /** Ends the wait that is under way, if it may end early. */
  #endWait: () => void = () => {};
  #current = false;
  #pageSize: number;

  constructor(options: ReflectorOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#pageSize = this.#options.pageSize;
  }

  /** Resolves when stopped. Never rejects. */
  async run(): Promise<void> {
    let state: State = { name: "list", reason: "start" };
    while (!this.#stopping.signal.aborted) state = await this.#step(state);
    this.#setCurrent(false);
  }

  stop(): void {
    this.#asked?.cancel();
    this.#stopping.abort();
  }

  /** Lists again soon, at most once in {@link RELIST_PAUSE_MS}. */
  relist(): void {
    if (this.#asked !== undefined || this.#stopping.signal.aborted) return;
    const { clock } = this.#options;
    const waitMs = Math.max(0, this.#askedMs + RELIST_PAUSE_MS - clock.monotonic());
    this.#asked = clock.schedule(waitMs, () => {
      this.#asked = undefined;
      this.#askedMs = this.#relistDueMs = clock.monotonic();
      this.#relistReason = "contradicted";
      this.#endWatch();
    });
  }

  /** Ends a wait after failures: the cluster is known to answer again. A wait that the server requested stays. */
  retryNow(): void {
    this.#endWait();
  }

  async #wait({ delayMs, asked }: Extract<State, { readonly name: "wait" }>): Promise<void> {
    const ending = new AbortController();
    if (!asked) this.#endWait = () => ending.abort();
    await delay(this.#options.clock, delayMs, AbortSignal.any([this.#stopping.signal, ending.signal]));
    this.#endWait = () => {};
  }

  async #step(state: State): Promise<State> {
    switch (state.name) {
      case "list":
        return this.#list(state.reason);
      case "watch":
        return this.#watch();
      case "wait":
        await this.#wait(state);
        return state.then;
      case "stopped":
        return state;
    }
  }

  async #list(reason: ListReason): Promise<State> {
    try {
      const { items, resourceVersion } = await listAll({ ...this.#options, pageSize: this.#pageSize, signal: this.#stopping.signal });
      if (this.#stopping.signal.aborted) return { name: "stopped" };
      this.#takeList(items, resourceVersion);
    } catch (error) {
      // One of the reasons is a page of huge objects that is larger than the client takes.
      if (isEngineError(error, "API_ERROR")) this.#pageSize = Math.max(1, Math.floor(this.#pageSize / 4));
      return this.#retry("list", error, { name: "list", reason });
    }
    this.#options.sink.listed(reason);
    return { name: "watch" };
  }

  #takeList(items: readonly KubeObject[], resourceVersion: string): void {
    const stale = this.#resourceVersion !== "" && compareResourceVersions(resourceVersion, this.#resourceVersion) < 0;
    this.#staleLists = stale ? this.#staleLists + 1 : 0;
    // One old answer comes from a server that lags behind. Repeated old answers mean that the cluster was
    // restored from a backup, and then the old state is the true one.
    if (stale && this.#staleLists < STALE_LISTS_MAX) throw staleList(resourceVersion, this.#resourceVersion);
    this.#staleLists = 0;
    this.#resourceVersion = resourceVersion;
    this.#scheduleRelist();
    this.#options.sink.replace({ items, resourceVersion, history: stale ? "new" : "same" });
    this.#setCurrent(true);
  }

  #scheduleRelist(): void {
    const { clock, chance, relistMs } = this.#options;
    this.#relistReason = "periodic";
    this.#relistDueMs = relistMs === 0 ? Infinity : clock.monotonic() + relistMs * (0.8 + 0.4 * chance.fraction());
  }

  async #watch(): Promise<State> {
    if (this.#isDue()) return { name: "list", reason: this.#relistReason };
    const watch = this.#prepareWatch();
    try {
      for await (const event of this.#options.client.watch(this.#options.resource, watch.options)) {
        watch.heardMs = this.#options.clock.monotonic();
        watch.progressed = this.#takeEvent(event) || watch.progressed;
      }
    } catch (error) {
      this.#forgetOutage(watch);
      const livedMs = watch.openedMs === undefined ? 0 : this.#since(watch.openedMs);
      // A watch that lived for a moment was not refused: its connection broke, and its resourceVersion is as good as before.
      const broke = livedMs >= SHORT_MS && isEngineError(error, "API_UNAVAILABLE");
      if (livedMs >= HEALTHY_MS || broke) this.#failures = 0;
      return this.#afterWatchFailure(error);
    } finally {
      watch.close();
    }
    return this.#afterWatchEnd(watch);
  }

  #prepareWatch(): Watch {
    const { scope, clock, chance, watchSeconds, settleMs } = this.#options;
    const ending = new AbortController();
    const end = () => ending.abort();
    const timeoutSeconds = Math.max(1, Math.round(watchSeconds * (1 + 0.2 * chance.fraction())));
    const giveUp = () => {
      watch.overdue = true;
      end();
    };
    const timers: Timer[] = [clock.schedule(timeoutSeconds * 1000 + OVERDUE_MS, giveUp)];
    this.#stopping.signal.addEventListener("abort", end, { once: true });
    this.#endWatch = end;
    const onOpen = () => {
      watch.openedMs = clock.monotonic();
      // The server sends missed events right after it accepts the watch.
      timers.push(clock.schedule(settleMs, () => this.#setCurrent(true)));
    };
    const close = () => {
      for (const timer of timers) timer.cancel();
      this.#stopping.signal.removeEventListener("abort", end);
      ending.abort();
    };
    const where = { ...scope, resourceVersion: this.#resourceVersion, bookmarks: true, timeoutSeconds };
    const options = { ...where, signal: ending.signal, onOpen };
    const watch: Watch = {
      options,
      startedMs: clock.monotonic(),
      openedMs: undefined,
      heardMs: -Infinity,
      progressed: false,
      overdue: false,
      close,
    };
    return watch;
  }

  /** Returns whether the event brought the copy forward. */
  #takeEvent(event: WatchEvent): boolean {
    const version = event.object.metadata.resourceVersion ?? "";
    // A state that is not newer than the last one is a repetition; the cache decides whether it counts.
    const newer = version !== "" && compareResourceVersions(version, this.#resourceVersion) > 0;
    if (event.type !== "BOOKMARK") this.#options.sink.apply(event);
    if (newer) this.#resourceVersion = version;
    if (newer) this.#failures = 0;
    if (event.type === "BOOKMARK") {
      this.#options.sink.passed(version);
      this.#setCurrent(true);
    }
    return newer || event.type === "BOOKMARK";
  }

  #afterWatchEnd(watch: Watch): State {
    if (this.#stopping.signal.aborted) return { name: "stopped" };
    if (this.#isDue()) return this.#next();
    // A server that still sends events has only failed to end the watch; a silent one may have withheld events.
    if (watch.overdue && this.#since(watch.heardMs) >= OVERDUE_MS) return this.#afterSilence();
    const livedMs = this.#since(watch.openedMs ?? watch.startedMs);
    if (livedMs < SHORT_MS && !watch.progressed) return this.#afterWatchFailure(endedAtOnce());
    if (livedMs >= HEALTHY_MS || watch.progressed) this.#failures = 0;
    this.#forgetOutage(watch);
    return this.#next();
  }

  #forgetOutage({ openedMs, progressed }: Watch): void {
    if (progressed || (openedMs !== undefined && this.#since(openedMs) >= SHORT_MS)) this.#outage = undefined;
  }

  #next(): State {
    return this.#isDue() ? { name: "list", reason: this.#relistReason } : { name: "watch" };
  }

  #isDue(): boolean {
    return this.#options.clock.monotonic() >= this.#relistDueMs;
  }

  /** The time was waited already; another connection may well work. */
  #afterSilence(): State {
    this.#failures += 1;
    this.#setCurrent(false);
    this.#options.sink.failed({ state: "watch", error: silent(), failures: this.#failures, retryMs: 0 });
    return this.#next();
  }

  #since(monotonicMs: number): number {
    return this.#options.clock.monotonic() - monotonicMs;
  }

  #afterWatchFailure(error: unknown): State {
    const expired = isEngineError(error, "API_EXPIRED");
    if (expired && this.#failures === 0) {
      // The first time costs no wait; a server that refuses what it has just listed must not be asked in a hot loop.
      this.#failures = 1;
      this.#setCurrent(false);
      return { name: "list", reason: "expired" };
    }
    const resumable = isEngineError(error, ...RESUMABLE) && this.#failures < WATCH_FAILURES_MAX;
    return this.#retry("watch", error, resumable ? { name: "watch" } : { name: "list", reason: expired ? "expired" : "failures" });
  }

  #retry(state: "list" | "watch", error: unknown, then: State): State {
    if (this.#stopping.signal.aborted) return { name: "stopped" };
    const { sink } = this.#options;
    const wishMs = Math.min(RETRY_AFTER_MAX_MS, retryAfterMs(error));
    const delayMs = Math.max(wishMs, this.#delayMs(error));
    this.#failures += 1;
    this.#setCurrent(false);
    sink.failed({ state, error, failures: this.#failures, retryMs: delayMs });
    return { name: "wait", delayMs, asked: wishMs > 0, then };
  }

  /** Counts a failure of the present outage. */
  #delayMs(error: unknown): number {
    const { backoff, chance, clock } = this.#options;
    const outage = (this.#outage ??= { sinceMs: clock.monotonic(), failures: 0 });
    const dense = this.#since(outage.sinceMs) < DENSE_MS ? DENSE_DELAY_MS : Infinity;
    const other = isEngineError(error, "CLUSTER_IDENTITY") ? OTHER_CLUSTER_DELAY_MS : Infinity;
    const maximumMs = Math.min(backoff.maximumMs, dense, other);
    return backoffDelay({ ...backoff, maximumMs }, outage.failures++, () => chance.fraction());
  }

  #setCurrent(current: boolean): void {
    if (this.#current === current) return;
    this.#current = current;
    this.#options.sink.setCurrent(current);
  }
}

/** One watch stream. */
interface Watch {
  readonly options: WatchOptions;
  readonly startedMs: number;
  /** Monotonic time at which the server accepted it, if the client tells. */
  openedMs: number | undefined;
  /** Monotonic time of its last event. */
  heardMs: number;
  /** Whether it brought the copy forward. */
  progressed: boolean;
  /** It was given up because the server did not end it. */
  overdue: boolean;
  /** Leaves nothing open, however the watch ended. */
  readonly close: () => void;
}

function staleList(found: string, seen: string): EngineError {
  return new EngineError("API_UNAVAILABLE", `The server listed state ${found}, which is older than the state ${seen} seen before`);
}

function endedAtOnce(): EngineError {
  return new EngineError("API_UNAVAILABLE", "The server ended the watch immediately");
}

function silent(): EngineError {
  return new EngineError("API_UNAVAILABLE", "The watch is silent and did not end after its timeout");
}
