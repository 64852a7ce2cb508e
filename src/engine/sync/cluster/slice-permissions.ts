import { isEngineError, messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import type { ClusterAccess, ClusterCaches } from "./access.ts";
import { describePermission, isAllowed, requiredPermissions, type Permission, type PermissionOptions } from "./permissions.ts";

const COPIES_ENDPOINTS_ALONE = "backends: auto copies only Endpoints, because ";

/** Maximum number of missing permissions that are named. */
const NAMED_MAX = 3;

/** Permissions to check, and the clusters that are asked. */
export interface SlicePermissionsOptions {
  /** Needs of a configuration with `backends: auto`. An engine is one. */
  readonly needed: PermissionOptions;
  readonly tenant: ClusterAccess;
  readonly host: ClusterAccess;
  readonly logger: Logger;
}

/** An engine whose configuration may need more than its clusters allow. */
export interface ReachingEngine extends PermissionOptions {
  readonly rules: readonly Rules[];
  /** The combined meaning of the setting `backends` and the sections. */
  readonly backends?: string;
}

/**
 * Returns the engine, limited to the capabilities of these clusters. `backends: auto` copies only Endpoints if permissions on
 * EndpointSlices are missing, if there are no caches of them (an embedder may not have any), or if an API server does not have the kind.
 * The cause is logged once.
 *
 * @throws API_… when a cluster does not respond.
 */
export async function withinReach<Given extends ReachingEngine>(
  engine: Given,
  options: Omit<SlicePermissionsOptions, "needed">,
): Promise<Given> {
  if (!decidesSources(engine)) return engine;
  const asked = { ...options, needed: engine };
  // A cache of a kind that the API server does not know would request it again and again.
  if ((await hasSlicePermissions(asked)) && (await servesSlices(asked)) && hasSliceCaches(options)) return engine;
  return withoutSlices(engine);
}

/** Reports whether the source that readers get backends from is decided per Service. */
export function decidesSources({ rules }: Pick<ReachingEngine, "rules">): boolean {
  return rules.some((rule) => rule.decidesBackends === true);
}

/** Returns the engine, restricted to copies of Endpoints. */
export function withoutSlices<Given extends ReachingEngine>(engine: Given): Given {
  const others = engine.rules.filter(({ kind }) => kind.resource !== ENDPOINT_SLICES);
  return { ...engine, backends: "endpoints", rules: others.map(({ decidesBackends: _decides, ...rest }) => rest) };
}

function hasSliceCaches({ tenant, host, logger }: Omit<SlicePermissionsOptions, "needed">): boolean {
  if ([tenant, host].every(hasSource)) return true;
  logger.warn(COPIES_ENDPOINTS_ALONE + "there are no caches of EndpointSlices", {
    hint: "Provide caches of them for both clusters, or set backends: endpoints in the settings",
  });
  return false;
}

/**
 * Reports whether both API servers have EndpointSlices. Those older than Kubernetes 1.21 answer 404, even to a user with all permissions:
 * the first list would never be complete. Other errors are left to the caches.
 *
 * @throws API_UNAVAILABLE, API_TOO_MANY_REQUESTS when a cluster does not answer.
 */
async function servesSlices({ needed, logger, ...clusters }: SlicePermissionsOptions): Promise<boolean> {
  const lists = requiredPermissions(needed).filter(({ resource, verb }) => resource === ENDPOINT_SLICES && verb === "list");
  const answers = await Promise.all(
    (["tenant", "host"] as const).map(async (side) => {
      const namespace = lists.find((permission) => permission.side === side)?.namespace;
      const scope = { ...(namespace && { namespace }), fieldSelector: "metadata.name=kubernetes" };
      try {
        await clusters[side].list?.(ENDPOINT_SLICES, scope);
      } catch (error) {
        if (isEngineError(error, "API_UNAVAILABLE", "API_TOO_MANY_REQUESTS")) throw error;
        if (isEngineError(error, "API_NOT_FOUND")) return [side];
      }
      return [];
    }),
  );
  const without = answers.flat();
  if (without.length === 0) return true;
  logger.warn(COPIES_ENDPOINTS_ALONE + "an API server does not support EndpointSlices", {
    clusters: without,
    hint: "Use Kubernetes 1.21 or newer, or set backends: endpoints in the settings",
  });
  return false;
}

/** Reports whether there is a cache of EndpointSlices: an embedder's own caches may lack one. */
function hasSource(access: ClusterCaches): boolean {
  try {
    return (access.source(ENDPOINT_SLICES) as unknown) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Reports whether both clusters allow what `backends: auto` does with EndpointSlices. Some of the permissions are not enough: slices that
 * can be made but not updated would become stale. Missing permissions are logged once. A cluster that answers the review with another error
 * is assumed to allow everything.
 *
 * @throws API_UNAVAILABLE, API_TOO_MANY_REQUESTS when a cluster does not answer.
 */
async function hasSlicePermissions({ needed, tenant, host, logger }: SlicePermissionsOptions): Promise<boolean> {
  const asked = requiredPermissions(needed).filter(isForSlices);
  const answers = await Promise.all(
    asked.map(async (permission) => {
      try {
        return { permission, allowed: await isAllowed(permission.side === "tenant" ? tenant.writer : host.writer, permission) };
      } catch (error) {
        if (isEngineError(error, "API_UNAVAILABLE", "API_TOO_MANY_REQUESTS")) throw error;
        logger.debug("Cannot determine whether slices may be written", { error: messageOf(error) });
        return { permission, allowed: true };
      }
    }),
  );
  const missing = answers.filter(({ allowed }) => !allowed).map(({ permission }) => permission);
  if (missing.length === 0) return true;
  const named = missing.slice(0, NAMED_MAX).map(describePermission);
  const more = missing.length > NAMED_MAX ? `; and ${missing.length - NAMED_MAX} more` : "";
  logger.warn(COPIES_ENDPOINTS_ALONE + "permissions on EndpointSlices are missing", {
    missing: named.join("; ") + more,
    hint: "Grant these permissions and restart the syncer, or set backends: endpoints in the settings",
  });
  return false;
}

function isForSlices({ resource, verb, side, required }: Permission): boolean {
  return required && (resource === ENDPOINT_SLICES || (resource === ENDPOINTS && verb === "get" && side === "host"));
}
