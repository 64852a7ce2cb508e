import type { KubeObject } from "../../../kube/object/types.ts";
import { parseManagers } from "../../apply/managers.ts";
import { checkNamespace, readBody } from "../body.ts";
import { deepFreeze } from "../../types/objects/json-data.ts";
import { generatedName, timestamp, withMetadata } from "../../types/objects/metadata.ts";
import { withManagers, type ManagersFrom } from "../tracking.ts";
import { storeKey, SYSTEM_USER, termsOf, type ResourceContext, type WriteOptions } from "../resource-context.ts";
import { answered, finishWrite, seal, secure } from "../stages.ts";
import { alreadyExists, badRequest, generatedNameTaken } from "../../types/status.ts";

/** Names tried for one `generateName` before the server gives up. Source: the API server's registry. */
const GENERATED_TRIES = 8;

/**
 * Stores a new object.
 *
 * @throws API_BAD_REQUEST, API_INVALID, API_ALREADY_EXISTS, or an admission error.
 */
export async function create(context: ResourceContext, namespace: string, body: unknown, options: WriteOptions = {}): Promise<KubeObject> {
  const { definition, admit } = context;
  const given = deepFreeze(readBody(definition, body, options));
  const { resourceVersion = "", namespace: ownNamespace = "", name = "", generateName = "" } = given.metadata;
  if (resourceVersion !== "" && resourceVersion !== "0") throw badRequest("resourceVersion should not be set on objects to be created");
  checkNamespace(ownNamespace, namespace);
  const key = { namespace: definition.type.namespaced ? namespace : "", name };
  if (definition.review !== undefined) {
    const request = withMetadata(given, { namespace: definition.type.namespaced ? namespace : undefined });
    const { user = SYSTEM_USER, warn = () => {}, dryRun = false, judge } = options;
    // The body can arrive long after the caller was identified, and the review itself can take a while.
    const reviewed = await definition.review(request, judge?.() ?? user, { warn, dryRun });
    judge?.();
    return seal(definition, reviewed);
  }
  const admitted = admit({ verb: "create", type: definition.type, key, user: options.user ?? SYSTEM_USER });
  if (admitted !== undefined) await admitted;
  const paused = options.pause?.();
  if (paused !== undefined) await paused;
  const object = newObject(context, given, key.namespace);
  const origin = { requested: wellFormed(given.metadata.managedFields), decoded: given };
  return name === "" && generateName !== ""
    ? createGenerated(context, object, options, origin)
    : createNamed(context, object, options, origin);
}

/**
 * Returns the managers in the body of a creation, so that a cloned object keeps the owners of its fields. An invalid list is ignored.
 * Source: the API server's field manager, which never refuses a creation.
 */
function wellFormed(managedFields: unknown): unknown {
  if (managedFields === undefined) return undefined;
  return parseManagers(managedFields).errors.length === 0 ? managedFields : undefined;
}

/** Sets the fields of a new object that only the server may set, and overwrites the author's values. */
export function newObject({ clock, chance, definition }: ResourceContext, given: KubeObject, namespace: string): KubeObject {
  return withMetadata(given, {
    namespace: definition.type.namespaced ? namespace : undefined,
    uid: chance.uuid(),
    creationTimestamp: timestamp(clock.now()),
    resourceVersion: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
    managedFields: undefined,
    generation: definition.strategy.newGeneration === undefined ? undefined : 1,
  });
}

/** The source of a new object. `decoded` is the body that it was created from. */
type Origin = ManagersFrom & { readonly decoded?: KubeObject };

async function createGenerated(context: ResourceContext, object: KubeObject, options: WriteOptions, origin: Origin): Promise<KubeObject> {
  const base = object.metadata.generateName!;
  let name = "";
  for (let attempt = 0; attempt < GENERATED_TRIES; attempt += 1) {
    name = generatedName(base, () => context.chance.fraction());
    const created = await tryCreate(context, withMetadata(object, { name }), options, origin);
    if (created !== undefined) return created;
  }
  throw generatedNameTaken(context.definition.type, name);
}

/** Stores an object whose name is final. */
async function createNamed(context: ResourceContext, object: KubeObject, options: WriteOptions, origin: Origin = {}): Promise<KubeObject> {
  const created = await tryCreate(context, object, options, origin);
  if (created !== undefined) return created;
  const { type } = context.definition;
  const { name = "", namespace = "" } = object.metadata;
  const inTheWay = await context.store.get(storeKey(type, { namespace, name }));
  throw alreadyExists(type, name, { terminating: typeof inTheWay?.object.metadata.deletionTimestamp === "string" });
}

/** Stores a new object whose name is final. Returns undefined when the name is taken. */
export async function tryCreate(
  context: ResourceContext,
  object: KubeObject,
  options: WriteOptions,
  origin: Origin = {},
): Promise<KubeObject | undefined> {
  const { definition, store, reserve } = context;
  const { user = SYSTEM_USER } = options;
  const finishing = finishWrite(definition, { object, old: undefined, decoded: origin.decoded }, options);
  const { object: finished, allocation } = finishing instanceof Promise ? await finishing : finishing;
  let stored: KubeObject | undefined;
  let letGo = () => {};
  try {
    definition.strategy.admit?.({ user, object: finished, old: undefined });
    const paused = options.pause?.();
    if (paused !== undefined) await paused;
    const ready = withManagers(context, { before: undefined, after: finished, managers: origin }, options);
    const pausedAgain = options.pause?.();
    if (pausedAgain !== undefined) await pausedAgain;
    const key = storeKey(definition.type, { namespace: ready.metadata.namespace ?? "", name: ready.metadata.name! });
    letGo = reserve({ type: definition.type, user, object: ready });
    if (options.dryRun === true) {
      letGo();
      const inTheWay = await store.get(key);
      options.judge?.();
      return inTheWay === undefined ? ready : undefined;
    }
    if (allocation.secure !== undefined) await secure(definition, { object: ready, allocation });
    stored = (await store.create(key, ready, termsOf(context, options, { object: finished, old: undefined })))?.object;
    return stored && answered(definition, allocation, stored);
  } finally {
    letGo();
    if (stored === undefined) allocation.rollback();
    else allocation.commit();
  }
}
