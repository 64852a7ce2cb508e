import { EngineError } from "../../../base/errors.ts";
import { jsonEqual, heldBytes } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { deepFreeze } from "../../types/objects/json-data.ts";
import { createHistory, type History } from "./history.ts";
import { HISTORY_BYTES, type HeldObjects, type StoreMemory } from "../memory-limits.ts";
import { createSortedKeys, type SortedKeys } from "./sorted-keys.ts";
import type { StoreEvent, StoreRange, StoredObject, StorePage, StoreWatch, StoreWatchOptions } from "../store.ts";

/** Initial contents of a view. */
export interface StoreContents {
  /** The revision of the last write. */
  readonly revision: number;
  /** The objects; frozen, in any order. */
  readonly objects: readonly StoredObject[];
  /** The last writes, in order and without gaps, up to `revision`. */
  readonly events: readonly StoreEvent[];
}

/** Initial contents of a view, and its limits. */
export interface StoreViewOptions {
  /** Number of events to keep for watches and paged lists of older states; at most twice as many are in memory. */
  readonly history: number;
  /** Default {@link StoreMemory}. */
  readonly memory?: StoreMemory | undefined;
  readonly contents: StoreContents;
}

/** An object and the memory that it uses. */
interface Held {
  readonly stored: StoredObject;
  readonly bytes: number;
}

function heldOf(stored: StoredObject): Held {
  return { stored, bytes: heldBytes(stored.object) };
}

interface Watcher {
  readonly prefix: string;
  /** The last revision that was delivered to the watcher. */
  delivered: number;
  /** True once the watcher was stopped. It then receives no event, not even one that is being delivered to others. */
  over: boolean;
  readonly onEvent: (event: StoreEvent) => void;
  readonly onEnd: StoreWatchOptions["onEnd"];
  readonly onForget: StoreWatchOptions["onForget"];
}

/**
 * The in-memory part of a store that serves reads: the current objects, the history, and watches. It assigns no revisions itself.
 *
 * An event costs a binary search and one call per watcher of its key's prefixes, regardless of the number of other watchers.
 */
export class StoreView implements HeldObjects {
  readonly #history: History;
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** Cached watchers of the collection that was written last, until a watcher is added or removed. */
  #recipients: { readonly folder: string; readonly watchers: readonly Watcher[] } | undefined;
  /** The last page, until the next change. Most lists are requested again before that. */
  #listed: { readonly prefix: string; readonly start: string; readonly limit: number; readonly page: StorePage } | undefined;
  #objects = new Map<string, Held>();
  /** The object that was read last, until the next write, because each write first reads its object. */
  #found: Held | undefined;
  #keys: SortedKeys;
  #revision: number;
  #bytes = 0;

  constructor({ history, memory = {}, contents: { revision, objects, events } }: StoreViewOptions) {
    const start = events.length === 0 ? revision : events[0]!.revision - 1;
    this.#revision = revision;
    this.#history = createHistory({ capacity: history, bytesMax: memory.historyBytes ?? HISTORY_BYTES, start });
    for (const event of events) this.#history.add(event);
    for (const stored of objects) this.#put(stored.key, heldOf(stored), 0);
    this.#keys = keysOf(this.#objects);
  }

  /** The current revision of the view. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest state from which events are available. */
  get oldest(): number {
    return this.#history.oldest();
  }

  heldBytes(): number {
    return this.#bytes;
  }

  heldBytesOf(key: string): number {
    return (this.#found?.stored.key === key ? this.#found : this.#objects.get(key))?.bytes ?? 0;
  }

  get(key: string): StoredObject | undefined {
    this.#found = this.#objects.get(key);
    return this.#found?.stored;
  }

  /** See `Store.list`. */
  list({ prefix, start = prefix, limit = Infinity, revision = this.#revision }: StoreRange): StorePage {
    this.#demandInWindow(revision);
    const known = this.#listed;
    if (known?.prefix === prefix && known.start === start && known.limit === limit && known.page.revision === revision) return known.page;
    const past = revision >= this.#revision ? undefined : this.#history.before(revision);
    const keys = past === undefined ? this.#keys.range(start, prefix) : this.#pastKeys(start, prefix, past);
    const page = (keys.length > limit ? keys.slice(0, limit) : keys).map((key) => past?.get(key) ?? this.#objects.get(key)!.stored);
    const listed = { objects: page, revision, remaining: keys.length - page.length };
    this.#listed = { prefix, start, limit, page: listed };
    return listed;
  }

  /** See `Store.watch`. */
  watch({ prefix, after, onEvent, onEnd, onForget }: StoreWatchOptions): StoreWatch {
    this.#demandInWindow(after);
    // A watch may begin while an event is being delivered. Earlier events are delivered here, and must not be delivered again.
    const watcher: Watcher = { prefix, delivered: Math.max(after, this.#revision), over: false, onEvent, onEnd, onForget };
    for (const event of this.#history.after(after)) if (event.key.startsWith(prefix)) onEvent(event);
    const group = this.#watchers.get(prefix) ?? new Set();
    this.#watchers.set(prefix, group.add(watcher));
    this.#recipients = undefined;
    // If another process is ahead, a watch may begin at a later state than this view. Its progress must not decrease.
    return { progress: () => Math.max(after, this.#revision), stop: () => this.#stop(watcher) };
  }

  /** Applies the next write and notifies the watches. Its revision must be later than that of the view, and its object must be frozen. */
  apply(event: StoreEvent): void {
    const { type, key, object, revision } = event;
    this.#listed = undefined;
    this.#revision = revision;
    const replaced = type === "created" ? 0 : this.heldBytesOf(key);
    this.#put(key, type === "deleted" ? undefined : heldOf({ key, object, revision }), replaced);
    if (type === "created") this.#keys.add(key);
    if (type === "deleted") this.#keys.remove(key);
    const before = this.oldest;
    this.#history.add(event, replaced);
    this.#announce(event);
    if (this.oldest > before) for (const { onForget } of this.#running()) onForget?.(this.oldest);
  }

  /** Moves to a later revision without changes, because no object of the view was written up to it. */
  advance(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /**
   * Continues at another state although the events up to it are lost. Watches with `onEnd` end; the others receive the differences, one or
   * two events for each key.
   *
   * @param lost True if the earlier states are void: the new state may be older, or belong to a different history.
   */
  replace({ revision, objects }: Pick<StoreContents, "revision" | "objects">, lost = false): void {
    const before = this.#objects;
    this.#listed = undefined;
    this.#objects = new Map();
    this.#found = undefined;
    this.#bytes = 0;
    for (const stored of objects) this.#put(stored.key, heldOf(stored), 0);
    this.#keys = keysOf(this.#objects);
    this.#revision = revision;
    this.#history.clear(revision);
    const end = this.#endable();
    if (lost) for (const watcher of this.#running()) watcher.delivered = 0;
    for (const event of differences(before, this.#objects, revision)) this.#announce(event);
    end(lost);
  }

  /** Ends the watches with `onEnd` and drops the history, because the part that clients have seen may be void. */
  disown(): void {
    this.forget();
    this.#endable()(true);
  }

  /** Stops the watches with `onEnd`. The returned function notifies them. */
  #endable(): (lost: boolean) => void {
    const ended = this.#running().filter(({ onEnd }) => onEnd !== undefined);
    for (const watcher of ended) this.#stop(watcher);
    return (lost) => ended.forEach(({ onEnd }) => onEnd?.(lost));
  }

  /** Drops the history; running watches continue. */
  forget(): void {
    this.#history.clear(this.#revision);
  }

  /** Ends every watch. */
  end(): void {
    const running = this.#running();
    for (const watcher of running) watcher.over = true;
    this.#watchers.clear();
    this.#recipients = undefined;
    for (const { onEnd } of running) onEnd?.(false);
  }

  /** Replaces or removes the object of a key. `before` is the memory of the previous object. */
  #put(key: string, held: Held | undefined, before: number): void {
    this.#found = undefined;
    if (held === undefined) this.#objects.delete(key);
    else this.#objects.set(key, held);
    this.#bytes += (held?.bytes ?? 0) - before;
  }

  #running(): Watcher[] {
    return [...this.#watchers.values()].flatMap((group) => [...group]);
  }

  #announce(event: StoreEvent): void {
    const folder = event.key.slice(0, event.key.lastIndexOf("/") + 1);
    if (this.#recipients?.folder !== folder) this.#recipients = { folder, watchers: this.#watchersOf(folder) };
    for (const watcher of this.#recipients.watchers) if (event.revision > watcher.delivered && !watcher.over) watcher.onEvent(event);
  }

  /** Returns the watchers of all prefixes of a key that end in a slash. */
  #watchersOf(folder: string): readonly Watcher[] {
    const found: Watcher[] = [];
    for (let slash = folder.indexOf("/"); slash >= 0; slash = folder.indexOf("/", slash + 1)) {
      for (const watcher of this.#watchers.get(folder.slice(0, slash + 1)) ?? []) found.push(watcher);
    }
    return found;
  }

  #stop(watcher: Watcher): void {
    const group = this.#watchers.get(watcher.prefix);
    watcher.over = true;
    this.#recipients = undefined;
    group?.delete(watcher);
    if (group?.size === 0) this.#watchers.delete(watcher.prefix);
  }

  #demandInWindow(revision: number): void {
    const oldest = this.#history.oldest();
    if (revision >= oldest) return;
    throw new EngineError("API_EXPIRED", `Cannot read state ${revision}: the history starts at ${oldest}`, { details: { oldest } });
  }

  #pastKeys(start: string, prefix: string, past: ReadonlyMap<string, StoredObject | undefined>): string[] {
    const present = this.#keys.range(start, prefix).filter((key) => !past.has(key));
    const changed = [...past].filter(([key, stored]) => stored !== undefined && key >= start && key.startsWith(prefix));
    return [...present, ...changed.map(([key]) => key)].sort(byCodeUnit);
  }
}

/** The object with this resourceVersion, frozen. */
export function withRevision(object: KubeObject, revision: number): KubeObject {
  return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
}

type Objects = ReadonlyMap<string, Held>;

/** Derives the events that lead from one state to another. Missing objects are deleted at `revision`. */
function differences(before: Objects, now: Objects, revision: number): StoreEvent[] {
  // In different histories, one revision can belong to different writes, so the objects themselves are compared.
  const changed = storedIn(now).filter(({ key, object }) => !jsonEqual(before.get(key)?.stored.object, object));
  const gone = storedIn(before).filter(({ key }) => !now.has(key));
  const events = changed
    .sort((left, right) => left.revision - right.revision)
    .flatMap((stored) => changeEvents(before.get(stored.key)?.stored.object, stored));
  return [...events, ...gone.map(({ key, object }) => deletion(key, object, revision))];
}

function storedIn(objects: Objects): readonly StoredObject[] {
  return [...objects.values()].map(({ stored }) => stored);
}

function changeEvents(previous: KubeObject | undefined, { key, object, revision }: StoredObject): StoreEvent[] {
  if (previous === undefined) return [{ type: "created", key, revision, object }];
  if (previous.metadata.uid === object.metadata.uid) return [{ type: "updated", key, revision, object, previous }];
  return [deletion(key, previous, revision), { type: "created", key, revision, object }];
}

function deletion(key: string, previous: KubeObject, revision: number): StoreEvent {
  return { type: "deleted", key, revision, object: withRevision(previous, revision), previous };
}

function keysOf(objects: Objects): SortedKeys {
  const keys = createSortedKeys();
  // Sorted, so that each key is added at the end.
  for (const key of [...objects.keys()].sort(byCodeUnit)) keys.add(key);
  return keys;
}

function byCodeUnit(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
