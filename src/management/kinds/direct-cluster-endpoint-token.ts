import type { KubeObject } from "../../kube/object/types.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, int64, named, text } from "../../schema/builders.ts";
import { ACCESS_SCOPE } from "../../cluster/scope/shape.ts";
import type { AccessScope } from "../../cluster/scope/types.ts";
import type { ResourceDefinition, ReviewOptions } from "../../apiserver/types/resource-definition.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { DIRECT_CLUSTER_ENDPOINT_TOKENS } from "./types.ts";

/** `spec` of a DirectClusterEndpointToken. */
export interface TokenSpec {
  /** Seconds. */
  readonly ttl?: number;
  readonly scope?: AccessScope;
}

/** Issues the token that a caller requests. */
export type IssueToken = (spec: TokenSpec, user: UserInfo, options: ReviewOptions) => Promise<string>;

const SHAPE = kindShape(
  {
    spec: [
      always(
        named("DirectClusterEndpointTokenSpec", "Lifetime and scope of the token.", {
          ttl: [int64, "Lifetime in seconds. Default: one day."],
          scope: [
            ACCESS_SCOPE,
            "Restricts the token to some of its bearer's permissions. The scope of the caller's key always applies, too.",
          ],
        }),
      ),
      "Lifetime and scope of the token.",
    ],
    status: [
      always(named("DirectClusterEndpointTokenStatus", "The token.", { token: [text, "A signed JWT. Keep it secret."] })),
      "The token.",
    ],
  },
  "A token for using connected clusters directly.",
);

/** Defines DirectClusterEndpointTokens. Tokens are returned and not stored, so create is the only verb. */
export function createDirectClusterEndpointTokens(issue: IssueToken): ResourceDefinition {
  return {
    type: DIRECT_CLUSTER_ENDPOINT_TOKENS,
    singular: "directclusterendpointtoken",
    verbs: ["create"],
    shape: SHAPE,
    strategy: { nameRule: dnsSubdomain },
    async review(object: KubeObject, user, options) {
      const spec = (object["spec"] ?? {}) as TokenSpec;
      return { ...object, spec, status: { token: await issue(spec, user, options) } };
    },
  };
}
