/**
 * What the author of a write must hold beyond the right to write: nobody gives away what he does not have.
 * Source: specification 1, "Platform-specific verbs usable in access rules on Team" and Authentication 3.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import type { EngineError } from "../../base/errors.ts";
import { groupOf } from "../../object/resource.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject, OwnerReference } from "../../object/types.ts";
import { invalid } from "../../server/field-error.ts";
import { forbiddenRequest, invalidObject } from "../../server/status.ts";
import type { UserInfo } from "../../server/user-info.ts";
import { specOf } from "../kinds/common.ts";
import type { AccessRule, OwnedSpec } from "../kinds/common.ts";
import { clusterRolesOf } from "../kinds/team.ts";
import type { TeamSpec } from "../kinds/team.ts";
import { TEAMS } from "../kinds/types.ts";
import type { Caller } from "./caller.ts";
import { objectAllows, owns, verbsOf } from "./object-rights.ts";
import type { Rights } from "./rights.ts";

/** A write that is about to happen. */
export interface PermittedWrite {
  readonly user: UserInfo;
  readonly object: KubeObject;
  /** Undefined on creation. */
  readonly old: KubeObject | undefined;
}

/** Lets a write pass, or throws what answers it. */
export type Permit = (write: PermittedWrite) => void;

/** What permits ask. */
export interface PermitOptions {
  readonly rights: Rights;
  readonly type: ResourceType;
  /** The kinds that this server knows, as owners of objects. */
  readonly types: readonly ResourceType[];
}

/**
 * For objects with an owner and access rules.
 *
 * @throws API_FORBIDDEN, naming what is missing; API_INVALID for an owner reference that may not block.
 */
export function createOwnedPermit(options: PermitOptions): Permit {
  const blocking = createBlockingPermit(options);
  return (write) => {
    blocking(write);
    const caller = options.rights.callerOf(write.user);
    if (caller.administers) return;
    const review = new Review(options, { ...write, caller });
    review.owner();
    review.access();
    if (options.type.plural === TEAMS.plural) review.clusterRoles();
  };
}

interface Reviewed extends PermittedWrite {
  readonly caller: Caller;
}

class Review {
  readonly #options: PermitOptions;
  readonly #write: Reviewed;

  constructor(options: PermitOptions, write: Reviewed) {
    this.#options = options;
    this.#write = write;
  }

  get #spec(): OwnedSpec {
    return specOf<OwnedSpec>(this.#write.object);
  }

  get #before(): OwnedSpec {
    return this.#write.old === undefined ? {} : specOf<OwnedSpec>(this.#write.old);
  }

  /** Owners give an object away; to a team only with its verb `makeowner`. Whoever makes an object owns it, or such a team does. */
  owner(): void {
    const { caller, old } = this.#write;
    const { user = "", team = "" } = this.#spec.owner ?? {};
    const before = this.#before.owner ?? {};
    const isOwner = old === undefined ? caller.subject?.kind === "user" && caller.subject.name === user : owns(caller, old);
    if (team !== "" && team !== (before.team ?? "")) this.#demandTeamVerb(team, "makeowner", "make it the owner");
    if (user !== (before.user ?? "") && !isOwner && !(old === undefined && user === "")) throw this.#refuse("only the owner can name another user as spec.owner.user");
    if (old === undefined && user === "" && team === "") throw this.#refuse("spec.owner must name you, or a team on which you have the verb makeowner");
    const leaves = team === "" && (before.team ?? "") !== "";
    if (leaves && !isOwner) throw this.#refuse("only the owner can take spec.owner.team away");
  }

  /** A new or changed rule gives only what its author has himself, and to a team only with its verb `bind`. */
  access(): void {
    const before = this.#before.access ?? [];
    for (const rule of this.#spec.access ?? []) {
      if (before.some((known) => jsonEqual(known, rule))) continue;
      this.#demandVerbs(rule);
      for (const team of rule.teams ?? []) this.#demandTeamVerb(team, "bind", "give it permissions");
    }
  }

  #demandVerbs(rule: AccessRule): void {
    const { caller, object, old } = this.#write;
    const { type, rights } = this.#options;
    const holds = (verb: string, subresource: string) => {
      if (verb === "create") return rights.mayCreate(caller, type, object.metadata.namespace ?? "");
      // A new object is judged as if it were there: its owner has the owner's verbs.
      return objectAllows(old ?? withoutRules(object), caller, { verb, subresource });
    };
    const missing = verbsOf(rule, object).filter((verb) => !["", ...(rule.subresources ?? [])].every((part) => holds(verb, part)));
    if (missing.length > 0) throw this.#refuse(`an access rule can not give what you do not have: ${missing.join(", ")}`);
  }

  /** Roles in the clusters go far beyond the team itself. */
  clusterRoles(): void {
    const { caller, object, old } = this.#write;
    const before = old === undefined ? [] : clusterRolesOf(specOf<TeamSpec>(old));
    const added = clusterRolesOf(specOf<TeamSpec>(object)).filter((role) => !before.includes(role));
    if (added.length === 0 || (old !== undefined && objectAllows(old, caller, { verb: "bind" }))) return;
    throw this.#refuse(`the verb bind on the team is needed to give it the cluster roles ${added.join(", ")}`);
  }

  #demandTeamVerb(team: string, verb: string, purpose: string): void {
    if (this.#options.rights.teamAllows(team, this.#write.caller, verb)) return;
    throw this.#refuse(`the verb ${verb} on team ${JSON.stringify(team)} is needed to ${purpose}`);
  }

  #refuse(why: string): EngineError {
    return forbiddenRequest(this.#options.type, this.#write.object.metadata.name ?? "", why);
  }
}

/** Nobody gets rights from a rule that is only being written. Owners have the parts of their objects too. */
function withoutRules(object: KubeObject): KubeObject {
  return { ...object, spec: { ...specOf<OwnedSpec>(object), access: [] } };
}

/**
 * For every kind: an owner reference may hold up the deletion of an owner only if its author might delete that owner.
 *
 * @throws API_INVALID, naming the reference. Source: specification 1, ownerReferences.
 */
export function createBlockingPermit({ rights, type, types }: PermitOptions): Permit {
  return ({ user, object, old }) => {
    const before = old?.metadata.ownerReferences ?? [];
    const errors = (object.metadata.ownerReferences ?? []).flatMap((reference, index) => {
      const known = before.some(({ uid, blockOwnerDeletion }) => uid === reference.uid && blockOwnerDeletion === true);
      if (reference.blockOwnerDeletion !== true || known || mayDelete(reference, object.metadata.namespace ?? "")) return [];
      const field = `metadata.ownerReferences[${index}].blockOwnerDeletion`;
      return [invalid(field, true, "cannot be set without the permission to delete the owner")];
    });
    if (errors.length > 0) throw invalidObject(type, object.metadata.name ?? "", errors);

    function mayDelete(reference: OwnerReference, namespace: string): boolean {
      const owner = types.find(({ apiVersion, kind }) => apiVersion === reference.apiVersion && kind === reference.kind);
      const [group = "", version = ""] = owner === undefined ? [] : [groupOf(owner), owner.apiVersion.split("/").at(-1)!];
      const place = owner?.namespaced === true ? namespace : "";
      const asked = { verb: "delete", group, version, resource: owner?.plural ?? "", subresource: "", namespace: place, name: reference.name };
      return rights.decide(user, asked).allowed;
    }
  };
}
