/**
 * Fields that several kinds share.
 *
 * @module
 */
import { named, oneOf, text, textAs, untried, wholeNumber } from "../../../schema/builders.ts";
import type { ObjectSchema, Schema } from "../../../schema/schema.ts";

/** The number of a port. */
export const PORT_NUMBER = wholeNumber(1, 65_535);

/** The protocol of a port. */
export const PORT_PROTOCOL = oneOf("TCP", "UDP", "SCTP");

/** A reference to an object, as Events and addresses contain it. */
export const OBJECT_REFERENCE: ObjectSchema = referenceTo(text);

/** A reference to the Pod behind an address. API servers also accept references to other objects. */
export const POD_REFERENCE: ObjectSchema = referenceTo(oneOf("Pod"));

function referenceTo(kind: Schema): ObjectSchema {
  return named("ObjectReference", "Refers to an object, or to a part of it.", {
    "kind?": [1, kind, "Kind of the object."],
    "namespace?": [2, textAs("namespace"), "Namespace of the object."],
    "name?": [3, textAs("name"), "Name of the object."],
    uid: [4, textAs("dnsLabel"), "UID of the object."],
    apiVersion: [5, untried(text), "API version of the object."],
    resourceVersion: [6, untried(text), "resourceVersion of the object, if a specific version is meant."],
    fieldPath: [7, untried(text), "Part of the object, such as spec.containers{web}."],
  });
}
