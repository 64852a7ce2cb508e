import type { IncomingMessage } from "node:http";
import { demandAllowed, type Attributes, type Authorizer } from "./authorization.ts";
import { badRequest } from "../types/status.ts";
import type { UserInfo } from "../types/user-info.ts";

const USER = "impersonate-user";
const GROUP = "impersonate-group";
const ANONYMOUS = "system:anonymous";
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Maximum number of groups in one request. */
const GROUPS_MAX = 100;

/**
 * Returns the user whose permissions apply to a request: the user that the headers `Impersonate-User` and `Impersonate-Group` name, or
 * `user` if there are no such headers. Source: the API server's impersonation filter.
 *
 * @throws API_FORBIDDEN when `user` may not impersonate the named user or groups; API_BAD_REQUEST when the headers name no user.
 */
export function impersonated(
  request: Pick<IncomingMessage, "headers" | "headersDistinct">,
  user: UserInfo,
  authorizer: Authorizer,
): UserInfo {
  // Most requests have none of these headers. This check creates no list of all headers.
  let another = false;
  for (const header in request.headers) another ||= header.startsWith("impersonate-");
  if (!another) return user;
  const { headersDistinct } = request;
  const [name = ""] = headersDistinct[USER] ?? [];
  const groups = headersDistinct[GROUP] ?? [];
  const more = Object.keys(headersDistinct).find((header) => header === "impersonate-uid" || header.startsWith("impersonate-extra-"));
  if (more !== undefined) throw badRequest(`the header ${JSON.stringify(more)} is not supported`);
  if (groups.length > GROUPS_MAX) throw badRequest(`a request may impersonate at most ${GROUPS_MAX} groups, not ${groups.length}`);
  if (name === "" && groups.length > 0) throw badRequest(`requested ${JSON.stringify(groups)} without impersonating a user`);
  if (name === "") return user;
  demandAllowed(authorizer, user, subjectOf(name));
  for (const group of groups) demandAllowed(authorizer, user, asking("groups", group));
  return { name, groups: withUsual(name, groups) };
}

function subjectOf(name: string): Attributes {
  const account = SERVICE_ACCOUNT.exec(name);
  return account === null ? asking("users", name) : { ...asking("serviceaccounts", account[2]!), namespace: account[1]! };
}

function asking(resource: string, name: string) {
  return { verb: "impersonate", group: "", version: "v1", resource, subresource: "", namespace: "", name };
}

/** Adds the implicit groups: those of a ServiceAccount if none are named, and the group for authenticated or unauthenticated users. */
function withUsual(name: string, groups: readonly string[]): readonly string[] {
  const account = groups.length === 0 ? SERVICE_ACCOUNT.exec(name) : null;
  const own = account === null ? groups : serviceAccountGroups(account[1]!);
  const standing = name === ANONYMOUS ? "system:unauthenticated" : "system:authenticated";
  return own.includes(standing) ? own : [...own, standing];
}

/** The groups to which every ServiceAccount in a namespace belongs. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
}
