import { assert, EngineError, isEngineError } from "../base/errors.ts";
import { errorFromStatus, type Status } from "../kube/object/status.ts";
import { withoutLoneSurrogates } from "../base/json.ts";
import type {
  ClusterClient,
  DeletePreconditions,
  ListOptions,
  ObjectList,
  PatchType,
  WatchEvent,
  WatchOptions,
} from "../kube/object/cluster-client.ts";
import { keyOf, type ObjectKey } from "../kube/object/key.ts";
import type { ResourceType } from "../kube/object/resource.ts";
import type { KubeObject } from "../kube/object/types.ts";
import type { Registry } from "../apiserver/verbs/registry.ts";
import type { WatchQueue } from "../apiserver/verbs/watch/watch-queue.ts";

/** A client that is connected to the server without a network. */
export interface InProcessClient extends ClusterClient {
  /** Breaks every open watch, as a lost connection would: each throws API_UNAVAILABLE. */
  disconnect(): void;
}

/**
 * A {@link ClusterClient} that calls a registry directly, for tests, simulations and embedded clusters. It behaves like
 * the HTTP client: bodies pass through JSON, and returned objects are frozen and shared.
 *
 * @example
 * const client = createInProcessClient(registry);
 * await client.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "settings" } });
 */
export function createInProcessClient(registry: Registry): InProcessClient {
  return new RegistryClient(registry);
}

/** A watch of this client; `broken` distinguishes a lost connection from an orderly end. */
interface OpenWatch {
  readonly queue: WatchQueue;
  broken: boolean;
}

class RegistryClient implements InProcessClient {
  readonly streamsLists = true;
  readonly #registry: Registry;
  readonly #watches = new Set<OpenWatch>();
  #closed = false;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  async get(resource: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    return this.#call(async () => {
      try {
        return await this.#registry.get(resource, key);
      } catch (error) {
        return absentOrThrow(error, key);
      }
    });
  }

  async list(resource: ResourceType, options: ListOptions = {}): Promise<ObjectList> {
    // A list does not take long enough to be worth cancelling.
    const { signal: _unused, ...request } = options;
    const page = await this.#call(() => this.#registry.list(resource, request));
    const { items, resourceVersion } = page;
    return { items, resourceVersion, ...(page.continue !== undefined && { continue: page.continue }) };
  }

  async *watch(resource: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent> {
    const { signal, bookmarks = true, initialEvents = false, onOpen, ...scope } = options;
    if (signal.aborted) return;
    const initial = initialEvents && { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
    const queue = await this.#call(() => this.#registry.watch(resource, { ...scope, ...initial, allowWatchBookmarks: bookmarks }));
    const watch = { queue, broken: false };
    this.#watches.add(watch);
    signal.addEventListener("abort", queue.end, { once: true });
    if (signal.aborted) queue.end();
    try {
      onOpen?.();
      yield* read(watch, signal);
    } finally {
      signal.removeEventListener("abort", queue.end);
      this.#watches.delete(watch);
      queue.end();
    }
  }

  async create(resource: ResourceType, object: KubeObject): Promise<KubeObject> {
    return this.#call(() => this.#registry.create(resource, object.metadata.namespace ?? "", overTheWire(object)));
  }

  async update(resource: ResourceType, object: KubeObject): Promise<KubeObject> {
    assert((object.metadata.resourceVersion ?? "") !== "", "an update has metadata.resourceVersion");
    return this.#call(async () => (await this.#registry.update(resource, keyOf(object), overTheWire(object))).object);
  }

  async patch(resource: ResourceType, key: ObjectKey, type: PatchType, body: unknown): Promise<KubeObject> {
    return this.#call(async () => (await this.#registry.patch(resource, key, type, overTheWire(body))).object);
  }

  async delete(resource: ResourceType, key: ObjectKey, preconditions: DeletePreconditions = {}): Promise<"deleted" | "absent"> {
    return this.#call(async () => {
      try {
        await this.#registry.delete(resource, key, { preconditions });
        return "deleted";
      } catch (error) {
        absentOrThrow(error, key);
        return "absent";
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.disconnect();
  }

  disconnect(): void {
    for (const watch of this.#watches) {
      watch.broken = true;
      watch.queue.end();
    }
  }

  async #call<T>(action: () => Promise<T>): Promise<T> {
    this.#demandOpen();
    const result = await action();
    this.#demandOpen();
    return result;
  }

  #demandOpen(): void {
    if (this.#closed) throw new EngineError("API_UNAVAILABLE", "Cannot reach the cluster: the client is closed");
  }
}

async function* read(watch: OpenWatch, signal: AbortSignal): AsyncGenerator<WatchEvent> {
  for (;;) {
    const batch = await watch.queue.take();
    if (signal.aborted) return;
    if (watch.broken) throw new EngineError("API_UNAVAILABLE", "Cannot continue the watch: the stream broke");
    if (batch === undefined) return;
    for (const { type, object } of batch) {
      if (type === "ERROR") throw errorFromStatus(object as Status);
      yield { type, object: object as KubeObject };
      if (signal.aborted) return;
    }
  }
}

/** Converts a body through JSON: no undefined members, no classes, and nothing shared with the caller. */
function overTheWire(body: unknown): unknown {
  return JSON.parse(withoutLoneSurrogates(JSON.stringify(body) ?? "null"));
}

/** Returns undefined for an absent object; throws any other error, including that of an unknown resource. */
function absentOrThrow(error: unknown, { name }: ObjectKey): undefined {
  const status = isEngineError(error, "API_NOT_FOUND") ? (error.details["status"] as { details?: { name?: string } }) : undefined;
  if (status?.details?.name === name) return undefined;
  throw error;
}
