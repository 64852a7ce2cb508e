import { messageOf } from "../../../base/errors.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { Cipher, SealingKeys } from "../cipher.ts";
import type { StoredObject, StoreEvent } from "../store.ts";
import { withRevision, StoreView } from "../memory/store-view.ts";
import { jsonEqual } from "../../../base/json.ts";
import { lastWrite, readStoredObject, type EtcdContents, type LastWrite, type EtcdLayout, type ReadValue } from "./contents.ts";
import { decodeWireText, type WireEvent, type WireKeyValue } from "./client/protocol.ts";
import type { KnownState } from "./past/present.ts";

/** Initial state of a replica. */
export interface ReplicaOptions {
  readonly contents: EtcdContents;
  readonly history: number;
  readonly memory: StoreMemory;
  readonly layout: EtcdLayout;
  readonly cipher: Cipher | undefined;
}

/** A write of this process that is in flight. */
export interface OwnWrite {
  readonly key: string;
  /** The written object; undefined for a deletion. */
  readonly object: KubeObject | undefined;
  /** The result, once this process has seen the write. */
  stored?: StoredObject;
}

interface Waiter {
  readonly revision: number;
  readonly wake: () => void;
}

/** The error for a write that this process has not received, or cannot read. */
export class MissedWrite extends Error {
  /** The key of the object that cannot be read. */
  readonly key: string | undefined;

  constructor(message: string, key?: string) {
    super(message);
    this.key = key;
  }
}

/**
 * The state of the store at a revision, as known to this process. The watch keeps it up to date. Its revision decreases only if that of
 * etcd has decreased.
 *
 * The state may be ahead of the watch if etcd has confirmed that this store wrote nothing in between. This does not take into account
 * writes that bypass the store, such as manual ones. The watch reports them later, and they then count as missed.
 */
export class Replica {
  readonly view: StoreView;
  /** The values to re-encrypt. */
  readonly olderSeals: OlderSeals;
  readonly #options: ReplicaOptions;
  readonly #own = new Map<string, OwnWrite>();
  readonly #waiting = new Set<Waiter>();
  #fence: number;
  #last: LastWrite;
  #past = 0;
  #taken: number;
  #missed: MissedWrite | undefined;

  constructor(options: ReplicaOptions) {
    const { contents, history, memory, cipher } = options;
    this.#options = options;
    this.olderSeals = new OlderSeals(cipher?.keys, contents);
    this.view = new StoreView({ history, memory, contents: { ...contents, events: [] } });
    this.#fence = contents.fence;
    this.#last = contents.last;
    this.#taken = contents.revision;
  }

  /** The revision up to which the watch has delivered everything. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * The error of the watch's next events, until they were processed or all data was reloaded. Until then, the local state is incomplete.
   */
  get missed(): MissedWrite | undefined {
    return this.#missed;
  }

  /** The facts that distinguish the local state from one in another history. */
  get known(): KnownState {
    return { revision: this.view.revision, last: this.#last, fence: this.#fence };
  }

  /** The revision of the fence in the local state. */
  get fence(): number {
    return this.#fence;
  }

  /** The last write in the local state. */
  get last(): LastWrite {
    return this.#last;
  }

  /** The number of the current history. States of histories with lower numbers are void. */
  get past(): number {
    return this.#past;
  }

  /** Registers a write of this process, which is recognized by its id until `forget`. */
  expect(id: string, write: OwnWrite): void {
    this.#own.set(id, write);
  }

  /** Removes a registered write. */
  forget(id: string): void {
    this.#own.delete(id);
  }

  /**
   * Applies the watch's events, in order. Events seen before are skipped.
   *
   * @throws {@link MissedWrite} when an event cannot be read, or an earlier one is missing. The events before it were applied.
   */
  take(events: readonly WireEvent[]): void {
    for (let start = 0; start < events.length;) {
      const revision = revisionOf(events[start]!);
      let end = start + 1;
      while (end < events.length && revisionOf(events[end]!) === revision) end += 1;
      if (revision > this.#taken) this.#takeNext(revision, events.slice(start, end));
      start = end;
    }
    this.#wake();
  }

  /** Moves to a later revision, because the local state contains all writes of the store up to `revision`. */
  advance(revision: number): void {
    this.view.advance(revision);
  }

  /**
   * Continues from reloaded contents although the writes in between are unknown.
   *
   * @param lost True if the contents belong to another history.
   */
  replace(contents: EtcdContents, lost: boolean): void {
    if (lost) this.#past += 1;
    this.#last = contents.last;
    this.#fence = contents.fence;
    this.#taken = contents.revision;
    this.#missed = undefined;
    this.olderSeals.replace(contents);
    this.view.replace(contents, lost);
    for (const own of this.#own.values()) this.#recognise(own);
    if (!lost) return this.#wake();
    // The new history may never reach the revisions that are waited for.
    for (const { wake } of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Calls `wake` once the watch has reached `revision`, or the history has changed. Returns a function that cancels this. */
  whenReached(revision: number, wake: () => void): () => void {
    if (this.#taken >= revision) {
      wake();
      return () => {};
    }
    const waiter = { revision, wake };
    this.#waiting.add(waiter);
    return () => void this.#waiting.delete(waiter);
  }

  #wake(): void {
    for (const waiter of this.#waiting) {
      if (waiter.revision > this.#taken) continue;
      this.#waiting.delete(waiter);
      waiter.wake();
    }
  }

  #takeNext(revision: number, events: readonly WireEvent[]): void {
    try {
      this.#takeRevision(revision, events);
    } catch (error) {
      if (error instanceof MissedWrite) this.#missed = error;
      throw error;
    }
    this.#taken = revision;
    this.#missed = undefined;
  }

  #takeRevision(revision: number, events: readonly WireEvent[]): void {
    const { layout } = this.#options;
    let [last, fence, applied]: [LastWrite | undefined, number, number] = [undefined, this.#fence, 0];
    let isFloor = false;
    for (const event of events) {
      const name = decodeWireText(event.kv.key);
      if (name === layout.last) last = this.#nextLast(event);
      else if (name === layout.fence) fence = event.type === "DELETE" ? 0 : revision;
      else if (name === layout.floor) isFloor = true;
      else if (name.startsWith(`${layout.objects}/`)) {
        const own = last && this.#own.get(last.id);
        applied += this.#takeObject(name.slice(layout.objects.length), { event, revision, own });
      }
    }
    if (last !== undefined && applied === 0) throw new MissedWrite(`revision ${revision} arrived without the object that it wrote`);
    if (last !== undefined) this.#last = last;
    this.#fence = fence;
    this.view.advance(revision);
    // Clients may have seen a different history than this process.
    if (isFloor) this.view.disown();
  }

  #nextLast({ type, kv }: WireEvent): LastWrite {
    const next = lastWrite(type === "DELETE" ? undefined : kv);
    if (next.version === this.#last.version + 1) return next;
    throw new MissedWrite(
      `revision ${revisionOf({ kv })} contains write number ${next.version}, but the last known write has number ${this.#last.version}`,
    );
  }

  /** Recognizes a write whose result is contained in reloaded contents. */
  #recognise(own: OwnWrite): void {
    const stored = this.view.get(own.key);
    if (own.object === undefined || stored === undefined || own.stored !== undefined) return;
    if (jsonEqual(stored.object, withRevision(own.object, stored.revision))) own.stored = stored;
  }

  /** Applies the change of an object. Returns the number of resulting events. */
  #takeObject(key: string, change: Change): number {
    const { event: wire, revision } = change;
    if (revision <= this.view.revision)
      throw new MissedWrite(`${JSON.stringify(key)} was written by another program, at revision ${revision}`);
    // This process encrypts its writes with the first key.
    const read = wire.type === "DELETE" || change.own?.object ? undefined : this.#read(key, wire.kv);
    this.olderSeals.note(key, revision, read?.older);
    const event = this.#eventOf(key, change, read?.stored.object);
    if (event === undefined) return 0;
    this.view.apply(event);
    if (change.own !== undefined) change.own.stored = { key, object: event.object, revision: event.revision };
    return 1;
  }

  #read(key: string, pair: WireKeyValue): ReadValue {
    try {
      return readStoredObject(key, pair, this.#options.cipher);
    } catch (error) {
      throw new MissedWrite(messageOf(error), key);
    }
  }

  #eventOf(key: string, { event: { type }, revision, own }: Change, read: KubeObject | undefined): StoreEvent | undefined {
    const previous = this.view.get(key)?.object;
    if (type === "DELETE") {
      return previous && { type: "deleted", key, revision, object: withRevision(previous, revision), previous };
    }
    const object = read ?? withRevision(own!.object!, revision);
    return previous === undefined ? { type: "created", key, revision, object } : { type: "updated", key, revision, object, previous };
  }
}

interface Change {
  readonly event: WireEvent;
  readonly revision: number;
  readonly own: OwnWrite | undefined;
}

function revisionOf({ kv }: WireEvent): number {
  return Number(kv.mod_revision);
}

/** The present values that are encrypted with a key other than the first one, as known to this process. */
class OlderSeals {
  readonly #keys: SealingKeys | undefined;
  readonly #older: Map<string, string>;
  #until = 0;

  /** @param keys Undefined if keys have no ids; then there are no older ones. */
  constructor(keys: SealingKeys | undefined, { older }: Pick<EtcdContents, "older">) {
    this.#keys = keys;
    this.#older = new Map(older);
  }

  /** The ids of the encryption keys, by the key of the object. */
  get present(): ReadonlyMap<string, string> {
    return this.#older;
  }

  /** The last revision at which such a value was replaced, so that etcd's history may contain it; 0 if there was none. */
  get until(): number {
    return this.#until;
  }

  /** Records that an object was written or deleted at `revision`. `older` is the id of its encryption key, if that is not the first one. */
  note(key: string, revision: number, older: string | undefined): void {
    if (this.#older.delete(key)) this.#until = revision;
    if (older !== undefined) this.#older.set(key, older);
  }

  /** Continues from reloaded contents. The writes in between are unknown. */
  replace({ revision, older }: Pick<EtcdContents, "revision" | "older">): void {
    this.#older.clear();
    for (const [key, id] of older) this.#older.set(key, id);
    if (this.#keys !== undefined && this.#keys.all.length > 1) this.#until = revision;
  }
}
