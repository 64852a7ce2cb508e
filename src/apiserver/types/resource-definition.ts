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

/** A number or address that an object holds alone. */
export interface Claim {
  /** The object with its allocations. */
  readonly object: KubeObject;
  /** Errors in the author's request; nothing is held then. */
  readonly errors?: readonly FieldError[];
  /** Advice for the author of a write that is accepted. */
  readonly warnings?: readonly string[];
  /**
   * Answer to the author of the write in place of the stored object, such as a secret that is shown once. Also if the
   * write changed nothing; not for dry runs. Only the author sees it, and `shown` applies to it.
   */
  readonly answer?: (stored: KubeObject) => KubeObject;
  /**
   * Reserves for this writer what other processes might claim at the same moment. Returns errors if one of them was faster. Called
   * right before the object is stored; not for dry runs.
   */
  readonly secure?: () => Promise<readonly FieldError[]>;
  /** The object was stored: releases what only its old state held. */
  commit(): void;
  /** The object was not stored: releases what only its new state held. */
  rollback(): void;
}

/**
 * Behavior that one kind adds to the verbs. Every function is given frozen objects and returns new ones; `old` is the stored state
 * and absent on creation. The order is: prepare, claim, validate, canonicalize.
 */
export interface Strategy {
  readonly nameRule: TextRule;
  /** A PUT to an absent name creates it. Default false. */
  readonly createOnUpdate?: boolean;
  /** A PUT without resourceVersion overwrites whatever is there. Default true. */
  readonly unconditionalUpdate?: boolean;
  /**
   * The parts of an object with paths of their own, each with what a write there makes of the stored object. A kind that
   * has `status` among them keeps its status through every other write.
   */
  readonly subresources?: Readonly<Record<string, (desired: KubeObject, old: KubeObject) => KubeObject>>;
  /** DELETE returns the object instead of a Status. Default false. */
  readonly returnsDeleted?: boolean;
  /** Reports whether a change counts as a new generation. Without it objects have no generation. */
  readonly newGeneration?: (object: KubeObject, old: KubeObject) => boolean;
  /** Fills in defaults, drops what does not belong. `by` is the author of the write. */
  readonly prepare?: (object: KubeObject, old: KubeObject | undefined, by: UserInfo) => KubeObject;
  readonly claim?: (object: KubeObject, old: KubeObject | undefined) => Claim | Promise<Claim>;
  /** The author reads the messages: they must not quote hidden values. */
  readonly validate?: (object: KubeObject, old: KubeObject | undefined) => readonly FieldError[];
  /**
   * The object that an author's patches and applied configurations start from, so that they can neither read nor
   * test what is hidden. `prepare` puts back from `old` what the author did not change. Default: the stored object.
   */
  readonly opened?: (stored: KubeObject, by: UserInfo) => KubeObject;
  /** Throws if this author may not write the object, even if the permissions for the kind allow it. Claims are then released. */
  readonly permit?: (write: { readonly user: UserInfo; readonly object: KubeObject; readonly old: KubeObject | undefined }) => void;
  /**
   * Reports whether a write may revoke a permission, so that no other write happens that was judged without it. `object` is
   * absent for a deletion. Default: it does not.
   */
  readonly revokes?: (object: KubeObject | undefined, old: KubeObject | undefined) => boolean;
  /** The one spelling that is stored of all that mean the same. */
  readonly canonicalize?: (object: KubeObject) => KubeObject;
  /** Advice for the author of an object that is accepted. */
  readonly warnings?: (object: KubeObject) => readonly string[];
  /** Finalizers besides `metadata.finalizers` that keep a deleted object. */
  readonly finalizers?: (object: KubeObject) => readonly string[];
  /**
   * Seconds that an object takes to end, given those that the request asks for; negative means 1. Kinds without it end at
   * once. A deletion with a grace period of 0 then ends the object for good.
   */
  readonly gracePeriod?: (object: KubeObject, requested: number | undefined) => number;
  /** The object as it looks while it is being deleted. */
  readonly terminate?: (object: KubeObject) => KubeObject;
  /** Called before an object is deleted, or marked as being deleted; not for dry runs. If it throws, the deletion is refused. */
  readonly beforeDelete?: (object: KubeObject) => Promise<void>;
  /** Called for each object that a store holds when a server starts on it. */
  readonly restored?: (object: KubeObject) => void;
  /** Called when the object is removed. */
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

/** A request for a subresource of an object. */
export interface Asked {
  /** The question, decoded. */
  readonly question: KubeObject;
  /** The stored object that it is about. */
  readonly about: KubeObject;
  /** Other objects as they are when it is called; undefined for those that are not there. */
  readonly read: (type: ResourceType, key: ObjectKey) => Promise<KubeObject | undefined>;
  /** The request must have no effect. */
  readonly dryRun: boolean;
  /** Judges the caller again at the moment of a write; see `WriteOptions`. */
  readonly judge?: Judge;
}

/** A subresource that answers a request about one object, created under its own path. Nothing of it is stored. */
export interface Question {
  /** The kind of the request and the response. */
  readonly definition: ResourceDefinition;
  readonly answer: (asked: Asked) => Promise<KubeObject>;
}

/** A view of objects that is read and written under its own path, in its own shape: the scale of a workload, for example. */
export interface View {
  /** The kind that is shown and written there, with the verbs `get`, `update` and `patch`. Its `validate` judges what is written. */
  readonly definition: ResourceDefinition;
  readonly show: (stored: KubeObject) => KubeObject;
  /** Fields that both have, at the same place: the owner of one here owns it there. */
  readonly shared: FieldSet;
  /** The stored object with the write to the view applied. */
  readonly apply: (view: KubeObject, stored: KubeObject) => KubeObject;
}

/** Options of a review. */
export interface ReviewOptions {
  /** Sends the author a `Warning` header. */
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
  /** Verbs that it serves. Default: {@link ALL_VERBS}. */
  readonly verbs?: readonly Verb[];
  /** A warning that every request is given. */
  readonly deprecation?: string;
  readonly shape: ObjectSchema;
  /** For reviews, which have the verb `create` alone: computes the answer; nothing is stored. */
  readonly review?: (object: KubeObject, user: UserInfo, options: ReviewOptions) => KubeObject | Promise<KubeObject>;
  /** Questions about objects of the kind, by the last part of their paths. */
  readonly questions?: Readonly<Record<string, Question>>;
  /** Views of objects of the kind, by the last part of their paths. */
  readonly views?: Readonly<Record<string, View>>;
  /** How it is shown in tables. Default: name and age. */
  readonly columns?: readonly Column[];
  readonly strategy: Strategy;
  /**
   * The part of an object that a user sees. Everything that goes out over HTTP passes through it: responses, tables and watches. The
   * object itself means that nothing is hidden, and is faster. Default: every user sees everything.
   */
  readonly shown?: (object: KubeObject, user: UserInfo) => KubeObject;
  /** Fields that a field selector may name besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
}
