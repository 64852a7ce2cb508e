/**
 * Reviews of identities and permissions of users. They are answered, but not stored.
 *
 * @module
 */
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Attributes, Authorizer, PathAttributes, PolicyRule, ResourceAttributes } from "../../apiserver/access/authorization.ts";
import { invalid } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { anything, bool, listOf, mandatory, mapOf, objectOf, optional, text } from "../../schema/builders.ts";
import type { Schema } from "../../schema/schema.ts";
import { badRequest, invalidObject } from "../../apiserver/types/status.ts";
import type { Tokens } from "../../apiserver/access/tokens.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";

/** Options of {@link createReviews}. */
export interface ReviewsOptions {
  readonly authorizer: Authorizer;
  readonly tokens: Pick<Tokens, "identify">;
}

const AUTHORIZATION = "authorization.k8s.io/v1";
const AUTHENTICATION = "authentication.k8s.io/v1";

const RESOURCE_ATTRIBUTES = objectOf({
  namespace: [1, text],
  verb: [2, text],
  group: [3, text],
  version: [4, text],
  resource: [5, text],
  subresource: [6, text],
  name: [7, text],
  fieldSelector: optional(anything),
  labelSelector: optional(anything),
});
const PATH_ATTRIBUTES = objectOf({ path: [1, text], verb: [2, text] });
const ASKED = { resourceAttributes: [1, RESOURCE_ATTRIBUTES], nonResourceAttributes: [2, PATH_ATTRIBUTES] } as const;
const EXTRA: Schema = mapOf(listOf(text));
const SELF_SPEC = objectOf(ASKED);
const SUBJECT_SPEC = objectOf({ ...ASKED, user: [3, text], groups: [4, listOf(text)], extra: EXTRA, uid: text });
const ACCESS_STATUS = objectOf({ allowed: mandatory(bool), denied: bool, reason: text, evaluationError: text });

const RULE = objectOf({ verbs: mandatory(listOf(text)), apiGroups: listOf(text), resources: listOf(text), resourceNames: listOf(text) });
const PATH_RULE = objectOf({ verbs: mandatory(listOf(text)), nonResourceURLs: listOf(text) });
const RULES_STATUS = objectOf({
  resourceRules: mandatory(listOf(RULE)),
  nonResourceRules: mandatory(listOf(PATH_RULE)),
  incomplete: mandatory(bool),
  evaluationError: text,
});
const USER_INFO = objectOf({ username: text, uid: text, groups: listOf(text), extra: EXTRA });

/**
 * Creates the review kinds of a cluster.
 *
 * @example
 * createReviews({ authorizer, tokens }).map(({ type }) => type.plural); // ["selfsubjectreviews", "tokenreviews", ...]
 */
export function createReviews({ authorizer, tokens }: ReviewsOptions): readonly ResourceDefinition[] {
  return [
    {
      ...kind(AUTHENTICATION, "SelfSubjectReview"),
      shape: kindShape({ status: [2, objectOf({ userInfo: USER_INFO })] }),
      review: (object, user) => ({ ...object, status: { userInfo: shown(user) } }),
    },
    {
      ...kind(AUTHENTICATION, "TokenReview"),
      shape: reviewShape(objectOf({ token: [1, text], audiences: [2, listOf(text)] }), TOKEN_STATUS),
      review: async (object) => ({ ...object, status: await tokenStatus(tokens, specOf<TokenReviewSpec>(object)) }),
    },
    {
      ...kind(AUTHORIZATION, "SelfSubjectAccessReview"),
      shape: reviewShape(SELF_SPEC, ACCESS_STATUS),
      review: (object, user) => decided(authorizer, object, user),
    },
    {
      ...kind(AUTHORIZATION, "SelfSubjectRulesReview"),
      shape: reviewShape(objectOf({ namespace: [1, text] }), RULES_STATUS),
      review: (object, user) => ({
        ...object,
        status: rulesStatus(authorizer, user, specOf<{ namespace?: string }>(object).namespace ?? ""),
      }),
    },
    {
      ...kind(AUTHORIZATION, "SubjectAccessReview"),
      shape: reviewShape(SUBJECT_SPEC, ACCESS_STATUS),
      review: (object) => decided(authorizer, object, subjectOf(object)),
    },
    {
      ...kind(AUTHORIZATION, "LocalSubjectAccessReview", { namespaced: true }),
      shape: reviewShape(SUBJECT_SPEC, ACCESS_STATUS),
      review: (object) => decided(authorizer, local(object), subjectOf(object)),
    },
  ];
}

const TOKEN_STATUS = objectOf({ authenticated: bool, user: USER_INFO, audiences: listOf(text), error: text });

function kind(apiVersion: string, name: string, { namespaced = false } = {}) {
  const singular = name.toLowerCase();
  const type: ResourceType = { apiVersion, kind: name, plural: `${singular}s`, namespaced };
  return { type, singular, verbs: ["create"], strategy: { nameRule: dnsSubdomain } } as const;
}

function reviewShape(spec: Schema, status: Schema) {
  return kindShape({ spec: [2, mandatory(spec)], status });
}

function specOf<Spec>(object: KubeObject): Spec {
  return object["spec"] as Spec;
}

function shown({ name, groups, extra }: UserInfo) {
  return { username: name, groups, ...(extra && { extra }) };
}

interface TokenReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
}

/** Without audiences, the review asks whether the API accepts the token, and the response contains no audiences either. */
async function tokenStatus(tokens: ReviewsOptions["tokens"], { token = "", audiences }: TokenReviewSpec) {
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const proof = await tokens.identify(token, audiences);
  if (proof === undefined) return { authenticated: false };
  return { authenticated: true, user: shown(proof.user), ...(audiences && { audiences: proof.audiences }) };
}

/** `spec` of an access review. */
interface AccessSpec {
  readonly resourceAttributes?: Partial<ResourceAttributes>;
  readonly nonResourceAttributes?: Partial<PathAttributes>;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: NonNullable<UserInfo["extra"]>;
}

function decided(authorizer: Authorizer, object: KubeObject, user: UserInfo): KubeObject {
  const { allowed, reason } = authorizer.decide(user, askedIn(object));
  return { ...object, status: { allowed, reason } };
}

/** @throws API_INVALID unless the review asks about exactly one resource or path. */
function askedIn(object: KubeObject): Attributes {
  const { resourceAttributes, nonResourceAttributes } = specOf<AccessSpec>(object);
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    throw refused(object, "spec.nonResourceAttributes", "cannot be specified in combination with resourceAttributes");
  }
  if (resourceAttributes !== undefined) {
    return { verb: "", group: "", version: "", resource: "", subresource: "", namespace: "", name: "", ...resourceAttributes };
  }
  if (nonResourceAttributes !== undefined) return { verb: "", path: "", ...nonResourceAttributes };
  throw refused(object, "spec.resourceAttributes", "exactly one of nonResourceAttributes or resourceAttributes must be specified");
}

/** @throws API_INVALID when the review names neither a user nor a group. */
function subjectOf(object: KubeObject): UserInfo {
  const { user = "", groups = [], extra } = specOf<AccessSpec>(object);
  if (user === "" && groups.length === 0) throw refused(object, "spec.user", "at least one of user or group must be specified");
  return { name: user, groups, ...(extra && { extra }) };
}

/** @throws API_BAD_REQUEST when the review asks about a namespace other than its own. */
function local(object: KubeObject): KubeObject {
  const { resourceAttributes, nonResourceAttributes } = specOf<AccessSpec>(object);
  if (nonResourceAttributes !== undefined) throw refused(object, "spec.nonResourceAttributes", "disallowed on this kind of request");
  const { namespace = "" } = object.metadata;
  if (resourceAttributes === undefined || resourceAttributes.namespace === namespace) return object;
  throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
}

function refused({ apiVersion, kind: name }: KubeObject, field: string, why: string) {
  return invalidObject({ apiVersion, kind: name }, "", [invalid(field, null, why)]);
}

function rulesStatus(authorizer: Authorizer, user: UserInfo, namespace: string) {
  if (namespace === "") throw badRequest("no namespace on request");
  const rules = authorizer.rulesFor(user, namespace);
  const onPaths = ({ nonResourceURLs = [] }: PolicyRule) => nonResourceURLs.length > 0;
  return {
    resourceRules: rules.filter((rule) => !onPaths(rule)),
    nonResourceRules: rules.filter(onPaths),
    incomplete: false,
  };
}
