import type { Code } from "../../../base/codes.ts";
import { isEngineError } from "../../../base/errors.ts";
import { canonicalJson, jsonEqual } from "../../../base/json.ts";
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject, StringMap } from "../../../kube/object/types.ts";
import { withMetadata } from "../../../apiserver/types/objects/metadata.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../../apiserver/verbs/resource-context.ts";
import type { Store, StoreEvent, StoreWatch } from "../../../apiserver/store/store.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "../controller.ts";
import { createKeyWorker } from "../key-worker.ts";
import type { SliceContent } from "../../../kube/object/endpoints/slices-of-endpoints.ts";

/** Desired slices of one Service. */
export interface DesiredSlices {
  readonly owner: KubeObject;
  /** Labels besides those that name the owner of the slices. */
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly contents: readonly SliceContent[];
}

/** Options of {@link startSliceController}. */
export interface SliceControllerOptions extends ClusterControllerOptions {
  readonly name: string;
  /** Value of the label that identifies its slices. */
  readonly managedBy: string;
  /** Returns the desired slices of a Service; undefined for none. */
  readonly desired: (service: KubeObject, registry: Registry) => Promise<DesiredSlices | undefined>;
  /** Calls `add` with every Service, or object of its name, that is stored, and with each for which the desired slices may change. */
  readonly followSources: (store: Store, add: (object: KubeObject) => void) => Promise<readonly StoreWatch[]>;
}

/** Keeps the slices of Services up to date with their sources. Slices that others created do not change. */
export async function startSliceController(options: SliceControllerOptions): Promise<ClusterController> {
  const { registry, store, logger, name, managedBy } = options;
  const index = createSliceIndex(managedBy);
  const worker = createKeyWorker({ name, logger, reconcile: (key) => reconcile({ ...options, registry, index }, parseKey(key)) });
  const bySlice = ({ object, previous }: Pick<StoreEvent, "object" | "previous">) => {
    for (const key of [index.serviceOf(object), previous && index.serviceOf(previous)]) if (key !== undefined) worker.add(key);
  };
  const slices = await followKind(store, ENDPOINT_SLICES, (event) => {
    if (event.type === "deleted") index.remove(event.object);
    else index.put(event.object);
    bySlice(event);
  });
  for (const { object } of slices.objects) index.put(object);
  slices.objects.forEach(bySlice);
  const sources = await options.followSources(store, (object) => worker.add(formatKey(keyOf(object))));
  return createClusterController(worker, [slices.watch, ...sources]);
}

/** Lists the objects of a kind, and follows their changes. */
export async function followKind(store: Store, type: ResourceType, onEvent: (event: StoreEvent) => void) {
  const prefix = storePrefix(type);
  const { objects, revision } = await store.list({ prefix });
  return { objects, watch: await store.watch({ prefix, after: revision, onEvent }) };
}

type Running = SliceControllerOptions & { readonly index: SliceIndex };

async function reconcile(running: Running, key: ObjectKey): Promise<void> {
  const { registry, index, desired, managedBy } = running;
  const service = await read(registry, SERVICES, key);
  const wanted = service && (await desired(service, registry));
  const head = wanted && metadataOf(wanted, { key, managedBy });
  const { kept, spare, missing } = pair(index.slicesOf(formatKey(key)), wanted?.contents ?? []);
  for (const [slice, content] of kept) await overwrite(running, slice, withMetadata({ ...slice, ...content }, head!));
  for (const slice of spare) await discard(running, slice);
  for (const content of missing) await create(running, key, { metadata: { generateName: `${key.name}-`, ...head }, ...content });
}

function metadataOf({ owner, labels, annotations }: DesiredSlices, { key, managedBy }: { key: ObjectKey; managedBy: string }) {
  const { apiVersion, kind, metadata } = owner;
  const reference = { apiVersion, kind, name: metadata.name!, uid: metadata.uid!, controller: true, blockOwnerDeletion: true };
  return {
    labels: { ...labels, [SERVICE_NAME_LABEL]: key.name, [MANAGED_BY_LABEL]: managedBy },
    annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
    ownerReferences: [reference],
  };
}

interface Pairs {
  readonly kept: readonly (readonly [EndpointSlice, SliceContent])[];
  readonly spare: readonly EndpointSlice[];
  readonly missing: readonly SliceContent[];
}

/** Criteria for choosing a slice for some content; later ones fit less well, but save a write. */
const FITS: readonly ((slice: SliceContent) => string)[] = [
  ({ addressType, ports, endpoints }) => canonicalJson([addressType, ports, endpoints]),
  ({ addressType, ports }) => canonicalJson([addressType, ports]),
  ({ addressType }) => addressType,
];

/** Assigns content to slices. The time grows with the content of the slices, not with pairs of them. */
function pair(present: readonly EndpointSlice[], contents: readonly SliceContent[]): Pairs {
  const kept: [EndpointSlice, SliceContent][] = [];
  const spare = new Set(present);
  let missing = contents;
  for (const fit of FITS) {
    const offers = new Map<string, EndpointSlice[]>();
    for (const slice of spare) {
      const key = fit(slice);
      const group = offers.get(key);
      if (group === undefined) offers.set(key, [slice]);
      else group.push(slice);
    }
    missing = missing.filter((content) => {
      const slice = offers.get(fit(content))?.pop();
      if (slice === undefined) return true;
      spare.delete(slice);
      kept.push([slice, content]);
      return false;
    });
  }
  return { kept, spare: [...spare], missing };
}

async function overwrite({ registry, index }: Running, slice: EndpointSlice, next: KubeObject): Promise<void> {
  if (jsonEqual(slice, next)) return;
  const updated = await ignoring(["API_NOT_FOUND"], registry.update(ENDPOINT_SLICES, keyOf(slice), next));
  if (updated !== undefined) index.put(updated.object);
}

async function discard({ registry, index }: Running, slice: EndpointSlice): Promise<void> {
  const preconditions = { uid: slice.metadata.uid!, resourceVersion: slice.metadata.resourceVersion! };
  await ignoring(["API_NOT_FOUND"], registry.delete(ENDPOINT_SLICES, keyOf(slice), { preconditions }));
  index.remove(slice);
}

/** Ignores a refusal: a namespace that is being deleted accepts no new objects. */
async function create({ registry, index }: Running, { namespace }: ObjectKey, body: object): Promise<void> {
  const created = await ignoring(["API_FORBIDDEN"], registry.create(ENDPOINT_SLICES, namespace, body));
  if (created !== undefined) index.put(created);
}

/** Reads an object; undefined if there is none. */
export function read(registry: Registry, type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
  return ignoring(["API_NOT_FOUND"], registry.get(type, key));
}

/** Waits for a call; undefined if it fails with one of the codes. */
export async function ignoring<T>(codes: readonly Code[], call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isEngineError(error, ...codes)) return undefined;
    throw error;
  }
}

/** Label that names the writer of a slice; only that writer changes it. */
const MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by";
/** Label that names the Service of a slice. */
const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/** Index of the slices of one writer, by the Service to which they belong. */
interface SliceIndex {
  /** The Service (`namespace/name`) of a slice; undefined for a slice of another writer. */
  serviceOf(slice: KubeObject): string | undefined;
  slicesOf(service: string): readonly EndpointSlice[];
  put(slice: KubeObject): void;
  remove(slice: KubeObject): void;
}

/** Creates an empty index of the slices that `managedBy` manages. */
function createSliceIndex(managedBy: string): SliceIndex {
  const services = new Map<string, Map<string, EndpointSlice>>();
  /** Service under which each slice is indexed, by uid: its labels may have changed since. */
  const places = new Map<string, string>();
  const serviceOf = ({ metadata: { labels = {}, namespace } }: KubeObject) => {
    const name = labels[SERVICE_NAME_LABEL];
    return labels[MANAGED_BY_LABEL] === managedBy && name !== undefined ? `${namespace}/${name}` : undefined;
  };
  const remove = (slice: KubeObject) => {
    const uid = slice.metadata.uid!;
    const place = places.get(uid);
    if (place === undefined) return;
    places.delete(uid);
    const group = services.get(place)!;
    group.delete(uid);
    if (group.size === 0) services.delete(place);
  };
  return {
    serviceOf,
    remove,
    slicesOf: (service) => [...(services.get(service)?.values() ?? [])],
    put(slice) {
      remove(slice);
      const service = serviceOf(slice);
      if (service === undefined) return;
      const uid = slice.metadata.uid!;
      places.set(uid, service);
      services.set(service, (services.get(service) ?? new Map<string, EndpointSlice>()).set(uid, slice as EndpointSlice));
    },
  };
}
