import type { Clock } from "../../../base/clock.ts";
import { jsonEqual } from "../../../base/json.ts";
import type { Logger } from "../../../base/logger.ts";
import type { EtcdClient } from "./client/client.ts";
import type { EtcdLayout } from "./contents.ts";
import { MissedWrite } from "./replica.ts";
import { EtcdFailure, withHint } from "./client/failure.ts";
import { encodeWire, prefixEnd, type WireEvent, type WireWatch } from "./client/protocol.ts";

/** Dependencies and listeners of a feed. */
export interface FeedOptions {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the last revision that the local state contains. */
  readonly known: () => number;
  /** Receives later events, in order, each at least once. If it throws, the stream ends and is retried. */
  readonly onEvents: (events: readonly WireEvent[]) => void;
  /** Called when a stream begins, because etcd may have been replaced. Events are processed once it resolves, unless the feed restarts. */
  readonly onBegin: () => Promise<void>;
  /**
   * Updates the local state without the stream, because etcd has compacted the next events, or one of them is missing or cannot be read.
   * `key` is that of an object that cannot be read.
   */
  readonly onGap: (why: "compacted" | "missed", key?: string) => Promise<void>;
}

/** The error if the events after the local state were compacted. */
class Compacted extends Error {}

/** Maximum time that a stream has for its first events, in milliseconds, unless `silentMs` is longer. */
const FIRST_EVENTS_MAX_MS = 30_000;

/** One watch on everything below the prefix. Whenever the watch ends, it is resumed at the same position. */
export class Feed {
  readonly #options: FeedOptions;
  #stream = new AbortController();
  #lastMessageMs: number;
  /** Number of consecutive streams that were given up before they delivered an event. */
  #fruitless = 0;
  /** Events of an incomplete revision. */
  #rest: readonly WireEvent[] = [];
  /** Messages of a stream, held until `onBegin` has resolved. */
  #held: WireWatch[] | undefined;
  /** The error of `#begin`, which runs concurrently with the stream. */
  #failure: unknown;
  #stopped = false;
  #problem: unknown;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#lastMessageMs = options.clock.monotonic();
  }

  /** The reason why the last stream ended, until a later stream delivers events. */
  get problem(): unknown {
    return this.#problem;
  }

  /** Follows etcd until `stop`. Never rejects. */
  async run(): Promise<void> {
    let lastLost = {};
    for (let failed = 0; !this.#stopped; failed += 1) {
      const since = this.#options.known();
      const error = await this.#followOnce();
      if (this.#stopped) return;
      this.#problem = error;
      if (this.#options.known() > since) failed = 0;
      const lost = { error: withHint(error), revision: this.#options.known() };
      if (!jsonEqual(lost, lastLost)) this.#options.logger.warn("Lost the watch on etcd; restarting it", lost);
      lastLost = lost;
      await this.#options.client.pause(failed, this.#stream.signal);
    }
  }

  /**
   * Called while there are events that the stream has not delivered. A stream that has been silent for `silentMs` is replaced. If its
   * successor delivers no event either, the next one has twice the time, since a slow system may need more than `silentMs`.
   */
  prod(silentMs: number): void {
    const longestMs = Math.max(silentMs, Math.min(silentMs * 2 ** this.#fruitless, FIRST_EVENTS_MAX_MS));
    if (this.#stream.signal.aborted || this.#options.clock.monotonic() - this.#lastMessageMs <= longestMs) return;
    this.#fruitless += 1;
    this.#stream.abort();
  }

  /** Restarts the watch from the local state. */
  restart(): void {
    this.#stream.abort();
  }

  /** Ends the watch. */
  stop(): void {
    this.#stopped = true;
    this.#stream.abort();
  }

  async #followOnce(): Promise<unknown> {
    this.#stream = new AbortController();
    this.#lastMessageMs = this.#options.clock.monotonic();
    this.#failure = undefined;
    try {
      await this.#follow();
      return this.#failure;
    } catch (thrown) {
      const error = this.#failure ?? thrown;
      if (error instanceof Compacted) return this.#bridge("compacted", "etcd has compacted the events that come next");
      return error instanceof MissedWrite ? this.#bridge("missed", error.message, error.key) : error;
    }
  }

  async #bridge(why: "compacted" | "missed", message: string, key?: string): Promise<unknown> {
    try {
      await this.#options.onGap(why, key);
      return new Error(`${message}; read all data again and ended the watches of clients`);
    } catch (error) {
      return error;
    }
  }

  #follow(): Promise<void> {
    const { client, layout, known } = this.#options;
    const create_request = {
      key: encodeWire(layout.prefix),
      range_end: prefixEnd(layout.prefix),
      start_revision: String(known() + 1),
      // All missed events together may not fit into memory.
      fragment: true,
    };
    this.#rest = [];
    this.#held = undefined;
    const { signal } = this.#stream;
    const onMessage = (message: unknown) => void (signal.aborted || this.#take(message as WireWatch));
    return client.stream("/v3/watch", { create_request }, { onMessage, signal });
  }

  #take(message: WireWatch): void {
    this.#lastMessageMs = this.#options.clock.monotonic();
    const { created, canceled, cancel_reason, compact_revision } = message;
    if (canceled === true) throw this.#canceled(compact_revision, cancel_reason);
    if (created === true) void this.#begin(message);
    else if (this.#held === undefined) this.#deliver(message);
    else this.#held.push(message);
  }

  /** A restored etcd may have a different history with the same revisions, so no event is processed before that was checked. */
  async #begin(message: WireWatch): Promise<void> {
    const stream = this.#stream;
    const held = (this.#held = [message]);
    try {
      await this.#options.onBegin();
      if (stream.signal.aborted) return;
      this.#held = undefined;
      for (const one of held) this.#deliver(one);
    } catch (error) {
      if (stream.signal.aborted) return;
      this.#failure = error;
      stream.abort();
    }
  }

  #deliver({ fragment, events: received = [] }: WireWatch): void {
    const events = this.#wholeRevisions(received, fragment === true);
    this.#options.onEvents(events);
    if (received.length === 0) return;
    this.#problem = undefined;
    this.#fruitless = 0;
  }

  /** Holds back the events of the last revision of a fragment, because the fragment may end within a transaction. */
  #wholeRevisions(received: readonly WireEvent[], more: boolean): readonly WireEvent[] {
    const events = [...this.#rest, ...received];
    const last = events.at(-1)?.kv.mod_revision;
    const whole = more ? events.filter(({ kv }) => kv.mod_revision !== last) : events;
    this.#rest = more ? events.filter(({ kv }) => kv.mod_revision === last) : [];
    return whole;
  }

  #canceled(compactRevision = "0", reason = "etcd canceled it"): Error {
    if (compactRevision !== "0") return new Compacted();
    // If etcd refuses the token, only the text of the reason shows it.
    this.#options.client.forgetToken();
    return new EtcdFailure(`the watch was canceled: ${reason}`, { mayHaveHappened: false });
  }
}
