/**
 * How the fields of a kind are written down, and those that several kinds have.
 *
 * @module
 */
import type { KnownField, KnownShape } from "../expression/shape.ts";

/** A text, a number or a boolean; or nothing more is known. */
export const SCALAR: KnownShape = { kind: "scalar" };
/** Texts by name. */
export const TEXT_MAP: KnownShape = { kind: "map", entries: SCALAR };

/** A list of values of one shape. */
export function listOf(items: KnownShape): KnownShape {
  return { kind: "list", items };
}

/** Named fields. */
export function fieldsOf(fields: Readonly<Record<string, KnownField>>): Extract<KnownShape, { kind: "object" }> {
  return { kind: "object", fields };
}

/** A field that every object has. */
export function certain(shape: KnownShape = SCALAR): KnownField {
  return { shape, optional: false };
}

/** A field that objects can be without. */
export function maybe(shape: KnownShape = SCALAR): KnownField {
  return { shape, optional: true };
}

/** The metadata of any object. */
export const METADATA = fieldsOf({
  ...{ name: certain(), namespace: certain(), labels: maybe(TEXT_MAP), annotations: maybe(TEXT_MAP) },
  ...{ uid: certain(), resourceVersion: certain(), creationTimestamp: certain(), generateName: maybe(), generation: maybe() },
  ...{ deletionTimestamp: maybe(), deletionGracePeriodSeconds: maybe(), finalizers: maybe(listOf(SCALAR)), ownerReferences: maybe() },
  ...{ managedFields: maybe(), selfLink: maybe() },
});

/** A reference to the Pod behind an address. */
export const POD_REFERENCE = fieldsOf(
  Object.fromEntries(["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name) => [name, maybe()])),
);
