import type { ObjectSchema } from "../../../schema/schema.ts";
import { countField, flag, textField, texts, timeField } from "./fields.ts";
import { formField, formList } from "./forms.ts";

/** Default size at which the audit file is rotated, in megabytes. */
export const AUDIT_SIZE_MB = 100;

/** Highest audit level; a higher number has the same effect. */
export const AUDIT_LEVEL_MAX = 4;

const LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;

const OMITTED = {
  type: "list",
  description: "Stages that are not logged.",
  items: {
    type: "literals",
    values: ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"],
    description: "The stages are those of Kubernetes' audit logs.",
  },
} as const;

/** One rule of an audit policy. */
export const AUDIT_RULE = {
  type: "object",
  name: "ConfigAuditRule",
  description: "One rule. It matches when all of its lists match; an empty list always matches.",
  fields: {
    level: { type: "literals", values: LEVELS, default: "None", description: "How much is logged for a matching request." },
    users: texts("Names of users; `*` means all. An empty list matches every request."),
    userGroups: texts("Groups of users; `*` means all. An empty list matches every request."),
    verbs: formList("verb", "Verbs such as `get`; `*` or an empty list means all."),
    resources: {
      type: "list",
      description: "Resources that the rule matches, by API group.",
      items: {
        type: "object",
        description: "Resources of one group.",
        fields: {
          group: formField("group", "API group; `*` means all. Empty or omitted means the core group."),
          resources: formList("plural", "Plural names, with the subresource after a slash; `*` or an empty list means all."),
          resourceNames: texts("Names of objects; `*` or an empty list means all."),
        },
      },
    },
    namespaces: texts("Namespaces; `*` or an empty list means all. An empty string means objects without a namespace."),
    nonResourceURLs: formList("pathPattern", "Non-resource paths, such as `/auth/*`; a `*` at the end matches any ending."),
    omitStages: OMITTED,
    requestTargets: {
      type: "list",
      description: "Types of requests; `*` or an empty list means all.",
      items: {
        type: "literals",
        values: ["*", "Management", "Cluster", "VCluster", "ProjectSpace", "ProjectVCluster"],
        description: "Requests to this API have the type Management.",
      },
    },
    clusters: texts("Names of clusters. A rule with clusters matches no request to this API."),
  },
} as const satisfies ObjectSchema;

/** `audit`: which requests are logged. */
export const AUDIT = {
  type: "object",
  name: "ConfigAudit",
  description: "The audit log.",
  default: {},
  fields: {
    enabled: flag("Write audit lines. Requires path."),
    disableAgentSyncBack: flag("Do not let agents send their audit lines."),
    level: countField(
      "Detail of the log, from 0 (nothing) to 4 (most); higher numbers mean 4. Default without policy: 1. Cannot be combined with policy.",
    ),
    policy: {
      type: "object",
      description: "Policy that determines which requests are logged, and in how much detail. Cannot be combined with level.",
      fields: {
        rules: {
          type: "list",
          items: AUDIT_RULE,
          description: "The first rule that matches applies. If none matches, the level is None.",
        },
        omitStages: OMITTED,
      },
    },
    dataStoreEndpoint: textField(
      "Address of a database for audit lines, with its credentials: `sqlite:///PATH`, `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, or `mysql://USER:PASSWORD@tcp(HOST:PORT)/DATABASE`; `?tls=true` or `?tls=skip-verify` at the end encrypts the connection.",
    ),
    dataStoreTTL: countField("How long the database keeps lines, in hours; 0 or omitted means forever.", 87_600_000),
    path: formField("path", "Path of the audit file. Required when the audit log is enabled."),
    maxAge: timeField(0, "Days after which rotated files are removed; 0 means never."),
    maxBackups: timeField(0, "Number of rotated files that are kept; 0 means all."),
    maxSize: timeField(AUDIT_SIZE_MB, "Size at which the file is rotated, in megabytes; 0 means 100."),
    compress: flag("Compress rotated files with gzip."),
  },
} as const satisfies ObjectSchema;
