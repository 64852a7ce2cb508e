import type { Code } from "../../base/codes.ts";
import type { DeletePreconditions } from "../../kube/object/cluster-client.ts";
import { keyOf, type ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject, OwnerReference } from "../../kube/object/types.ts";
import type { FoundReference, Outcome } from "../patch/types.ts";
import type { ToHostInput } from "./convert/to-host.ts";
import type { Surroundings } from "./rules/rules.ts";

/** Input of a plan. */
export interface PlanInput extends Surroundings {
  /** The tenant key that is reconciled. */
  readonly key: ObjectKey;
  /** The host key that `key` translates to. If omitted, the plan derives it from `key`. */
  readonly hostKey?: ObjectKey | undefined;
  readonly tenant: KubeObject | undefined;
  /** The object at the host key, regardless of its owner. */
  readonly host: KubeObject | undefined;
  /** Copies of this tenant object at other host keys, from before its namespace was remapped. */
  readonly orphans?: readonly KubeObject[];
  /** Owner of copies, so that they are garbage-collected when the virtual cluster is uninstalled. */
  readonly owner?: OwnerReference | undefined;
  /** True when the delete brake holds the deletes that an absent tenant object would cause. */
  readonly deletesHeld?: boolean;
  /** True when a live read found no newer version of the tenant object, or failed and the cached version is sufficient. */
  readonly sourceConfirmed?: boolean;
  /** True when a live read found no newer version of the copy; false when that read is forbidden. */
  readonly copyConfirmed?: boolean;
  /** True when the tenant cluster has just refused the result of host edits: the edits stay on the host for now. */
  readonly editsWait?: boolean;
  /** True when another client has deleted the copy, after this process last saw it or recreated it. */
  readonly vanished?: boolean;
}

/** One intended write. */
export type Operation =
  | {
      readonly action: "create";
      readonly side: "host" | "tenant";
      readonly object: KubeObject;
      readonly reason: string;
    }
  | {
      readonly action: "update";
      readonly side: "host" | "tenant";
      readonly object: KubeObject;
      readonly reason: string;
      readonly restores?: boolean;
    }
  | {
      readonly action: "delete";
      readonly side: "host" | "tenant";
      readonly key: ObjectKey;
      readonly preconditions: DeletePreconditions;
      readonly reason: string;
      /**
       * Required result of a live read of the source before the delete: nothing ("absent"), or exactly the version on which the plan is
       * based ("unchanged"). The source is the tenant object of the planned key, except for references. "none": the source does not
       * matter.
       */
      readonly confirm: "absent" | "unchanged" | "none";
    };

/** Required result of a live read before a delete. */
export type Confirm = Extract<Operation, { action: "delete" }>["confirm"];

/** Information for users: shown in `why` and, unless the state is temporary or intended, as an Event on the tenant object. */
export interface Note {
  readonly code: Code;
  readonly message: string;
}

/** Result of the plan. */
export type PlanState =
  /** The copy exists and is correct once the operations are done. */
  | "copied"
  /** There is no copy, and there should be none. */
  | "absent"
  /** Something else must happen first. */
  | "waiting"
  /** Both objects are left alone. */
  | "left"
  /** The object cannot be copied as it is. */
  | "refused"
  /** The cached tenant object is older than the copied version. */
  | "stale";

/** The result of {@link plan}. */
export interface Plan {
  readonly state: PlanState;
  readonly hostKey: ObjectKey | undefined;
  readonly operations: readonly Operation[];
  readonly notes: readonly Note[];
  readonly outcomes: readonly Outcome[];
  readonly references: readonly FoundReference[];
  /**
   * Clusters with a Service that the operations depend on. The Service is read live first, because the cache is not enough, and the plan
   * is made again.
   */
  readonly restsOnServices?: readonly ("host" | "tenant")[];
  /**
   * True when the operations depend on the presence of the tenant object: the object is read live first, and the plan is made again.
   * Default false.
   */
  readonly restsOnSource?: boolean;
  /**
   * True when edits of the copy are left alone because later edits have reached the tenant: the copy is read live first, and the plan is
   * made again. Default false.
   */
  readonly restsOnCopy?: boolean;
}

/** Makes the plan for one key from its state and its parts that are not empty. */
export type MakePlan = (state: PlanState, parts?: Partial<Plan>) => Plan;
/** Input of a plan for an object that should be copied. */
export type CopyInput = ToHostInput & PlanInput & { readonly tenant: KubeObject; readonly hostKey: ObjectKey };

/** Returns the operation that deletes the host object in the state that was read. */
export function deletion(host: KubeObject, reason: string, confirm: Confirm): Operation {
  const { uid, resourceVersion, name = "", namespace = "" } = host.metadata;
  const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
  return { action: "delete", side: "host", key: { namespace, name }, preconditions, reason, confirm };
}

/** Returns the operation that deletes a copy that cannot be changed into the desired one. */
export function recreation(host: KubeObject): Operation {
  return deletion(host, "A field that cannot be changed differs; the copy is recreated", "unchanged");
}

/** Returns the key of the object that an operation writes. */
export function writtenKey(operation: Operation): ObjectKey {
  return operation.action === "delete" ? operation.key : keyOf(operation.object);
}

/** Reports whether an operation creates the copy. */
export function isCopying({ action, side }: Operation): boolean {
  return action === "create" && side === "host";
}

/** Reports whether an operation only undoes an edit of the copy. */
export function isRestoration(operation: Operation): boolean {
  return operation.action === "update" && operation.restores === true;
}

/** Returns the identity of one state of the source, as text. */
export function sourceVersion(source: KubeObject | undefined): string {
  return `${source?.metadata.uid}/${source?.metadata.resourceVersion}`;
}
