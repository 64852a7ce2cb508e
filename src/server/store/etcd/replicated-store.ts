import type { Clock, Timer } from "../../../base/clock.ts";
import { assert, EngineError, messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { KubeObject } from "../../../object/types.ts";
import { deepFreeze } from "../../objects/json-data.ts";
import type { Cipher } from "../sqlite/cipher.ts";
import { unavailable } from "../../status.ts";
import { demandOpens, demandRoom } from "../memory-limits.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { Resealable, ResealStep } from "../resealable.ts";
import type { Store, StoredObject, StorePage, StoreRange, StoreWatch, StoreWatchOptions } from "../store.ts";
import type { EtcdClient } from "./client.ts";
import type { Connection } from "./connection.ts";
import { loadContents, readLast } from "./contents.ts";
import type { EtcdContents, Layout } from "./contents.ts";
import { alarmRaised, EtcdFailure, storeError, unknownOutcome, unusable } from "./failure.ts";
import { Feed } from "./feed.ts";
import { decodeText, encodeBase64 } from "./protocol.ts";
import type { WireRange } from "./protocol.ts";
import { Replica } from "./replica.ts";
import { Resealer } from "./resealer.ts";
import { shareCalls } from "./share-calls.ts";
import { Writer } from "./writer.ts";
import type { EtcdWrite } from "./writer.ts";

/** What a replicated store is made of. */
export interface ReplicatedStoreOptions {
  readonly connection: Connection;
  readonly client: EtcdClient;
  readonly layout: Layout;
  readonly cipher: Cipher | undefined;
  readonly history: number;
  readonly memory: StoreMemory;
  readonly contents: EtcdContents;
  /** In milliseconds. */
  readonly times: { readonly requestMs: number; readonly giveUpMs: number; readonly silentMs: number; readonly heartbeatMs: number };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Unlike that of any other process. */
  readonly processId: string;
}

/** How far the history in etcd goes. */
interface Present {
  /** Of everything in etcd. */
  readonly revision: number;
  /** Of the last write to this store; 0 before the first. */
  readonly last: number;
}

/** Text that comes back from etcd as it went in. */
const STORABLE = /^[^\0\p{Surrogate}]*$/u;

/** A store in etcd. What is sealed anew there is a write like any other, under the next revision; see `resealer.ts`. */
export interface EtcdStore extends Store, Resealable {
  /**
   * Lets etcd forget what was before a revision, in all that it keeps, as `etcdctl compact` does. What processes have in memory stays:
   * watches and pages of older states go on there. A process that has not seen the revision yet reads everything anew.
   *
   * @throws API_UNAVAILABLE while etcd can not be reached.
   */
  compactEtcd(revision: number): Promise<void>;
  /** The same store for a writer that may lose the right to write: `demand` is asked before each attempt, and throws then. */
  asking(demand: () => void): Store;
  /**
   * Makes void every write that is on its way, from all processes; those that may still write do so anew. Who takes over a right to write
   * calls it first: whatever was asked for before comes too late then.
   *
   * @throws API_UNAVAILABLE while etcd can not be reached.
   */
  raiseFence(): Promise<void>;
}

/** The store of one process of several. It closes the connection in the end. */
export class ReplicatedStore implements EtcdStore {
  readonly #options: ReplicatedStoreOptions;
  readonly #replica: Replica;
  readonly #feed: Feed;
  readonly #writer: Writer;
  readonly #resealer: Resealer;
  readonly #present = shareCalls(() => this.#readPresent());
  readonly #writing = new Set<Promise<unknown>>();
  #heartbeat: Timer | undefined;
  /** Why nothing works any more. */
  #end: EngineError | undefined;

  constructor(options: ReplicatedStoreOptions) {
    const { client, clock, layout, logger, times, processId, cipher } = options;
    this.#options = options;
    const replica = new Replica(options);
    this.#replica = replica;
    this.#feed = new Feed({
      ...{ client, layout, clock, logger },
      known: () => replica.view.revision,
      onEvents: (events) => {
        replica.take(events);
        // Later the others decide how much there is.
        if (this.#heartbeat === undefined) demandOpens(replica.view.heldBytes(), options.memory);
      },
      onGap: () => this.#reload(),
    });
    const reach = (revision: number) => this.#reach(revision);
    this.#writer = new Writer({ client, layout, replica, cipher, clock, processId, giveUpMs: times.giveUpMs, reach });
    this.#resealer = new Resealer({
      ...{ layout, replica, keys: cipher?.keys },
      call: (path, body) => this.#call(() => client.call(path, body)),
      catchUp: () => this.#catchUp(),
      write: (write) => this.#write(write),
      compact: (revision) => this.compactEtcd(revision),
    });
  }

  /** Follows etcd from the contents to the present, and then on. */
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

  /** Large objects of the past take their time: as long as more of them come, the present will. */
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
    // A state that is known here does not change any more.
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

  async create(key: string, object: KubeObject): Promise<StoredObject | undefined> {
    return this.#write({ key, object: keep(object), expected: 0 });
  }

  async update(key: string, object: KubeObject, expected: number): Promise<StoredObject | undefined> {
    return expected > 0 ? this.#write({ key, object: keep(object), expected }) : undefined;
  }

  async delete(key: string, expected: number): Promise<StoredObject | undefined> {
    return expected > 0 ? this.#write({ key, expected }) : undefined;
  }

  async demandWritable(): Promise<void> {
    await this.#catchUp();
    // All members agree on the answer as they do on a write.
    const answer: object = await this.#call(() => this.#options.client.call("/v3/maintenance/alarm", { action: "GET" }));
    const [raised] = (answer as { readonly alarms?: readonly { readonly alarm?: string }[] }).alarms ?? [];
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
      // Somebody else was faster, which is what was wanted.
      if (!(error instanceof EtcdFailure && error.compacted)) throw storeError(error);
    }
  }

  sealedBy(): Promise<ReadonlyMap<string, number>> {
    return this.#resealer.count();
  }

  reseal(most: number): Promise<ResealStep> {
    return this.#resealer.step(most);
  }

  asking(demand: () => void): Store {
    return {
      revision: () => this.revision(),
      get: (key) => this.get(key),
      list: (range) => this.list(range),
      watch: (options) => this.watch(options),
      create: async (key, object) => this.#write({ key, object: keep(object), expected: 0, demand }),
      update: async (key, object, expected) => (expected > 0 ? this.#write({ key, object: keep(object), expected, demand }) : undefined),
      delete: async (key, expected) => (expected > 0 ? this.#write({ key, expected, demand }) : undefined),
      oldest: () => this.oldest(),
      heldBytes: () => this.heldBytes(),
      demandWritable: () => this.demandWritable(),
      compact: async () => {
        demand();
        await this.compact();
      },
      close: () => this.close(),
    };
  }

  async raiseFence(): Promise<void> {
    this.#demandOpen();
    await this.#writer.raiseFence();
  }

  async close(): Promise<void> {
    if (this.#end !== undefined) return;
    const closing = Promise.allSettled([...this.#writing]);
    this.#end = new EngineError("STORE_FAILED", "Cannot use the store: it is closed");
    await closing;
    this.#stop();
  }

  async #write(write: EtcdWrite): Promise<StoredObject | undefined> {
    assert(STORABLE.test(write.key), "keys are made of whole characters");
    this.#demandOpen();
    if (write.object !== undefined) demandRoom(this.#replica.view, this.#options.memory, write.key, write.object);
    const answered = { late: false };
    const demand = () => {
      if (answered.late) throw unavailable("nobody waits for this write any more");
      write.demand?.();
    };
    const writing = this.#writer.write({ ...write, demand });
    this.#writing.add(writing);
    const forget = () => void this.#writing.delete(writing);
    writing.then(forget, forget);
    return this.#inTime(writing, () => {
      answered.late = true;
      return unknownOutcome("etcd does not answer");
    });
  }

  /** Brings this process as far as every write that was acknowledged, to whomever, before the call. */
  #catchUp(): Promise<void> {
    return this.#inTime(this.#follow(), () => unavailable("etcd does not answer"));
  }

  /** Whoever asks is answered in time, counted from when he asks, whatever others wait for. */
  #inTime<T>(act: Promise<T>, late: () => EngineError): Promise<T> {
    const { clock, times } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = clock.schedule(times.giveUpMs + times.requestMs, () => reject(late()), { keepAlive: true });
      act.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  async #follow(): Promise<void> {
    this.#demandOpen();
    const { revision, last } = await this.#present();
    await this.#reach(last);
    this.#demandOpen();
    // Between the two nothing of this store was written.
    this.#replica.advance(revision);
  }

  async #readPresent(): Promise<Present> {
    const { client, layout } = this.#options;
    // As it is when the question is asked: what the watch tells meanwhile may be younger than the answer.
    const { marked, view } = this.#replica;
    const before = view.revision;
    const { header, kvs: [last] = [] } = await this.#call(() => client.call("/v3/kv/range", { key: encodeBase64(layout.last) }));
    if (last !== undefined) readLast(decodeText(last.value));
    const present = { revision: Number(header?.revision), last: Number(last?.mod_revision ?? 0) };
    const lost = last === undefined && marked;
    if (present.revision < before || lost) this.#refuse(present.revision, before);
    return present;
  }

  async #call(ask: () => Promise<unknown>): Promise<WireRange> {
    try {
      return (await ask()) as WireRange;
    } catch (error) {
      throw storeError(error);
    }
  }

  /** What was acknowledged is no longer there. To go on from here would show clients, and controllers, a past that they have left. */
  #refuse(found: number, known: number): never {
    const reason = `it is at revision ${found} without the writes up to ${known}: it was restored from a backup, or emptied`;
    const error = unusable(reason, { hint: "If that was on purpose, start all processes on it again" });
    this.#options.logger.error("etcd has gone back in time", { found, known });
    this.#end ??= error;
    this.#stop();
    throw error;
  }

  /** @throws API_UNAVAILABLE when the watch does not get there in time, STORE_FAILED when it tells what can not be read. */
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
      if (this.#replica.view.revision < revision) timer = wait();
    });
  }

  #behind(revision: number): EngineError {
    const { problem } = this.#feed;
    if (problem instanceof EngineError) return problem;
    const why = problem === undefined ? "" : `: ${messageOf(problem)}`;
    return unavailable(`this server is at revision ${this.#replica.view.revision}, and etcd at ${revision}${why}`);
  }

  async #reload(): Promise<void> {
    const { client, layout, cipher, logger, memory } = this.#options;
    const contents = await loadContents({ client, layout, cipher, memory });
    logger.warn("etcd has compacted writes that this server has not seen", { from: this.#replica.view.revision, to: contents.revision });
    this.#replica.replace(contents);
  }

  #beat(): void {
    const { clock, times } = this.#options;
    this.#heartbeat = clock.schedule(times.heartbeatMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      await this.#catchUp();
    } catch (error) {
      if (this.#end === undefined) this.#options.logger.warn("Cannot read the present state of etcd", { error: messageOf(error) });
    }
    if (this.#end === undefined) this.#beat();
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

/** What the caller does to the object while it waits is no longer part of the write. */
function keep(object: KubeObject): KubeObject {
  return deepFreeze({ ...object, metadata: { ...object.metadata } });
}
