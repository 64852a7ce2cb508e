import type { KubeObject } from "../object/types.ts";

/** Remembers host edits that the tenant has taken over, until the copy's base says so. */
export interface Flows {
  /** Notes that the edits of `host` made the tenant object what it is now. */
  flowed(id: string, tenant: KubeObject, host: KubeObject | undefined): void;
  /** The host object whose edits made exactly this version of the tenant object. */
  from(id: string, tenant: KubeObject | undefined): KubeObject | undefined;
  forget(id: string): void;
}

/**
 * Remembers none yet. An entry lives from a tenant write to the host write that answers it. One that is lost with the process
 * costs the edits of that moment only.
 */
export function createFlows(): Flows {
  const flows = new Map<string, { readonly version: string | undefined; readonly host: KubeObject }>();
  return {
    flowed(id, tenant, host) {
      if (host !== undefined) flows.set(id, { version: tenant.metadata.resourceVersion, host });
    },
    from(id, tenant) {
      const flow = flows.get(id);
      return flow !== undefined && flow.version === tenant?.metadata.resourceVersion ? flow.host : undefined;
    },
    forget: (id) => void flows.delete(id),
  };
}
