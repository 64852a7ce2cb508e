import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { groupOf, type ResourceType } from "../../kube/object/resource.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Judge, ResourceDefinition } from "../types/resource-definition.ts";
import type { Store, StoredObject, WriteTerms } from "../store/store.ts";
import type { UserInfo } from "../types/user-info.ts";

export type { UserInfo } from "../types/user-info.ts";

/** The user for the server itself: its controllers and its in-process clients. */
export const SYSTEM_USER: UserInfo = { name: "system:apiserver", groups: ["system:masters"] };

/** A write that is about to happen. */
export interface WriteAttempt {
  readonly verb: "create" | "update" | "delete";
  readonly type: ResourceType;
  readonly key: ObjectKey;
  readonly user: UserInfo;
}

/** Admits a write, or throws the refusal. Returns undefined if there is nothing to wait for. */
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

/** Options of a write. */
export interface WriteOptions {
  /** Processes the write without storing anything. Default false. */
  readonly dryRun?: boolean;
  /** Default "Warn". */
  readonly fieldValidation?: FieldValidation;
  /** Default {@link SYSTEM_USER}. */
  readonly user?: UserInfo;
  /** Authorizes the user again when the object is read and at the write, since permissions may have ended. Default: no further check. */
  readonly judge?: Judge;
  /** The manager for `metadata.managedFields`. Default: the one that `userAgent` names. */
  readonly fieldManager?: string;
  /** The client's own name, such as `kubectl/v1.33.1 (linux/amd64)`. */
  readonly userAgent?: string;
  /** Receives warnings for the author, which are sent as `Warning` headers. */
  readonly warn?: (text: string) => void;
  /** Awaited between two pieces of the work on a large object. Default: no pauses. */
  readonly pause?: () => Promise<void> | undefined;
}

/** The states before and after a write. */
export interface WriteResult {
  /** Absent for a deletion, and for marking an object as being deleted: both require only the permission to delete. */
  readonly object?: KubeObject;
  /** Undefined for a creation. */
  readonly old: KubeObject | undefined;
}

/** Returns the conditions of a write: the check of the author's permissions, and whether the write may revoke permissions. */
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
    if (object !== undefined) strategy.admit?.({ user, object, old });
  };
  return { revokes, demand };
}

/**
 * Reads the object of a request, and then authorizes the caller again. Since the request arrived, the object may have been created, or
 * permissions may have been revoked. The check is needed even if nothing is written, because the responses to reads, dry runs and conflicts
 * also reveal the object.
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

/** The key of an object in the store. */
export function storeKey(type: ResourceType, { namespace, name }: ObjectKey): string {
  return `${storePrefix(type, namespace)}${name}`;
}

/** The finalizers that keep an object after a delete request: its own, and those of its kind. */
export function pendingFinalizers({ strategy }: ResourceDefinition, object: KubeObject): readonly string[] {
  return [...(object.metadata.finalizers ?? []), ...(strategy.finalizers?.(object) ?? [])];
}
