import type { Clock } from "../../../base/clock.ts";
import { EngineError, isEngineError } from "../../../base/errors.ts";
import { createCoreKinds } from "../../../cluster/core-kinds.ts";
import { formatKey, keyOf } from "../../../kube/object/key.ts";
import { NAMESPACES, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { bodyFields } from "../../../engine/reconcile/rules/kind-description.ts";
import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import type { Writer } from "../../../engine/sync/cluster/access.ts";
import { dnsSubdomain } from "../../../apiserver/types/objects/names.ts";
import { kindShape } from "../../../kube/object/kind-shape.ts";
import { anything } from "../../../schema/builders.ts";
import type { ResourceDefinition } from "../../../apiserver/types/resource-definition.ts";
import { createMemoryStore } from "../../../apiserver/store/memory/memory-store.ts";
import { createRegistry, type Registry } from "../../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../../apiserver/verbs/resource-context.ts";
import type { StoreEvent } from "../../../apiserver/store/store.ts";
import { createRandom } from "./random.ts";

/** The two clusters. */
export type Side = "tenant" | "host";

/** One change of one kind, as in the server's store. */
export interface StoreChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
  readonly before: KubeObject | undefined;
  readonly revision: number;
}

/** A real API server in this process, with its whole history. */
export interface SimulatedCluster {
  readonly side: Side;
  readonly writer: Writer;
  /** The revision of the latest change of any kind; 0 before the first. */
  readonly revision: number;
  /** Writes something that no syncer follows, so that the cluster passes its latest revision. */
  goOn(): Promise<void>;
  /** Every change of one kind since the beginning, in order. */
  changes(resource: ResourceType): readonly StoreChange[];
  /** The objects of one kind after the first `count` changes; as they are now when omitted. */
  objects(resource: ResourceType, count?: number): ReadonlyMap<string, KubeObject>;
}

/** Options of a cluster. */
export interface SimulatedClusterOptions {
  readonly side: Side;
  readonly resources: readonly ResourceType[];
  /** Kinds besides the core kinds. */
  readonly plainKinds: readonly SyncedKind[];
  readonly clock: Clock;
  /** Called for every change when it happens. */
  onChange(resource: ResourceType, change: StoreChange): void;
}

const TYPES = { created: "ADDED", updated: "MODIFIED", deleted: "DELETED" } as const;

/** An empty cluster: a registry with the core kinds, over a store that keeps its whole history. It has no controllers. */
export async function createSimulatedCluster(options: SimulatedClusterOptions): Promise<SimulatedCluster> {
  const { side, resources, plainKinds, clock, onChange } = options;
  const random = createRandom(side.length);
  let uids = 0;
  const chance = { fraction: () => random.fraction(), uuid: () => `${side}-${++uids}`, bytes: noBytes };
  const store = createMemoryStore({ history: 1 });
  const definitions = [...createCoreKinds(chance, { regroupsEndpoints: true }), ...plainKinds.map(definitionOf)];
  const registry = createRegistry({ store, definitions, clock, chance });
  let last = 0;
  const kinds = new Map(
    resources.map((resource) => [resource.plural, { changes: [] as StoreChange[], objects: new Map<string, KubeObject>() }]),
  );
  for (const resource of resources) {
    const kind = kinds.get(resource.plural)!;
    const onEvent = ({ type, object, previous, revision }: StoreEvent) => {
      const change: StoreChange = { type: TYPES[type], object, before: previous, revision };
      kind.changes.push(change);
      last = revision;
      put(kind.objects, change);
      onChange(resource, change);
    };
    await store.watch({ prefix: storePrefix(resource), after: await store.revision(), onEvent });
  }
  return {
    side,
    writer: createDirectWriter(registry),
    get revision() {
      return last;
    },
    async goOn() {
      const metadata = { name: `other-${last}` };
      const other = await registry.create(NAMESPACES, "", { apiVersion: "v1", kind: "Namespace", metadata });
      last = Number(other.metadata.resourceVersion);
    },
    changes: ({ plural }) => kinds.get(plural)!.changes,
    objects({ plural }, count) {
      const { changes, objects } = kinds.get(plural)!;
      return count === undefined || count >= changes.length ? objects : folded(changes.slice(0, count));
    },
  };
}

/** A definition of a kind that accepts any value in its fields. */
function definitionOf(kind: SyncedKind): ResourceDefinition {
  const shape = kindShape(Object.fromEntries(bodyFields(kind).map((field) => [field, anything])));
  return { type: kind.resource, singular: kind.resource.kind.toLowerCase(), shape, strategy: { nameRule: dnsSubdomain } };
}

/** Writes without a connection: a server copies its input anyway, so encoding it as text would be useless. */
function createDirectWriter(registry: Registry): Writer {
  return {
    get: (resource, key) => unlessAbsent(registry.get(resource, key)),
    create: (resource, object) => registry.create(resource, object.metadata.namespace ?? "", object),
    update: async (resource, object) => (await registry.update(resource, keyOf(object), object)).object,
    delete: async (resource, key, preconditions = {}) =>
      (await unlessAbsent(registry.delete(resource, key, { preconditions }))) === undefined ? "absent" : "deleted",
  };
}

async function unlessAbsent<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}

function folded(changes: readonly StoreChange[]): Map<string, KubeObject> {
  const objects = new Map<string, KubeObject>();
  for (const change of changes) put(objects, change);
  return objects;
}

function put(objects: Map<string, KubeObject>, { type, object }: StoreChange): void {
  const id = formatKey(keyOf(object));
  if (type === "DELETED") objects.delete(id);
  else objects.set(id, object);
}

function noBytes(): never {
  throw new EngineError("INTERNAL", "Broken invariant: a simulation creates no keys");
}
