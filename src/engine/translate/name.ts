/**
 * Determines the name of a tenant object in the shared host namespace. No other module may build a host name.
 *
 * Guarantees to the rest of the engine, and limits:
 * - Deterministic: the same name before and after a restart, on every replica.
 * - One-way: long names are truncated, so a host name is never parsed back. Markers and the mapping record the origin of an object.
 * - Not injective: `a-x-b`/`c` and `a`/`b-x-c` have the same host name. The mapping refuses the second one.
 *
 * Source of the rules: the name pattern of `virtualToHostDNS` in the specification; truncation and digest are those of the reference
 * product, so that its objects can be adopted.
 *
 * @module
 */
import { sha256Hex } from "../../base/digest.ts";
import type { ObjectKey } from "../../kube/object/key.ts";

/** The virtual cluster: its name and its host namespace. */
export interface VCluster {
  readonly name: string;
  readonly namespace: string;
}

/** Maximum length of a joined name: a Service name is a DNS label, and Endpoints have the name of their Service. */
export const NAME_LENGTH_MAX = 63;

/** Hex digits of the digest at the end of a truncated name. */
const DIGEST_LENGTH = 10;

/**
 * Joins `parts` with `-`. A result over 63 characters is truncated after 52 and completed with ten hex digits of the SHA-256 of the
 * whole, so that long names with the same beginning stay distinct.
 *
 * @example
 * safeConcat("db", "x", "shop", "x", "blue"); // "db-x-shop-x-blue"
 */
export function safeConcat(...parts: string[]): string {
  const joined = parts.join("-");
  if (joined.length <= NAME_LENGTH_MAX) return joined;
  const head = joined.slice(0, NAME_LENGTH_MAX - DIGEST_LENGTH - 1);
  // The truncated name can end with a dot, and no label of a DNS name may begin with a hyphen: "app.-0123" becomes "app-0123".
  return `${head}-${sha256Hex(joined).slice(0, DIGEST_LENGTH)}`.replaceAll(".-", "-");
}

/**
 * Returns the name of a tenant object in the host namespace of its virtual cluster or, for a cluster-scoped object (namespace ""), on the
 * host cluster. An empty name stays empty.
 *
 * @example
 * sharedName({ namespace: "shop", name: "db" }, { name: "blue", namespace: "vc-blue" }); // "db-x-shop-x-blue"
 */
export function sharedName(tenant: ObjectKey, vcluster: VCluster): string {
  if (tenant.name === "") return "";
  if (tenant.namespace === "") return safeConcat("vcluster", tenant.name, "x", vcluster.namespace, "x", vcluster.name);
  return safeConcat(tenant.name, "x", tenant.namespace, "x", vcluster.name);
}
