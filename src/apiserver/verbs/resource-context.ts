import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { groupOf } from "../../kube/object/resource.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Judge, ResourceDefinition } from "../types/resource-definition.ts";
import type { Store, StoredObject, WriteTerms } from "../store/store.ts";
import type { UserInfo } from "../types/user-info.ts";

export type { UserInfo } from "../types/user-info.ts";

/** The server itself: its controllers and its in-process clients. */
export const SYSTEM_USER: UserInfo = { name: "system:apiserver", groups: ["system:masters"] };

/** A write that is about to happen. */
export interface WriteAttempt {
  readonly verb: "create" | "update" | "delete";
  readonly type: ResourceType;
  readonly key: ObjectKey;
  readonly user: UserInfo;
}

/** Admits a write, or throws its refusal. Undefined if there is nothing to wait for. */
export type Admit = (operation: WriteAttempt) => Promise<void> | undefined;

/** An object that is about to be stored. */
export interface Storing {
  readonly type: ResourceType;
  readonly user: UserInfo;
  readonly object: KubeObject;
}

/**
 * Reserves an object's share of a limited resource while it is written, or throws the refusal. The returned function is
 * called once the outcome of the write is known. Also called for dry runs.
 */
export type Reserve = (storing: Storing) => () => void;

/** Dependencies of the verbs of one resource. */
export interface ResourceContext {
  readonly definition: ResourceDefinition;
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly admit: Admit;
  readonly reserve: Reserve;
}

/** Handling of fields that a kind does not have. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** How a write is carried out. */
export interface WriteOptions {
  /** Everything but the storing. Default false. */
  readonly dryRun?: boolean;
  /** Default "Warn". */
  readonly fieldValidation?: FieldValidation;
  /** Default {@link SYSTEM_USER}. */
  readonly user?: UserInfo;
  /** Called when the object is read and at the moment of the write, since permissions may have ended meanwhile. Default: still allowed. */
  readonly judge?: Judge;
  /** The manager for `metadata.managedFields`. Default: the one that `userAgent` names. */
  readonly fieldManager?: string;
  /** The client's own name, as `kubectl/v1.33.1 (linux/amd64)`. */
  readonly userAgent?: string;
  /** Receives warnings for the author; sent as `Warning` headers. */
  readonly warn?: (text: string) => void;
  /** Waited for between two pieces of the work on an object. Default: none is that large. */
  readonly pause?: () => Promise<void> | undefined;
}

/** A write of a verb. */
export interface WriteResult {
  /** Absent for a deletion, and for what marks an object as being deleted: nothing is demanded of that but the right to delete. */
  readonly object?: KubeObject;
  /** Absent for a creation. */
  readonly old: KubeObject | undefined;
}

/** Returns the check of the author's permissions, which the store calls at the moment of the write, and whether the write revokes permissions. */
export function termsOf(
  { definition: { strategy } }: ResourceContext,
  { judge }: Pick<WriteOptions, "judge">,
  write: WriteResult,
): WriteTerms {
  const { object, old } = write;
  const revokes = strategy.revokes?.(object, old) === true;
  if (judge === undefined) return { revokes };
  const demand = () => {
    const user = judge();
    if (object !== undefined) strategy.permit?.({ user, object, old });
  };
  return { revokes, demand };
}

/**
 * Reads the object of a request, and then checks the caller's permissions again. Since the request arrived, the object may have been created,
 * or the permissions may have been revoked. The check is needed even if nothing is written, because the responses to reads, dry runs and
 * conflicts also reveal the object.
 *
 * @throws any error of `judge`.
 */
export async function readStored(
  { definition: { type }, store }: Pick<ResourceContext, "definition" | "store">,
  key: ObjectKey,
  { judge }: { readonly judge?: Judge | undefined },
): Promise<StoredObject | undefined> {
  const stored = await store.get(storeKey(type, key));
  judge?.();
  return stored;
}

/** The prefix of a resource's keys in the store, or of its keys in one namespace. It ends in a slash. */
export function storePrefix(type: ResourceType, namespace = ""): string {
  const collection = `/${groupOf(type) || "core"}/${type.plural}/`;
  return type.namespaced && namespace !== "" ? `${collection}${namespace}/` : collection;
}

/** Key of one object in the store. */
export function storeKey(type: ResourceType, { namespace, name }: ObjectKey): string {
  return `${storePrefix(type, namespace)}${name}`;
}

/** The finalizers that keep an object after a delete request: its own, and those of its kind. */
export function pendingFinalizers({ strategy }: ResourceDefinition, object: KubeObject): readonly string[] {
  return [...(object.metadata.finalizers ?? []), ...(strategy.finalizers?.(object) ?? [])];
}
