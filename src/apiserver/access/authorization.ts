import type { EngineError } from "../../base/errors.ts";
import { groupOf } from "../../kube/object/resource.ts";
import type { Exchange } from "../http/exchange.ts";
import type { ResourceTarget } from "../http/request-target.ts";
import type { UserInfo } from "../types/user-info.ts";
import { readFlag } from "../http/query.ts";
import { forbiddenPath, forbiddenRequest } from "../types/status.ts";

/** The attributes of a request for a resource to which permissions apply. "" means that the request does not name the part. */
export interface ResourceAttributes {
  readonly verb: string;
  /** "" is the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** A request for a path that is not a resource. */
export interface PathAttributes {
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** The action that a request performs. */
export type Attributes = ResourceAttributes | PathAttributes;

/** The decision of an authorizer. */
export interface AccessDecision {
  readonly allowed: boolean;
  /** The reason for the decision, for human readers; may be "". */
  readonly reason: string;
}

/** Permissions of one rule: verbs on resources, or on paths. Source: `rbac.authorization.k8s.io/v1` PolicyRule. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** Decides what users may do. Decisions are current: they reflect every write that was acknowledged before. */
export interface Authorizer {
  decide(user: UserInfo, attributes: Attributes): AccessDecision;
  /** Returns all permissions of a user in a namespace and outside of namespaces. Rules may overlap. */
  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[];
}

/** Verbs by method. Requests for collections, and watches, have other verbs. */
const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** A field selector for one name. The name then belongs to the attributes of the request. */
const BY_NAME = /(?:^|,)metadata\.name==?([A-Za-z0-9.:_-]+)(?:,|$)/;

/**
 * Returns the attributes of a request. The verb of a GET that watches is "watch". A Namespace object belongs to its own namespace, so that a
 * Role in the namespace can permit reading it.
 * Source: the API server's request info.
 */
export function attributesOf(
  { method, path, query }: Pick<Exchange, "method" | "path" | "query">,
  target: ResourceTarget | undefined,
): Attributes {
  if (target === undefined) return { verb: method.toLowerCase(), path };
  const { apiVersion, plural, namespace, name, subresource = "" } = target;
  const group = groupOf(target);
  const base = { group, version: apiVersion.slice(apiVersion.lastIndexOf("/") + 1), resource: plural, subresource };
  const within = group === "" && plural === "namespaces" ? name : namespace;
  const verb = Object.hasOwn(VERBS, method) ? VERBS[method]! : method.toLowerCase();
  // Most requests have no query.
  const asks = query.size > 0;
  const watching = method === "GET" && target.subresource === undefined && (target.watch || (asks && readFlag(query, "watch") === true));
  if (name !== "") return { ...base, verb: watching ? "watch" : verb, namespace: within, name };
  const selected = verb === "get" && asks ? (BY_NAME.exec(query.get("fieldSelector") ?? "")?.[1] ?? "") : "";
  return { ...base, verb: collectionVerb(verb, watching), namespace: within, name: selected };
}

function collectionVerb(verb: string, watching: boolean): string {
  if (verb === "get") return watching ? "watch" : "list";
  return verb === "delete" ? "deletecollection" : verb;
}

/**
 * Returns the error for a refused request, in the wording of Kubernetes, with the authorizer's reason.
 *
 * @example
 * refusal({ name: "jane", groups: [] }, { verb: "get", path: "/metrics" }).message; // 'forbidden: User "jane" cannot get path "/metrics"'
 */
export function refusal(user: UserInfo, attributes: Attributes, reason = ""): EngineError {
  const why = reason === "" ? "" : `: ${reason}`;
  const who = `User ${JSON.stringify(user.name)} cannot ${attributes.verb}`;
  if ("path" in attributes) return forbiddenPath(`${who} path ${JSON.stringify(attributes.path)}${why}`);
  const { group, version, resource, subresource, namespace, name } = attributes;
  const what = JSON.stringify(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const type = { apiVersion, kind: "", plural: resource, namespaced: namespace !== "" };
  return forbiddenRequest(type, name, `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}${why}`);
}

/**
 * Checks that a user may send a request with these attributes.
 *
 * @throws API_FORBIDDEN when the authorizer does not allow it.
 */
export function demandAllowed(authorizer: Authorizer, user: UserInfo, attributes: Attributes): void {
  const { allowed, reason } = authorizer.decide(user, attributes);
  if (!allowed) throw refusal(user, attributes, reason);
}
