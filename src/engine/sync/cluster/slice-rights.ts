import { isEngineError, messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { Writer } from "./access.ts";
import { describePermission, isAllowed, requiredPermissions } from "./permissions.ts";
import type { Permission, PermissionOptions } from "./permissions.ts";

/** Rights that are named where some are missing. */
const NAMED_MAX = 3;

/** Permissions to check, and the clusters that are asked. */
export interface SliceRightsOptions {
  /** Needs of a configuration with `backends: auto`. An engine is one. */
  readonly needed: PermissionOptions;
  readonly tenant: Pick<Writer, "create">;
  readonly host: Pick<Writer, "create">;
  readonly logger: Logger;
}

/**
 * Tells whether both clusters allow what `backends: auto` does with EndpointSlices. Some of the permissions are not enough: slices that can be made
 * but not updated would go stale. Missing permissions are reported once. A cluster that does not answer is assumed to allow everything; the
 * probes report it.
 */
export async function hasSliceRights({ needed, tenant, host, logger }: SliceRightsOptions): Promise<boolean> {
  const asked = requiredPermissions(needed).filter(isForSlices);
  const answers = await Promise.all(
    asked.map(async (permission) => {
      try {
        return { permission, allowed: await isAllowed(permission.side === "tenant" ? tenant : host, permission) };
      } catch (error) {
        if (!isEngineError(error)) throw error;
        logger.debug("Whether slices may be written is not known", { error: messageOf(error) });
        return { permission, allowed: true };
      }
    }),
  );
  const missing = answers.filter(({ allowed }) => !allowed).map(({ permission }) => permission);
  if (missing.length === 0) return true;
  const named = missing.slice(0, NAMED_MAX).map(describePermission);
  const more = missing.length > NAMED_MAX ? `; and ${missing.length - NAMED_MAX} more` : "";
  logger.warn("backends: auto copies Endpoints alone, because permissions on EndpointSlices are missing", {
    missing: named.join("; ") + more,
  });
  return false;
}

function isForSlices({ resource, verb, side, required }: Permission): boolean {
  return required && (resource === ENDPOINT_SLICES || (resource === ENDPOINTS && verb === "get" && side === "host"));
}
