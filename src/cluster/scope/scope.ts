/**
 * Checks whether scopes allow a request.
 *
 * @module
 */
import type { Attributes } from "../../apiserver/access/authorization.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { alwaysAllowed } from "./always.ts";
import { grantsOf, type Box, type ScopeGrant, type ScopeOptions } from "./grants.ts";
import { parseScope } from "./parse.ts";
import { matches } from "./patterns/pattern.ts";
import { TextCache } from "./patterns/text-cache.ts";
import type { AccessScope, Target } from "./types.ts";

/** A scope that is ready to decide. */
export interface CompiledScope {
  /** Reports whether the scope allows a request; its caller needs the permission as well. */
  allows(target: Target, attributes: Attributes): boolean;
}

/** The key of {@link UserInfo.extra} whose entries are scopes, each as JSON text. All of them have to allow a request. */
export const SCOPE_EXTRA = "platform/scope";

/**
 * Compiles a scope. Without a scope, everything is allowed. Malformed entries are ignored: they allow less, never
 * more.
 *
 * @example
 * compileScope({ clusters: [{ cluster: "c1" }] }).allows({ kind: "cluster", cluster: "c1" }, { verb: "get", path: "/metrics" }); // true
 */
export function compileScope(scope: AccessScope | undefined, options: ScopeOptions = {}): CompiledScope {
  if (scope === undefined) return { allows: () => true };
  const grants = grantsOf(scope, options);
  return {
    allows(target, attributes) {
      return alwaysAllowed(attributes) || grants.some((grant) => grantAllows(grant, target, attributes));
    },
  };
}

function grantAllows(grant: ScopeGrant, target: Target, attributes: Attributes): boolean {
  if (grant.kind !== target.kind) return false;
  const place = placeOf(target);
  if (!grant.places.some((box) => isIn(box, place))) return false;
  if ("path" in attributes) return grant.paths.some((box) => isIn(box, [attributes.verb, attributes.path]));
  const { verb, group, resource, subresource, namespace, name } = attributes;
  return grant.resources.some((box) => isIn(box, [verb, group, resource, subresource, namespace, name]));
}

/** The coordinates of a target, "" for unnamed ones. */
function placeOf(target: Target): readonly string[] {
  switch (target.kind) {
    case "management":
      return [];
    case "cluster":
      return [target.cluster, target.project ?? "", target.space ?? ""];
    case "virtualCluster":
      return [target.project, target.virtualCluster];
  }
}

function isIn(box: Box, point: readonly string[]): boolean {
  return box.every((pattern, at) => matches(pattern, point[at]!));
}

/** A compiled scope can take 265 bytes of memory per character of its text. */
const CACHE = new TextCache<CompiledScope>({ entries: 1000, characters: 400_000 });
/**
 * By user, because looking up a text costs time in proportion to its length, and one request decides many times. Only the cache keeps
 * compiled scopes in memory: there can be thousands of users.
 */
const OF_USERS = new WeakMap<UserInfo, { readonly options: string; readonly scopes: readonly WeakRef<CompiledScope>[] }>();

/**
 * The scopes that limit a user, in order; none if the user is unlimited. An invalid scope allows nothing, because its restrictions are
 * unknown.
 */
export function scopesOf(user: UserInfo, options: ScopeOptions = {}): readonly CompiledScope[] {
  const place = JSON.stringify(options);
  const known = OF_USERS.get(user);
  const kept = known?.options === place ? known.scopes.flatMap((scope) => scope.deref() ?? []) : [];
  if (known?.options === place && kept.length === known.scopes.length) return kept;
  const texts = user.extra?.[SCOPE_EXTRA] ?? [];
  const scopes = texts.map((text) => CACHE.get(`${place} ${text}`, () => compileScope(parseScope(text) ?? {}, options)));
  OF_USERS.set(user, { options: place, scopes: scopes.map((scope) => new WeakRef(scope)) });
  return scopes;
}

/** Reports whether all scopes that limit a user allow a request. */
export function allowedByScopes(user: UserInfo, target: Target, attributes: Attributes, options: ScopeOptions = {}): boolean {
  return scopesOf(user, options).every((scope) => scope.allows(target, attributes));
}
