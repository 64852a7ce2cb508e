import { formatKey, parseKey, type ObjectKey } from "../../kube/object/key.ts";

/**
 * Recorded pairs of tenant key and host key, per kind. The mapping is the only way from a host name back to a tenant name, and it detects
 * two tenant objects that translate to one host name.
 *
 * Guarantees: within one kind, a host key belongs to at most one tenant key and vice versa. Recording a tenant key never removes the pair
 * of another tenant key, unless there are too many pairs: then the pair whose last recording is the oldest is removed.
 */
export interface Mapping {
  /**
   * Records a pair. If the host key belongs to another tenant object, it is `taken`, and nothing changes. If the tenant key had another
   * host key (its namespace is now mapped differently), the new one replaces it.
   */
  record(kind: string, tenant: ObjectKey, host: ObjectKey): "recorded" | { readonly taken: ObjectKey };
  toHost(kind: string, tenant: ObjectKey): ObjectKey | undefined;
  toTenant(kind: string, host: ObjectKey): ObjectKey | undefined;
  /** Removes a pair; does nothing if there is none. */
  forget(kind: string, tenant: ObjectKey): void;
}

interface Pairs {
  /** Both maps contain the same pairs, by the text form of their keys. */
  readonly hostByTenant: Map<string, string>;
  readonly tenantByHost: Map<string, string>;
}

/** Default maximum number of pairs of one kind: they take a few megabytes. */
export const PAIRS_MAX = 10_000;

/**
 * Creates an empty mapping that remembers at most `pairsMax` pairs of each kind. Kinds are strings in the form that `formatKind` returns.
 *
 * @example
 * const mapping = createMapping();
 * mapping.record("v1/Secret", { namespace: "shop", name: "db" }, { namespace: "vc", name: "db-x-shop-x-blue" }); // "recorded"
 */
export function createMapping(pairsMax = PAIRS_MAX): Mapping {
  const byKind = new Map<string, Pairs>();
  const look = (kind: string, side: keyof Pairs, key: ObjectKey) => {
    const found = byKind.get(kind)?.[side].get(formatKey(key));
    return found === undefined ? undefined : parseKey(found);
  };
  return {
    record: (kind, tenant, host) => {
      const pairs = byKind.get(kind) ?? { hostByTenant: new Map<string, string>(), tenantByHost: new Map<string, string>() };
      byKind.set(kind, pairs);
      const result = recordPair(pairs, tenant, host);
      if (pairs.hostByTenant.size > pairsMax) forgetPair(pairs, pairs.hostByTenant.keys().next().value!);
      return result;
    },
    toHost: (kind, tenant) => look(kind, "hostByTenant", tenant),
    toTenant: (kind, host) => look(kind, "tenantByHost", host),
    forget: (kind, tenant) => {
      const pairs = byKind.get(kind);
      if (pairs !== undefined) forgetPair(pairs, formatKey(tenant));
    },
  };
}

function recordPair(pairs: Pairs, tenant: ObjectKey, host: ObjectKey): "recorded" | { readonly taken: ObjectKey } {
  const [tenantText, hostText] = [formatKey(tenant), formatKey(host)];
  const holder = pairs.tenantByHost.get(hostText);
  if (holder !== undefined && holder !== tenantText) return { taken: parseKey(holder) };
  forgetPair(pairs, tenantText);
  pairs.hostByTenant.set(tenantText, hostText);
  pairs.tenantByHost.set(hostText, tenantText);
  return "recorded";
}

function forgetPair({ hostByTenant, tenantByHost }: Pairs, tenantText: string): void {
  const host = hostByTenant.get(tenantText);
  if (host === undefined) return;
  hostByTenant.delete(tenantText);
  tenantByHost.delete(host);
}
