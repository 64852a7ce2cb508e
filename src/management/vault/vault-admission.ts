import { forbiddenRequest } from "../../apiserver/types/status.ts";
import { SCOPE_EXTRA } from "../../cluster/scope/scope.ts";
import type { WriteAdmission } from "../access/permissions/write-admission.ts";
import type { Permissions } from "../access/permissions/permissions.ts";
import { SHARED_SECRETS } from "../kinds/types.ts";
import { changesVaultSource, VAULT_ANNOTATIONS } from "./vault-source.ts";

/**
 * The admission for the annotations that name a secret of the vault. They give access to anything that the platform's token may read, so only
 * administrators may set them, with a key that has no scope. Anyone who may write the object may remove them.
 *
 * @throws API_FORBIDDEN (the admission), naming the annotations.
 */
export function createVaultAdmission(permissions: Pick<Permissions, "callerOf">): WriteAdmission {
  return ({ user, object, old }) => {
    if (!changesVaultSource(object, old)) return;
    if (permissions.callerOf(user).administers && user.extra?.[SCOPE_EXTRA] === undefined) return;
    const names = Object.values(VAULT_ANNOTATIONS).join(", ");
    const why = `only an administrator whose key has no scope can set the annotations ${names}`;
    throw forbiddenRequest(SHARED_SECRETS, object.metadata.name ?? "", why);
  };
}
