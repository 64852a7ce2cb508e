import type { ObjectKey } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Column } from "./columns.ts";
import type { FieldSet } from "./fields/field-set.ts";
import type { FieldError } from "./field-error.ts";
import { withMetadata } from "./objects/metadata.ts";
import type { TextRule } from "./objects/names.ts";
import type { UserInfo } from "./user-info.ts";
import type { ObjectSchema } from "../../schema/schema.ts";

/** Verbs of a resource, as discovery and permissions name them. */
export const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;
/** One of {@link ALL_VERBS}. */
export type Verb = (typeof ALL_VERBS)[number];

/**
 * Identifies and authorizes the caller of a request again at this moment.
 *
 * @param verb Required in addition to the verb of the request.
 * @throws the refusal if the caller is no longer known, or no longer allowed.
 */
export type Judge = (verb?: "create") => UserInfo;

/** The reservation of values that only one object may have, such as an IP address or the value of an access key. */
export interface PendingAllocation {
  /** The object with its allocations. */
  readonly object: KubeObject;
  /** Errors in the author's request. If there are any, nothing is reserved. */
  readonly errors?: readonly FieldError[];
  /** Advice for the author of a write that is accepted. */
  readonly warnings?: readonly string[];
  /**
   * Returns the response to the author of the write instead of the stored object, for example with a secret that is shown once. Also used
   * if the write changed nothing, but not for dry runs. Only the author sees the response, and `shown` applies to it.
   */
  readonly answer?: (stored: KubeObject) => KubeObject;
  /**
   * Reserves the values against other processes. Returns errors if another process has already reserved one of them. Called right before
   * the object is stored, but not for dry runs.
   */
  readonly secure?: () => Promise<readonly FieldError[]>;
  /** Called after the object was stored: releases the values that only its old state had. */
  commit(): void;
  /** Called if the object was not stored: releases the values that only its new state had. */
  rollback(): void;
}

/**
 * The behavior that a kind adds to the verbs. Every function receives frozen objects and returns new ones. `old` is the stored state;
 * undefined for a creation. The order of the calls is: prepare, allocate, validate, canonicalize.
 */
export interface Strategy {
  readonly nameRule: TextRule;
  /** A PUT creates the object if it does not exist. Default false. */
  readonly createOnUpdate?: boolean;
  /** A PUT without resourceVersion overwrites the object, whatever its current version is. Default true. */
  readonly unconditionalUpdate?: boolean;
  /**
   * The subresources that are parts of the object, such as `status`. Each function applies a write to its subresource to the stored
   * object. If a kind has the subresource `status`, no other write changes the status.
   */
  readonly subresources?: Readonly<Record<string, (desired: KubeObject, old: KubeObject) => KubeObject>>;
  /** DELETE returns the object instead of a Status. Default false. */
  readonly returnsDeleted?: boolean;
  /** Reports whether a change increments `metadata.generation`. Default: objects have no generation. */
  readonly newGeneration?: (object: KubeObject, old: KubeObject) => boolean;
  /** Fills in defaults and drops fields that do not apply. `by` is the author of the write. */
  readonly prepare?: (object: KubeObject, old: KubeObject | undefined, by: UserInfo) => KubeObject;
  readonly allocate?: (object: KubeObject, old: KubeObject | undefined) => PendingAllocation | Promise<PendingAllocation>;
  /** Returns the errors in an object. The author sees their messages, so they must not quote hidden values. */
  readonly validate?: (object: KubeObject, old: KubeObject | undefined) => readonly FieldError[];
  /**
   * Returns the object to which an author's patches and applied configurations are applied, so that they can neither read nor test hidden
   * values. `prepare` restores from `old` what the author did not change. Default: the stored object.
   */
  readonly opened?: (stored: KubeObject, by: UserInfo) => KubeObject;
  /** Throws if this author may not write the object although the permissions for the kind allow it. The allocation is then rolled back. */
  readonly admit?: (write: { readonly user: UserInfo; readonly object: KubeObject; readonly old: KubeObject | undefined }) => void;
  /**
   * Reports whether a write may revoke a permission. Later writes are then authorized only after this one is visible. `object` is
   * undefined for a deletion. Default: no write does.
   */
  readonly revokes?: (object: KubeObject | undefined, old: KubeObject | undefined) => boolean;
  /** Converts the object to the form that is stored, so that objects with the same meaning are equal. */
  readonly canonicalize?: (object: KubeObject) => KubeObject;
  /** Advice for the author of an object that is accepted. */
  readonly warnings?: (object: KubeObject) => readonly string[];
  /** Finalizers in addition to `metadata.finalizers` that keep a deleted object. */
  readonly finalizers?: (object: KubeObject) => readonly string[];
  /**
   * Returns the grace period of a deletion in seconds, given the requested one; negative means 1. The object remains until a deletion
   * with a grace period of 0 removes it. Default: 0.
   */
  readonly gracePeriod?: (object: KubeObject, requested: number | undefined) => number;
  /** Returns the object to store while it is being deleted. */
  readonly terminate?: (object: KubeObject) => KubeObject;
  /** Called before an object is deleted, or marked as being deleted; not for dry runs. If it throws, the deletion is refused. */
  readonly beforeDelete?: (object: KubeObject) => Promise<void>;
  /** Called for each stored object when a server starts. */
  readonly restored?: (object: KubeObject) => void;
  /** Called after the object was removed. */
  readonly released?: (object: KubeObject) => void;
}

/**
 * Implements the `status` subresource of most kinds. Its writer may also change labels and annotations, but not owner references or
 * finalizers.
 */
export function replaceStatus(desired: KubeObject, old: KubeObject): KubeObject {
  const { ownerReferences, finalizers, generateName } = old.metadata;
  const { metadata } = withMetadata(desired, { ownerReferences, finalizers, generateName });
  return { ...old, metadata, status: desired["status"] };
}

/** A request to a {@link ComputedSubresource}. */
export interface ComputeRequest {
  /** The decoded body of the request. */
  readonly body: KubeObject;
  /** The stored object that the request is about. */
  readonly about: KubeObject;
  /** Reads the current state of another object; undefined if it does not exist. */
  readonly read: (type: ResourceType, key: ObjectKey) => Promise<KubeObject | undefined>;
  /** The request must have no effect. */
  readonly dryRun: boolean;
  /** Authorizes the caller again, immediately before a write; see `WriteOptions`. */
  readonly judge?: Judge;
}

/** A subresource that computes a response to a POST from one object and the body of the request. Nothing is stored. */
export interface ComputedSubresource {
  /** The kind of the request and the response. */
  readonly definition: ResourceDefinition;
  readonly respond: (request: ComputeRequest) => Promise<KubeObject>;
}

/** A subresource that shows objects as another kind, and writes them through it: the scale of a workload, for example. */
export interface View {
  /** The kind of the view, with the verbs `get`, `update` and `patch`. Its `validate` checks what is written. */
  readonly definition: ResourceDefinition;
  readonly show: (stored: KubeObject) => KubeObject;
  /** Fields that the view and the object have at the same path, and that have the same managers in both. */
  readonly shared: FieldSet;
  /** Returns the stored object with the write to the view applied. */
  readonly apply: (view: KubeObject, stored: KubeObject) => KubeObject;
}

/** Options of a review. */
export interface ReviewOptions {
  /** Adds a `Warning` header to the response. */
  readonly warn: (text: string) => void;
  /** The review must have no effect. */
  readonly dryRun: boolean;
}

/** One resource of an API server. */
export interface ResourceDefinition {
  readonly type: ResourceType;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Verbs that the resource supports. Default: {@link ALL_VERBS}. */
  readonly verbs?: readonly Verb[];
  /** A warning that is added to every response. */
  readonly deprecation?: string;
  readonly shape: ObjectSchema;
  /** For reviews, which have only the verb `create`: computes the response. Nothing is stored. */
  readonly review?: (object: KubeObject, user: UserInfo, options: ReviewOptions) => KubeObject | Promise<KubeObject>;
  /** Computed subresources of objects of the kind, by their name. */
  readonly computed?: Readonly<Record<string, ComputedSubresource>>;
  /** Views of objects of the kind, by the name of their subresource. */
  readonly views?: Readonly<Record<string, View>>;
  /** The columns of tables. Default: name and age. */
  readonly columns?: readonly Column[];
  readonly strategy: Strategy;
  /**
   * Returns the object without the values that are hidden from a user. All HTTP responses pass through this function: objects, tables and
   * watches. If nothing is hidden, return the object itself, which is faster. Default: every user sees everything.
   */
  readonly shown?: (object: KubeObject, user: UserInfo) => KubeObject;
  /** Fields that a field selector may name besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
}
