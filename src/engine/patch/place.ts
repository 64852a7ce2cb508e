import { parseConcrete, type Segment } from "../path/path.ts";

/** The two maps of an object's metadata that patches may change. */
export type MapField = "labels" | "annotations";

/** Role of a matched value in its object; `path` is its concrete path. */
export type ValueRole =
  /** A field that the engine owns, or a part of one; and the object itself. */
  | { readonly role: "protected"; readonly path: string }
  | { readonly role: "metadata"; readonly path: string }
  /** All labels or all annotations. */
  | { readonly role: "map"; readonly path: string; readonly field: MapField }
  /** One label or annotation. */
  | { readonly role: "entry"; readonly path: string; readonly field: MapField; readonly key: string }
  /** Everything else. */
  | { readonly role: "field"; readonly path: string };

/** A place whose last written value can be kept. */
export type MetadataPlace = Extract<ValueRole, { role: "map" | "entry" }>;

/** Fields that identify the kind of an object; no patch changes them. */
const PROTECTED_FIELDS: readonly string[] = ["apiVersion", "kind"];

/** Metadata that an API server or the engine determines; no patch changes it. */
export const PROTECTED_METADATA: readonly string[] = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

// All other paths lead to values with the role "field" and need not be parsed.
const NEEDS_A_LOOK = /^(?:metadata|apiVersion|kind|\$)/;

// The paths of both maps and of their entries need not be parsed either, unless a key needs escaping.
const MAP_OR_ENTRY = /^metadata\.(labels|annotations)(?:\.([\w-][\w/:-]*)|\["([^"\\]+)"\])?$/;

/**
 * The role of the value at a concrete path.
 *
 * @example
 * roleOf("metadata.labels.app"); // { role: "entry", path: "metadata.labels.app", field: "labels", key: "app" }
 */
export function roleOf(path: string): ValueRole {
  if (!NEEDS_A_LOOK.test(path)) return { role: "field", path };
  const known = MAP_OR_ENTRY.exec(path);
  if (known !== null) return mapOrEntry(path, known[1] as MapField, known[2] ?? known[3]);
  const [first, second, third, fourth] = parseConcrete(path).map(String);
  if (first === undefined || PROTECTED_FIELDS.includes(first)) return { role: "protected", path };
  if (first !== "metadata") return { role: "field", path };
  if (second === undefined) return { role: "metadata", path };
  if (PROTECTED_METADATA.includes(second)) return { role: "protected", path };
  if ((second !== "labels" && second !== "annotations") || fourth !== undefined) return { role: "field", path };
  return mapOrEntry(path, second, third);
}

function mapOrEntry(path: string, field: MapField, key: string | undefined): MetadataPlace {
  return key === undefined ? { role: "map", path, field } : { role: "entry", path, field, key };
}

/**
 * Returns {@link roleOf} for the matches of one path. Most values that patches match are addresses, of which an object can have hundreds:
 * if the path begins with a name that determines the role, the text of each concrete path is not examined.
 *
 * @example
 * placesOf(compilePath("subsets[*].addresses[*].ip").segments)("subsets[0].addresses[3].ip").role; // "field"
 */
export function placesOf([first]: readonly Segment[]): (path: string) => ValueRole {
  if (first?.kind !== "key" || NEEDS_A_LOOK.test(first.key)) return roleOf;
  return (path) => ({ role: "field", path });
}

/** Reports whether the value at a concrete path is an element of a list, or inside one. */
export function isInList(path: string): boolean {
  return parseConcrete(path).some((step) => typeof step === "number");
}
