import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import type { Tokens } from "../../apiserver/access/tokens.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";

/** Options of token reviews. */
export interface ReviewedTokensOptions {
  /** Returns the caller that a key value identifies now; undefined if the key is not accepted. */
  readonly ownerOf: (value: string) => Promise<UserInfo | undefined>;
  /** The platform's address: the audience of access keys. */
  readonly issuer: () => string;
}

/**
 * Identifies the owner of an access key for a TokenReview. Tokens for clusters are not credentials for this API, so their review does not
 * authenticate them.
 *
 * @example
 * await createReviewedTokens({ ownerOf, issuer }).identify(accessKey); // { user, audiences: [] }
 */
export function createReviewedTokens({ ownerOf, issuer }: ReviewedTokensOptions): Pick<Tokens, "identify"> {
  return {
    async identify(token, audiences = []) {
      const meant = audiences.filter((audience) => audience === issuer());
      if (audiences.length > 0 && meant.length === 0) return undefined;
      const user = await ownerOf(token);
      return user && { user, audiences: meant };
    },
  };
}

/** Removes the token from the responses of a TokenReview: only the response that issues a key contains its value. */
export function withoutToken(definition: ResourceDefinition): ResourceDefinition {
  if (definition.type.kind !== "TokenReview") return definition;
  return {
    ...definition,
    shown(object) {
      const { token: _token, ...rest } = (object["spec"] ?? {}) as { readonly token?: string };
      return { ...object, spec: rest };
    },
  };
}
