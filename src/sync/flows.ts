import type { KubeObject } from "../object/types.ts";
import { sourceVersion } from "../reconcile/machine.ts";

/** Remembers host edits that the tenant has taken over, until the copy's base says so. */
export interface Flows {
  /** Notes that the edits of `host` made the tenant object what it is now. */
  flowed(id: string, tenant: KubeObject, host: KubeObject | undefined): void;
  /** The host object whose edits made exactly this version of the tenant object. */
  from(id: string, tenant: KubeObject | undefined): KubeObject | undefined;
  /** Notes that no cache has the object any more: it may be gone, or a list may have left it out. */
  lost(id: string): void;
  forget(id: string): void;
}

/** Of so many lost objects the edits are remembered at most. */
export const LOST_MAX = 100;

/**
 * Remembers none yet. An entry lives from a tenant write to the host write that answers it, also while lists leave the object
 * out. One that is lost with the process costs the edits of that moment only.
 */
export function createFlows(): Flows {
  const flows = new Map<string, { readonly version: string; readonly host: KubeObject }>();
  /** Ids of flows whose object is lost, the longest lost first. */
  const lost = new Set<string>();

  function forget(id: string): void {
    lost.delete(id);
    flows.delete(id);
  }

  return {
    flowed(id, tenant, host) {
      lost.delete(id);
      if (host !== undefined) flows.set(id, { version: sourceVersion(tenant), host });
    },
    from(id, tenant) {
      const flow = flows.get(id);
      return flow !== undefined && flow.version === sourceVersion(tenant) ? flow.host : undefined;
    },
    lost(id) {
      if (!flows.has(id)) return;
      lost.add(id);
      if (lost.size > LOST_MAX) forget(lost.values().next().value!);
    },
    forget,
  };
}
