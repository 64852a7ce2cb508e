/**
 * Shared parts of the kinds of the management API: owners, access rules, and rules for changes.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { withMetadata } from "../../apiserver/types/objects/metadata.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { replaceStatus, type Strategy } from "../../apiserver/types/resource-definition.ts";
import { always, internal, listOf, named, objectOf, text, time } from "../../schema/builders.ts";
import type { Schema } from "../../schema/schema.ts";

/** The owner of an object: a user, a team, or both. */
export interface Owner {
  readonly user?: string;
  readonly team?: string;
}

/** Verbs for users and teams. */
export interface AccessRule {
  readonly name?: string;
  readonly verbs?: readonly string[];
  readonly subresources?: readonly string[];
  readonly users?: readonly string[];
  readonly teams?: readonly string[];
}

/** The part of a spec that gives permissions on the object itself. */
export interface OwnedSpec {
  readonly owner?: Owner;
  readonly access?: readonly AccessRule[];
}

/** `spec.owner`. Source: specification 1, SharedSecret and Team. */
export const OWNER = named(
  "Owner",
  "Owner of an object. Owners may do everything with the object, but cannot grant permissions that they do not have.",
  { user: [text, "Name of the user who owns the object."], team: [text, "Name of a team. Each of its members owns the object."] },
);

/** `spec.access[]`. Source: specification 1, "Access rule item". */
export const ACCESS_RULE = named("AccessRule", "Grants verbs on the object to users and teams.", {
  name: [text, "Descriptive name of the rule."],
  verbs: [
    listOf(text),
    "Allowed verbs: get, list, watch, create, update, patch, delete; on teams also bind and makeowner; VerbAll means all. An empty list allows nothing.",
  ],
  subresources: [listOf(text), "Subresources of the object to which the verbs also apply."],
  users: [listOf(text), 'Names of users who get the verbs; "*" means every authenticated user.'],
  teams: [listOf(text), "Names of teams whose members get the verbs."],
});

/** Descriptions of fields that most kinds have. */
export const USUAL_TEXTS = {
  displayName: "Name that the user interface shows.",
  description: "Purpose of the object.",
  owner: "Owner of the object.",
  access: "Permissions of users and teams on the object.",
} as const;

/** A status without fields, which only the server writes. */
export const EMPTY_STATUS: Schema = always(objectOf({}));

/** The user whose quota an object counts toward, if that is not the object's owner; see `access/quota/payer.ts`. */
export const PAYER: Schema = internal(text);

/** Field selectors of kinds with an owner. */
export const OWNER_FIELDS = {
  "spec.owner.user": (object: KubeObject) => specOf<OwnedSpec>(object).owner?.user ?? "",
  "spec.owner.team": (object: KubeObject) => specOf<OwnedSpec>(object).owner?.team ?? "",
} as const;

/**
 * The base strategy of every stored kind of the management API: a generation that counts changes of the spec, a status
 * that is written only at its own path, and a deletion with the requested grace period.
 */
export const USUAL_STRATEGY = {
  nameRule: dnsSubdomain,
  newGeneration: (object, old) => !jsonEqual(object["spec"], old["spec"]),
  subresources: { status: replaceStatus },
  prepare,
  opened: withOpenMaps,
  gracePeriod: (_object, requested = 0) => requested,
} as const satisfies Strategy;

/** A longer `generateName` is cut to PREFIX_FITTING characters before a name is generated. Source: specification 1, metadata. */
const PREFIX_MAX = 253;
const PREFIX_FITTING = 58;

/** Returns the object with a spec and a status. A new object has an empty status. A `generateName` that is too long is cut. */
function prepare(object: KubeObject, old: KubeObject | undefined): KubeObject {
  const { generateName = "" } = object.metadata;
  const status = (old && object["status"]) ?? {};
  const whole = { ...object, spec: object["spec"] ?? {}, status };
  if (generateName.length <= PREFIX_MAX) return whole;
  return withMetadata(whole, { generateName: generateName.slice(0, PREFIX_FITTING).replace(/\.+$/, "") });
}

/**
 * Adds the maps for annotations and labels if they are missing, so that a JSON patch can add to them. Source: specification 1, Endpoints,
 * rule 1.
 */
export function withOpenMaps(stored: KubeObject): KubeObject {
  const { annotations = {}, labels = {} } = stored.metadata;
  return withMetadata(stored, { annotations, labels });
}

/** An object's spec, typed by its kind. */
export function specOf<Spec>(object: KubeObject): Spec {
  return (object["spec"] ?? {}) as Spec;
}

/** A condition of an object, as in Kubernetes. */
export const CONDITION = named("Condition", "A condition of the object.", {
  type: [always(text), "Type of the condition."],
  status: [always(text), "True, False or Unknown."],
  severity: [text, "Severity while the status is False."],
  lastTransitionTime: [time, "When the status of the condition last changed."],
  reason: [text, "Reason in one word."],
  message: [text, "Reason as a sentence."],
});
