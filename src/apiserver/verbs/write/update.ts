import { isRecord, jsonEqual } from "../../../base/json.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { checkObjectName, readBody } from "../body.ts";
import { invalid } from "../../types/field-error.ts";
import { withMetadata } from "../../types/objects/metadata.ts";
import { pendingFinalizers, readStored, SYSTEM_USER, termsOf, type ResourceContext, type WriteOptions } from "../resource-context.ts";
import type { ResourceDefinition } from "../../types/resource-definition.ts";
import { answered, finishWrite, secure } from "../stages.ts";
import { conflict, invalidObject, MODIFIED, noSuchPath, notFound } from "../../types/status.ts";
import type { StoredObject } from "../../store/store.ts";
import { withManagers, type ManagersFrom } from "../tracking.ts";
import { tryCreate, newObject } from "./create.ts";

/** Options of an update. */
export interface UpdateOptions extends WriteOptions {
  /** Write only this subresource. Default: the object itself, without the status if the kind has the subresource `status`. */
  readonly subresource?: string | undefined;
}

/** Result of an update. */
export interface Updated {
  readonly object: KubeObject;
  readonly created: boolean;
}

/**
 * Replaces an object, or creates it if its kind allows that.
 *
 * @throws API_BAD_REQUEST, API_NOT_FOUND, API_CONFLICT, API_INVALID, or an admission error.
 */
export async function update(context: ResourceContext, key: ObjectKey, body: unknown, options: UpdateOptions = {}): Promise<Updated> {
  const object = readBody(context.definition, body, options);
  checkObjectName(object, key);
  const desired = { object, managers: { requested: requestedManagers(body) } };
  return change(context, key, { desired: () => desired, triesMax: Infinity }, options);
}

/** Reads `metadata.managedFields` from a body before it is decoded. Decoding would drop an empty list, which clears the managers. */
export function requestedManagers(body: unknown): unknown {
  const metadata = isRecord(body) ? body["metadata"] : undefined;
  return isRecord(metadata) && Object.hasOwn(metadata, "managedFields") ? metadata["managedFields"] : undefined;
}

/** The object that a write stores. */
export interface Desired {
  readonly object: KubeObject;
  readonly managers: ManagersFrom;
}

/** A write that is computed from the current object. */
export interface GuaranteedUpdate {
  /** Computes the object to store from the stored one (undefined if there is none), or throws the refusal. */
  readonly desired: (current: KubeObject | undefined) => Desired | Promise<Desired>;
  /** Creates the object if it does not exist, even if PUT does not create objects of the kind. Default false. */
  readonly creates?: boolean;
  /** Maximum number of attempts when other writes intervene. */
  readonly triesMax: number;
  /** The subresource is one of the kind's `views`, and `desired` has already applied it to the object. Default false. */
  readonly view?: boolean;
}

/**
 * Reads, changes and writes an object, and repeats this if another write intervened.
 *
 * @throws API_NOT_FOUND, API_CONFLICT, API_INVALID, or an admission error.
 */
export async function change(
  context: ResourceContext,
  key: ObjectKey,
  { desired, creates, triesMax, view }: GuaranteedUpdate,
  options: UpdateOptions,
): Promise<Updated> {
  const { definition, admit } = context;
  const { type, strategy } = definition;
  const { subresource } = options;
  const parts = view === true ? definition.views : strategy.subresources;
  if (subresource !== undefined && !Object.hasOwn(parts ?? {}, subresource)) throw noSuchPath();
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const stored = await readStored(context, key, options);
    if (stored === undefined) {
      if ((strategy.createOnUpdate !== true && creates !== true) || subresource !== undefined) throw notFound(type, key.name);
      const created = await createByUpdate(context, key, await desired(undefined), options);
      if (created !== undefined) return { object: created, created: true };
      continue;
    }
    await admit({ verb: "update", type, key, user: options.user ?? SYSTEM_USER });
    const written = await replace(context, stored, await desired(stored.object), options);
    if (written !== undefined) return { object: written, created: false };
  }
  throw conflict(type, key.name, MODIFIED);
}

/**
 * Creates an object that does not exist. A resourceVersion in the body is ignored, but a uid is a failed precondition. Returns undefined
 * when another write created the object first.
 */
async function createByUpdate(
  context: ResourceContext,
  key: ObjectKey,
  { object, managers }: Desired,
  { judge, ...options }: WriteOptions,
): Promise<KubeObject | undefined> {
  const { uid = "" } = object.metadata;
  if (uid !== "") throw conflict(context.definition.type, key.name, uidMismatch(uid, ""));
  await context.admit({ verb: "create", type: context.definition.type, key, user: options.user ?? SYSTEM_USER });
  const judged = { ...options, ...(judge && { judge: () => judge("create") }) };
  return tryCreate(context, newObject(context, object, key.namespace), judged, managers);
}

function uidMismatch(wanted: string, found: string): string {
  return `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
}

/** Replaces the stored object. Returns undefined when another write intervened. */
async function replace(context: ResourceContext, stored: StoredObject, { object: desired, managers }: Desired, options: UpdateOptions) {
  const { definition, store, reserve } = context;
  const { user = SYSTEM_USER } = options;
  const old = stored.object;
  checkPreconditions(context, desired, old);
  const { object: finished, allocation } = await finishWrite(
    definition,
    { object: merged(definition, desired, old, options), old },
    options,
  );
  let written: StoredObject | undefined;
  let letGo = () => {};
  try {
    definition.strategy.admit?.({ user, object: finished, old });
    await options.pause?.();
    const object = withManagers(context, { before: old, after: finished, managers }, options);
    await options.pause?.();
    letGo = reserve({ type: definition.type, user, object });
    if (options.dryRun === true) return object;
    // A write without changes produces no new resourceVersion and no event.
    if (jsonEqual(object, old)) return answered(definition, allocation, old);
    await secure(definition, { object, allocation });
    const goes = isEnding(old) && pendingFinalizers(definition, object).length === 0;
    const terms = termsOf(context, options, { object: finished, old });
    written = goes
      ? await store.delete(stored.key, stored.revision, terms)
      : await store.update(stored.key, object, stored.revision, terms);
    if (written !== undefined && goes) definition.strategy.released?.(old);
    return written && answered(definition, allocation, goes ? object : written.object);
  } finally {
    letGo();
    if (written === undefined) allocation.rollback();
    else allocation.commit();
  }
}

/** Reports whether an object is being deleted and has no grace period left, so that only finalizers keep it. */
function isEnding({ metadata }: KubeObject): boolean {
  return typeof metadata.deletionTimestamp === "string" && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

function checkPreconditions({ definition: { type, strategy } }: ResourceContext, desired: KubeObject, old: KubeObject): void {
  const { uid = "", resourceVersion = "", name = "" } = desired.metadata;
  if (uid !== "" && uid !== old.metadata.uid) throw conflict(type, name, uidMismatch(uid, old.metadata.uid!));
  if (resourceVersion === "" || resourceVersion === "0") {
    if (strategy.unconditionalUpdate !== false) return;
    // As in Kubernetes, the plural takes the place of the kind.
    const kind = { apiVersion: type.apiVersion, kind: type.plural };
    throw invalidObject(kind, name, [invalid("metadata.resourceVersion", 0, "must be specified for an update")]);
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw conflict(type, name, MODIFIED);
}

/** Returns the stored object with the author's values in the fields that this write may change. */
export function merged(definition: ResourceDefinition, desired: KubeObject, old: KubeObject, { subresource }: UpdateOptions): KubeObject {
  const { newGeneration, subresources = {} } = definition.strategy;
  const write = subresource !== undefined && Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined;
  const body = write?.(desired, old) ?? desired;
  const object = withMetadata(body, {
    namespace: old.metadata.namespace,
    uid: old.metadata.uid,
    resourceVersion: old.metadata.resourceVersion,
    creationTimestamp: old.metadata.creationTimestamp,
    deletionTimestamp: old.metadata.deletionTimestamp,
    deletionGracePeriodSeconds: old.metadata.deletionGracePeriodSeconds,
    generation: old.metadata.generation,
    selfLink: undefined,
    // Managers are computed separately. They can be larger than the rest of the object.
    managedFields: undefined,
  });
  const kept = "status" in subresources && subresource !== "status" ? { ...object, status: old["status"] } : object;
  return newGeneration?.(kept, old) === true ? withMetadata(kept, { generation: (old.metadata.generation ?? 0) + 1 }) : kept;
}
