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
import type { ClusterClient, ListScope, WatchEvent } from "../../object/cluster-client.ts";
import { compareResourceVersions } from "../../object/resource-version.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import type { Replacement } from "./object-cache.ts";
import { OpenWatch, OVERDUE_MS } from "./open-watch.ts";
import { ListReader } from "./stream-all.ts";
import { retryAfterMs } from "../retry.ts";

/** Why a list is read. */
export type ListReason = "start" | "expired" | "failures" | "periodic" | "contradicted";

/** Receives what the reflector finds. */
export interface ReflectorSink {
  /** Receives the whole state. `history: "new"` if resourceVersions began again, as after a restore from a backup. */
  replace(list: Required<Replacement>): void;
  /** Receives one change; never a bookmark. */
  apply(event: WatchEvent): void;
  /** All changes up to this resourceVersion have been delivered, according to a bookmark. */
  passed(resourceVersion: string): void;
  /** The cache is now known to be current, or no longer is. Called only on changes. */
  setCurrent(current: boolean): void;
  /** An attempt failed, and is repeated after `retryMs`. `failures` is the number of failures in a row, from 1. */
  failed(failure: { readonly state: "list" | "watch"; readonly error: unknown; readonly failures: number; readonly retryMs: number }): void;
  listed(reason: ListReason): void;
}

/** Times and sizes, each with a default. */
export interface ReflectorTimes {
  /** Objects per page of a list; fewer if the server's responses are too large. Default 500. */
  readonly pageSize?: number;
  /** Interval of further lists, ±20%, which recover events that a server lost. 0 means never. Default 30 min. */
  readonly relistMs?: number;
  /**
   * The server is asked to end a watch after a random time between this and 20% more, in seconds. Default 28.
   *
   * This distinguishes a dead connection from a quiet one: a watch that ends in time is followed by another one on the same connection, at
   * the cost of one request. A watch that does not is abandoned a few seconds later, regardless of the state of the TCP connection.
   * Bookmarks alone are not enough, because API servers send only one a minute.
   */
  readonly watchSeconds?: number;
  /** Time after which an open watch is assumed to have delivered all missed events, in milliseconds. Default 1 s. */
  readonly settleMs?: number;
  /**
   * Delays between attempts. Default 0.4 s × 1.15^n up to 30 s, and at most 1 s in the first 5 s of an outage, in which most outages end.
   * An outage is over when a watch has been open for a second or has delivered something new.
   */
  readonly backoff?: BackoffOptions;
}

/** How a reflector is set up. */
export interface ReflectorOptions extends ReflectorTimes {
  readonly client: Pick<ClusterClient, "list" | "watch" | "streamsLists">;
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

/** A watch that lasted this long was healthy, even without events. */
const HEALTHY_MS = 5_000;
/** Time at the start of an outage in which no delay is longer than {@link DENSE_DELAY_MS}, so that repeated short ones cost little. */
const DENSE_MS = 5_000;
const DENSE_DELAY_MS = 1_000;
/** Maximum delay while another cluster responds. The check reads only one object, and all informers share it. */
const OTHER_CLUSTER_DELAY_MS = 3_000;
/** A watch that ends sooner than this, with nothing in it, counts as failed. */
const SHORT_MS = 1_000;
/** Number of failed watches in a row after which the state is listed: the server may refuse the resourceVersion itself. */
const WATCH_FAILURES_MAX = 5;
/** Number of lists in a row that are older than the known state, after which the history counts as rewritten. */
const STALE_LISTS_MAX = 5;
/** Contradictions cause at most one list in this time, because most of them come from a cache that lags behind. */
const RELIST_PAUSE_MS = 60_000;
/** Upper limit for a server's Retry-After. */
const RETRY_AFTER_MAX_MS = 5 * 60_000;
/** Failures after which a watch continues from the same resourceVersion. */
const RESUMABLE = ["API_UNAVAILABLE", "API_TOO_MANY_REQUESTS", "API_UNAUTHORIZED", "API_FORBIDDEN"] as const;

/** Follows one collection with lists and watches, and reports its state and changes to a sink. It can run only once. */
export class Reflector {
  readonly #options: ReflectorOptions & Required<ReflectorTimes>;
  readonly #stopping = new AbortController();
  /** The newest state seen; "" before the first list. */
  #resourceVersion = "";
  /** Number of failures in a row. */
  #failures = 0;
  /** The current outage and its failures. A watch that ends within {@link SHORT_MS} without anything new does not end it. */
  #outage: { readonly sinceMs: number; failures: number } | undefined;
  #staleLists = 0;
  #relistDueMs = Infinity;
  #relistReason: ListReason = "periodic";
  /** Monotonic time of the last list that {@link relist} caused, and the timer for the next one. */
  #askedMs = -Infinity;
  #asked: Timer | undefined;
  readonly #lists: ListReader;
  /** The watch that a list began, until the state "watch" takes it over. */
  #begun: OpenWatch | undefined;
  /** Ends the open watch. */
  #endWatch: () => void = () => {};
  /** Ends the current wait, if it may end early. */
  #endWait: () => void = () => {};
  #current = false;
  #pageSize: number;

  constructor(options: ReflectorOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#pageSize = this.#options.pageSize;
    this.#lists = new ListReader({ ...this.#options, signal: this.#stopping.signal });
  }

  /** Resolves when stopped. Never rejects. */
  async run(): Promise<void> {
    let state: State = { name: "list", reason: "start" };
    while (!this.#stopping.signal.aborted) state = await this.#step(state);
    await this.#takeBegun()?.close();
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

  /** Ends a wait after failures, because the cluster is known to respond again. A wait that the server requested continues. */
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
    // A list that is requested from now on is read after this one, which may not show what the request is about.
    this.#relistDueMs = Infinity;
    try {
      const open = () => this.#openWatch("list");
      const { items, resourceVersion, watch } = await this.#lists.read({ pageSize: this.#pageSize, open });
      this.#begun = watch;
      if (this.#stopping.signal.aborted) return { name: "stopped" };
      this.#takeList(items, resourceVersion);
    } catch (error) {
      await this.#takeBegun()?.close();
      // One possible reason is a page of huge objects that exceeds the client's limit.
      if (isEngineError(error, "API_ERROR")) this.#pageSize = Math.max(1, Math.floor(this.#pageSize / 4));
      return this.#retry("list", error, { name: "list", reason });
    }
    this.#options.sink.listed(reason);
    return { name: "watch" };
  }

  #takeList(items: readonly KubeObject[], resourceVersion: string): void {
    const stale = this.#resourceVersion !== "" && compareResourceVersions(resourceVersion, this.#resourceVersion) < 0;
    this.#staleLists = stale ? this.#staleLists + 1 : 0;
    // One old response comes from a server that lags behind. Repeated old responses mean that the cluster was restored from a backup, and
    // that the old state is the current one.
    if (stale && this.#staleLists < STALE_LISTS_MAX) throw staleList(resourceVersion, this.#resourceVersion);
    this.#staleLists = 0;
    this.#resourceVersion = resourceVersion;
    if (this.#relistDueMs === Infinity) this.#scheduleRelist();
    this.#options.sink.replace({ items, resourceVersion, history: stale ? "new" : "same" });
    this.#setCurrent(true);
  }

  #scheduleRelist(): void {
    const { clock, chance, relistMs } = this.#options;
    this.#relistReason = "periodic";
    this.#relistDueMs = relistMs === 0 ? Infinity : clock.monotonic() + relistMs * (0.8 + 0.4 * chance.fraction());
  }

  async #watch(): Promise<State> {
    const begun = this.#takeBegun();
    if (this.#isDue()) {
      await begun?.close();
      return { name: "list", reason: this.#relistReason };
    }
    const watch = begun ?? this.#openWatch(this.#resourceVersion);
    this.#endWatch = watch.end;
    try {
      for await (const event of watch) {
        watch.receivedMs = this.#options.clock.monotonic();
        watch.progressed = this.#takeEvent(event) || watch.progressed;
      }
    } catch (error) {
      this.#forgetOutage(watch);
      const livedMs = watch.openedMs === undefined ? 0 : this.#since(watch.openedMs);
      // A watch that lasted for a moment was not refused: its connection broke, and its resourceVersion is still valid.
      const broke = livedMs >= SHORT_MS && isEngineError(error, "API_UNAVAILABLE");
      if (livedMs >= HEALTHY_MS || broke) this.#failures = 0;
      return this.#afterWatchFailure(error);
    } finally {
      await watch.close();
    }
    return this.#afterWatchEnd(watch);
  }

  #openWatch(after: string): OpenWatch {
    return new OpenWatch({ ...this.#options, after, stopping: this.#stopping.signal, onSettled: () => this.#setCurrent(true) });
  }

  #takeBegun(): OpenWatch | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    return begun;
  }

  /** Passes an event to the sink. Returns whether it was new or a bookmark. */
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

  #afterWatchEnd(watch: OpenWatch): State {
    if (this.#stopping.signal.aborted) return { name: "stopped" };
    if (this.#isDue()) return this.#next();
    // A server that still sends events has only failed to end the watch; a silent one may have withheld events.
    if (watch.overdue && this.#since(watch.receivedMs) >= OVERDUE_MS) return this.#afterSilence();
    const livedMs = this.#since(watch.openedMs ?? watch.startedMs);
    if (livedMs < SHORT_MS && !watch.progressed) return this.#afterWatchFailure(endedAtOnce());
    if (livedMs >= HEALTHY_MS || watch.progressed) this.#failures = 0;
    this.#forgetOutage(watch);
    return this.#next();
  }

  #forgetOutage({ openedMs, progressed }: OpenWatch): void {
    if (progressed || (openedMs !== undefined && this.#since(openedMs) >= SHORT_MS)) this.#outage = undefined;
  }

  #next(): State {
    return this.#isDue() ? { name: "list", reason: this.#relistReason } : { name: "watch" };
  }

  #isDue(): boolean {
    return this.#options.clock.monotonic() >= this.#relistDueMs;
  }

  /** Continues without a delay: the time has already passed, and another connection may work. */
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
      // The first time needs no delay. A server that refuses the state that it has just listed must not be queried in a hot loop.
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

  /** Counts a failure of the current outage, and returns the delay before the next attempt. */
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

function staleList(found: string, seen: string): EngineError {
  return new EngineError("API_UNAVAILABLE", `The server listed state ${found}, which is older than the state ${seen} seen before`);
}

function endedAtOnce(): EngineError {
  return new EngineError("API_UNAVAILABLE", "The server ended the watch immediately");
}

function silent(): EngineError {
  return new EngineError("API_UNAVAILABLE", "The watch sent nothing and did not end after its timeout");
}
