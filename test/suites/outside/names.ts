/** Where the copies of a tenant object stand on the host, by the specification and not by the product. */
import { createHash } from "node:crypto";

/** A virtual cluster, and which of its namespaces have one of their own on the host: `team-a: h-team-a`, `team-*: h-team-*`. */
export interface Virtual {
  readonly name: string;
  readonly namespace: string;
  readonly mappings?: Readonly<Record<string, string>>;
}

/** Namespace and name of an object. */
export type Place = readonly [namespace: string, name: string];

/** Where the copy of a tenant object belongs. */
export function hostPlace({ name: vcluster, namespace: home, mappings = {} }: Virtual, [namespace, name]: Place): Place {
  const exact = mappings[namespace];
  if (exact !== undefined) return [exact, name];
  for (const [tenant, host] of Object.entries(mappings)) {
    const start = tenant.slice(0, -1);
    if (tenant.endsWith("*") && namespace.startsWith(start)) return [host.slice(0, -1) + namespace.slice(start.length), name];
  }
  return [home, shortened(`${name}-x-${namespace}-x-${vcluster}`)];
}

function shortened(whole: string): string {
  if (whole.length <= 63) return whole;
  const digest = createHash("sha256").update(whole).digest("hex").slice(0, 10);
  return `${whole.slice(0, 52)}-${digest}`.replaceAll(".-", "-");
}

/** The part of `vcluster.yaml` that says so. */
export function mappingConfig({ mappings }: Pick<Virtual, "mappings">): object {
  return mappings === undefined ? {} : { namespaces: { enabled: true, mappings: { byName: mappings } } };
}
