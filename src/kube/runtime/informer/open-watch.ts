import type { Chance } from "../../../base/chance.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import type { ClusterClient, ListScope, WatchEvent } from "../../object/cluster-client.ts";
import type { ResourceType } from "../../object/resource.ts";

/** Time by which a watch may end early and still counts as ended in time. */
const EARLY_MS = 1_000;
/** Time after its requested end at which a watch that has not ended is abandoned. */
export const OVERDUE_MS = 8_000;

/** How a watch is opened. */
export interface OpenWatchOptions {
  readonly client: Pick<ClusterClient, "watch">;
  readonly resource: ResourceType;
  readonly scope: ListScope;
  readonly clock: Clock;
  readonly chance: Chance;
  /** The server is asked to end the watch after a random time between this and 20% more. */
  readonly watchSeconds: number;
  /** The state after which the events begin; "list" if the watch begins with every object that exists. */
  readonly after: string;
  /** Time after the beginning at which `onSettled` is called. */
  readonly settleMs: number;
  /** Called when the watch is assumed to have delivered all missed events. */
  readonly onSettled: () => void;
  /** Ends the watch. */
  readonly stopping: AbortSignal;
}

/** One watch stream, which is opened when its first event is read. Leaving a loop over it does not close it. */
export class OpenWatch implements AsyncIterable<WatchEvent> {
  readonly #options: OpenWatchOptions;
  readonly #ending = new AbortController();
  readonly #timers: Timer[] = [];
  #events: AsyncIterator<WatchEvent> | undefined;
  readonly startedMs: number;
  readonly #timeoutSeconds: number;
  /** Monotonic time at which the server accepted it, if the client reports this; for a watch that begins with a list, of its end. */
  openedMs: number | undefined;
  /** Monotonic time of its last event. */
  receivedMs = -Infinity;
  /** True if it delivered something new, or a bookmark. */
  progressed = false;
  /** True if it was abandoned because the server did not end it. */
  overdue = false;
  /** True once the server has accepted it. */
  accepted = false;

  constructor(options: OpenWatchOptions) {
    const { clock, chance, watchSeconds, stopping } = options;
    this.#options = options;
    this.startedMs = clock.monotonic();
    this.#timeoutSeconds = Math.max(1, Math.round(watchSeconds * (1 + 0.2 * chance.fraction())));
    const giveUp = () => {
      this.overdue = true;
      this.end();
    };
    this.#timers.push(clock.schedule(this.#timeoutSeconds * 1000 + OVERDUE_MS, giveUp));
    stopping.addEventListener("abort", this.end, { once: true });
  }

  /** True once the time is over that the server was asked to keep it open. */
  get outlived(): boolean {
    return this.#options.clock.monotonic() - this.startedMs >= this.#timeoutSeconds * 1000 - EARLY_MS;
  }

  /** From now on, this is a watch like any other. */
  listed(): void {
    this.openedMs = this.#options.clock.monotonic();
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent> {
    return { next: () => (this.#events ??= this.#open()).next() };
  }

  /** Ends the stream. A loop over it ends as well. */
  readonly end = (): void => this.#ending.abort();

  /** Releases everything that belongs to the watch. */
  async close(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    this.#options.stopping.removeEventListener("abort", this.end);
    this.end();
    await this.#events?.return?.();
  }

  #open(): AsyncIterator<WatchEvent> {
    const { client, resource, scope, after } = this.#options;
    const initialEvents = after === "list";
    const onOpen = () => {
      this.accepted = true;
      if (!initialEvents) this.#settleSoon();
    };
    const start = { ...(initialEvents ? { initialEvents, resourceVersion: "" } : { resourceVersion: after }), onOpen };
    const ending = { timeoutSeconds: this.#timeoutSeconds, signal: this.#ending.signal };
    return client.watch(resource, { ...scope, ...start, bookmarks: true, ...ending })[Symbol.asyncIterator]();
  }

  #settleSoon(): void {
    const { clock, settleMs, onSettled } = this.#options;
    this.openedMs = clock.monotonic();
    // The server sends missed events right after it accepts the watch.
    this.#timers.push(clock.schedule(settleMs, onSettled));
  }
}
