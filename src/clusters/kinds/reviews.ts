/**
 * Questions that clients ask about themselves: who am I, and what may I do. Everybody whom an embedded cluster lets in may
 * do everything, so the answers are short.
 *
 * @module
 */
import type { KubeObject } from "../../object/types.ts";
import { dnsSubdomain } from "../../server/names.ts";
import type { ResourceDefinition } from "../../server/resource-definition.ts";
import { always, any, bool, fields, kindShape, list, numbered, optional, text } from "../../server/shape.ts";

const AUTHORIZATION = "authorization.k8s.io/v1";

/** What every review has in common. */
const review = { verbs: ["create"], strategy: { nameRule: dnsSubdomain } } as const;

const RESOURCE_ATTRIBUTES = numbered(
  fields({ namespace: text, verb: text, group: text, version: text, resource: text, subresource: text, name: text, fieldSelector: optional(any), labelSelector: optional(any) }), // prettier-ignore
  { namespace: 1, verb: 2, group: 3, version: 4, resource: 5, subresource: 6, name: 7 },
);
const ACCESS_SPEC = numbered(
  fields({
    resourceAttributes: RESOURCE_ATTRIBUTES,
    nonResourceAttributes: numbered(fields({ path: text, verb: text }), { path: 1, verb: 2 }),
  }),
  { resourceAttributes: 1, nonResourceAttributes: 2 },
);
const ACCESS_STATUS = fields({ allowed: always(bool), denied: bool, reason: text, evaluationError: text });

/** May I do this? */
const accessReviews: ResourceDefinition = {
  ...review,
  type: { apiVersion: AUTHORIZATION, kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews", namespaced: false },
  singular: "selfsubjectaccessreview",
  shape: numbered(kindShape({ spec: always(ACCESS_SPEC), status: ACCESS_STATUS }), { metadata: 1, spec: 2 }),
  review: (object) => ({ ...object, status: { allowed: true, reason: "everything is allowed here" } }),
};

const RULE = fields({ verbs: always(list(text)), apiGroups: list(text), resources: list(text), resourceNames: list(text) });
const PATH_RULE = fields({ verbs: always(list(text)), nonResourceURLs: list(text) });
const RULES_STATUS = fields({
  resourceRules: always(list(RULE)),
  nonResourceRules: always(list(PATH_RULE)),
  incomplete: always(bool),
  evaluationError: text,
});
const ALL = ["*"];

/** What may I do? */
const rulesReviews: ResourceDefinition = {
  ...review,
  type: { apiVersion: AUTHORIZATION, kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews", namespaced: false },
  singular: "selfsubjectrulesreview",
  shape: numbered(kindShape({ spec: always(numbered(fields({ namespace: text }), { namespace: 1 })), status: RULES_STATUS }), {
    metadata: 1,
    spec: 2,
  }),
  review: (object) => ({
    ...object,
    status: {
      resourceRules: [{ verbs: ALL, apiGroups: ALL, resources: ALL }],
      nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
      incomplete: false,
    },
  }),
};

const USER_INFO = fields({ username: text, uid: text, groups: list(text), extra: { type: "map", of: list(text) } });

/** Who am I? */
const selfReviews: ResourceDefinition = {
  ...review,
  type: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", plural: "selfsubjectreviews", namespaced: false },
  singular: "selfsubjectreview",
  shape: numbered(kindShape({ status: fields({ userInfo: USER_INFO }) }), { metadata: 1 }),
  review: (object: KubeObject, { name, groups }) => ({ ...object, status: { userInfo: { username: name, groups } } }),
};

/** The reviews that an embedded cluster answers. */
export const REVIEWS: readonly ResourceDefinition[] = [selfReviews, accessReviews, rulesReviews];
