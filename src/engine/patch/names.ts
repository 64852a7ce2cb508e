import type { Mapping } from "../translate/mapping.ts";
import { formatKind } from "../translate/markers.ts";
import type { Translator } from "../translate/translator.ts";
import type { KindName, NameRules } from "./types.ts";

/**
 * Creates the rules that translate names of referenced objects of these kinds. Names are translated to the host by the translator's rule,
 * and back only by the mapping.
 *
 * @example
 * const names = createNameRules({ translator, mapping, kinds: [SECRETS, CONFIG_MAPS] });
 */
export function createNameRules(options: { translator: Translator; mapping: Mapping; kinds: readonly KindName[] }): NameRules {
  const { translator, mapping } = options;
  const known = new Set(options.kinds.map(formatKind));
  return {
    knows: (kind) => known.has(formatKind(kind)),
    toHost: (kind, tenant) => translator.toHost(tenant, kind),
    toTenant: (kind, host) => mapping.toTenant(formatKind(kind), host),
    labelSelector: (selector, direction) =>
      direction === "toHost" ? translator.labelSelector(selector) : translator.tenantLabelSelector(selector),
  };
}
