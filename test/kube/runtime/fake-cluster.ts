import type { Clock } from "../../../src/base/clock.ts";
import { EngineError } from "../../../src/base/errors.ts";
import type { ClusterClient, ListOptions, ObjectList, WatchEvent, WatchOptions } from "../../../src/kube/object/cluster-client.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";

/** Next item of an open watch: an event, its clean end, or its failure. */
type Delivery = WatchEvent | { readonly type: "end" } | { readonly type: "error"; readonly error: EngineError };

interface OpenWatch {
  readonly deliver: (delivery: Delivery) => void;
}

/**
 * The list and watch of one kind, with history, pages and faults on demand. It keeps promises that an API server keeps, so that
 * what it does wrong is what a test asked for.
 */
export class FakeCluster implements Pick<ClusterClient, "list" | "watch" | "streamsLists"> {
  /** Whether its lists are read from watches. */
  streamsLists = false;
  readonly objects = new Map<string, KubeObject>();
  readonly #clock: Clock;
  #history: { version: number; event: WatchEvent }[] = [];
  #watches = new Set<OpenWatch>();
  #compactedAt = 0;
  #lives = 0;
  version = 1;
  /** Calls since the start. */
  lists = 0;
  watches: WatchOptions[] = [];
  /** Errors of the next calls, in order. */
  listErrors: EngineError[] = [];
  watchErrors: EngineError[] = [];
  /** While set, every call fails with it. */
  down: EngineError | undefined;
  /** Lists wait for this. */
  listGate: Promise<void> = Promise.resolve();
  /** The state that lists show, when it is not the present one. */
  staleList: ObjectList | undefined;
  /** While true, no watch ends at the time that was agreed. */
  forgetsTimeouts = false;
  /** Called when a watch opens, before anything is sent. */
  onWatch: (watch: OpenWatch) => void = () => undefined;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Creates or changes an object. */
  put(name: string, fields: Record<string, unknown> = {}): void {
    const known = this.objects.get(name);
    this.version += 1;
    const uid = known?.metadata.uid ?? `life-${(this.#lives += 1)}`;
    const metadata = { namespace: "shop", name, uid, resourceVersion: String(this.version) };
    const object = { apiVersion: "v1", kind: "Endpoints", metadata, ...fields };
    this.objects.set(name, object);
    this.#record({ type: known === undefined ? "ADDED" : "MODIFIED", object });
  }

  remove(name: string, { silently = false } = {}): void {
    const known = this.objects.get(name);
    if (known === undefined) return;
    this.version += 1;
    this.objects.delete(name);
    const object = { ...known, metadata: { ...known.metadata, resourceVersion: String(this.version) } };
    if (!silently) this.#record({ type: "DELETED", object });
  }

  #record(event: WatchEvent): void {
    this.#history.push({ version: this.version, event });
    for (const { deliver } of this.#watches) deliver(event);
  }

  /** Forgets history: older watches expire. */
  compact(): void {
    this.#compactedAt = this.version;
    this.#history = [];
  }

  bookmark(version = this.version): void {
    for (const { deliver } of this.#watches) deliver(bookmark(version));
  }

  /** Sends a delivery to every open watch, whatever the state is. */
  deliver(delivery: Delivery): void {
    for (const watch of this.#watches) watch.deliver(delivery);
  }

  endWatches(): void {
    this.deliver({ type: "end" });
  }

  breakWatches(error = new EngineError("API_UNAVAILABLE", "read ECONNRESET")): void {
    this.deliver({ type: "error", error });
  }

  /** Everything the cluster holds by name, as `uid@resourceVersion`. */
  state(): Record<string, string> {
    return stateOf([...this.objects.values()]);
  }

  snapshot(): ObjectList {
    return { items: [...this.objects.values()], resourceVersion: String(this.version) };
  }

  async list(_resource: ResourceType, { limit, continue: next, signal }: ListOptions = {}): Promise<ObjectList> {
    this.lists += 1;
    await Promise.race([this.listGate, aborted(signal)]);
    if (signal?.aborted) throw new EngineError("API_UNAVAILABLE", "The request was aborted");
    if (this.down !== undefined) throw this.down;
    const error = this.listErrors.shift();
    if (error !== undefined) throw error;
    const whole = this.staleList ?? this.snapshot();
    if (limit === undefined) return whole;
    const from = next === undefined ? 0 : Number(next);
    const items = whole.items.slice(from, from + limit);
    const more = from + limit < whole.items.length ? { continue: String(from + limit) } : {};
    return { ...whole, items, ...more };
  }

  async *watch(_resource: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent, void, undefined> {
    this.watches.push(options);
    await Promise.resolve();
    if (this.down !== undefined) throw this.down;
    const error = this.watchErrors.shift();
    if (error !== undefined) throw error;
    if (options.initialEvents === true) return yield* this.#stream(this.#initialEvents(), options);
    const from = Number(options.resourceVersion);
    if (from < this.#compactedAt) throw new EngineError("API_EXPIRED", "too old resource version");
    const waiting: Delivery[] = this.#history.filter(({ version }) => version > from).map(({ event }) => event);
    yield* this.#stream(waiting, options);
  }

  #initialEvents(): Delivery[] {
    const { items, resourceVersion } = this.staleList ?? this.snapshot();
    return [...items.map((object) => ({ type: "ADDED" as const, object })), initialEnd(Number(resourceVersion))];
  }

  async *#stream(waiting: Delivery[], { signal, onOpen, timeoutSeconds = 1e6 }: WatchOptions): AsyncGenerator<WatchEvent, void, undefined> {
    let wake = (): void => undefined;
    const watch: OpenWatch = { deliver: (delivery) => (waiting.push(delivery), wake()) };
    const end = () => watch.deliver({ type: "end" });
    signal.addEventListener("abort", end, { once: true });
    const timeout = this.#clock.schedule(timeoutSeconds * 1000, () => (this.forgetsTimeouts ? undefined : end()));
    this.#watches.add(watch);
    try {
      onOpen?.();
      this.onWatch(watch);
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else if (next.type === "end") return;
        else if (next.type === "error") throw next.error;
        else yield next;
      }
    } finally {
      timeout.cancel();
      this.#watches.delete(watch);
      signal.removeEventListener("abort", end);
    }
  }
}

/** Objects by name as `uid@resourceVersion`. */
export function stateOf(objects: readonly KubeObject[]): Record<string, string> {
  return Object.fromEntries(objects.map(({ metadata }) => [metadata.name!, `${metadata.uid}@${metadata.resourceVersion}`]));
}

/** A bookmark as an API server sends it. */
export function bookmark(version: number): WatchEvent {
  return { type: "BOOKMARK", object: { apiVersion: "v1", kind: "Endpoints", metadata: { resourceVersion: String(version) } } };
}

/** The bookmark after initial events. */
export function initialEnd(version: number): WatchEvent {
  const { type, object } = bookmark(version);
  return { type, object: { ...object, metadata: { ...object.metadata, annotations: { "k8s.io/initial-events-end": "true" } } } };
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
}
