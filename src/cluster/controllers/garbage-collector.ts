import { isEngineError } from "../../base/errors.ts";
import { keyOf } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../kube/object/types.ts";
import { withMetadata } from "../../apiserver/types/objects/metadata.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import type { StoreEvent } from "../../apiserver/store/store.ts";
import {
  FOREGROUND_FINALIZER,
  ORPHAN_FINALIZER,
  policyOfFinalizers,
  type PropagationPolicy,
} from "../../apiserver/verbs/write/delete-step.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "./controller.ts";
import { createKeyWorker } from "./key-worker.ts";

/**
 * Deletes objects once all their owners are gone. Owners that are deleted in the foreground stay until their dependents are gone;
 * owners that orphan their dependents are removed from the dependents' owner references. An owner is identified by name and UID;
 * owners of kinds that this server does not know are never considered gone. Source: the garbage collector of the controller manager.
 */
export async function startGarbageCollector({ registry, store, logger }: ClusterControllerOptions): Promise<ClusterController> {
  const ownership = createOwnership();
  const collector: Collector = { registry, ownership, types: new Map(registry.definitions.map(({ type }) => [kindOf(type), type])) };
  const worker = createKeyWorker({ name: "garbage collector", logger, reconcile: (uid) => reconcile(collector, uid) });
  const present = await store.list({ prefix: "/" });
  const concerned = present.objects.map(({ object }) => object).filter(isConcerned);
  for (const object of concerned) ownership.put(object);
  for (const { metadata } of concerned) worker.add(metadata.uid!);
  const onEvent = (event: StoreEvent) => {
    for (const uid of affected(ownership, event)) worker.add(uid);
  };
  const watch = await store.watch({ prefix: "/", after: present.revision, onEvent });
  return createClusterController(worker, [watch]);
}

interface Collector {
  readonly registry: Registry;
  readonly ownership: Ownership;
  /** By apiVersion and kind. */
  readonly types: ReadonlyMap<string, ResourceType>;
}

function kindOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  return `${apiVersion} ${kind}`;
}

function isConcerned(object: KubeObject): boolean {
  return ownersOf(object).length > 0 || isWaiting(object) || leavesOrphans(object);
}

function isTerminating({ metadata }: KubeObject): boolean {
  return typeof metadata.deletionTimestamp === "string";
}

/** Whether the object waits for its dependents. */
function isWaiting(object: KubeObject): boolean {
  return isTerminating(object) && object.metadata.finalizers?.includes(FOREGROUND_FINALIZER) === true;
}

function leavesOrphans(object: KubeObject): boolean {
  return isTerminating(object) && object.metadata.finalizers?.includes(ORPHAN_FINALIZER) === true;
}

const NONE: readonly string[] = [];

/** UIDs of the objects to reconcile after an event. */
function affected(ownership: Ownership, { type, object, previous }: StoreEvent): readonly string[] {
  const uid = object.metadata.uid!;
  const isAlone = object.metadata.ownerReferences === undefined && previous?.metadata.ownerReferences === undefined;
  // Most objects have no owner. Unless such an object is deleted, its event needs no action, even if it owns others.
  if (isAlone && type !== "deleted" && !isTerminating(object)) return NONE;
  if (type === "deleted") ownership.remove(object);
  else ownership.put(object);
  // An owner may have waited for the deletion of this object, or for its reference to be removed or to stop blocking.
  const owners = [...ownersOf(object), ...ownersOf(previous)].filter((owner) => {
    const found = ownership.get(owner);
    return found !== undefined && isWaiting(found);
  });
  const self = type !== "deleted" && isConcerned(object) ? [uid] : [];
  const left = type === "deleted" || isWaiting(object) ? ownership.claimantsOf(uid).map(({ metadata }) => metadata.uid!) : [];
  return [...left, ...self, ...owners];
}

async function reconcile(collector: Collector, uid: string): Promise<void> {
  const known = collector.ownership.get(uid);
  const type = known && collector.types.get(kindOf(known));
  if (known === undefined || type === undefined) return;
  const object = await read(collector, type, known);
  if (object?.metadata.uid !== uid) return;
  if (leavesOrphans(object)) return leaveOrphans(collector, type, object);
  if (isWaiting(object)) return waitForDependents(collector, type, object);
  if (!isTerminating(object) && ownersOf(object).length > 0) return judge(collector, type, object);
}

async function leaveOrphans(collector: Collector, type: ResourceType, owner: KubeObject): Promise<void> {
  for (const known of collector.ownership.dependentsOf(owner)) {
    const dependentType = collector.types.get(kindOf(known));
    const dependent = dependentType && (await read(collector, dependentType, known));
    if (dependent === undefined) continue;
    const others = dependent.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid);
    await change(collector, dependentType!, dependent, { ownerReferences: others ?? [] });
  }
  await liftFinalizer(collector, type, owner, ORPHAN_FINALIZER);
}

async function waitForDependents(collector: Collector, type: ResourceType, owner: KubeObject): Promise<void> {
  const blocks = ({ uid, blockOwnerDeletion }: OwnerReference) => uid === owner.metadata.uid && blockOwnerDeletion === true;
  const blocked = collector.ownership.dependentsOf(owner).some(({ metadata }) => metadata.ownerReferences?.some(blocks));
  if (!blocked) await liftFinalizer(collector, type, owner, FOREGROUND_FINALIZER);
}

/** A solid owner keeps an object; an absent one, or one that waits for its dependents, does not; an unknown one prevents a decision. */
type Standing = "solid" | "absent" | "waiting" | "unknown";

async function judge(collector: Collector, type: ResourceType, object: KubeObject): Promise<void> {
  const references = object.metadata.ownerReferences!;
  const standings: Standing[] = [];
  for (const reference of references) standings.push(await standingOf(collector, object, reference));
  if (standings.includes("unknown")) return;
  const solid = references.filter((_reference, index) => standings[index] === "solid");
  if (solid.length === references.length) return;
  if (solid.length > 0) return change(collector, type, object, { ownerReferences: solid });
  const dependents = collector.ownership.dependentsOf(object);
  if (!standings.includes("waiting") || dependents.length === 0) {
    return discard(collector, type, object, policyOfFinalizers(object.metadata.finalizers ?? []));
  }
  if (!dependents.some(isWaiting)) return discard(collector, type, object, "Foreground");
  // Without this change, owners that wait for each other in a circle would wait forever.
  const ownerReferences = references.map((reference) => ({ ...reference, blockOwnerDeletion: false }));
  await change(collector, type, object, { ownerReferences });
}

async function standingOf(collector: Collector, { metadata }: KubeObject, reference: OwnerReference): Promise<Standing> {
  const type = collector.types.get(kindOf(reference));
  if (type === undefined || (type.namespaced && metadata.namespace === undefined)) return "unknown";
  const namespace = type.namespaced ? metadata.namespace! : "";
  const owner = await read(collector, type, { ...reference, metadata: { namespace, name: reference.name } });
  if (owner?.metadata.uid !== reference.uid) return "absent";
  return isWaiting(owner) ? "waiting" : "solid";
}

type Change = Pick<ObjectMeta, "ownerReferences" | "finalizers">;

/** A change that changes nothing is not stored. */
async function change({ registry }: Collector, type: ResourceType, object: KubeObject, metadata: Change): Promise<void> {
  await ignoringAbsence(registry.update(type, keyOf(object), withMetadata(object, metadata)));
}

async function liftFinalizer(collector: Collector, type: ResourceType, object: KubeObject, finalizer: string): Promise<void> {
  const finalizers = object.metadata.finalizers!.filter((candidate) => candidate !== finalizer);
  await change(collector, type, object, { finalizers });
}

async function discard(
  { registry }: Collector,
  type: ResourceType,
  object: KubeObject,
  propagationPolicy: PropagationPolicy,
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
  await ignoringAbsence(registry.delete(type, keyOf(object), { preconditions, propagationPolicy }));
}

function read({ registry }: Collector, type: ResourceType, object: KubeObject): Promise<KubeObject | undefined> {
  return ignoringAbsence(registry.get(type, keyOf(object)));
}

async function ignoringAbsence<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** Index of dependents and of owners that are being deleted, kept up to date with the store. */
interface Ownership {
  get(uid: string): KubeObject | undefined;
  /** The objects whose references name this one as a permitted owner: a cluster-scoped one, or one in their namespace. */
  dependentsOf(owner: KubeObject): readonly KubeObject[];
  /** The objects that name this uid as an owner, permitted or not. */
  claimantsOf(uid: string): readonly KubeObject[];
  put(object: KubeObject): void;
  remove(object: KubeObject): void;
}

/** Creates an empty {@link Ownership}. The cost of a change is proportional to the number of the object's owners. */
function createOwnership(): Ownership {
  const objects = new Map<string, KubeObject>();
  const claimants = new Map<string, Set<string>>();
  const forget = (uid: string) => {
    const before = objects.get(uid);
    if (before === undefined) return;
    for (const owner of ownersOf(before)) {
      const group = claimants.get(owner);
      group?.delete(uid);
      if (group?.size === 0) claimants.delete(owner);
    }
    objects.delete(uid);
  };
  const claimantsOf = (uid: string) => [...(claimants.get(uid) ?? [])].map((claimant) => objects.get(claimant)!);
  return {
    get: (uid) => objects.get(uid),
    claimantsOf,
    dependentsOf: (owner) => claimantsOf(owner.metadata.uid!).filter((object) => mayOwn(owner, object)),
    put(object) {
      const uid = object.metadata.uid!;
      forget(uid);
      objects.set(uid, object);
      for (const owner of ownersOf(object)) claimants.set(owner, (claimants.get(owner) ?? new Set()).add(uid));
    },
    remove: (object) => forget(object.metadata.uid!),
  };
}

/** The UIDs in the owner references of an object. */
function ownersOf(object: KubeObject | undefined): readonly string[] {
  return object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? NO_OWNERS;
}

const NO_OWNERS: readonly string[] = [];

function mayOwn({ metadata: { namespace } }: KubeObject, dependent: KubeObject): boolean {
  return namespace === undefined || namespace === dependent.metadata.namespace;
}
