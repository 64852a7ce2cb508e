import type { Clock } from "../../base/clock.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { invalidObject, unauthorized } from "../../apiserver/types/status.ts";
import { parseScope } from "../../cluster/scope/parse.ts";
import { SCOPE_EXTRA } from "../../cluster/scope/scope.ts";
import type { AccessScope } from "../../cluster/scope/types.ts";
import { validateScope } from "../../cluster/scope/checks/validate.ts";
import { scopeWarnings } from "../../cluster/scope/checks/warnings.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { KEY_EXTRA } from "../access/caller.ts";
import type { LifetimeLimits } from "../access/keys/key-lifetime.ts";
import type { KeyLives } from "../access/keys/key-lives.ts";
import type { ManagedObjects } from "../access/managed-objects.ts";
import type { Permissions } from "../access/permissions/permissions.ts";
import { specOf } from "../kinds/common.ts";
import type { IssueToken } from "../kinds/direct-cluster-endpoint-token.ts";
import { clusterRolesOf, type TeamSpec } from "../kinds/team.ts";
import { DIRECT_CLUSTER_ENDPOINT_TOKENS, OWNED_ACCESS_KEYS, TEAMS } from "../kinds/types.ts";
import type { TokenSigner } from "./token-signer.ts";

/** Options of the issuer of tokens. */
export interface IssueTokenOptions {
  /** Returns the signer, whose issuer is known once the server listens. */
  readonly signer: () => TokenSigner;
  readonly permissions: Permissions;
  readonly objects: ManagedObjects;
  readonly lives: Pick<KeyLives, "endOf">;
  readonly limits: () => LifetimeLimits;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Issues tokens for callers, with their groups and the cluster roles of their teams. A token is limited to the requested scope and to the
 * scope of the presented key, and is valid no longer than that key.
 */
export function createIssueToken(options: IssueTokenOptions): IssueToken {
  return async ({ ttl, scope }, user, { warn, dryRun }) => {
    const errors = scope === undefined ? [] : validateScope(scope, "spec.scope");
    if (errors.length > 0) throw invalidObject(DIRECT_CLUSTER_ENDPOINT_TOKENS, "", errors);
    for (const text of scope === undefined ? [] : scopeWarnings(scope, "spec.scope")) warn(text);
    const max = secondsLeft(options, user);
    const { token, shortenedTo } = await options.signer().sign({
      name: user.name,
      platform: claimOf(options, user, scope),
      ...(ttl !== undefined && { ttlSeconds: ttl }),
      ...(max !== Infinity && { ttlSecondsMax: max }),
    });
    if (shortenedTo !== undefined) warn(`requested expiration of ${ttl} seconds shortened to ${shortenedTo} seconds`);
    return dryRun ? "" : token;
  };
}

function claimOf({ permissions, objects }: IssueTokenOptions, user: UserInfo, scope: AccessScope | undefined) {
  const { subject, teams } = permissions.callerOf(user);
  const own = (user.extra?.[SCOPE_EXTRA] ?? []).map((text) => parseScope(text) ?? {});
  const roles = [...teams].flatMap((name) => {
    const team = objects.get(TEAMS, { namespace: "", name });
    return team === undefined ? [] : clusterRolesOf(specOf<TeamSpec>(team));
  });
  const accessKey = user.extra?.[KEY_EXTRA]?.[0];
  return {
    ...(subject && { [subject.kind]: subject.name }),
    groups: user.groups,
    clusterRoles: [...new Set(roles)],
    scopes: scope === undefined ? own : [scope, ...own],
    ...(accessKey !== undefined && { accessKey }),
  };
}

/**
 * The time left of the presented key, or the platform's limit if that is shorter, in seconds; Infinity without either.
 *
 * @throws API_UNAUTHORIZED when the key no longer exists.
 */
function secondsLeft({ objects, lives, limits, clock }: IssueTokenOptions, user: UserInfo): number {
  const { accessKeyMaxTTLSeconds: max } = limits();
  const name = user.extra?.[KEY_EXTRA]?.[0];
  const key: KubeObject | undefined = name === undefined ? undefined : objects.get(OWNED_ACCESS_KEYS, { namespace: "", name });
  if (name !== undefined && key === undefined) throw unauthorized();
  const keyMs = key === undefined ? Infinity : lives.endOf(key) - clock.now();
  return Math.min(max > 0 ? max : Infinity, keyMs / 1000);
}
