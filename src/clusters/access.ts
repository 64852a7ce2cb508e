import type { Chance } from "../base/chance.ts";
import type { Clock } from "../base/clock.ts";
import { groupOf } from "../object/resource.ts";
import { demandAllowed } from "../server/authorization.ts";
import type { Authorizer } from "../server/authorization.ts";
import type { Admit } from "../server/resource-context.ts";
import type { ResourceDefinition } from "../server/resource-definition.ts";
import type { Store } from "../server/store.ts";
import { createTokens } from "../server/tokens.ts";
import type { Tokens } from "../server/tokens.ts";
import { createReviews } from "./kinds/reviews.ts";
import { createTokenRequests } from "./kinds/token-requests.ts";
import { createRbacAuthorizer } from "./rbac/authorize.ts";
import { createRbacKinds } from "./rbac/kinds.ts";
import { followPolicy } from "./rbac/policy.ts";

/** Who is known to a cluster and what they may do. */
export interface Access {
  readonly authorizer: Authorizer;
  readonly tokens: Tokens;
  /** The kinds in which all this is written down and asked about. */
  readonly kinds: readonly ResourceDefinition[];
  /** What ServiceAccounts are asked for. */
  readonly accountQuestions: NonNullable<ResourceDefinition["questions"]>;
  stop(): void;
}

/** What access is made of. */
export interface AccessOptions {
  readonly store: Store;
  readonly chance: Chance;
  readonly clock: Clock;
}

/** Access by the roles and bindings in a store. */
export async function createAccess({ store, chance, clock }: AccessOptions): Promise<Access> {
  const policy = await followPolicy(store);
  const authorizer = createRbacAuthorizer(policy);
  const tokens = createTokens({ chance, clock });
  const kinds = [...createRbacKinds(policy), ...createReviews({ authorizer, tokens })];
  const accountQuestions = { token: createTokenRequests({ tokens, clock }) };
  return { authorizer, tokens, kinds, accountQuestions, stop: () => policy.stop() };
}

/**
 * Admission by permission, for what the request itself did not ask for: an update or an applied configuration that creates
 * an absent object needs the verb `create` too.
 */
export function createCreationAdmission(authorizer: Authorizer, next: Admit): Admit {
  return async (operation) => {
    const { verb, type, key, user } = operation;
    if (verb === "create") {
      const version = type.apiVersion.slice(type.apiVersion.lastIndexOf("/") + 1);
      const attributes = { verb, group: groupOf(type), version, resource: type.plural, subresource: "", ...key };
      demandAllowed(authorizer, user, attributes);
    }
    await next(operation);
  };
}
