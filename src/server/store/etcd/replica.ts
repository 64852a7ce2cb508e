import type { KubeObject } from "../../../object/types.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { Cipher } from "../sqlite/cipher.ts";
import type { StoredObject, StoreEvent } from "../store.ts";
import { stamped, StoreView } from "../store-view.ts";
import { readLast, readObject } from "./contents.ts";
import type { EtcdContents, Layout } from "./contents.ts";
import { decodeText } from "./protocol.ts";
import type { WireEvent } from "./protocol.ts";
import { OlderSeals } from "./older-seals.ts";

/** What a replica begins with. */
export interface ReplicaOptions {
  readonly contents: EtcdContents;
  readonly history: number;
  readonly memory: StoreMemory;
  readonly layout: Layout;
  readonly cipher: Cipher | undefined;
}

/** A write of this process that is on its way. */
export interface OwnWrite {
  /** What is written; undefined for a deletion. */
  readonly object: KubeObject | undefined;
  /** What came of it, once this process has seen it happen. */
  stored?: StoredObject;
}

interface Waiter {
  readonly revision: number;
  readonly wake: () => void;
}

/**
 * What this process knows of the store: the state up to some revision, brought forward by the watch, never back.
 */
export class Replica {
  readonly view: StoreView;
  /** What is to be sealed anew in it. */
  readonly olderSeals: OlderSeals;
  readonly #options: ReplicaOptions;
  readonly #own = new Map<string, OwnWrite>();
  readonly #waiting = new Set<Waiter>();
  #fence: number;
  #marked: boolean;

  constructor(options: ReplicaOptions) {
    const { contents, history, memory, cipher } = options;
    this.#options = options;
    this.olderSeals = new OlderSeals(cipher?.keys, contents);
    this.view = new StoreView({ history, memory, contents: { ...contents, events: [] } });
    this.#fence = contents.fence;
    this.#marked = contents.marked;
  }

  /** The revision of the fence, as far as it is known here. */
  get fence(): number {
    return this.#fence;
  }

  /** Somebody has written to the store. */
  get marked(): boolean {
    return this.#marked;
  }

  /** The fence is at `revision`, or was. */
  noteFence(revision: number): void {
    this.#fence = Math.max(this.#fence, revision);
  }

  /** Recognises a write of this process by its id when it happens, until `forget`. */
  expect(id: string, write: OwnWrite): void {
    this.#own.set(id, write);
  }

  /** Takes a write for one like any other again. */
  forget(id: string): void {
    this.#own.delete(id);
  }

  /**
   * Takes what the watch tells, in order. What it has told already is passed over.
   *
   * @throws STORE_FAILED when it can not be read; all before it is taken.
   */
  take(events: readonly WireEvent[]): void {
    for (let start = 0; start < events.length;) {
      const revision = revisionOf(events[start]!);
      let end = start + 1;
      while (end < events.length && revisionOf(events[end]!) === revision) end += 1;
      if (revision > this.view.revision) this.#takeRevision(revision, events.slice(start, end));
      start = end;
    }
    this.#wake();
  }

  /** Nothing was written up to `revision` but what is known here. */
  advance(revision: number): void {
    this.view.advance(revision);
    this.#wake();
  }

  /** Goes on from contents although the writes up to them are not known. */
  replace(contents: EtcdContents): void {
    this.#marked = contents.marked;
    this.noteFence(contents.fence);
    this.olderSeals.replace(contents);
    this.view.replace(contents);
    this.#wake();
  }

  /** Calls `wake` once the state of `revision` is known, at once if it is. Answers how to give up. */
  whenReached(revision: number, wake: () => void): () => void {
    if (this.view.revision >= revision) {
      wake();
      return () => {};
    }
    const waiter = { revision, wake };
    this.#waiting.add(waiter);
    return () => void this.#waiting.delete(waiter);
  }

  #wake(): void {
    for (const waiter of this.#waiting) {
      if (waiter.revision > this.view.revision) continue;
      this.#waiting.delete(waiter);
      waiter.wake();
    }
  }

  #takeRevision(revision: number, events: readonly WireEvent[]): void {
    const { layout } = this.#options;
    let own: OwnWrite | undefined;
    for (const event of events) {
      const name = decodeText(event.kv.key);
      if (name === layout.last) own = this.#takeLast(event);
      else if (name === layout.fence) this.noteFence(revision);
      else if (name.startsWith(`${layout.objects}/`)) this.#takeObject(name.slice(layout.objects.length), { event, revision, own });
    }
    this.view.advance(revision);
  }

  #takeLast({ type, kv }: WireEvent): OwnWrite | undefined {
    if (type === "DELETE") return undefined;
    this.#marked = true;
    return this.#own.get(readLast(decodeText(kv.value)));
  }

  #takeObject(key: string, change: Change): void {
    const { event: told, revision } = change;
    // What this process writes is sealed with the first key.
    const read = told.type === "DELETE" || change.own?.object ? undefined : readObject(key, told.kv, this.#options.cipher);
    this.olderSeals.note(key, revision, read?.older);
    const event = this.#eventOf(key, change, read?.stored.object);
    if (event === undefined) return;
    this.view.apply(event);
    if (change.own !== undefined) change.own.stored = { key, object: event.object, revision: event.revision };
  }

  #eventOf(key: string, { event: { type }, revision, own }: Change, read: KubeObject | undefined): StoreEvent | undefined {
    const previous = this.view.get(key)?.object;
    if (type === "DELETE") {
      return previous && { type: "deleted", key, revision, object: stamped(previous, revision), previous };
    }
    const object = read ?? stamped(own!.object!, revision);
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
