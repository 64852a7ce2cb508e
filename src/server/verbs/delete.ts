import type { ObjectKey } from "../../object/key.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import type { DeletePreconditions } from "../../object/cluster-client.ts";
import { timestamp, withMetadata } from "../metadata.ts";
import { pendingFinalizers, storeKey, SYSTEM_USER } from "../resource-context.ts";
import type { ResourceContext, UserInfo } from "../resource-context.ts";
import { seal } from "../stages.ts";
import { conflict, notFound } from "../status.ts";
import type { StoredObject } from "../store.ts";

/** How a deletion is carried out. */
export interface DeleteOptions {
  readonly preconditions?: DeletePreconditions;
  readonly dryRun?: boolean;
  readonly user?: UserInfo;
}

/** What became of a deletion. */
export interface Deleted {
  /** The last state, or the state in which finalizers keep the object. */
  readonly object: KubeObject;
  /** False while finalizers keep the object. */
  readonly gone: boolean;
}

/**
 * Deletes an object, or marks it as being deleted while finalizers keep it.
 *
 * @throws API_NOT_FOUND, API_CONFLICT when a precondition fails, or whatever admission answers.
 */
export async function remove(context: ResourceContext, key: ObjectKey, options: DeleteOptions = {}): Promise<Deleted> {
  const { definition, store, admit } = context;
  const { type } = definition;
  for (;;) {
    const stored = await store.get(storeKey(type, key));
    if (stored === undefined) throw notFound(type, key.name);
    checkPreconditions(type, stored.object, options.preconditions ?? {});
    await admit({ verb: "delete", type, key, user: options.user ?? SYSTEM_USER });
    const kept = pendingFinalizers(definition, stored.object).length > 0;
    const done = kept ? await mark(context, stored, options) : await erase(context, stored, options);
    if (done !== undefined) return done;
  }
}

/** Kubernetes names the kind where the resource belongs; the texts are its own. */
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

async function erase(
  { definition, store }: ResourceContext,
  stored: StoredObject,
  { dryRun }: DeleteOptions,
): Promise<Deleted | undefined> {
  if (dryRun === true) return { object: stored.object, gone: true };
  const gone = await store.delete(stored.key, stored.revision);
  if (gone === undefined) return undefined;
  definition.strategy.released?.(stored.object);
  return { object: gone.object, gone: true };
}

async function mark(context: ResourceContext, stored: StoredObject, { dryRun }: DeleteOptions): Promise<Deleted | undefined> {
  const { definition, store, clock } = context;
  const { deletionTimestamp, generation } = stored.object.metadata;
  if (typeof deletionTimestamp === "string") return { object: stored.object, gone: false };
  const marked = withMetadata(stored.object, {
    deletionTimestamp: timestamp(clock.now()),
    deletionGracePeriodSeconds: 0,
    generation: generation === undefined ? undefined : generation + 1,
  });
  const object = seal(definition, definition.strategy.terminate?.(marked) ?? marked);
  if (dryRun === true) return { object, gone: false };
  const written = await store.update(stored.key, object, stored.revision);
  return written && { object: written.object, gone: false };
}
