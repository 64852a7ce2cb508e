import { EngineError } from "../../../src/base/errors.ts";
import type {
  ClusterClient,
  DeletePreconditions,
  ListOptions,
  ObjectList,
  WatchEvent,
  WatchOptions,
} from "../../../src/kube/object/cluster-client.ts";
import type { ObjectKey } from "../../../src/kube/object/key.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";

interface Kind {
  readonly objects: Map<string, KubeObject>;
  readonly watches: Set<(event: WatchEvent) => void>;
}

const idOf = ({ namespace = "", name = "" }: { readonly namespace?: string | undefined; readonly name?: string | undefined }) =>
  `${namespace}/${name}`;

/** A cluster that stores what it is given, checks nothing and costs next to nothing beside what is measured. */
export class MemoryCluster implements ClusterClient {
  readonly #kinds = new Map<string, Kind>();
  #revision = 1;
  /** Calls so far: a cluster in which it stands still is at rest. */
  calls = 0;
  /** Updates so far. */
  updates = 0;

  constructor(side: string) {
    void this.create({ apiVersion: "v1", plural: "namespaces" }, { metadata: { name: "kube-system", uid: `uid-of-${side}` } });
  }

  /** How many objects there are of a kind. */
  count({ plural }: Pick<ResourceType, "plural">): number {
    return this.#kind(plural).objects.size;
  }

  /** Every object of a kind. */
  all({ plural }: Pick<ResourceType, "plural">): readonly KubeObject[] {
    return [...this.#kind(plural).objects.values()];
  }

  async get({ plural }: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    this.calls += 1;
    return this.#kind(plural).objects.get(idOf(key));
  }

  async list({ plural }: ResourceType, { namespace, fieldSelector }: ListOptions = {}): Promise<ObjectList> {
    this.calls += 1;
    const name = fieldSelector?.slice("metadata.name=".length);
    const items = this.all({ plural }).filter(
      ({ metadata }) => (namespace === undefined || metadata.namespace === namespace) && (name === undefined || metadata.name === name),
    );
    return { items, resourceVersion: String(this.#revision) };
  }

  async *watch({ plural }: ResourceType, { signal, onOpen, namespace, fieldSelector }: WatchOptions): AsyncGenerator<WatchEvent> {
    this.calls += 1;
    const name = fieldSelector?.slice("metadata.name=".length);
    const events: WatchEvent[] = [];
    let wake = () => {};
    const hear = (event: WatchEvent) => {
      const { metadata } = event.object;
      if ((namespace !== undefined && metadata.namespace !== namespace) || (name !== undefined && metadata.name !== name)) return;
      events.push(event);
      wake();
    };
    const { watches } = this.#kind(plural);
    watches.add(hear);
    signal.addEventListener("abort", () => wake());
    onOpen?.();
    for (let next = 0; !signal.aborted;) {
      if (next < events.length) yield events[next++]!;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    watches.delete(hear);
  }

  async create({ plural }: Pick<ResourceType, "apiVersion" | "plural">, object: unknown): Promise<KubeObject> {
    const made = object as KubeObject;
    const uid = made.metadata.uid ?? `uid-${plural}-${this.#revision}`;
    return this.#store(plural, "ADDED", {
      ...made,
      metadata: { ...made.metadata, name: made.metadata.name ?? `event-${this.#revision}`, uid },
    });
  }

  async update({ plural }: ResourceType, object: KubeObject): Promise<KubeObject> {
    this.updates += 1;
    return this.#store(plural, "MODIFIED", object);
  }

  patch(): Promise<KubeObject> {
    throw new EngineError("INTERNAL", "Nothing patches here");
  }

  async delete({ plural }: ResourceType, key: ObjectKey, _preconditions?: DeletePreconditions): Promise<"deleted" | "absent"> {
    const object = this.#kind(plural).objects.get(idOf(key));
    if (object === undefined) return "absent";
    this.#store(plural, "DELETED", object);
    return "deleted";
  }

  async close(): Promise<void> {}

  #store(plural: string, type: "ADDED" | "MODIFIED" | "DELETED", { metadata, ...rest }: KubeObject): KubeObject {
    this.calls += 1;
    const { objects, watches } = this.#kind(plural);
    const object = { ...rest, metadata: { ...metadata, resourceVersion: String((this.#revision += 1)) } } as KubeObject;
    if (type === "DELETED") objects.delete(idOf(metadata));
    else objects.set(idOf(metadata), object);
    for (const hear of watches) hear({ type, object });
    return object;
  }

  #kind(plural: string): Kind {
    const known = this.#kinds.get(plural);
    if (known !== undefined) return known;
    const made: Kind = { objects: new Map(), watches: new Set() };
    this.#kinds.set(plural, made);
    return made;
  }
}
