/** Shared types of the modules around referenced objects. */
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { Direction } from "../../patch/patch-definition.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject, OwnerReference } from "../../../kube/object/types.ts";
import type { Translator } from "../../translate/translator.ts";
import type { KeyFilter } from "../rules/excluded-keys.ts";

/** A kind whose objects are copied, and the direction. */
export interface ReferenceKind {
  readonly resource: ResourceType;
  readonly direction: Direction;
}

/** Rules shared by all referenced objects. */
export interface ReferenceRules {
  /** Kinds that reference patches can name, except those that are synced anyway. */
  readonly kinds: readonly ReferenceKind[];
  readonly translator: Translator;
  /** Label and annotation keys that are never copied. */
  readonly excluded: KeyFilter;
  /** Retention of an unreferenced copy, in milliseconds. */
  readonly retentionMs: number;
  /** Maximum number of followed objects. */
  readonly objectsMax: number;
  /** uid of the tenant cluster's `kube-system` namespace; recorded on every copy. */
  readonly clusterUid?: string;
  /** uid of an earlier tenant cluster of this virtual cluster, whose copies count as ours. */
  readonly adoptCluster?: string;
}

/** Input of a plan for one referenced object. */
export interface ReferenceInput {
  readonly kind: ReferenceKind;
  /** The object's key in the tenant cluster, where references name it. */
  readonly key: ObjectKey;
  /** Its key on the host. */
  readonly hostKey: ObjectKey;
  /** The source of the copy. */
  readonly source: KubeObject | undefined;
  /** The object in the place of the copy, whatever its owner. */
  readonly target: KubeObject | undefined;
  /** Time since the last reference to it, in milliseconds; undefined while it is referenced. */
  readonly unusedMs: number | undefined;
  /** Owner of copies on the host. */
  readonly owner?: OwnerReference | undefined;
  /** True when a live read found no newer version of the source, or when the cached one is enough without an answer. */
  readonly sourceConfirmed?: boolean;
  /** True after a live read of the copy; false if the syncer lacks the permission for it. */
  readonly copyConfirmed?: boolean;
  /** For an import: tenant namespaces to check, because the host name may mean an object in them; undefined before the first check. */
  readonly namesakes?: readonly string[];
  /** True when one of the `namesakes` namespaces exists, or when the syncer lacks the permission to check. */
  readonly namesakeExists?: boolean;
  /** The copy as it was last written or seen, unless we have deleted it since: if it is missing, a list may have omitted it. */
  readonly known?: KubeObject | undefined;
  /**
   * Time until a live read shows whether there is a copy although none is known, in milliseconds; 0 if it does so now, undefined if there
   * is none for certain.
   */
  readonly unprovenMs?: number | undefined;
  /** True while the delete brake is engaged: the copies that it holds need what they refer to. */
  readonly deletesHeld?: boolean;
  /** uid and version of the source that was last written: if the copy differs from it again, the copy has been edited. */
  readonly writtenFrom?: string | undefined;
}

/** The input when there is a source. */
export type SourcedInput = ReferenceInput & { readonly source: KubeObject };

/** Both places of one referenced object. */
export type CopyPlace = Pick<ReferenceInput, "kind" | "key" | "hostKey">;
