/**
 * The common part of all kinds: type, metadata and owners.
 *
 * @module
 */
import {
  always,
  anything,
  bool,
  int64,
  listOf,
  mandatory,
  named,
  objectOf,
  optional,
  text,
  textAs,
  textsBy,
  time,
  untried,
  type Entry,
} from "../../schema/builders.ts";
import type { ObjectSchema } from "../../schema/schema.ts";

/** `metadata.ownerReferences[]`. */
export const OWNER_REFERENCE = named("OwnerReference", "The owner of an object. It is in the namespace of the object, or cluster-scoped.", {
  apiVersion: [5, mandatory(text), "API version of the owner."],
  kind: [1, mandatory(text), "Kind of the owner."],
  name: [3, mandatory(text), "Name of the owner."],
  uid: [4, mandatory(text), "UID of the owner; another object of the same name is not the owner."],
  controller: [6, optional(bool), "True for the one owner that manages the object."],
  blockOwnerDeletion: [7, optional(bool), "If true, the foreground deletion of the owner waits for this object."],
});

/** `metadata.managedFields[]`, as the schema publishes it: an invalid entry does not make a request fail. */
export const MANAGED_FIELDS_ENTRY = named("ManagedFieldsEntry", "The fields that one manager has set by one kind of operation.", {
  apiVersion: [optional(text), "Version of the schema that the names of the fields belong to."],
  fieldsType: [optional(text), "Format of the fields: FieldsV1."],
  fieldsV1: [
    anything,
    "The fields, as a tree. Its keys: f:NAME for a field, k:KEYS or v:VALUE for a list item, and . for the item itself.",
  ],
  manager: [optional(text), "Name of the manager."],
  operation: [optional(text), "Apply for server-side apply, Update for all other writes."],
  subresource: [optional(text), "Subresource through which the fields were set; empty for the object itself."],
  time: [optional(time), "When the manager last changed its fields or their values."],
});

/** Labels of an object. */
export const LABEL_MAP = textsBy("labelKey", "label");

/** `metadata` of every object. The fields marked as always present are those of objects in a namespace. */
export const OBJECT_META = named("ObjectMeta", "Metadata that every object has: names, labels, and the server's records about it.", {
  "name!": [1, textAs("dnsLabel"), "Name of the object, unique among its kind in its namespace. It cannot be changed."],
  generateName: [2, untried(text), "Prefix of a name that the server completes if no name is given."],
  "namespace!": [3, textAs("namespace"), "Namespace of the object; empty for kinds that have none. It cannot be changed."],
  selfLink: [4, untried(text), "Address of the object; current servers leave it empty."],
  "uid!": [5, untried(text), "Unique identity of the object, set by the server."],
  "resourceVersion!": [
    6,
    untried(text),
    "Version of the object, set by the server. A write that includes it fails if the object has changed since.",
  ],
  generation: [7, untried({ ...int64, assigned: true }), "Number of changes to the desired state, for kinds that count them."],
  "creationTimestamp!": [8, untried(optional(time)), "When the server first stored the object."],
  deletionTimestamp: [9, untried(optional(time)), "When the deletion was requested; the object stays until its finalizers are gone."],
  deletionGracePeriodSeconds: [
    10,
    untried(optional(int64)),
    "Seconds that the object may take to terminate after its deletion was requested.",
  ],
  labels: [11, LABEL_MAP, "Key-value pairs for selecting and grouping objects."],
  annotations: [12, textsBy("annotationKey", "annotation"), "Key-value pairs for tools and users; selectors do not use them."],
  ownerReferences: [13, untried(listOf(OWNER_REFERENCE, { as: "map", keys: ["uid"] })), "The owners of the object."],
  finalizers: [
    14,
    untried(listOf(text, { as: "set" })),
    "Controllers that must finish before the object is removed; each removes its own entry.",
  ],
  managedFields: [listOf({ ...anything, published: MANAGED_FIELDS_ENTRY }), "Which manager set which fields, recorded by the server."],
});

/**
 * Returns a kind's shape: type and metadata, then the kind's own fields. The metadata has a number in the binary form if any of these
 * fields has one.
 *
 * @example
 * kindShape({ data: [2, textMap, "Strings by name."], immutable: [4, optional(bool)] }, "Configuration data by name.");
 */
export function kindShape(own: Readonly<Record<string, Entry>>, description = ""): ObjectSchema {
  const { fields } = objectOf(own);
  const isBinary = Object.values(fields).some(({ number }) => number !== undefined);
  const metadata = [always(OBJECT_META), "Name, labels and other standard metadata."] as const;
  const head = objectOf({
    apiVersion: [text, "Version of the schema in which the object is written."],
    kind: [text, "Kind of the object, by its name in the API."],
    metadata: isBinary ? [1, ...metadata] : metadata,
  });
  return { ...head, description, fields: { ...head.fields, ...fields } };
}
