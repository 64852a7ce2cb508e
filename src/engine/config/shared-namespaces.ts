/** One mapping of namespaces, with `${name}` filled in: both sides are exact, or both end in `*`. */
export interface NamespaceMapping {
  readonly tenant: string;
  readonly host: string;
}

/** Two tenant namespaces with one host namespace. */
export interface SharedNamespace {
  readonly tenants: readonly [string, string];
  readonly host: string;
}

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Sample texts for `*`, tried until one gives namespaces that no other entry maps elsewhere. */
const RESTS = [..."z0123456789abcdefghijklmnopqrstuvwxy"];

/**
 * Returns an example of two tenant namespaces that two of the mappings would put into one host namespace; undefined if there is none. A
 * namespace that a third mapping maps elsewhere is not an example.
 *
 * @example
 * const mappings = [{ tenant: "a", host: "h-b" }, { tenant: "*", host: "h-*" }] as const;
 * sharedNamespace(...mappings, mappings); // { tenants: ["a", "b"], host: "h-b" }
 */
export function sharedNamespace(
  left: NamespaceMapping,
  right: NamespaceMapping,
  all: readonly NamespaceMapping[],
): SharedNamespace | undefined {
  const [longer, shorter] = beginning(left.host).length >= beginning(right.host).length ? [left, right] : [right, left];
  if (!isPattern(shorter) || !beginning(longer.host).startsWith(beginning(shorter.host))) return undefined;
  const between = beginning(longer.host).slice(beginning(shorter.host).length);
  for (const rest of isPattern(longer) ? RESTS : [""]) {
    const host = beginning(longer.host) + rest;
    const tenantOf = (mapping: NamespaceMapping) => beginning(mapping.tenant) + (mapping === shorter ? between : "") + rest;
    const tenants = [tenantOf(left), tenantOf(right)] as const;
    if (tenants[0] === tenants[1] || !tenants.every((tenant) => NAME.test(tenant))) continue;
    if (tenants.every((tenant) => hostOf(tenant, all) === host)) return { tenants, host };
  }
  return undefined;
}

function isPattern({ tenant }: NamespaceMapping): boolean {
  return tenant.endsWith("*");
}

function beginning(text: string): string {
  return text.endsWith("*") ? text.slice(0, -1) : text;
}

/** An exact entry takes precedence over a pattern, and a longer pattern over a shorter one. */
function hostOf(namespace: string, all: readonly NamespaceMapping[]): string | undefined {
  const exact = all.find(({ tenant }) => tenant === namespace);
  if (exact !== undefined) return exact.host;
  const covering = all.filter((mapping) => isPattern(mapping) && covers(beginning(mapping.tenant), namespace));
  const [longest] = covering.sort((left, right) => right.tenant.length - left.tenant.length);
  return longest && beginning(longest.host) + namespace.slice(beginning(longest.tenant).length);
}

function covers(prefix: string, namespace: string): boolean {
  return namespace.length > prefix.length && namespace.startsWith(prefix);
}
