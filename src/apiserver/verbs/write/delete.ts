import { jsonEqual } from "../../../base/json.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { DeletePreconditions } from "../../../kube/object/cluster-client.ts";
import { readStored, SYSTEM_USER, termsOf, type ResourceContext } from "../resource-context.ts";
import type { UserInfo } from "../../types/user-info.ts";
import type { Judge } from "../../types/resource-definition.ts";
import { conflict, notFound } from "../../types/status.ts";
import type { StoredObject } from "../../store/store.ts";
import { deletionStep, type DeletionTerms } from "./delete-step.ts";

/** Options of a deletion. */
export interface DeleteOptions extends DeletionTerms {
  readonly preconditions?: DeletePreconditions;
  readonly dryRun?: boolean;
  readonly user?: UserInfo;
  /** See `WriteOptions`. */
  readonly judge?: Judge;
}

/** Result of a deletion. */
export interface Deleted {
  /** The last state of a removed object, or the present state of one that is still kept. */
  readonly object: KubeObject;
  /** False if finalizers or a grace period still keep the object. */
  readonly gone: boolean;
}

/**
 * Deletes an object, or marks it as being deleted if finalizers or its grace period still keep it.
 *
 * @throws API_NOT_FOUND, API_CONFLICT when a precondition fails, or an admission error.
 */
export async function remove(context: ResourceContext, key: ObjectKey, options: DeleteOptions = {}): Promise<Deleted> {
  const { definition, admit } = context;
  const { type } = definition;
  for (;;) {
    const stored = await readStored(context, key, options);
    if (stored === undefined) throw notFound(type, key.name);
    checkPreconditions(type, stored.object, options.preconditions ?? {});
    await admit({ verb: "delete", type, key, user: options.user ?? SYSTEM_USER });
    if (options.dryRun !== true) await definition.strategy.beforeDelete?.(stored.object);
    const next = deletionStep(definition, stored.object, options, context.clock.now());
    const done = next === undefined ? await erase(context, stored, options) : await mark(context, { stored, next }, options);
    if (done !== undefined) return done;
  }
}

/** Checks the preconditions. In the errors, as in Kubernetes, the kind takes the place of the resource. */
function checkPreconditions(type: ResourceType, object: KubeObject, { uid, resourceVersion }: DeletePreconditions): void {
  const { name = "", uid: ownUid, resourceVersion: ownVersion } = object.metadata;
  const kind = { ...type, plural: type.kind };
  if (uid !== undefined && uid !== ownUid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). The object might have been deleted and then recreated`;
    throw conflict(kind, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${ownVersion}). The object might have been modified`;
    throw conflict(kind, name, why);
  }
}

async function erase(context: ResourceContext, stored: StoredObject, options: DeleteOptions): Promise<Deleted | undefined> {
  if (options.dryRun === true) return { object: stored.object, gone: true };
  const gone = await context.store.delete(stored.key, stored.revision, termsOf(context, options, { old: stored.object }));
  if (gone === undefined) return undefined;
  context.definition.strategy.released?.(stored.object);
  return { object: gone.object, gone: true };
}

interface Marking {
  readonly stored: StoredObject;
  readonly next: KubeObject;
}

async function mark(context: ResourceContext, { stored, next }: Marking, options: DeleteOptions): Promise<Deleted | undefined> {
  if (options.dryRun === true || jsonEqual(next, stored.object)) return { object: next, gone: false };
  const written = await context.store.update(stored.key, next, stored.revision, termsOf(context, options, { old: stored.object }));
  return written && { object: written.object, gone: false };
}
