import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import type { Tokens } from "../../apiserver/access/tokens.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";

/** What reviews of tokens work with. */
export interface ReviewedTokensOptions {
  /** The caller who would be let in with a value at this moment; undefined for nobody. */
  readonly ownerOf: (value: string) => Promise<UserInfo | undefined>;
  /** The platform's address: the audience of access keys. */
  readonly issuer: () => string;
}

/**
 * What a TokenReview asks: whose an access key is. Tokens for clusters are no credentials here, and a review of one says so.
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

/** The kind without the token in its answers: the value of a key is in no answer but the one that issues it. */
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
