import type { Chance } from "../../../base/chance.ts";
import type { Clock } from "../../../base/clock.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Audit } from "../../../apiserver/access/audit.ts";
import { SYSTEM_USER } from "../../../apiserver/verbs/resource-context.ts";
import { specOf } from "../../kinds/common.ts";
import type { KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../../kinds/types.ts";
import { isKeyless } from "./left-logins.ts";

/** Options of {@link createLoginAudit}. */
export interface LoginAuditOptions {
  /** Default: no audit. */
  readonly audit?: Audit | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly chance: Pick<Chance, "uuid">;
}

/**
 * Writes an audit event for each login that ends because of its provider, as if the server had sent a request to delete the key, or to
 * patch the User if the key was already deleted. The annotation `management.platform/login-ended` contains the reason.
 */
export function createLoginAudit({ audit, clock, chance }: LoginAuditOptions): (login: KubeObject, why: string) => void {
  return (login, why) => {
    const { user = "", identity } = specOf<KeySpec>(login);
    const { apiVersion, plural } = isKeyless(login) ? USERS : OWNED_ACCESS_KEYS;
    const [group = "", version = ""] = apiVersion.split("/");
    const name = login.metadata.name ?? "";
    const [verb, method] = isKeyless(login) ? ["patch", "PATCH"] : ["delete", "DELETE"];
    const trail = audit?.({
      auditID: chance.uuid(),
      user: SYSTEM_USER,
      attributes: { verb, group, version, resource: plural, subresource: "", namespace: "", name },
      method,
      requestURI: `/apis/${apiVersion}/${plural}/${name}`,
      ...{ sourceIPs: [], userAgent: "" },
      receivedAt: clock.now(),
    });
    trail?.annotate?.("management.platform/login-ended", why);
    trail?.annotate?.("management.platform/login-user", user);
    if (identity?.connector !== undefined) trail?.annotate?.("management.platform/connector", identity.connector);
    trail?.complete(200);
  };
}
