import type { Clock, Timer } from "../../../base/clock.ts";
import { assert, EngineError, messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { deepFreeze } from "../../types/objects/json-data.ts";
import type { Cipher } from "../cipher.ts";
import { unavailable } from "../../types/status.ts";
import { demandOpens, demandRoom, type StoreMemory } from "../memory-limits.ts";
import type { ResealStep } from "../resealable.ts";
import type { StoredObject, StorePage, StoreRange, StoreWatch, StoreWatchOptions, WriteTerms } from "../store.ts";
import type { EtcdClient } from "./client/client.ts";
import type { EtcdConnection } from "./client/connection.ts";
import type { EtcdContents, EtcdLayout } from "./contents.ts";
import type { EtcdStore } from "./contract.ts";
import { alarmRaised, EtcdFailure, storeError, unknownOutcome } from "./client/failure.ts";
import { Feed } from "./feed.ts";
import type { Glance } from "./past/glance.ts";
import type { WireRange } from "./client/protocol.ts";
import { readPresent, type KnownState, type Present } from "./past/present.ts";
import { raiseAbove } from "./past/raise.ts";
import { Recovery } from "./recovery.ts";
import { Replica } from "./replica.ts";
import { EtcdResealer } from "./resealer.ts";
import { shareCalls } from "./client/share-calls.ts";
import { EtcdWriter, type EtcdWrite } from "./writer.ts";

/** Dependencies of a replicated store. */
export interface ReplicatedStoreOptions {
  readonly connection: EtcdConnection;
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly cipher: Cipher | undefined;
  readonly history: number;
  readonly memory: StoreMemory;
  /** Checks etcd's contents after a restoration. Throws to refuse them. */
  readonly admit: (found: Glance) => Promise<void>;
  readonly contents: EtcdContents;
  /** Time limits in milliseconds; see `EtcdTimes`. */
  readonly times: {
    readonly requestMs: number;
    readonly giveUpMs: number;
    readonly silentMs: number;
    readonly heartbeatMs: number;
    readonly recoverMs: number;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** An id that no other process has. */
  readonly processId: string;
}

/** Texts that etcd returns unchanged. */
const STORABLE = /^[^\0\p{Surrogate}]*$/u;

/** A store that several processes share through etcd. Closing the store closes the connection. */
export class ReplicatedStore implements EtcdStore {
  readonly #options: ReplicatedStoreOptions;
  readonly #replica: Replica;
  readonly #feed: Feed;
  readonly #writer: EtcdWriter;
  readonly #resealer: EtcdResealer;
  readonly #recovery: Recovery;
  readonly #present = shareCalls(() => this.#readPresent());
  readonly #restored = new Set<() => void>();
  readonly #writing = new Set<Promise<unknown>>();
  #heartbeat: Timer | undefined;
  /** The error of all calls once the store is closed. */
  #end: EngineError | undefined;

  constructor(options: ReplicatedStoreOptions) {
    const { client, clock, layout, logger, metrics, times, processId, cipher, memory, admit } = options;
    this.#options = options;
    const replica = new Replica(options);
    this.#replica = replica;
    this.#feed = new Feed({
      ...{ client, layout, clock, logger },
      known: () => replica.taken,
      onEvents: (events) => {
        replica.take(events);
        // Only while the store opens. Later, writes of other processes may exceed the limit.
        if (this.#heartbeat === undefined) demandOpens(replica.view.heldBytes(), options.memory);
      },
      onBegin: async () => {
        await this.#readPresent();
        void this.#tryToCatchUp();
      },
      onGap: (why, key) => this.#recovery.run(why, key),
    });
    this.#recovery = new Recovery({
      ...{ client, layout, cipher, memory, replica, processId, clock, logger, metrics, admit },
      follow: () => this.#feed.restart(),
      onRestored: () => this.#restored.forEach((listener) => listener()),
    });
    const readAgain = () => this.#recovery.run("missed");
    const moving = { reach: (revision: number) => this.#reach(revision), catchUp: () => this.#catchUp(), readAgain };
    const isLost = () => this.#recovery.due;
    this.#writer = new EtcdWriter({ client, layout, replica, cipher, clock, processId, giveUpMs: times.giveUpMs, isLost, ...moving });
    this.#resealer = new EtcdResealer({
      ...{ layout, replica, keys: cipher?.keys },
      call: (path, body) => this.#call(() => client.call(path, body) as Promise<WireRange>),
      catchUp: () => this.#catchUp(),
      write: (write) => this.#write(write),
      compact: (revision) => this.compactEtcd(revision),
    });
  }

  /** Starts the watch from the loaded contents, and resolves when the store has reached the present. */
  async start(): Promise<void> {
    void this.#feed.run();
    try {
      await this.#arrive();
    } catch (error) {
      this.#feed.stop();
      throw error;
    }
    this.#beat();
  }

  /** Catches up with etcd. A long history with large objects takes time, so this is repeated as long as there is progress. */
  async #arrive(): Promise<void> {
    for (let before = -1; ;) {
      try {
        await this.revision();
        return;
      } catch (error) {
        const { revision } = this.#replica.view;
        if (this.#end !== undefined || revision === before) throw error;
        before = revision;
      }
    }
  }

  async revision(): Promise<number> {
    await this.#catchUp();
    return this.#replica.view.revision;
  }

  async get(key: string): Promise<StoredObject | undefined> {
    await this.#catchUp();
    return this.#replica.view.get(key);
  }

  async list(range: StoreRange): Promise<StorePage> {
    // Earlier states never change, so there is no need to catch up.
    if (range.revision === undefined || range.revision > this.#replica.view.revision) await this.#catchUp();
    this.#demandOpen();
    return this.#replica.view.list(range);
  }

  async watch(options: StoreWatchOptions): Promise<StoreWatch> {
    this.#demandOpen();
    return this.#replica.view.watch(options);
  }

  oldest(): number {
    return this.#replica.view.oldest;
  }

  heldBytes(): number {
    return this.#replica.view.heldBytes();
  }

  async create(key: string, object: KubeObject, terms?: WriteTerms): Promise<StoredObject | undefined> {
    return this.#write({ ...terms, key, object: keep(object), expected: 0 });
  }

  async update(key: string, object: KubeObject, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined> {
    return expected > 0 ? this.#write({ ...terms, key, object: keep(object), expected }) : undefined;
  }

  async delete(key: string, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined> {
    return expected > 0 ? this.#write({ ...terms, key, expected }) : undefined;
  }

  async demandWritable(): Promise<void> {
    await this.#catchUp();
    // Like a write, this request requires a majority of the members.
    const ask = () => this.#options.client.call("/v3/maintenance/alarm", { action: "GET" }) as Promise<WireAlarms>;
    const [raised] = (await this.#call(ask)).alarms ?? [];
    if (raised?.alarm !== undefined) throw alarmRaised(raised.alarm);
  }

  async compact(): Promise<void> {
    await this.compactEtcd(await this.revision());
    this.#replica.view.forget();
  }

  async compactEtcd(revision: number): Promise<void> {
    this.#demandOpen();
    try {
      await this.#options.client.call("/v3/kv/compaction", { revision: String(revision) });
    } catch (error) {
      // Another process has already compacted etcd.
      if (!(error instanceof EtcdFailure && error.compacted)) throw storeError(error);
    }
  }

  sealedBy(): Promise<ReadonlyMap<string, number>> {
    return this.#resealer.count();
  }

  reseal(most: number): Promise<ResealStep> {
    return this.#resealer.step(most);
  }

  get recovers(): boolean {
    const { recoverMs } = this.#options.times;
    return recoverMs === 0 || this.#recovery.stuckMs < recoverMs;
  }

  get known(): KnownState {
    return this.#replica.known;
  }

  onRestored(listener: () => void): void {
    this.#restored.add(listener);
  }

  async raiseFence(): Promise<void> {
    this.#demandOpen();
    await this.#writer.raiseFence();
  }

  async raiseAbove(revision: number): Promise<void> {
    this.#demandOpen();
    await this.#call(() => raiseAbove(revision, this.#options));
  }

  async close(): Promise<void> {
    if (this.#end !== undefined) return;
    const closing = Promise.allSettled([...this.#writing]);
    this.#end = new EngineError("STORE_FAILED", "Cannot use the store: it is closed");
    await closing;
    this.#stop();
  }

  async #write(write: EtcdWrite): Promise<StoredObject | undefined> {
    assert(STORABLE.test(write.key), "a key contains no unpaired surrogate");
    this.#demandOpen();
    if (write.object !== undefined) demandRoom(this.#replica.view, this.#options.memory, write.key, write.object);
    const answered = { late: false };
    const demand = () => {
      if (answered.late) throw unavailable("the caller is no longer waiting for this write");
      write.demand?.();
    };
    const writing = this.#writer.write({ ...write, demand });
    this.#writing.add(writing);
    const forget = () => void this.#writing.delete(writing);
    writing.then(forget, forget);
    return this.#inTime(writing, () => {
      answered.late = true;
      return unknownOutcome("etcd does not respond");
    });
  }

  /** Waits until the local state contains every write that any process acknowledged before the call. */
  #catchUp(): Promise<void> {
    return this.#inTime(this.#follow(), () => unavailable("etcd does not respond"));
  }

  /** Rejects with `late` if a call takes too long, regardless of how long the shared work continues. */
  #inTime<T>(act: Promise<T>, late: () => EngineError): Promise<T> {
    const { clock, times } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = clock.schedule(times.giveUpMs + times.requestMs, () => reject(late()), { keepAlive: true });
      act.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  async #follow(): Promise<void> {
    for (;;) {
      this.#demandOpen();
      const { revision, last, fence, of } = await this.#present();
      await this.#reach(Math.max(last.revision, fence));
      this.#demandOpen();
      if (of !== this.#replica.past) continue;
      const { missed } = this.#replica;
      if (missed !== undefined) {
        const { problem } = this.#feed;
        if (problem instanceof EngineError) throw problem;
        await this.#call(() => this.#recovery.run("missed", missed.key));
        continue;
      }
      // The store wrote nothing between the local state and `revision`.
      if (this.#replica.last.revision >= last.revision && this.#replica.fence >= fence) return this.#replica.advance(revision);
      await this.#call(() => this.#recovery.run("missed"));
    }
  }

  async #readPresent(): Promise<Omit<Present, "past"> & { readonly of: number }> {
    const { client, layout } = this.#options;
    const replica = this.#replica;
    // The state before the request, because the watch may deliver events that are newer than the response.
    const { past: of, known } = replica;
    const ask = async () => {
      const present = await readPresent(known, { layout, call: (path, body) => client.call(path, body) });
      if (of !== replica.past || (present.past === "same" && !this.#recovery.due)) return { ...present, of };
      await this.#recovery.run("compacted");
      return { ...replica.known, of: replica.past };
    };
    return this.#call(ask);
  }

  async #call<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw storeError(error);
    }
  }

  /** Waits for a revision. @throws API_UNAVAILABLE if the watch does not reach it in time; STORE_FAILED if its events cannot be read. */
  #reach(revision: number): Promise<void> {
    const { clock, times } = this.#options;
    const deadline = clock.monotonic() + times.giveUpMs;
    return new Promise((resolve, reject) => {
      const look = () => {
        this.#feed.prod(times.silentMs);
        if (clock.monotonic() < deadline && !(this.#feed.problem instanceof EngineError)) return void (timer = wait());
        forget();
        reject(this.#behind(revision));
      };
      const wait = () => clock.schedule(Math.min(times.silentMs, times.giveUpMs), look, { keepAlive: true });
      let timer: Timer | undefined;
      const forget = this.#replica.whenReached(revision, () => {
        timer?.cancel();
        resolve();
      });
      if (this.#replica.taken < revision) timer = wait();
    });
  }

  #behind(revision: number): EngineError {
    const { problem } = this.#feed;
    if (problem instanceof EngineError) return problem;
    const why = problem === undefined ? "" : `: ${messageOf(problem)}`;
    return unavailable(`this server is at revision ${this.#replica.taken}, and etcd at ${revision}${why}`);
  }

  #beat(): void {
    const { clock, times } = this.#options;
    this.#heartbeat = clock.schedule(times.heartbeatMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    await this.#tryToCatchUp();
    if (this.#end === undefined) this.#beat();
  }

  async #tryToCatchUp(): Promise<void> {
    try {
      await this.#catchUp();
    } catch (error) {
      if (this.#end === undefined) this.#options.logger.warn("Cannot read the current state of etcd", { error: messageOf(error) });
    }
  }

  #demandOpen(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  #stop(): void {
    this.#heartbeat?.cancel();
    this.#feed.stop();
    this.#replica.view.end();
    this.#options.connection.close();
  }
}

/** The alarms that are raised, for example `NOSPACE`. */
interface WireAlarms {
  readonly alarms?: readonly { readonly alarm?: string }[];
}

/** Returns a frozen object, so that later changes by the caller do not affect the write. */
function keep(object: KubeObject): KubeObject {
  return deepFreeze({ ...object, metadata: { ...object.metadata } });
}
