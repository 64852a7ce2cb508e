/**
 * Determines the user whose quota an object counts toward: the user who last set the object's owner. Users cannot fill another user's quota
 * by giving objects away, nor avoid their own by naming another owner or using the key of a team.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import { SYSTEM_USER } from "../../../apiserver/verbs/resource-context.ts";
import type { ResourceDefinition } from "../../../apiserver/types/resource-definition.ts";
import { administers, subjectOfUserName, userNameOf } from "../caller.ts";
import { authorKey } from "../keys/key-origin.ts";
import type { KeyLives } from "../keys/key-lives.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import { specOf, type OwnedSpec } from "../../kinds/common.ts";
import { originOf, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";

/** Options of {@link withPayer}. */
export interface PayerOptions {
  readonly objects: Pick<ManagedObjects, "get">;
  readonly lives: Pick<KeyLives, "chainOf">;
}

/**
 * Returns the user name whose quota an object counts toward. Returns undefined if it counts toward none, such as an object that an
 * administrator created without an owner.
 *
 * @example
 * payerOf(secret); // "jane", or "platform:team:ops" for a team
 */
export function payerOf(object: KubeObject): string | undefined {
  return (object["payer"] as string | undefined) ?? namedOwner(object);
}

/** The entry of `UserInfo.extra` for the server while it writes on behalf of a user. Requests from clients never have it. */
const CHARGED_EXTRA = "platform/charged";

/** The server as the author of objects that it creates on behalf of a user, whose quota they count toward. */
export function chargedTo(user: string): UserInfo {
  return { ...SYSTEM_USER, extra: { [CHARGED_EXTRA]: [user] } };
}

/** The user on whose behalf the server writes; undefined for all other authors. */
export function chargedBy({ extra }: UserInfo): string | undefined {
  return extra?.[CHARGED_EXTRA]?.[0];
}

/**
 * Returns the kind with a payer for each object. If the payer differs from the owner that the object names, the server stores the payer in
 * a field of the object, and never returns this field.
 */
export function withPayer(definition: ResourceDefinition, options: PayerOptions): ResourceDefinition {
  const { strategy, shown } = definition;
  return {
    ...definition,
    shown: (object, user) => withoutPayer(shown?.(object, user) ?? object),
    strategy: {
      ...strategy,
      prepare: (object, old, by) => withPayerAfter(strategy.prepare?.(object, old, by) ?? object, old, { ...options, by }),
      opened: (stored, by) => withoutPayer(strategy.opened?.(stored, by) ?? stored),
    },
  };
}

interface Author extends PayerOptions {
  readonly by: UserInfo;
}

/** Returns an object with its payer after a write. */
function withPayerAfter(object: KubeObject, old: KubeObject | undefined, author: Author): KubeObject {
  const bare = withoutPayer(object);
  const payer = old !== undefined && jsonEqual(ownersOf(object), ownersOf(old)) ? old["payer"] : newPayer(author);
  return payer === undefined || payer === namedOwner(object) ? bare : { ...bare, payer };
}

/** Returns the payer for a new owner; undefined if the named owner pays, as for administrators and the platform's own writes. */
function newPayer({ by, objects, lives }: Author): string | undefined {
  if (administers(by)) return chargedBy(by);
  if (subjectOfUserName(by.name)?.kind === "user") return by.name;
  const key = authorKey(by, objects);
  // With a team's key, the user who created that key pays: otherwise each team would give its members another quota.
  for (const link of key === undefined ? [] : lives.chainOf(key)) {
    const person = link && originOf(link).person;
    if (person !== undefined) return person.name;
  }
  return by.name;
}

function withoutPayer(object: KubeObject): KubeObject {
  if (object["payer"] === undefined) return object;
  const { payer: _payer, ...rest } = object;
  return rest;
}

function namedOwner(object: KubeObject): string | undefined {
  const [user, team, subject] = ownersOf(object);
  if (user !== "") return user;
  if (team !== "") return userNameOf({ kind: "team", name: team! });
  return subject === "" ? undefined : userNameOf({ kind: "subject", name: subject! });
}

/** User, team and subject that an object names; "" for each that it does not name. */
function ownersOf(object: KubeObject): readonly string[] {
  if (object.kind !== OWNED_ACCESS_KEYS.kind) {
    const { user = "", team = "" } = specOf<OwnedSpec>(object).owner ?? {};
    return [user, team, ""];
  }
  const { user = "", team = "", subject = "" } = specOf<KeySpec>(object);
  return [user, team, subject];
}
