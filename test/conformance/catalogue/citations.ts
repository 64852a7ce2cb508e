/**
 * The documents in which Kubernetes says what its API does, and how a case of the suites names a place in one of them.
 */

/**
 * Documents by their names; a case may cite any of them, and the page lists those that are cited. Those with a path are pages of the Kubernetes documentation, below its host.
 */
export const DOCUMENTS = {
  "API concepts": { path: "/docs/reference/using-api/api-concepts/" },
  "API conventions": { where: "`api-conventions.md` of the architecture group, in the community repository of Kubernetes" },
  "The Kubernetes API": { path: "/docs/concepts/overview/kubernetes-api/" },
  "Health endpoints": { path: "/docs/reference/using-api/health-checks/" },
  "Server-side apply": { path: "/docs/reference/using-api/server-side-apply/" },
  "Strategic merge patch": { where: "`strategic-merge-patch.md` of the API machinery group, in the community repository of Kubernetes" },
  Authentication: { path: "/docs/reference/access-authn-authz/authentication/" },
  Authorization: { path: "/docs/reference/access-authn-authz/authorization/" },
  RBAC: { path: "/docs/reference/access-authn-authz/rbac/" },
  "Admission controllers": { path: "/docs/reference/access-authn-authz/admission-controllers/" },
  "Object names": { path: "/docs/concepts/overview/working-with-objects/names/" },
  "Labels and selectors": { path: "/docs/concepts/overview/working-with-objects/labels/" },
  Annotations: { path: "/docs/concepts/overview/working-with-objects/annotations/" },
  "Field selectors": { path: "/docs/concepts/overview/working-with-objects/field-selectors/" },
  Finalizers: { path: "/docs/concepts/overview/working-with-objects/finalizers/" },
  "Owners and dependents": { path: "/docs/concepts/overview/working-with-objects/owners-dependents/" },
  "Garbage collection": { path: "/docs/concepts/architecture/garbage-collection/" },
  Namespaces: { path: "/docs/concepts/overview/working-with-objects/namespaces/" },
  Pods: { path: "/docs/concepts/workloads/pods/" },
  "Pod lifecycle": { path: "/docs/concepts/workloads/pods/pod-lifecycle/" },
  Service: { path: "/docs/concepts/services-networking/service/" },
  "ClusterIP allocation": { path: "/docs/concepts/services-networking/cluster-ip-allocation/" },
  EndpointSlices: { path: "/docs/concepts/services-networking/endpoint-slices/" },
  ConfigMaps: { path: "/docs/concepts/configuration/configmap/" },
  Secrets: { path: "/docs/concepts/configuration/secret/" },
  "Service accounts": { path: "/docs/concepts/security/service-accounts/" },
  "Managing service accounts": { path: "/docs/reference/access-authn-authz/service-accounts-admin/" },
  "TokenRequest v1": { path: "/docs/reference/kubernetes-api/authentication-resources/token-request-v1/" },
  "TokenReview v1": { path: "/docs/reference/kubernetes-api/authentication-resources/token-review-v1/" },
  "Service v1": { path: "/docs/reference/kubernetes-api/service-resources/service-v1/" },
  "Endpoints v1": { path: "/docs/reference/kubernetes-api/service-resources/endpoints-v1/" },
  "EndpointSlice v1": { path: "/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/" },
  "ConfigMap v1": { path: "/docs/reference/kubernetes-api/config-and-storage-resources/config-map-v1/" },
  "Secret v1": { path: "/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/" },
  "Scale v1": { path: "/docs/reference/kubernetes-api/autoscaling-resources/scale-v1/" },
  "PodDisruptionBudget v1": { path: "/docs/reference/kubernetes-api/policy-resources/pod-disruption-budget-v1/" },
  "NetworkPolicy v1": { path: "/docs/reference/kubernetes-api/policy-resources/network-policy-v1/" },
  "Lease v1": { path: "/docs/reference/kubernetes-api/cluster-resources/lease-v1/" },
  "Namespace v1": { path: "/docs/reference/kubernetes-api/cluster-resources/namespace-v1/" },
  "Node v1": { path: "/docs/reference/kubernetes-api/cluster-resources/node-v1/" },
  "Pod v1": { path: "/docs/reference/kubernetes-api/workload-resources/pod-v1/" },
  ObjectMeta: { path: "/docs/reference/kubernetes-api/common-definitions/object-meta/" },
  ListMeta: { path: "/docs/reference/kubernetes-api/common-definitions/list-meta/" },
  DeleteOptions: { path: "/docs/reference/kubernetes-api/common-definitions/delete-options/" },
  "Status v1": { path: "/docs/reference/kubernetes-api/common-definitions/status/" },
  "Common parameters": { path: "/docs/reference/kubernetes-api/common-parameters/common-parameters/" },
  "RFC 6902": { where: "JavaScript Object Notation (JSON) Patch" },
  "RFC 7386": { where: "JSON Merge Patch" },
  upstream: { where: "undocumented behaviour of the API server, cited by a name in the Kubernetes source" },
  "this client": { where: "`ClusterClient` in `src/kube/object/cluster-client.ts`, the client of this package" },
} as const satisfies Record<string, { readonly path: string } | { readonly where: string }>;

/** The name of a document. */
export type DocumentName = keyof typeof DOCUMENTS;

/** A place in a document: its section, its field, or the name of a behaviour. */
export type Citation = readonly [document: DocumentName, place: string];

/** Cases of one group of one suite that have one subject. */
export interface CatalogueSection {
  /** Heading of the page. Sections of one subject stand together. */
  readonly subject: Subject;
  /** `http`: `test/conformance/cluster.ts`; `client`: `test/conformance/cluster-client.ts`. */
  readonly suite: "http" | "client";
  /** Title of the `describe` that the cases stand in; "" for those in none. */
  readonly group: string;
  /** Title of a case → where Kubernetes defines it. */
  readonly cases: Readonly<Record<string, Citation>>;
}

/** Headings of the page, in its order. */
export const SUBJECTS = [
  "Create",
  "Metadata",
  "Read",
  "List",
  "Watch",
  "Update",
  "Patch",
  "Server-side apply",
  "Delete",
  "Dry run and unknown fields",
  "Representations",
  "Status and errors",
  "Discovery and schemas",
  "Access",
  "Endpoints",
  "Services",
  "Endpoint slices",
  "Secrets and ConfigMaps",
  "Leases and Events",
  "Namespaces",
  "Pods",
  "Nodes",
  "Workloads",
  "The client itself",
] as const;

/** A heading of the page. */
export type Subject = (typeof SUBJECTS)[number];
