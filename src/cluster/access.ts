import type { Chance } from "../base/chance.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { groupOf } from "../kube/object/resource.ts";
import { demandAllowed, type Authorizer } from "../apiserver/access/authorization.ts";
import type { Admit } from "../apiserver/verbs/resource-context.ts";
import type { ResourceDefinition } from "../apiserver/types/resource-definition.ts";
import type { OnWatch } from "../apiserver/http/resource-routes.ts";
import type { Store } from "../apiserver/store/store.ts";
import { createTokens, type Tokens } from "../apiserver/access/tokens.ts";
import { createReviews } from "./kinds/reviews.ts";
import { createTokenRequests } from "./kinds/token-requests.ts";
import { withPlatformGrants, withinScopes } from "./tokens/platform-access.ts";
import { endWithTokens, openPlatformTokens, withPlatformTokens, type PlatformTrust } from "./tokens/platform-tokens.ts";
import { createRbacAuthorizer } from "./rbac/authorize.ts";
import { createRbacKinds } from "./rbac/kinds.ts";
import { followPolicy } from "./rbac/policy.ts";

/** Authentication and authorization of a cluster. */
export interface Access {
  readonly authorizer: Authorizer;
  readonly tokens: Tokens;
  /** The kinds that store permissions, and reviews of permissions. */
  readonly kinds: readonly ResourceDefinition[];
  /** Subresources of ServiceAccounts. */
  readonly accountSubresources: NonNullable<ResourceDefinition["computed"]>;
  /** Ends a watch when the token that allowed it ends; undefined when no token ends. */
  readonly onWatch: OnWatch | undefined;
  stop(): void;
}

/** Options of {@link createAccess}. */
export interface AccessOptions {
  readonly store: Store;
  readonly chance: Chance;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Platform whose tokens are accepted besides the cluster's own. Default: none. */
  readonly platform?: PlatformTrust | undefined;
  /** Reports whether a resource of the cluster is namespaced. */
  readonly isNamespaced: (group: string, resource: string) => boolean;
}

/**
 * Sets up authorization by the roles and bindings in a store, and authentication by the cluster's own tokens and those of a platform.
 *
 * @throws CONFIG_VALUE if the platform's keys are passed directly and cannot be used.
 */
export async function createAccess({ store, chance, clock, logger, platform, isNamespaced }: AccessOptions): Promise<Access> {
  const trusted = platform && (await openPlatformTokens({ trust: platform, clock, logger }));
  const own = createTokens({ chance, clock });
  const tokens = trusted ? withPlatformTokens(own, trusted) : own;
  const followed = await followPolicy(store);
  const policy = platform ? withPlatformGrants(followed, platform.administrators) : followed;
  const byRoles = createRbacAuthorizer(policy);
  const authorizer = platform ? withinScopes(byRoles, { ...platform, isNamespaced }) : byRoles;
  const kinds = [...createRbacKinds(policy), ...createReviews({ authorizer, tokens })];
  const accountSubresources = { token: createTokenRequests({ tokens, clock }) };
  const onWatch = trusted && endWithTokens(trusted, clock);
  return { authorizer, tokens, kinds, accountSubresources, onWatch, stop: () => policy.stop() };
}

/**
 * Checks permissions for effects beyond the request itself: an update or apply request that creates an absent object also
 * requires the verb `create`.
 */
export function createCreationAdmission(authorizer: Authorizer, next: Admit): Admit {
  return (operation) => {
    const { verb, type, key, user } = operation;
    if (verb === "create") {
      const version = type.apiVersion.slice(type.apiVersion.lastIndexOf("/") + 1);
      const attributes = { verb, group: groupOf(type), version, resource: type.plural, subresource: "", ...key };
      demandAllowed(authorizer, user, attributes);
    }
    return next(operation);
  };
}
