import { AUDIT_LEVEL_MAX } from "../config/schema/audit-schema.ts";
import { MANAGEMENT_GROUP, DIRECT_CLUSTER_ENDPOINT_TOKENS, OWNED_ACCESS_KEYS, SHARED_SECRETS, USERS } from "../kinds/types.ts";
import type { AuditPolicy, AuditRule, AuditSettings } from "./policy.ts";

/** The level when the log is switched on without a level and without a policy. */
export const AUDIT_LEVEL_DEFAULT = 1;

/** Every level but 0 begins with these: what clients ask all the time, and makings of credentials. */
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
  // Anyone who signs in gets a key.
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
 * The policy that settings ask for: their own, or that of their level. Levels leave one line of each request, and a second one of
 * watches, which may be open for long.
 *
 * @example
 * policyOf({ ...settings, level: 0 }); // nothing is written
 */
export function policyOf({ policy, level = AUDIT_LEVEL_DEFAULT }: Pick<AuditSettings, "policy" | "level">): AuditPolicy {
  return policy ?? { rules: RULES[Math.min(level, AUDIT_LEVEL_MAX)]!, omitStages: ["RequestReceived"] };
}
