/**
 * Permissions that the author of a write needs in addition to the permission to write: users cannot grant permissions that they do not
 * have. Source: specification 1, "Platform-specific verbs usable in access rules on Team" and Authentication 3.
 *
 * @module
 */
import { canonicalJson } from "../../../base/json.ts";
import type { EngineError } from "../../../base/errors.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject, OwnerReference } from "../../../kube/object/types.ts";
import { invalid } from "../../../apiserver/types/field-error.ts";
import { forbiddenRequest, invalidObject } from "../../../apiserver/types/status.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import { specOf, type AccessRule, type OwnedSpec } from "../../kinds/common.ts";
import { clusterRolesOf, type TeamSpec } from "../../kinds/team.ts";
import { TEAMS } from "../../kinds/types.ts";
import type { Caller, KeySubject } from "../caller.ts";
import type { NameIndex } from "./name-index.ts";
import { objectAllows, owns, verbsOf } from "./object-permissions.ts";
import { attributesOn, type Permissions } from "./permissions.ts";

/** A write to check. */
export interface AdmittedWrite {
  readonly user: UserInfo;
  readonly object: KubeObject;
  /** Undefined on creation. */
  readonly old: KubeObject | undefined;
}

/** Lets a write pass, or throws the error for its response. */
export type WriteAdmission = (write: AdmittedWrite) => void;

/** Options of admission functions. */
export interface WriteAdmissionOptions {
  readonly permissions: Permissions;
  readonly type: ResourceType;
  /** The kinds that this server knows, for resolving owner references. */
  readonly types: readonly ResourceType[];
  /** The names that objects use, to refuse a new team with such a name. */
  readonly names: Pick<NameIndex, "has">;
}

/**
 * The admission for objects with an owner and access rules.
 *
 * @throws API_FORBIDDEN with the reason; API_INVALID for a `blockOwnerDeletion` that the author may not set.
 */
export function createOwnedAdmission(options: WriteAdmissionOptions): WriteAdmission {
  const blocking = createBlockingAdmission(options);
  return (write) => {
    blocking(write);
    const caller = options.permissions.callerOf(write.user);
    const review = new Review(options, { ...write, caller });
    review.owner();
    review.access();
    if (options.type.plural === TEAMS.plural) {
      review.teamName();
      review.clusterRoles();
    }
  };
}

interface Reviewed extends AdmittedWrite {
  readonly caller: Caller;
}

/** Maximum number of pairs of a verb and a part of the object in new and changed access rules, because each pair is looked up. */
const PAIRS_MAX = 50_000;

class Review {
  readonly #options: WriteAdmissionOptions;
  readonly #write: Reviewed;
  /** Caches which verbs the author has on parts of the object and on teams, because many rules need the same ones. */
  #known: Map<string, boolean> | undefined;

  constructor(options: WriteAdmissionOptions, write: Reviewed) {
    this.#options = options;
    this.#write = write;
  }

  get #spec(): OwnedSpec {
    return specOf<OwnedSpec>(this.#write.object);
  }

  get #before(): OwnedSpec {
    return this.#write.old === undefined ? {} : specOf<OwnedSpec>(this.#write.old);
  }

  /** Only owners give an object away, and to a team only with its verb `makeowner`. A new object belongs to its author or such a team. */
  owner(): void {
    const { caller, old } = this.#write;
    const { user = "", team = "" } = this.#spec.owner ?? {};
    const { user: userBefore = "", team: teamBefore = "" } = this.#before.owner ?? {};
    const isSelf = ({ kind, name }: KeySubject) => caller.subject?.kind === kind && caller.subject.name === name;
    if (!caller.administers && old === undefined) {
      if (user === "" && team === "") throw this.#refuse("spec.owner must name you, or a team on which you have the verb makeowner");
      if (user !== "" && !isSelf({ kind: "user", name: user })) throw this.#refuse("spec.owner.user of a new object must name you");
    } else if (!caller.administers && (user !== userBefore || team !== teamBefore) && !owns(caller, old!)) {
      throw this.#refuse("only the owner can change spec.owner");
    }
    if (team === "" || team === teamBefore || isSelf({ kind: "team", name: team })) return;
    this.#demandTeamVerb(team, "makeowner", "make it the owner");
  }

  /** A new or changed rule can grant only what its author has, and to a team only with the verb `bind` on that team. */
  access(): void {
    if (this.#spec.access === undefined) return;
    const before = new Set((this.#before.access ?? []).map(canonicalJson));
    const added = (this.#spec.access ?? []).filter((rule) => !before.has(canonicalJson(rule)));
    this.#countPairs(added);
    for (const rule of added) {
      this.#demandVerbs(rule);
      for (const team of rule.teams ?? []) this.#demandTeamVerb(team, "bind", "give it permissions");
    }
  }

  #countPairs(rules: readonly AccessRule[]): void {
    const { object } = this.#write;
    const pairs = rules.reduce((sum, rule) => sum + verbsOf(rule, object).length * partsOf(rule).size, 0);
    if (pairs <= PAIRS_MAX) return;
    const why = `must not name more than ${PAIRS_MAX} pairs of a verb and a subresource, found ${pairs}`;
    throw invalidObject(this.#options.type, object.metadata.name ?? "", [invalid("spec.access", "<omitted>", why)]);
  }

  #demandVerbs(rule: AccessRule): void {
    const { user, caller, object, old } = this.#write;
    const { type, permissions } = this.#options;
    // A new object is checked as if it existed: its owner has the owner's verbs.
    const present = old ?? withoutRules(object);
    const holds = (verb: string, subresource: string) => {
      if (!permissions.inScope(user, attributesOn(type, keyOf(object), verb, subresource))) return false;
      if (caller.administers) return true;
      if (verb === "create") return permissions.mayCreate(caller, type, object.metadata.namespace ?? "");
      // Owners may grant their verbs on subresources too.
      return objectAllows(present, caller, { verb, subresource: owns(caller, present) ? "" : subresource });
    };
    const parts = partsOf(rule);
    const held = (verb: string, part: string) => this.#remember(JSON.stringify([verb, part]), () => holds(verb, part));
    const missing = verbsOf(rule, object).filter((verb) => ![...parts].every((part) => held(verb, part)));
    if (missing.length > 0) throw this.#refuse(`an access rule cannot grant verbs that you do not have: ${missing.join(", ")}`);
  }

  /** A team gets what existing rules grant to its name, so its creator would pass that on to the members. */
  teamName(): void {
    const { caller, old, object } = this.#write;
    const { name = "" } = object.metadata;
    if (old !== undefined || caller.administers || !this.#options.names.has("team", name)) return;
    throw this.#refuse("the name of this team is already used in an owner field, a rule or a key, so only an administrator can create it");
  }

  /** New cluster roles need the verb `bind`, because they give permissions beyond the team itself. */
  clusterRoles(): void {
    const { user, caller, object, old } = this.#write;
    const before = new Set(old === undefined ? [] : clusterRolesOf(specOf<TeamSpec>(old)));
    const added = clusterRolesOf(specOf<TeamSpec>(object)).filter((role) => !before.has(role));
    const inScope = this.#options.permissions.inScope(user, attributesOn(TEAMS, keyOf(object), "bind"));
    const holds = caller.administers || (old !== undefined && objectAllows(old, caller, { verb: "bind" }));
    if (added.length === 0 || (inScope && holds)) return;
    throw this.#refuse(`the verb bind on the team is needed to give it the cluster roles ${added.join(", ")}`);
  }

  #demandTeamVerb(team: string, verb: string, purpose: string): void {
    if (this.#remember(JSON.stringify([verb, "team", team]), () => this.#options.permissions.teamAllows(team, this.#write.user, verb)))
      return;
    throw this.#refuse(`the verb ${verb} on team ${JSON.stringify(team)} is needed to ${purpose}`);
  }

  #remember(check: string, decide: () => boolean): boolean {
    this.#known ??= new Map();
    const known = this.#known.get(check) ?? decide();
    this.#known.set(check, known);
    return known;
  }

  #refuse(why: string): EngineError {
    return forbiddenRequest(this.#options.type, this.#write.object.metadata.name ?? "", why);
  }
}

/** The parts of an object that a rule applies to; "" is the object itself. */
function partsOf({ subresources = [] }: AccessRule): ReadonlySet<string> {
  return new Set(["", ...subresources]);
}

/** Returns an object without its access rules, which give no permissions while they are being written. */
function withoutRules(object: KubeObject): KubeObject {
  return { ...object, spec: { ...specOf<OwnedSpec>(object), access: [] } };
}

/**
 * The admission for every kind: an owner reference may block the deletion of an owner only if its author may delete that owner.
 *
 * @throws API_INVALID, naming the reference. Source: specification 1, ownerReferences.
 */
export function createBlockingAdmission({ permissions, type, types }: WriteAdmissionOptions): WriteAdmission {
  return ({ user, object, old }) => {
    if (object.metadata.ownerReferences === undefined) return;
    const blocking = (old?.metadata.ownerReferences ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
    const before = new Set(blocking.map(({ uid }) => uid));
    const errors = (object.metadata.ownerReferences ?? []).flatMap((reference, index) => {
      if (reference.blockOwnerDeletion !== true || before.has(reference.uid) || mayDelete(reference, object.metadata.namespace ?? ""))
        return [];
      const field = `metadata.ownerReferences[${index}].blockOwnerDeletion`;
      return [invalid(field, true, "cannot be set without the permission to delete the owner")];
    });
    if (errors.length > 0) throw invalidObject(type, object.metadata.name ?? "", errors);

    function mayDelete(reference: OwnerReference, namespace: string): boolean {
      const { apiVersion, kind, name } = reference;
      // Only a caller who may do everything may delete objects of an unknown kind.
      const unknown: ResourceType = { apiVersion, kind, plural: "", namespaced: false };
      const owner = types.find((type) => type.apiVersion === apiVersion && type.kind === kind) ?? unknown;
      return permissions.decide(user, attributesOn(owner, { namespace, name }, "delete")).allowed;
    }
  };
}
