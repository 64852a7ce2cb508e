import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { keyOf, type ObjectKey } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { assert, isEngineError } from "../../base/errors.ts";
import {
  storePrefix,
  type Admit,
  type Reserve,
  type ResourceContext,
  type WriteOptions,
  readStored,
  storeKey,
} from "./resource-context.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import { noSuchPath, notFound } from "../types/status.ts";
import type { Store } from "../store/store.ts";
import { create } from "./write/create.ts";
import { remove, type Deleted, type DeleteOptions } from "./write/delete.ts";
import { get, type GetOptions } from "./read/get.ts";
import { listObjects, type ListPage, type ListRequest } from "./read/list.ts";
import { patch, type PatchKind, type PatchRequestOptions } from "./write/patch.ts";
import { update, type Updated, type UpdateOptions } from "./write/update.ts";
import { writeSubresource, type SubresourceRequest } from "./subresource.ts";
import { watch, type WatchRequest } from "./watch/watch.ts";
import type { WatchQueue } from "./watch/watch-queue.ts";
import { readBody } from "./body.ts";
import { seal } from "./stages.ts";

/** Dependencies of a registry. */
export interface RegistryOptions {
  readonly store: Store;
  readonly definitions: readonly ResourceDefinition[];
  readonly clock: Clock;
  readonly chance: Chance;
  /** Called before every write. Default: all writes are admitted. */
  readonly admit?: Admit;
  /** Called with the validated object before it is stored. Default: no limits. */
  readonly reserve?: Reserve;
}

/**
 * The verbs of an API server on all its resources, without a transport. Failures are EngineErrors whose `details.status` is the Status for
 * the response. Bodies are JSON data and are not modified. Returned objects are frozen.
 */
export interface Registry {
  readonly definitions: readonly ResourceDefinition[];
  /** The dependencies of the verbs of each kind. */
  readonly contexts: readonly ResourceContext[];
  /** Passes the stored objects to the `restored` function of their kinds. Call it once, before the first request. */
  restore(): Promise<void>;
  /** The resource with this version and plural, if it exists. */
  find(apiVersion: string, plural: string): ResourceDefinition | undefined;
  get(type: ResourceType, key: ObjectKey, options?: GetOptions): Promise<KubeObject>;
  list(type: ResourceType, request?: ListRequest): Promise<ListPage>;
  watch(type: ResourceType, request?: WatchRequest): Promise<WatchQueue>;
  create(type: ResourceType, namespace: string, body: unknown, options?: WriteOptions): Promise<KubeObject>;
  update(type: ResourceType, key: ObjectKey, body: unknown, options?: UpdateOptions): Promise<Updated>;
  patch(type: ResourceType, key: ObjectKey, kind: PatchKind, body: unknown, options?: PatchRequestOptions): Promise<Updated>;
  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<Deleted>;
  /** Serves a computed subresource of an object. */
  compute(type: ResourceType, request: ComputedTarget, options?: WriteOptions): Promise<KubeObject>;
  /** Reads or writes a `View` of an object. */
  view(type: ResourceType, request: SubresourceRequest, options?: PatchRequestOptions): Promise<KubeObject>;
  /** Deletes the objects that a list would return, one after another. Returns their last states. */
  deleteCollection(type: ResourceType, request: ListRequest, options?: DeleteOptions): Promise<readonly KubeObject[]>;
}

/**
 * Creates a registry of kinds whose objects are in one store.
 *
 * @example
 * const registry = createRegistry({ store: createMemoryStore(), definitions, clock: systemClock, chance: systemChance });
 * await registry.create(CONFIG_MAPS, "shop", { metadata: { name: "settings" } });
 */
export function createRegistry(options: RegistryOptions): Registry {
  const { definitions, store, clock, chance, admit = () => undefined, reserve = () => () => {} } = options;
  return registryOf(definitions.map((definition) => ({ definition, store, clock, chance, admit, reserve })));
}

/**
 * Combines several registries, so that one server can serve kinds from different stores. Each request goes to the store of its kind.
 * A revision is valid only in the store that assigned it.
 *
 * @example
 * startApiServer({ registry: joinRegistries(kept, derived), ... });
 */
export function joinRegistries(...registries: readonly Registry[]): Registry {
  return registryOf(registries.flatMap(({ contexts }) => contexts));
}

function registryOf(contexts: readonly ResourceContext[]): Registry {
  /** Contexts by API version (`v1` or `group/version`), then by plural. */
  const served = new Map<string, Map<string, ResourceContext>>();
  for (const context of contexts) {
    const { apiVersion, plural } = context.definition.type;
    const ofVersion = served.get(apiVersion) ?? new Map<string, ResourceContext>();
    assert(!ofVersion.has(plural), "a registry contains each kind once");
    served.set(apiVersion, ofVersion.set(plural, context));
  }
  /** Calls a verb with the context of a type. */
  const verb =
    <Rest extends unknown[], To>(act: (context: ResourceContext, ...rest: Rest) => Promise<To>) =>
    ({ apiVersion, plural }: ResourceType, ...rest: Rest): Promise<To> => {
      const context = served.get(apiVersion)?.get(plural);
      return context === undefined ? Promise.reject(noSuchPath()) : act(context, ...rest);
    };
  return {
    contexts,
    definitions: contexts.map(({ definition }) => definition),
    restore: () => restore(contexts),
    find: (apiVersion, plural) => served.get(apiVersion)?.get(plural)?.definition,
    get: verb(get),
    list: verb(listObjects),
    watch: verb(watch),
    create: verb(create),
    update: verb(update),
    patch: verb(patch),
    delete: verb(remove),
    compute: verb(compute),
    view: verb(writeSubresource),
    deleteCollection: verb(deleteCollection),
  };
}

async function restore(contexts: readonly ResourceContext[]): Promise<void> {
  for (const { definition, store } of contexts) {
    const { type, strategy } = definition;
    if (strategy.restored === undefined) continue;
    const { objects } = await store.list({ prefix: storePrefix(type) });
    for (const { object } of objects) strategy.restored(object);
  }
}

async function deleteCollection(
  context: ResourceContext,
  request: ListRequest,
  options: DeleteOptions = {},
): Promise<readonly KubeObject[]> {
  const { items } = await listObjects(context, request);
  const deleted: KubeObject[] = [];
  for (const item of items) {
    try {
      deleted.push((await remove(context, keyOf(item), options)).object);
    } catch (error) {
      // Another caller has deleted the object.
      if (!isEngineError(error, "API_NOT_FOUND")) throw error;
    }
  }
  return deleted;
}

/** The target and the body of a request to a computed subresource. */
interface ComputedTarget {
  readonly key: ObjectKey;
  /** The name of one of the kind's `computed` subresources. */
  readonly part: string;
  readonly body: unknown;
}

/**
 * Serves a subresource that computes its response from an object and the body of the request.
 *
 * @throws API_NOT_FOUND if there is no such object or subresource, API_BAD_REQUEST, API_INVALID, or the error of the computation.
 */
async function compute(context: ResourceContext, { key, part, body }: ComputedTarget, options: WriteOptions = {}): Promise<KubeObject> {
  const { definition, store } = context;
  const { computed = {} } = definition;
  const subresource = Object.hasOwn(computed, part) ? computed[part] : undefined;
  if (subresource === undefined) throw noSuchPath();
  const given = readBody(subresource.definition, body, options);
  const about = await readStored(context, key, options);
  if (about === undefined) throw notFound(definition.type, key.name);
  const response = await subresource.respond({
    body: given,
    about: about.object,
    read: async (type, other) => (await store.get(storeKey(type, other)))?.object,
    dryRun: options.dryRun === true,
    ...(options.judge && { judge: options.judge }),
  });
  return seal(subresource.definition, response);
}
