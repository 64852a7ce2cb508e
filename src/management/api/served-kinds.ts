import type { Chance } from "../../base/chance.ts";
import { createReviews } from "../../cluster/kinds/reviews.ts";
import { createRbacKinds } from "../../cluster/rbac/kinds.ts";
import type { Policy } from "../../cluster/rbac/policy.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { ResourceDefinition, Strategy } from "../../apiserver/types/resource-definition.ts";
import type { AccessKeys, HoldValue } from "../access/keys/access-keys.ts";
import { createOwnedAccessKeys } from "../access/keys/access-key-definition.ts";
import type { KeyActivity } from "../access/keys/activity.ts";
import type { KeyLives } from "../access/keys/key-lives.ts";
import { createKeyAdmission } from "../access/keys/key-admission.ts";
import type { NameIndex } from "../access/permissions/name-index.ts";
import type { PasswordChangeOptions } from "../access/users/password-change.ts";
import { createBlockingAdmission, createOwnedAdmission, type WriteAdmission } from "../access/permissions/write-admission.ts";
import { mayRevoke } from "../access/permissions/revokes.ts";
import { ruleWarnings, usernameWarnings } from "../access/permissions/rule-warnings.ts";
import { withSecretView } from "../access/permissions/secret-view.ts";
import { createUsers, type PasswordRules } from "../access/users/user-definition.ts";
import { createDirectClusterEndpointTokens } from "../kinds/direct-cluster-endpoint-token.ts";
import { sharedSecrets } from "../kinds/shared-secret.ts";
import { teams } from "../kinds/team.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS, USERS } from "../kinds/types.ts";
import { withPayer } from "../access/quota/payer.ts";
import { createVaultAdmission } from "../vault/vault-admission.ts";
import { createIssueToken, type IssueTokenOptions } from "../tokens/issue-token.ts";
import type { Tokens } from "../../apiserver/access/tokens.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";

const TYPES: readonly ResourceType[] = [SHARED_SECRETS, TEAMS, USERS, OWNED_ACCESS_KEYS];

/** Options of the kinds. */
export interface ServedKindsOptions extends IssueTokenOptions, ReviewedTokensOptions {
  readonly keys: AccessKeys;
  readonly activity: KeyActivity;
  readonly lives: KeyLives;
  readonly names: NameIndex;
  /** Reserves a text for one writer among all processes. Default: this process is the only one. */
  readonly hold?: HoldValue | undefined;
  /** Ties the keys of a user to this User, before the password changes. */
  readonly settleKeys: (user: string) => Promise<void>;
  /** Like `settleKeys`, before the User is deleted. Also records the user's name. */
  readonly leave: (user: string) => Promise<void>;
  /** Keeps the data for refreshing a login, before the login key is deleted. */
  readonly leaveLogin: (key: KubeObject) => Promise<void>;
  /** The current rules. */
  readonly passwordRules: () => PasswordRules;
  readonly passwordChange: PasswordChangeOptions;
  readonly policy: Policy;
  readonly chance: Chance;
}

/** Returns every kind of the management API, stored or not, with the admission functions that check the authors of its objects. */
export function createServedKinds(options: ServedKindsOptions): readonly ResourceDefinition[] {
  const { permissions, objects, keys, activity, lives, limits, policy, chance, names, leaveLogin } = options;
  const admissionFor = (type: ResourceType) => ({ permissions, type, types: TYPES, names });
  const keyAdmission = createKeyAdmission({ ...admissionFor(OWNED_ACCESS_KEYS), objects, lives });
  const charged = (definition: ResourceDefinition) => withPayer(definition, { objects, lives });
  return [
    charged(
      withStrategy(withSecretView(sharedSecrets, { permissions, chance }), {
        admit: both(createVaultAdmission(permissions), createOwnedAdmission(admissionFor(SHARED_SECRETS))),
        revokes: mayRevoke,
        warnings: ruleWarnings,
      }),
    ),
    charged(
      withStrategy(teams, {
        admit: createOwnedAdmission(admissionFor(TEAMS)),
        revokes: mayRevoke,
        warnings: (team) => [...ruleWarnings(team), ...usernameWarnings(team, objects)],
      }),
    ),
    createUsers({ ...options, admit: createBlockingAdmission(admissionFor(USERS)) }),
    charged(createOwnedAccessKeys({ keys, activity, lives, limits, objects, admit: keyAdmission, leaveLogin })),
    createDirectClusterEndpointTokens(createIssueToken(options)),
    ...createRbacKinds(policy).map(readOnly),
    ...createReviews({ authorizer: permissions, tokens: createReviewedTokens(options) }).map(withoutToken),
  ];
}

function both(one: WriteAdmission, other: WriteAdmission): WriteAdmission {
  return (write) => {
    one(write);
    other(write);
  };
}

function withStrategy(definition: ResourceDefinition, more: Pick<Strategy, "admit" | "revokes" | "warnings">): ResourceDefinition {
  return { ...definition, strategy: { ...definition.strategy, ...more } };
}

/** Makes a kind read-only: roles are derived from access rules, and change only with them. */
function readOnly(definition: ResourceDefinition): ResourceDefinition {
  return { ...definition, verbs: ["get", "list", "watch"] };
}

/** Options of token reviews. */
interface ReviewedTokensOptions {
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
function createReviewedTokens({ ownerOf, issuer }: ReviewedTokensOptions): Pick<Tokens, "identify"> {
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
function withoutToken(definition: ResourceDefinition): ResourceDefinition {
  if (definition.type.kind !== "TokenReview") return definition;
  return {
    ...definition,
    shown(object) {
      const { token: _token, ...rest } = (object["spec"] ?? {}) as { readonly token?: string };
      return { ...object, spec: rest };
    },
  };
}
