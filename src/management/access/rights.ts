import { groupOf } from "../../object/resource.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import type { ObjectKey } from "../../object/key.ts";
import type { Attributes, Authorizer, Decision, PolicyRule, ResourceAttributes } from "../../server/authorization.ts";
import type { ResourceDefinition } from "../../server/resource-definition.ts";
import type { UserInfo } from "../../server/user-info.ts";
import { alwaysAllowed } from "../../scope/always.ts";
import { rulesWithin } from "../../scope/rules.ts";
import { allowedByScopes, SCOPE_EXTRA } from "../../scope/scope.ts";
import type { ManagementTarget } from "../../scope/types.ts";
import { specOf } from "../kinds/common.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import {
  CONFIG,
  DIRECT_CLUSTER_ENDPOINT_TOKENS,
  MANAGEMENT_GROUP,
  OWNED_ACCESS_KEYS,
  SHARED_SECRETS,
  TEAMS,
  USERS,
} from "../kinds/types.ts";
import type { Caller } from "./caller.ts";
import { rulesOf, sourceOf } from "./derived-roles.ts";
import { keySubjectOf } from "./key-subject.ts";
import type { ManagedObjects } from "./managed-objects.ts";
import type { Membership } from "./membership.ts";
import { objectAllows, verbsOf, ruleIsFor } from "./object-rights.ts";
import type { OwnedSpec } from "../kinds/common.ts";

/** Who may do what, on whole resources and on single objects. */
export interface Rights extends Authorizer {
  callerOf(user: UserInfo): Caller;
  /** Which objects of a kind a user's lists and watches show; undefined for all. */
  visible(user: UserInfo, definition: Pick<ResourceDefinition, "type">): ((object: KubeObject) => boolean) | undefined;
  /** Tells whether somebody may read an object in this state of it, by whichever verb; the scopes of his key count. */
  mayRead(user: UserInfo, type: ResourceType, object: KubeObject): boolean;
  /** Tells whether the rules of a team give somebody a verb on it: `bind` and `makeowner`. Administrators have every verb. */
  teamAllows(team: string, caller: Caller, verb: string): boolean;
  /** Tells whether somebody may make further objects of a kind in a namespace. */
  mayCreate(caller: Caller, type: ResourceType, namespace: string): boolean;
}

/** What rights are read from. */
export interface RightsOptions {
  readonly objects: ManagedObjects;
  readonly membership: Membership;
}

const HERE: ManagementTarget = { kind: "management" };
const READS: readonly string[] = ["get", "list", "watch"];
const COLLECTION_READS: readonly string[] = ["list", "watch"];
const RBAC_GROUP = "rbac.authorization.k8s.io";
const OWNED_TYPES: readonly ResourceType[] = [SHARED_SECRETS, TEAMS];
const VERSION = "v1";
const REFUSED: Decision = { allowed: false, reason: "" };
const OUT_OF_SCOPE: Decision = { allowed: false, reason: "the scope of the access key does not allow it" };

/**
 * Rights by owners, access rules and membership. Answers hold for this moment.
 *
 * @example
 * const rights = createRights({ objects, membership: createMembership(objects) });
 * rights.decide(user, attributes).allowed;
 */
export function createRights(options: RightsOptions): Rights {
  return new ManagementRights(options);
}

class ManagementRights implements Rights {
  readonly #objects: ManagedObjects;
  readonly #membership: Membership;

  constructor({ objects, membership }: RightsOptions) {
    this.#objects = objects;
    this.#membership = membership;
  }

  callerOf(user: UserInfo): Caller {
    return this.#membership.callerOf(user);
  }

  decide(user: UserInfo, attributes: Attributes): Decision {
    const caller = this.callerOf(user);
    if (alwaysAllowed(attributes)) return allowed("everybody who is known may ask");
    if (!allowedByScopes(user, HERE, attributes)) return OUT_OF_SCOPE;
    if (!("path" in attributes) && attributes.verb === "impersonate") {
      return caller.administers && user.extra?.[SCOPE_EXTRA] === undefined ? allowed("administrator") : REFUSED;
    }
    if (caller.administers) return allowed("administrator");
    return "path" in attributes ? REFUSED : this.#decide(caller, attributes);
  }

  #decide(caller: Caller, attributes: ResourceAttributes): Decision {
    const { group, resource, verb, name } = attributes;
    if (group === RBAC_GROUP) return this.#decideDerived(caller, attributes);
    if (group !== MANAGEMENT_GROUP) return REFUSED;
    if (name === "" && COLLECTION_READS.includes(verb)) return allowed("shows what the caller may read");
    if (resource === CONFIG.plural) return READS.includes(verb) ? allowed("everybody may read the configuration") : REFUSED;
    if (resource === DIRECT_CLUSTER_ENDPOINT_TOKENS.plural) return verb === "create" ? allowed("with the caller's own rights") : REFUSED;
    if (resource === OWNED_ACCESS_KEYS.plural) return this.#decideKey(caller, attributes);
    if (resource === USERS.plural) return this.#decideUser(caller, attributes);
    const type = OWNED_TYPES.find(({ plural }) => plural === resource);
    return type === undefined ? REFUSED : this.#decideOwned(caller, attributes, type);
  }

  /** Everybody may have keys; what they may say is the permit's affair. */
  #decideKey(caller: Caller, { verb, name, namespace }: ResourceAttributes): Decision {
    if (name === "") return verb === "create" ? allowed("keys of the caller's own") : REFUSED;
    const key = this.#objects.get(OWNED_ACCESS_KEYS, { namespace, name });
    if (key === undefined) return verb === "create" ? allowed("keys of the caller's own") : REFUSED;
    return isOwnKey(caller, key) ? allowed("the key is the caller's own") : REFUSED;
  }

  #decideUser(caller: Caller, { verb, name }: ResourceAttributes): Decision {
    const isSelf = caller.subject?.kind === "user" && caller.subject.name === name;
    return isSelf && READS.includes(verb) ? allowed("the user is the caller") : REFUSED;
  }

  #decideOwned(caller: Caller, attributes: ResourceAttributes, type: ResourceType): Decision {
    const { verb, subresource, namespace, name } = attributes;
    if (verb === "create" && this.mayCreate(caller, type, namespace)) return allowed("an access rule allows to create");
    if (name === "") return REFUSED;
    const object = this.#objects.get(type, { namespace, name });
    if (object === undefined || !objectAllows(object, caller, { verb, subresource })) return REFUSED;
    return allowed("the owner or an access rule of the object allows it");
  }

  #decideDerived(caller: Caller, { verb, name, namespace }: ResourceAttributes): Decision {
    if (!READS.includes(verb)) return REFUSED;
    if (name === "") return COLLECTION_READS.includes(verb) ? allowed("shows what the caller may read") : REFUSED;
    return this.#seesSource(caller, { namespace, name }) ? allowed("the caller may read what it is derived from") : REFUSED;
  }

  /** Whoever may read an object may read the roles that follow from it. */
  #seesSource(caller: Caller, key: ObjectKey): boolean {
    const source = sourceOf(key);
    const object = source && this.#objects.get(source.type, source.key);
    return object !== undefined && objectAllows(object, caller, { verb: "get" });
  }

  visible(user: UserInfo, { type }: Pick<ResourceDefinition, "type">): ((object: KubeObject) => boolean) | undefined {
    const group = groupOf(type);
    if (group !== MANAGEMENT_GROUP && group !== RBAC_GROUP) return undefined;
    if (type.plural === CONFIG.plural || this.callerOf(user).administers) return undefined;
    // Asked anew for each object: a watch lives longer than a membership.
    return (object) => this.#shows(this.callerOf(user), type, object);
  }

  #shows(caller: Caller, type: ResourceType, object: KubeObject): boolean {
    const { name = "", namespace = "" } = object.metadata;
    if (groupOf(type) === RBAC_GROUP) return this.#seesSource(caller, { namespace, name });
    if (type.plural === OWNED_ACCESS_KEYS.plural) return isOwnKey(caller, object);
    if (type.plural === USERS.plural) return caller.subject?.kind === "user" && caller.subject.name === name;
    return objectAllows(object, caller, { verb: "list" });
  }

  mayRead(user: UserInfo, type: ResourceType, object: KubeObject): boolean {
    const caller = this.callerOf(user);
    const { name = "", namespace = "" } = object.metadata;
    const asked = { group: groupOf(type), version: VERSION, resource: type.plural, subresource: "", namespace, name };
    return READS.some(
      (verb) => allowedByScopes(user, HERE, { ...asked, verb }) && (caller.administers || objectAllows(object, caller, { verb })),
    );
  }

  teamAllows(team: string, caller: Caller, verb: string): boolean {
    if (caller.administers) return true;
    const object = this.#objects.get(TEAMS, { namespace: "", name: team });
    return object !== undefined && objectAllows(object, caller, { verb });
  }

  mayCreate(caller: Caller, type: ResourceType, namespace: string): boolean {
    if (caller.administers) return true;
    for (const object of this.#objects.of(type)) {
      if ((object.metadata.namespace ?? "") !== (type.namespaced ? namespace : "")) continue;
      if ((specOf<OwnedSpec>(object).access ?? []).some((rule) => ruleIsFor(rule, caller) && verbsOf(rule, object).includes("create"))) return true;
    }
    return false;
  }

  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[] {
    const caller = this.callerOf(user);
    const rules = caller.administers ? EVERYTHING : this.#ownRules(caller, namespace);
    return rulesWithin(rules, user, { target: HERE, namespace });
  }

  #ownRules(caller: Caller, namespace: string): readonly PolicyRule[] {
    const owned = OWNED_TYPES.flatMap((type) =>
      [...this.#objects.of(type)]
        .filter((object) => !type.namespaced || object.metadata.namespace === namespace)
        .flatMap((object) => rulesOf(object).filter(({ rule }) => ruleIsFor(rule, caller)).map(({ policy }) => policy)),
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
];

function isOwnKey({ subject, teams }: Caller, key: KubeObject): boolean {
  const owner = keySubjectOf(specOf<KeySpec>(key));
  if (owner?.kind === "team") return teams.has(owner.name);
  return owner !== undefined && owner.kind === subject?.kind && owner.name === subject.name;
}

function allowed(reason: string): Decision {
  return { allowed: true, reason };
}
