import type { KubeObject } from "../../kube/object/types.ts";
import { managerName } from "../apply/parameters.ts";
import { applyUpdate, withoutIdleTimes } from "../apply/update.ts";
import { deepFreeze } from "../types/objects/json-data.ts";
import { withMetadata } from "../types/objects/metadata.ts";
import type { ResourceContext, WriteOptions } from "./resource-context.ts";

/** The source of the managers of a written object. */
export type ManagersFrom =
  /** Derived from the changes. `requested` is `metadata.managedFields` as the author sent it, before decoding. */
  | { readonly requested?: unknown }
  /** Computed by a server-side apply. */
  | { readonly settled: readonly unknown[] | undefined };

/** A write that is complete except for its managers. */
export interface UntrackedWrite {
  /** The stored object; undefined for a creation. */
  readonly before: KubeObject | undefined;
  readonly after: KubeObject;
  readonly managers: ManagersFrom;
}

/**
 * Returns the object with its `metadata.managedFields` after the write. Only in-process clients write without the name of a manager. Their
 * writes do not start to track an untracked object, which keeps such objects small.
 *
 * @throws API_INVALID if the author wrote an invalid list of managers.
 */
export function withManagers(context: ResourceContext, { before, after, managers }: UntrackedWrite, options: TrackingOptions): KubeObject {
  if ("settled" in managers) return settled(before, deepFreeze(withMetadata(after, { managedFields: managers.settled })));
  const { fieldManager, userAgent, subresource } = options;
  const anonymous = fieldManager === undefined && userAgent === undefined;
  if (anonymous && managers.requested === undefined && before?.metadata.managedFields === undefined) return after;
  const { definition, clock } = context;
  const manager = managerName({ fieldManager, userAgent });
  return settled(before, applyUpdate({ definition, before, after, manager, subresource, requested: managers.requested, now: clock.now() }));
}

/** Options that identify the writer and the subresource. */
export type TrackingOptions = Pick<WriteOptions, "fieldManager" | "userAgent"> & { readonly subresource?: string | undefined };

function settled(before: KubeObject | undefined, after: KubeObject): KubeObject {
  return before === undefined ? after : withoutIdleTimes(before, after);
}
