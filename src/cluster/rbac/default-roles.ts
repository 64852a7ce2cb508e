import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { PolicyRule } from "../../apiserver/access/authorization.ts";
import { AUTHENTICATED, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, MASTERS, RBAC_GROUP } from "./resources.ts";

const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const EVERYTHING = ["*"];

const core = (verbs: readonly string[], ...resources: string[]): PolicyRule => ({ verbs, apiGroups: [""], resources });
const inGroup = (group: string, verbs: readonly string[], ...resources: string[]): PolicyRule => ({ verbs, apiGroups: [group], resources });

/** Secrets are not included: a user who can read a ServiceAccount's token can act as that account. */
const VIEW: readonly PolicyRule[] = [
  core(READ, "configmaps", "endpoints", "pods", "serviceaccounts", "services", "services/status"),
  core(READ, "bindings", "events", "limitranges", "namespaces/status", "pods/log", "pods/status", "resourcequotas"),
  core(READ, "namespaces"),
  inGroup("discovery.k8s.io", READ, "endpointslices"),
  inGroup(
    "apps",
    READ,
    "deployments",
    "deployments/scale",
    "deployments/status",
    "statefulsets",
    "statefulsets/scale",
    "statefulsets/status",
  ),
  inGroup("networking.k8s.io", READ, "networkpolicies"),
  inGroup("policy", READ, "poddisruptionbudgets", "poddisruptionbudgets/status"),
];

/** Endpoints can only be read, as in Kubernetes since 1.22: writing them can redirect other users' traffic (CVE-2021-25740). */
const EDIT: readonly PolicyRule[] = [
  core(READ, "pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"),
  core(["impersonate"], "serviceaccounts"),
  core(WRITE, "pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy"),
  core(["create"], "pods/eviction"),
  core(WRITE, "configmaps", "events", "secrets", "serviceaccounts", "services", "services/proxy"),
  core(["create"], "serviceaccounts/token"),
  inGroup("coordination.k8s.io", [...WRITE, ...READ], "leases"),
  inGroup("apps", WRITE, "deployments", "deployments/scale", "statefulsets", "statefulsets/scale"),
  inGroup("networking.k8s.io", WRITE, "networkpolicies"),
  inGroup("policy", WRITE, "poddisruptionbudgets"),
];

const ADMIN: readonly PolicyRule[] = [
  inGroup("authorization.k8s.io", ["create"], "localsubjectaccessreviews"),
  inGroup(RBAC_GROUP, [...WRITE, ...READ], "roles", "rolebindings"),
];

const PUBLIC_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const DISCOVERY_PATHS = ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...PUBLIC_PATHS];

/** The initial ClusterRoles of every cluster. Source: the bootstrap policy of Kubernetes, for what an embedded cluster serves. */
const RULES: Readonly<Record<string, readonly PolicyRule[]>> = {
  "cluster-admin": [
    { verbs: EVERYTHING, apiGroups: EVERYTHING, resources: EVERYTHING },
    { verbs: EVERYTHING, nonResourceURLs: EVERYTHING },
  ],
  "system:aggregate-to-admin": ADMIN,
  "system:aggregate-to-edit": EDIT,
  "system:aggregate-to-view": VIEW,
  "system:basic-user": [
    inGroup("authorization.k8s.io", ["create"], "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
    inGroup("authentication.k8s.io", ["create"], "selfsubjectreviews"),
  ],
  "system:discovery": [{ verbs: ["get", "head"], nonResourceURLs: DISCOVERY_PATHS }],
  "system:public-info-viewer": [{ verbs: ["get", "head"], nonResourceURLs: PUBLIC_PATHS }],
};

const AGGREGATE_TO = "rbac.authorization.k8s.io/aggregate-to-";
const aggregatedTo = (name: string) => ({ [AGGREGATE_TO + name]: "true" });

/** The aggregated ClusterRoles, to which authors of new kinds add rules. Each is part of the one above it. */
const AGGREGATED: Readonly<Record<string, StringMap>> = {
  admin: {},
  edit: aggregatedTo("admin"),
  view: aggregatedTo("edit"),
};

/** The groups to which ClusterRoles are granted in the whole cluster. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  "cluster-admin": [MASTERS],
  "system:basic-user": [AUTHENTICATED],
  "system:discovery": [AUTHENTICATED],
  "system:public-info-viewer": [AUTHENTICATED, "system:unauthenticated"],
};

/** An object that every cluster has from the start. */
export interface DefaultObject {
  readonly type: ResourceType;
  readonly body: Pick<KubeObject, "metadata"> & { readonly metadata: { readonly name: string }; readonly [field: string]: unknown };
}

/**
 * The roles and bindings that every cluster has from the start.
 *
 * @example
 * defaultRoles().map(({ body }) => body.metadata.name); // ["cluster-admin", "system:aggregate-to-admin", ...]
 */
export function defaultRoles(): readonly DefaultObject[] {
  const metadata = (name: string, labels: StringMap = {}) => ({
    name,
    labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels },
    annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
  });
  const roles = Object.entries(RULES).map(([name, rules]) => {
    const [, part] = /^system:aggregate-to-(.*)$/.exec(name) ?? [];
    return { type: CLUSTER_ROLES, body: { metadata: metadata(name, part === undefined ? {} : aggregatedTo(part)), rules } };
  });
  const aggregated = Object.entries(AGGREGATED).map(([name, labels]) => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: aggregatedTo(name) }] };
    return { type: CLUSTER_ROLES, body: { metadata: metadata(name, labels), rules: [], aggregationRule } };
  });
  const bindings = Object.entries(GIVEN).map(([name, groups]) => ({
    type: CLUSTER_ROLE_BINDINGS,
    body: {
      metadata: metadata(name),
      roleRef: { apiGroup: RBAC_GROUP, kind: CLUSTER_ROLES.kind, name },
      subjects: groups.map((group) => ({ kind: "Group", apiGroup: RBAC_GROUP, name: group })),
    },
  }));
  return [...roles, ...aggregated, ...bindings];
}
