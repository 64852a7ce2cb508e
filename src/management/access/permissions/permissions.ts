import { groupOf, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import type { Attributes, Authorizer, AccessDecision, PolicyRule, ResourceAttributes } from "../../../apiserver/access/authorization.ts";
import type { ResourceDefinition } from "../../../apiserver/types/resource-definition.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import type { ScopeOptions } from "../../../cluster/scope/grants.ts";
import { alwaysAllowed } from "../../../cluster/scope/always.ts";
import { parseScope } from "../../../cluster/scope/parse.ts";
import { inEveryNamespace } from "../../../cluster/scope/every-namespace.ts";
import { rulesWithin } from "../../../cluster/scope/rules.ts";
import { allowedByScopes, SCOPE_EXTRA } from "../../../cluster/scope/scope.ts";
import { isScopeWithin } from "../../../cluster/scope/checks/subset.ts";
import type { AccessScope, ManagementTarget } from "../../../cluster/scope/types.ts";
import { specOf } from "../../kinds/common.ts";
import type { KeySpec } from "../../kinds/owned-access-key.ts";
import {
  CONFIG,
  DIRECT_CLUSTER_ENDPOINT_TOKENS,
  MANAGEMENT_GROUP,
  OWNED_ACCESS_KEYS,
  SHARED_SECRETS,
  TEAMS,
  USERS,
} from "../../kinds/types.ts";
import { GRANT_EXTRA, type Caller } from "../caller.ts";
import { createCreators, type Creators } from "./creators.ts";
import { rulesOf, derivedFrom } from "./derived-roles.ts";
import { isKeyOf } from "../key-subject.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import type { Membership } from "../membership.ts";
import { objectAllows, ruleIsFor } from "./object-permissions.ts";

/** Decides which requests callers may make, on whole resources and on single objects. */
export interface Permissions extends Authorizer {
  callerOf(user: UserInfo): Caller;
  /** Returns whether a user's lists and watches show an object of a kind; undefined if they show all objects. */
  visible(user: UserInfo, definition: Pick<ResourceDefinition, "type">): ((object: KubeObject) => boolean) | undefined;
  /** Reports whether a caller may read an object in this state with any verb, within the scopes of their key. */
  mayRead(user: UserInfo, type: ResourceType, object: KubeObject): boolean;
  /** Reports whether the rules of a team give a caller the verb `bind` or `makeowner`. Administrators have both within their scopes. */
  teamAllows(team: string, user: UserInfo, verb: string): boolean;
  /** Reports whether the scopes of a user's key allow a request, regardless of the user's permissions. */
  inScope(user: UserInfo, attributes: Attributes): boolean;
  /** Reports whether a scope, or the lack of one, allows no more than the scopes of a user's key. */
  coversScope(user: UserInfo, scope: AccessScope | undefined): boolean;
  /** Reports whether a caller may create objects of a kind in a namespace. */
  mayCreate(caller: Caller, type: ResourceType, namespace: string): boolean;
}

/** Options of {@link createPermissions}. */
export interface PermissionsOptions {
  readonly objects: ManagedObjects;
  readonly membership: Membership;
  /** Returns the current options of scopes. Default: the defaults of scopes. */
  readonly scopeOptions?: () => ScopeOptions;
}

const HERE: ManagementTarget = { kind: "management" };
const READS: readonly string[] = ["get", "list", "watch"];
const COLLECTION_READS: readonly string[] = ["list", "watch"];
const RBAC_GROUP = "rbac.authorization.k8s.io";
const OWNED_TYPES: readonly ResourceType[] = [SHARED_SECRETS, TEAMS];
const REFUSED: AccessDecision = { allowed: false, reason: "" };
const BY_GROUP: AccessDecision = {
  allowed: false,
  reason: "a key with administrator rights from a provider's group cannot impersonate other users",
};
const OUT_OF_SCOPE: AccessDecision = { allowed: false, reason: "the scope of the access key does not allow it" };

/**
 * Decides requests by owners, access rules and membership. A decision is valid only at that moment.
 *
 * @example
 * const permissions = createPermissions({ objects, membership: createMembership(objects) });
 * permissions.decide(user, attributes).allowed;
 */
export function createPermissions(options: PermissionsOptions): Permissions {
  return new ManagementPermissions(options);
}

class ManagementPermissions implements Permissions {
  readonly callerOf: Permissions["callerOf"];
  readonly #objects: ManagedObjects;
  readonly #creators: Creators;
  readonly #scopeOptions: () => ScopeOptions;

  constructor({ objects, membership, scopeOptions = () => ({}) }: PermissionsOptions) {
    this.#objects = objects;
    this.#creators = createCreators(objects, OWNED_TYPES);
    this.callerOf = membership.callerOf;
    this.#scopeOptions = scopeOptions;
  }

  decide(user: UserInfo, attributes: Attributes): AccessDecision {
    const caller = this.callerOf(user);
    if (alwaysAllowed(attributes)) return allowed("every authenticated user may request it");
    if (!this.inScope(user, attributes)) return OUT_OF_SCOPE;
    if (!("path" in attributes) && attributes.verb === "impersonate") {
      // An impersonated request would no longer depend on the group that makes its author an administrator.
      if (user.extra?.[GRANT_EXTRA] !== undefined) return BY_GROUP;
      return caller.administers && user.extra?.[SCOPE_EXTRA] === undefined ? allowed("administrator") : REFUSED;
    }
    if (caller.administers) return allowed("administrator");
    return "path" in attributes ? REFUSED : this.#decide(caller, attributes);
  }

  inScope(user: UserInfo, attributes: Attributes): boolean {
    if (user.extra?.[SCOPE_EXTRA] === undefined) return true;
    return allowedByScopes(user, HERE, inEveryNamespace(attributes, isNamespaced), this.#scopeOptions());
  }

  coversScope({ extra }: UserInfo, scope: AccessScope | undefined): boolean {
    return (extra?.[SCOPE_EXTRA] ?? []).every((text) => isScopeWithin(scope, parseScope(text) ?? {}, this.#scopeOptions()));
  }

  #decide(caller: Caller, attributes: ResourceAttributes): AccessDecision {
    const { group, resource, verb } = attributes;
    if (group === RBAC_GROUP) return this.#decideDerived(caller, attributes);
    if (group !== MANAGEMENT_GROUP) return REFUSED;
    // A list with a name, such as the watch of a single object, shows no more than the whole list.
    if (COLLECTION_READS.includes(verb) && resource !== DIRECT_CLUSTER_ENDPOINT_TOKENS.plural)
      return allowed("the response contains only what the caller may read");
    if (resource === CONFIG.plural) return READS.includes(verb) ? allowed("every authenticated user may read the configuration") : REFUSED;
    if (resource === DIRECT_CLUSTER_ENDPOINT_TOKENS.plural)
      return verb === "create" ? allowed("with the caller's own permissions") : REFUSED;
    if (resource === OWNED_ACCESS_KEYS.plural) return this.#decideKey(caller, attributes);
    if (resource === USERS.plural) return this.#decideUser(caller, attributes);
    const type = OWNED_TYPES.find(({ plural }) => plural === resource);
    return type === undefined ? REFUSED : this.#decideOwned(caller, attributes, type);
  }

  /** Every user may have keys; the admission decides what these may contain. */
  #decideKey(caller: Caller, { verb, name, namespace }: ResourceAttributes): AccessDecision {
    if (name === "") return verb === "create" ? allowed("the caller's own keys") : REFUSED;
    const key = this.#objects.get(OWNED_ACCESS_KEYS, { namespace, name });
    // A caller who may create can learn from a conflict that an object exists, and apply reads an object before it creates it.
    if (key === undefined) return allowed("the caller's own keys");
    return isKeyOf(caller, specOf<KeySpec>(key)) ? allowed("the key is the caller's own") : REFUSED;
  }

  #decideUser(caller: Caller, { verb, subresource, name }: ResourceAttributes): AccessDecision {
    const isSelf = caller.subject?.kind === "user" && caller.subject.name === name;
    if (isSelf && verb === "create" && subresource === "password") return allowed("the password is the caller's own");
    return isSelf && READS.includes(verb) ? allowed("the user is the caller") : REFUSED;
  }

  #decideOwned(caller: Caller, attributes: ResourceAttributes, type: ResourceType): AccessDecision {
    const { verb, subresource, namespace, name } = attributes;
    if (verb === "create" && this.mayCreate(caller, type, namespace)) return allowed("an access rule allows creating it");
    if (name === "") return REFUSED;
    const object = this.#objects.get(type, { namespace, name });
    if (object === undefined && this.mayCreate(caller, type, namespace)) return allowed("an access rule allows creating it");
    if (object === undefined || !objectAllows(object, caller, { verb, subresource })) return REFUSED;
    return allowed("the owner or an access rule of the object allows it");
  }

  #decideDerived(caller: Caller, { verb, name, namespace }: ResourceAttributes): AccessDecision {
    if (COLLECTION_READS.includes(verb)) return allowed("the response contains only what the caller may read");
    if (verb !== "get" || name === "") return REFUSED;
    return this.#seesSource(caller, { namespace, name })
      ? allowed("the caller may read the object that the role or binding is derived from")
      : REFUSED;
  }

  /** A caller who may read an object may read the roles that are derived from it. */
  #seesSource(caller: Caller, key: ObjectKey): boolean {
    const source = derivedFrom(key);
    const object = source && this.#objects.get(source.type, source.key);
    return object !== undefined && objectAllows(object, caller, { verb: "get" });
  }

  visible(user: UserInfo, { type }: Pick<ResourceDefinition, "type">): ((object: KubeObject) => boolean) | undefined {
    const group = groupOf(type);
    if (group !== MANAGEMENT_GROUP && group !== RBAC_GROUP) return undefined;
    if (type.plural === CONFIG.plural || this.callerOf(user).administers) return undefined;
    // Evaluated for each object, because the caller's membership can change during a watch.
    return (object) => this.#shows(this.callerOf(user), type, object);
  }

  #shows(caller: Caller, type: ResourceType, object: KubeObject): boolean {
    const { name = "", namespace = "" } = object.metadata;
    if (groupOf(type) === RBAC_GROUP) return this.#seesSource(caller, { namespace, name });
    if (type.plural === OWNED_ACCESS_KEYS.plural) return isKeyOf(caller, specOf<KeySpec>(object));
    if (type.plural === USERS.plural) return caller.subject?.kind === "user" && caller.subject.name === name;
    return objectAllows(object, caller, { verb: "list" });
  }

  mayRead(user: UserInfo, type: ResourceType, object: KubeObject): boolean {
    const caller = this.callerOf(user);
    if (caller.administers && user.extra?.[SCOPE_EXTRA] === undefined) return true;
    return READS.some(
      (verb) =>
        this.inScope(user, attributesOn(type, keyOf(object), verb)) && (caller.administers || objectAllows(object, caller, { verb })),
    );
  }

  teamAllows(team: string, user: UserInfo, verb: string): boolean {
    if (!this.inScope(user, attributesOn(TEAMS, { namespace: "", name: team }, verb))) return false;
    const caller = this.callerOf(user);
    if (caller.administers) return true;
    const object = this.#objects.get(TEAMS, { namespace: "", name: team });
    return object !== undefined && objectAllows(object, caller, { verb });
  }

  mayCreate(caller: Caller, type: ResourceType, namespace: string): boolean {
    if (caller.administers) return true;
    return this.#creators.has(type, type.namespaced ? namespace : "", caller);
  }

  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[] {
    const caller = this.callerOf(user);
    const rules = caller.administers ? EVERYTHING : this.#ownRules(caller, namespace);
    return rulesWithin(rules, user, { target: HERE, namespace, ...this.#scopeOptions() });
  }

  #ownRules(caller: Caller, namespace: string): readonly PolicyRule[] {
    const owned = OWNED_TYPES.flatMap((type) =>
      [...this.#objects.of(type)]
        .filter((object) => !type.namespaced || object.metadata.namespace === namespace)
        .flatMap((object) =>
          rulesOf(object)
            .filter(({ rule }) => ruleIsFor(rule, caller))
            .map(({ policy }) => policy),
        ),
    );
    return [...BASIC_RULES, ...owned];
  }
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

const BASIC_RULES: readonly PolicyRule[] = [
  { verbs: ["create"], apiGroups: [MANAGEMENT_GROUP], resources: [OWNED_ACCESS_KEYS.plural, DIRECT_CLUSTER_ENDPOINT_TOKENS.plural] },
  { verbs: [...READS], apiGroups: [MANAGEMENT_GROUP], resources: [CONFIG.plural] },
  {
    verbs: [...COLLECTION_READS],
    apiGroups: [MANAGEMENT_GROUP],
    resources: [SHARED_SECRETS.plural, TEAMS.plural, USERS.plural, OWNED_ACCESS_KEYS.plural],
  },
  { verbs: [...COLLECTION_READS], apiGroups: [RBAC_GROUP], resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"] },
];

/** Returns the attributes of a request for a single object. */
export function attributesOn(type: ResourceType, { namespace, name }: ObjectKey, verb: string, subresource = ""): ResourceAttributes {
  const [group, version] = [groupOf(type), type.apiVersion.split("/").at(-1)!];
  return { verb, group, version, resource: type.plural, subresource, namespace: type.namespaced ? namespace : "", name };
}

const NAMESPACED: readonly string[] = [SHARED_SECRETS.plural, "roles", "rolebindings"];

function isNamespaced(_group: string, resource: string): boolean {
  return NAMESPACED.includes(resource);
}

function allowed(reason: string): AccessDecision {
  return { allowed: true, reason };
}
