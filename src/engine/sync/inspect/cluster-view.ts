/**
 * An in-memory copy of one cluster that accepts writes instead of the cluster: the syncer's work can be completed on it, while the cluster
 * itself is only read.
 *
 * @module
 */
import { EngineError } from "../../../base/errors.ts";
import { jsonEqual } from "../../../base/json.ts";
import type { DeletePreconditions } from "../../../kube/object/cluster-client.ts";
import { formatKey, keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import type { ChangeListener } from "../../../kube/object/object-source.ts";
import { compareResourceVersions } from "../../../kube/object/resource-version.ts";
import { EVENTS, NAMESPACES, qualifiedPlural, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { ClusterAccess, FollowedSource } from "../cluster/access.ts";
import type { ClusterReads } from "./cluster-reads.ts";

/** One cluster as it was read, and as it would be after the writes to this view. */
export interface ClusterView extends ClusterAccess {
  /** The object as it was read; undefined when there was none. */
  before(resource: ResourceType, key: ObjectKey): KubeObject | undefined;
  /** The object as it is now. */
  now(resource: ResourceType, key: ObjectKey): KubeObject | undefined;
  /** Reports whether a resourceVersion is a placeholder, because only the cluster knows the real one. */
  madeUp(resourceVersion: string): boolean;
  /** Waits for pending reads of single objects. True if there were any. @throws errors of a read. */
  loaded(): Promise<boolean>;
}

/** Options of a view. */
export interface ClusterViewOptions {
  /** Complete lists; a kind that is not among them is read object by object. */
  readonly lists: readonly { readonly resource: ResourceType; readonly items: readonly KubeObject[] }[];
  readonly reads: ClusterReads;
  /** Reports whether a namespace exists, or cannot be read. Called before a creation in it. */
  namespaceExists(name: string): Promise<boolean>;
  /** The error with which the cluster would refuse an object; undefined if it accepts it. Default: it accepts everything. */
  readonly refusalOf?: (object: KubeObject) => EngineError | undefined;
}

/**
 * Creates a view of the cluster that contains no writes yet.
 *
 * @example
 * const view = createClusterView({ lists: [{ resource: ENDPOINTS, items }], reads, namespaceExists });
 * await view.writer.create(ENDPOINTS, object); // is in the view, and nowhere else
 */
export function createClusterView(options: ClusterViewOptions): ClusterView {
  return new MemoryView(options);
}

interface Table {
  readonly resource: ResourceType;
  readonly objects: Map<string, KubeObject>;
  readonly before: Map<string, KubeObject>;
  readonly listeners: Set<ChangeListener>;
  /** Keys that were read one by one; "all" if the kind was listed. */
  readonly known: Set<string> | "all";
}

class MemoryView implements ClusterView {
  readonly #options: ClusterViewOptions;
  readonly #tables = new Map<string, Table>();
  readonly #firstVersion: bigint;
  #version: bigint;
  readonly #reading = new Set<Promise<void>>();

  constructor(options: ClusterViewOptions) {
    this.#options = options;
    for (const { resource, items } of options.lists) {
      const table = this.#table(resource, "all");
      for (const item of items) remember(table, item);
    }
    const versions = options.lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.resourceVersion ?? ""));
    this.#firstVersion = newestOf(versions);
    this.#version = this.#firstVersion;
  }

  readonly writer = {
    get: (resource: ResourceType, key: ObjectKey) =>
      resource === NAMESPACES ? this.#namespace(key) : Promise.resolve(this.now(resource, key)),
    create: (resource: ResourceType, object: KubeObject) => this.#create(resource, object),
    update: async (resource: ResourceType, object: KubeObject) => this.#update(resource, object),
    delete: async (resource: ResourceType, key: ObjectKey, preconditions: DeletePreconditions = {}) =>
      this.#delete(resource, key, preconditions),
  };

  source(resource: ResourceType): FollowedSource {
    return sourceOf(this.#table(resource, "all"), () => true);
  }

  follow(resource: ResourceType, key: ObjectKey): FollowedSource {
    const table = this.#table(resource, new Set());
    const id = formatKey(key);
    const isKnown = () => table.known === "all" || table.known.has(id);
    if (!isKnown()) this.#read(table, key);
    return sourceOf(table, isKnown);
  }

  async list(resource: ResourceType, scope: Parameters<ClusterReads["list"]>[1]): Promise<readonly KubeObject[]> {
    return this.#options.reads.list(resource, scope);
  }

  before(resource: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.#tables.get(qualifiedPlural(resource))?.before.get(formatKey(key));
  }

  now(resource: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.#tables.get(qualifiedPlural(resource))?.objects.get(formatKey(key));
  }

  madeUp(resourceVersion: string): boolean {
    return compareResourceVersions(resourceVersion, String(this.#firstVersion)) > 0;
  }

  async loaded(): Promise<boolean> {
    if (this.#reading.size === 0) return false;
    await Promise.all(this.#reading);
    return true;
  }

  async #namespace({ name }: ObjectKey): Promise<KubeObject | undefined> {
    if (!(await this.#options.namespaceExists(name))) return undefined;
    return { apiVersion: NAMESPACES.apiVersion, kind: NAMESPACES.kind, metadata: { name } };
  }

  #table(resource: ResourceType, known: Table["known"]): Table {
    const id = qualifiedPlural(resource);
    const table = this.#tables.get(id) ?? { resource, objects: new Map(), before: new Map(), listeners: new Set(), known };
    this.#tables.set(id, table);
    return table;
  }

  #read(table: Table, key: ObjectKey): void {
    const reading = this.#options.reads.one(table.resource, key).then((object) => {
      if (table.known !== "all") table.known.add(formatKey(key));
      if (object !== undefined) remember(table, object);
      notify(table, key);
    });
    this.#reading.add(reading);
    const done = () => void this.#reading.delete(reading);
    // The waiting callers get the failure.
    reading.then(done, () => undefined);
  }

  async #create(resource: ResourceType, object: KubeObject): Promise<KubeObject> {
    // Events are not part of the view.
    if (resource === EVENTS) return object;
    const key = keyOf(object);
    if (!(await this.#options.namespaceExists(key.namespace))) {
      throw new EngineError("API_NOT_FOUND", `namespaces "${key.namespace}" not found`);
    }
    this.#check(object);
    if (this.now(resource, key) !== undefined) throw new EngineError("API_ALREADY_EXISTS", `"${formatKey(key)}" already exists`);
    return this.#store(resource, { ...object, metadata: { ...object.metadata, uid: `planned-${this.#version + 1n}` } });
  }

  #update(resource: ResourceType, object: KubeObject): KubeObject {
    const found = this.#found(resource, keyOf(object), object.metadata);
    if (found === undefined) throw new EngineError("API_NOT_FOUND", `"${formatKey(keyOf(object))}" is gone`);
    this.#check(object);
    return jsonEqual(found, object) ? found : this.#store(resource, object);
  }

  #check(object: KubeObject): void {
    const refusal = this.#options.refusalOf?.(object);
    if (refusal !== undefined) throw refusal;
  }

  #delete(resource: ResourceType, key: ObjectKey, preconditions: DeletePreconditions): "deleted" | "absent" {
    const found = this.#found(resource, key, preconditions);
    if (found === undefined) return "absent";
    if ((found.metadata.finalizers ?? []).length > 0) {
      this.#store(resource, { ...found, metadata: { ...found.metadata, deletionTimestamp: "1970-01-01T00:00:00Z" } });
      return "deleted";
    }
    const table = this.#table(resource, "all");
    table.objects.delete(formatKey(key));
    notify(table, key);
    return "deleted";
  }

  #found(resource: ResourceType, key: ObjectKey, { uid, resourceVersion }: DeletePreconditions): KubeObject | undefined {
    const found = this.now(resource, key);
    if (found === undefined) return undefined;
    const isOther = (wanted: string | undefined, have: string | undefined) => wanted !== undefined && wanted !== have;
    if (isOther(uid, found.metadata.uid) || isOther(resourceVersion, found.metadata.resourceVersion)) {
      throw new EngineError("API_CONFLICT", `"${formatKey(key)}" changed`);
    }
    return found;
  }

  #store(resource: ResourceType, object: KubeObject): KubeObject {
    this.#version += 1n;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    const table = this.#table(resource, "all");
    table.objects.set(formatKey(keyOf(stored)), stored);
    notify(table, keyOf(stored));
    return stored;
  }
}

function remember({ objects, before }: Table, object: KubeObject): void {
  for (const map of [objects, before]) map.set(formatKey(keyOf(object)), object);
}

function notify({ listeners }: Table, key: ObjectKey): void {
  for (const listener of [...listeners]) listener(key, "event");
}

function sourceOf({ objects, listeners }: Table, isKnown: () => boolean): FollowedSource {
  return {
    get: (key) => objects.get(formatKey(key)),
    list: () => [...objects.values()],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get synced() {
      return isKnown();
    },
    get current() {
      return isKnown();
    },
    stop: () => undefined,
  };
}

/** Returns the newest version. Versions that are not numbers are older than all that are. */
function newestOf(versions: readonly string[]): bigint {
  const numbers = versions.filter((version) => /^[1-9][0-9]{0,30}$/.test(version)).map(BigInt);
  return numbers.reduce((newest, version) => (version > newest ? version : newest), 0n);
}
