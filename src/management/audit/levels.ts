import { AUDIT_LEVEL_MAX } from "../config/schema/audit-schema.ts";
import { MANAGEMENT_GROUP, DIRECT_CLUSTER_ENDPOINT_TOKENS, OWNED_ACCESS_KEYS, SHARED_SECRETS, USERS } from "../kinds/types.ts";
import type { AuditPolicy, AuditRule, AuditSettings } from "./policy.ts";

/** The level if the log is enabled without a level and without a policy. */
export const AUDIT_LEVEL_DEFAULT = 1;

/** Rules with which every level but 0 begins: frequent requests of clients, and requests that create credentials. */
const FIRST: readonly AuditRule[] = [
  {
    level: "None",
    resources: [
      { group: "authentication.k8s.io", resources: ["selfsubjectreviews", "tokenreviews"] },
      {
        group: "authorization.k8s.io",
        resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews", "localsubjectaccessreviews"],
      },
    ],
  },
  { level: "None", nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi*", "/api*", "/.well-known/*"] },
  // Every sign-in creates a key.
  { level: "Metadata", nonResourceURLs: ["/auth/*"] },
  {
    level: "Metadata",
    verbs: ["create"],
    resources: [
      {
        group: MANAGEMENT_GROUP,
        resources: [OWNED_ACCESS_KEYS, USERS, SHARED_SECRETS, DIRECT_CLUSTER_ENDPOINT_TOKENS].map(({ plural }) => plural),
      },
    ],
  },
];

const CREATES = ["create"];
const CHANGES = ["update", "patch", "delete", "deletecollection"];

/** By level, from 0 on. */
const RULES: readonly (readonly AuditRule[])[] = [
  [],
  [...FIRST, { level: "Request", verbs: CREATES }, { level: "Metadata", verbs: CHANGES }],
  [...FIRST, { level: "Request", verbs: CREATES }, { level: "Metadata" }],
  [...FIRST, { level: "Request" }],
  [...FIRST, { level: "RequestResponse" }],
];

/**
 * Returns the audit policy of the settings: the configured policy, or the one for the configured level. Each level writes one line for each
 * request, and a second one for watches, which may be open for a long time.
 *
 * @example
 * policyOf({ ...settings, level: 0 }); // nothing is written
 */
export function policyOf({ policy, level = AUDIT_LEVEL_DEFAULT }: Pick<AuditSettings, "policy" | "level">): AuditPolicy {
  return policy ?? { rules: RULES[Math.min(level, AUDIT_LEVEL_MAX)]!, omitStages: ["RequestReceived"] };
}
