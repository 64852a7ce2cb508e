import type { Clock } from "../../../base/clock.ts";
import { jsonEqual } from "../../../base/json.ts";
import type { Logger } from "../../../base/logger.ts";
import type { EtcdClient } from "./client/client.ts";
import type { EtcdLayout } from "./contents.ts";
import { MissedWrite } from "./replica.ts";
import { EtcdFailure, withHint } from "./client/failure.ts";
import { encodeWire, prefixEnd } from "./client/protocol.ts";
import type { WireEvent, WireWatch } from "./client/protocol.ts";

/** Dependencies and listeners of a feed. */
export interface FeedOptions {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The last revision that is known. */
  readonly known: () => number;
  /** Receives later events, in order, each at least once. If it throws, the stream ends and is retried. */
  readonly onEvents: (events: readonly WireEvent[]) => void;
  /** Called when etcd begins to send; it may be another etcd. Its events are processed once this resolves, unless the feed has restarted. */
  readonly onBegin: () => Promise<void>;
  /**
   * Brings what is known to the present some other way: etcd has forgotten the next events, or one of them has not come, or cannot be read: that
   * of the object with this key.
   */
  readonly onGap: (why: "compacted" | "missed", key?: string) => Promise<void>;
}

/** The events after the local state were compacted. */
class Compacted extends Error {}

/** The longest silence that a stream is allowed before its first events, in milliseconds, unless every silence may be longer. */
const FIRST_EVENTS_MAX_MS = 30_000;

/** One watch on everything below the prefix. Whenever the watch ends, it is resumed at the same position. */
export class Feed {
  readonly #options: FeedOptions;
  #stream = new AbortController();
  #heard: number;
  /** Streams in a row that were given up without an event of theirs. */
  #fruitless = 0;
  /** Events of a revision of which more may come. */
  #rest: readonly WireEvent[] = [];
  /** Events of a stream, held until it is known whether they continue the local state. */
  #held: WireWatch[] | undefined;
  /** Why the stream was given up, where that was found out later than in its own call. */
  #failure: unknown;
  #stopped = false;
  #problem: unknown;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#heard = options.clock.monotonic();
  }

  /** Why the last stream ended, until something came after it. */
  get problem(): unknown {
    return this.#problem;
  }

  /** Follows etcd until `stop`. Never rejects. */
  async run(): Promise<void> {
    let told = {};
    for (let failed = 0; !this.#stopped; failed += 1) {
      const since = this.#options.known();
      const error = await this.#followOnce();
      if (this.#stopped) return;
      this.#problem = error;
      if (this.#options.known() > since) failed = 0;
      const lost = { error: withHint(error), revision: this.#options.known() };
      if (!jsonEqual(lost, told)) this.#options.logger.warn("Lost the watch on etcd; restarting it", lost);
      told = lost;
      await this.#options.client.pause(failed, this.#stream.signal);
    }
  }

  /**
   * There are unseen events. A stream that is silent for `silentMs` is replaced by another one. When that one brings no
   * event either, the next has twice the time: on a machine or a network that is slower than `silentMs`, none would ever come to its first.
   */
  prod(silentMs: number): void {
    const longestMs = Math.max(silentMs, Math.min(silentMs * 2 ** this.#fruitless, FIRST_EVENTS_MAX_MS));
    if (this.#stream.signal.aborted || this.#options.clock.monotonic() - this.#heard <= longestMs) return;
    this.#fruitless += 1;
    this.#stream.abort();
  }

  /** Restarts from the local state. */
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
    this.#heard = this.#options.clock.monotonic();
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
      // The missed events may not fit into memory at once.
      fragment: true,
    };
    this.#rest = [];
    this.#held = undefined;
    const { signal } = this.#stream;
    const onMessage = (message: unknown) => void (signal.aborted || this.#take(message as WireWatch));
    return client.stream("/v3/watch", { create_request }, { onMessage, signal });
  }

  #take(message: WireWatch): void {
    this.#heard = this.#options.clock.monotonic();
    const { created, canceled, cancel_reason, compact_revision } = message;
    if (canceled === true) throw this.#canceled(compact_revision, cancel_reason);
    if (created === true) void this.#begin(message);
    else if (this.#held === undefined) this.#tell(message);
    else this.#held.push(message);
  }

  /** A restored etcd may continue the revision numbers of another past: nothing is processed before that is checked. */
  async #begin(message: WireWatch): Promise<void> {
    const stream = this.#stream;
    const held = (this.#held = [message]);
    try {
      await this.#options.onBegin();
      if (stream.signal.aborted) return;
      this.#held = undefined;
      for (const one of held) this.#tell(one);
    } catch (error) {
      if (stream.signal.aborted) return;
      this.#failure = error;
      stream.abort();
    }
  }

  #tell({ fragment, events: told = [] }: WireWatch): void {
    const events = this.#wholeRevisions(told, fragment === true);
    this.#options.onEvents(events);
    if (told.length === 0) return;
    this.#problem = undefined;
    this.#fruitless = 0;
  }

  /** A message that is one of several may end within a transaction. */
  #wholeRevisions(told: readonly WireEvent[], more: boolean): readonly WireEvent[] {
    const events = [...this.#rest, ...told];
    const last = events.at(-1)?.kv.mod_revision;
    const whole = more ? events.filter(({ kv }) => kv.mod_revision !== last) : events;
    this.#rest = more ? events.filter(({ kv }) => kv.mod_revision === last) : [];
    return whole;
  }

  #canceled(compactRevision = "0", reason = "etcd canceled it"): Error {
    if (compactRevision !== "0") return new Compacted();
    // A refused token is reported in words only.
    this.#options.client.forgetToken();
    return new EtcdFailure(`the watch was canceled: ${reason}`, { mayHaveHappened: false });
  }
}
