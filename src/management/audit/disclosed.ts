/**
 * Limits the parts of bodies that a log may contain. For kinds with credentials, only fields known to be harmless are kept, so that a
 * credential in a wrong field or form is not written either.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import type { Attributes } from "../../apiserver/access/authorization.ts";
import type { ManagementConfig } from "../config/effective.ts";
import { REDACTED, redacted } from "../config/secrets.ts";
import { CONFIG, DIRECT_CLUSTER_ENDPOINT_TOKENS, OWNED_ACCESS_KEYS, PASSWORD_CHANGES, SHARED_SECRETS, USERS } from "../kinds/types.ts";

/**
 * How a value is disclosed: unchanged, as {@link REDACTED}, with its names but not its values, by a function, each
 * item by itself, or field by field without the fields that are not named.
 */
type View = "kept" | "hidden" | "names" | ((value: unknown) => unknown) | readonly [View] | FieldViews;
interface FieldViews {
  readonly [field: string]: View;
}

function kept(...fields: readonly string[]): FieldViews {
  return Object.fromEntries(fields.map((field) => [field, "kept"]));
}

const METADATA: View = {
  ...kept("name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"),
  ...kept("labels", "finalizers", "ownerReferences", "continue", "remainingItemCount"),
  // Tools store whole objects here.
  annotations: "names",
};

/** Views by plural; each applies in every group and version. */
const SECRET_KINDS: Readonly<Record<string, Readonly<Record<"spec" | "status", View>>>> = {
  [SHARED_SECRETS.plural]: {
    spec: { ...kept("displayName", "description", "owner", "access"), data: "names" },
    status: kept("conditions"),
  },
  [USERS.plural]: {
    spec: { ...kept("displayName", "description", "username", "email", "subject", "groups", "disabled"), password: "hidden" },
    status: {},
  },
  [OWNED_ACCESS_KEYS.plural]: {
    spec: {
      ...kept("displayName", "description", "user", "team", "subject", "groups", "disabled", "ttl", "ttlAfterLastActivity", "scope"),
      ...kept("type", "parent"),
      key: "hidden",
      identity: {
        ...kept("userId", "username", "preferredUsername", "email", "emailVerified", "groups", "connector", "identityRefresh"),
        connectorData: "hidden",
      },
      oidcProvider: kept("clientId", "redirectUri", "scopes"),
      oidcLogin: { lastRefresh: "kept", idToken: "hidden", accessToken: "hidden", refreshToken: "hidden" },
    },
    status: kept("lastActivity"),
  },
  [DIRECT_CLUSTER_ENDPOINT_TOKENS.plural]: { spec: kept("ttl", "scope"), status: { token: "hidden" } },
  [CONFIG.plural]: { spec: {}, status: (value) => redacted(value as ManagementConfig) },
  tokenreviews: {
    spec: { audiences: "kept", token: "hidden" },
    status: kept("authenticated", "user", "audiences"),
  },
};

/** The view of an object, a list, a table, or the options of a deletion. */
function bodyView(views: FieldViews): View {
  const object = { ...kept("apiVersion", "kind"), metadata: METADATA, ...views };
  return {
    ...object,
    ...kept("gracePeriodSeconds", "propagationPolicy", "preconditions", "orphanDependents", "dryRun", "columnDefinitions"),
    items: [object],
    rows: [{ cells: "kept", object }],
  };
}

const VIEWS: ReadonlyMap<string, View> = new Map(Object.entries(SECRET_KINDS).map(([plural, views]) => [plural, bodyView(views)]));

/** Views by kind, because a client may send an object to the path of another kind. */
const VIEWS_BY_KIND: ReadonlyMap<unknown, View> = new Map([
  ...[SHARED_SECRETS, USERS, OWNED_ACCESS_KEYS, DIRECT_CLUSTER_ENDPOINT_TOKENS, CONFIG].map(({ kind, plural }): [string, View] => [
    kind,
    VIEWS.get(plural)!,
  ]),
  // Sent to a User; none of its fields is kept.
  [PASSWORD_CHANGES.kind, VIEWS.get(USERS.plural)!],
]);

/** The part of a body that may be logged: the body without secrets, or why there is none. */
export type Disclosed = { readonly body: unknown } | { readonly note: string };

/** Reports whether a request is about a kind that contains credentials, or has an object of such a kind as its body. */
export function holdsSecrets(attributes: Attributes, body?: unknown): boolean {
  return viewOf(attributes, body) !== undefined;
}

function viewOf(attributes: Attributes, body: unknown): View | undefined {
  const byPlace = "resource" in attributes ? VIEWS.get(attributes.resource) : undefined;
  return byPlace ?? (isRecord(body) ? VIEWS_BY_KIND.get(body["kind"]) : undefined);
}

/** The part of a request's body that may be logged; the body need not be a valid object. */
export function disclosedRequest(attributes: Attributes, body: unknown): Disclosed {
  if (holdsSecrets(attributes) && attributes.verb === "patch") return { note: "left out: a patch of this kind may contain secrets" };
  return disclosedResponse(attributes, body);
}

/** Logging the lines that a client reads would double them with each read. */
const LINES: Disclosed = { note: "left out: these lines are already in the log" };

/** The part of a response's object, list or table that may be logged. */
export function disclosedResponse(attributes: Attributes, body: unknown): Disclosed {
  if ("path" in attributes && isRecord(body) && body["kind"] === "EventList") return LINES;
  const view = viewOf(attributes, body);
  return { body: view === undefined ? body : disclose(body, view) };
}

function disclose(value: unknown, view: View): unknown {
  if (view === "kept" || value === undefined || value === null || value === "") return value;
  if (view === "hidden") return REDACTED;
  if (typeof view === "function") return isRecord(value) ? view(value) : REDACTED;
  if (isListView(view)) return Array.isArray(value) ? value.map((item) => disclose(item, view[0])) : REDACTED;
  if (!isRecord(value)) return REDACTED;
  if (view === "names") return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(view, name));
  return Object.fromEntries(known.map(([name, member]) => [name, disclose(member, view[name]!)]));
}

function isListView(view: View): view is readonly [View] {
  return Array.isArray(view);
}
