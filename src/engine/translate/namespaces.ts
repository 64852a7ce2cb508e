/**
 * Which host namespace a tenant namespace maps to in multi-namespace mode.
 *
 * Source of the rules: `sync.toHost.namespaces.mappings.byName`. Both sides are exact, or both end in one `*` that matches
 * the same text; `${name}` on the host side is the name of the virtual cluster. The configuration checks all that; here is
 * only the look-up.
 *
 * @module
 */
import type { VCluster } from "./name.ts";

/** Look-up of mapped namespaces. */
export interface NamespaceRules {
  /** The mapped host namespace; undefined for a tenant namespace that no entry covers. */
  toHost(tenantNamespace: string): string | undefined;
  /** Every host namespace that can result, or "all" when a pattern leaves that open. */
  readonly targets: readonly string[] | "all";
}

interface Pattern {
  readonly tenantPrefix: string;
  readonly hostPrefix: string;
}

/** The rules of single-namespace mode: no namespace is mapped. */
export const NO_NAMESPACES: NamespaceRules = { toHost: () => undefined, targets: [] };

/**
 * Compiles the `byName` mappings. An exact entry takes precedence over a pattern, and a longer pattern over a shorter one.
 *
 * @example
 * const rules = compileNamespaces({ "team-a-*": "h-team-a-*" }, { name: "blue", namespace: "vc-blue" });
 * rules.toHost("team-a-dev"); // "h-team-a-dev"
 */
export function compileNamespaces(byName: Readonly<Record<string, string>>, vcluster: VCluster): NamespaceRules {
  const exact = new Map<string, string>();
  const patterns: Pattern[] = [];
  for (const [tenant, template] of Object.entries(byName)) {
    const host = template.replace("${name}", () => vcluster.name);
    if (tenant.endsWith("*")) patterns.push({ tenantPrefix: tenant.slice(0, -1), hostPrefix: host.slice(0, -1) });
    else exact.set(tenant, host);
  }
  // Of two patterns that match, the longer says more; the order of keys in a file must not matter.
  patterns.sort((left, right) => right.tenantPrefix.length - left.tenantPrefix.length);
  return {
    toHost(namespace) {
      const host = exact.get(namespace) ?? expand(patterns, namespace);
      // A pattern can reach the virtual cluster's own namespace, where objects must not keep their tenant names.
      return host === vcluster.namespace ? undefined : host;
    },
    targets: patterns.length > 0 ? "all" : [...exact.values()],
  };
}

function expand(patterns: readonly Pattern[], namespace: string): string | undefined {
  const match = patterns.find(({ tenantPrefix }) => namespace.length > tenantPrefix.length && namespace.startsWith(tenantPrefix));
  return match && match.hostPrefix + namespace.slice(match.tenantPrefix.length);
}
