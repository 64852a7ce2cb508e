/**
 * Names that expressions can use in addition to those in the texts of the page.
 *
 * @module
 */
import { HOST_FUNCTIONS } from "../../../../engine/expression/functions/host-functions.ts";
import { SYNCED_KINDS } from "../../../../engine/kinds/synced-kinds.ts";
import type { PatchListName } from "../../../laws/report.ts";

/** A name that an expression can use. */
export interface KnownName {
  readonly name: string;
  /** What it is, in a few words. */
  readonly detail?: string;
  /** What it is for, in a line. */
  readonly about?: string;
}

const OWN: readonly KnownName[] = [
  { name: "value", detail: "the value at the path" },
  { name: "context", detail: "object", about: "The virtual cluster, both objects, and the path of the value." },
];

const LANGUAGE = [
  ...["Array", "Boolean", "Date", "JSON", "Map", "Math", "Number", "Object", "RegExp", "Set", "String", "undefined"],
  ...["decodeURIComponent", "encodeURIComponent", "isFinite", "isNaN", "parseFloat", "parseInt"],
];

/** Names in scope: those of patches, the functions of the host, and commonly used names of the language. */
export const NAMES_IN_SCOPE: readonly KnownName[] = [
  ...OWN,
  ...HOST_FUNCTIONS.map(({ name, signature, about }) => ({ name, detail: signature, about })),
  ...LANGUAGE.map((name) => ({ name })),
];

/** Members that every value of a type has. */
export const MEMBERS_OF_TYPE: Readonly<Record<"string" | "number" | "list", readonly string[]>> = {
  string: [
    ...["at", "charAt", "endsWith", "includes", "indexOf", "lastIndexOf", "length", "match", "matchAll", "padEnd", "padStart", "repeat"],
    ...["replace", "replaceAll", "slice", "split", "startsWith", "substring", "toLowerCase", "toUpperCase", "trim", "trimEnd", "trimStart"],
  ],
  number: ["toFixed", "toString"],
  list: [
    ...["at", "concat", "every", "filter", "find", "findIndex", "findLast", "flat", "flatMap", "includes", "indexOf", "join", "length"],
    ...["map", "reduce", "slice", "some", "toReversed", "toSorted", "with"],
  ],
};

/** Members of names of the language. */
export const MEMBERS_OF_NAME: Readonly<Record<string, readonly string[]>> = {
  Array: ["from", "isArray", "of"],
  JSON: ["parse", "stringify"],
  Math: ["abs", "ceil", "floor", "max", "min", "round", "trunc"],
  Number: ["isInteger", "parseFloat", "parseInt"],
  Object: ["assign", "entries", "fromEntries", "hasOwn", "keys", "values"],
};

/** An example object of each kind, for fields that the tenant's object does not have. Its keys of labels and annotations are not offered. */
export const KNOWN_SHAPES: Readonly<Record<PatchListName, object>> = Object.fromEntries(
  SYNCED_KINDS.map(({ section, sample }) => [section, { ...sample, metadata: { labels: {}, annotations: {} } }]),
);
