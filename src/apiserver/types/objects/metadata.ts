import { utf8Size } from "../../../base/digest.ts";
import { canonicalJson } from "../../../base/json.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../../kube/object/types.ts";
import { forbidden, IMMUTABLE, invalid, required, tooLong, type FieldError } from "../field-error.ts";
import { dnsLabel, labelValue, qualifiedName, type TextRule } from "./names.ts";

/** Maximum size of all annotation keys and values together, in bytes. */
export const ANNOTATIONS_BYTES_MAX = 262_144;

/** Longest base of a generated name; with five random characters it still fits a DNS label. */
const GENERATED_BASE_MAX = 58;
const SUFFIX_LENGTH = 5;
/** Letters and digits without vowels and look-alikes, so that no word appears by accident. */
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Generates a name that begins with `base`, as `generateName` requires.
 *
 * @example
 * generatedName("web-", () => 0); // "web-bbbbb"
 */
export function generatedName(base: string, fraction: () => number): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_ALPHABET[Math.floor(fraction() * SUFFIX_ALPHABET.length)]);
  return `${base.slice(0, GENERATED_BASE_MAX)}${suffix.join("")}`;
}

/**
 * Formats a time in RFC 3339, in whole seconds, the precision of timestamps in Kubernetes.
 *
 * @example
 * timestamp(1_500); // "1970-01-01T00:00:01Z"
 */
export function timestamp(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1_000);
  // One write formats the time several times, and other writes follow within the same second.
  if (second !== latest.second) latest = { second, text: `${new Date(milliseconds).toISOString().slice(0, 19)}Z` };
  return latest.text;
}

let latest = { second: NaN, text: "" };

/** New values for fields of metadata; undefined removes a field. `selfLink`, which old clients still send, can only be removed. */
type MetadataChanges = { readonly [field in keyof ObjectMeta]?: ObjectMeta[field] | undefined } & { readonly selfLink?: undefined };

/** The object with new metadata; undefined members are left out. */
export function withMetadata(object: KubeObject, changes: MetadataChanges): KubeObject {
  const merged: Record<string, unknown> = { ...object.metadata, ...changes };
  if (!hasUndefined(merged)) return { ...object, metadata: merged };
  const metadata: Record<string, unknown> = {};
  for (const name in merged) if (merged[name] !== undefined) metadata[name] = merged[name];
  return { ...object, metadata };
}

function hasUndefined(record: Readonly<Record<string, unknown>>): boolean {
  for (const name in record) if (record[name] === undefined) return true;
  return false;
}

/** Removes repeated owner references from an object, and calls `warn` if there were any. Source: the API server's write handlers. */
export function withUniqueOwners(object: KubeObject, warn: (text: string) => void = () => {}): KubeObject {
  const given = object.metadata.ownerReferences;
  if (given === undefined || given.length < 2) return object;
  const unique = new Map(given.map((reference) => [canonicalJson(reference), reference]));
  if (unique.size === given.length) return object;
  warn(
    `.metadata.ownerReferences contains duplicate entries, and only one of each is kept; duplicate UID(s): ${repeated(given).join(", ")}`,
  );
  return withMetadata(object, { ownerReferences: [...unique.values()] });
}

function repeated(references: readonly OwnerReference[]): readonly string[] {
  const seen = new Set<string>();
  const again = references.filter((reference) => {
    const text = canonicalJson(reference);
    const known = seen.has(text);
    seen.add(text);
    return known;
  });
  return [...new Set(again.map(({ uid }) => uid))];
}

/** Name rules of a kind. */
export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule: TextRule;
}

/**
 * Validates the metadata of an object that is created or updated.
 * Source of the rules: `ValidateObjectMeta` of the API machinery.
 */
export function validateMetadata(metadata: ObjectMeta, { namespaced, nameRule }: MetadataRules): FieldError[] {
  const { name = "", generateName = "", namespace = "", generation = 0 } = metadata;
  const errors: FieldError[] = [];
  if (generateName !== "") errors.push(...broken("metadata.generateName", generateName, generateNameRule(nameRule)));
  if (name === "") errors.push(required("metadata.name", "name or generateName is required"));
  else errors.push(...broken("metadata.name", name, nameRule));
  if (namespaced && namespace === "") errors.push(required("metadata.namespace"));
  else if (namespaced) errors.push(...broken("metadata.namespace", namespace, dnsLabel));
  else if (namespace !== "") errors.push(forbidden("metadata.namespace", "not allowed on this type"));
  if (generation < 0) errors.push(invalid("metadata.generation", generation, "must be greater than or equal to 0"));
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  return errors.concat(
    labels === undefined ? NO_ERRORS : validateLabels(labels, "metadata.labels"),
    annotations === undefined ? NO_ERRORS : annotationErrors(annotations),
    ownerReferences === undefined ? NO_ERRORS : ownerErrors(ownerReferences),
    finalizers === undefined ? NO_ERRORS : finalizerErrors(finalizers),
  );
}

/** Validates the change from `old` to `metadata`. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const fixed = ["name", "namespace", "uid"] as const;
  const errors = fixed
    .filter((field) => (metadata[field] ?? "") !== (old[field] ?? ""))
    .map((field) => invalid(`metadata.${field}`, metadata[field] ?? "", IMMUTABLE));
  if (typeof old.deletionTimestamp !== "string") return errors;
  const before = new Set(old.finalizers);
  const added = (metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
  if (added.length === 0) return errors;
  const shown = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`;
  return [...errors, forbidden("metadata.finalizers", detail)];
}

/** The rule for prefixes of generated names: like that for names, but a dash at the end is valid. */
function generateNameRule(nameRule: TextRule): TextRule {
  return (text) => nameRule(text.replace(/-$/, "a"));
}

function broken(field: string, value: string, rule: TextRule): readonly FieldError[] {
  const details = rule(value);
  return details.length === 0 ? NO_ERRORS : details.map((detail) => invalid(field, value, detail));
}

const NO_ERRORS: readonly FieldError[] = [];

/** Validates a map of labels at `field`. */
export function validateLabels(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels)) {
    for (const error of broken(field, key, qualifiedName)) errors.push(error);
    for (const error of broken(field, value, labelValue)) errors.push(error);
  }
  return errors;
}

function annotationErrors(annotations: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(annotations);
  const errors = entries.flatMap(([key]) => qualifiedName(key.toLowerCase()).map((detail) => invalid("metadata.annotations", key, detail)));
  const size = entries.reduce((sum, [key, value]) => sum + utf8Size(key) + utf8Size(value), 0);
  return size > ANNOTATIONS_BYTES_MAX ? [...errors, tooLong("metadata.annotations", ANNOTATIONS_BYTES_MAX)] : errors;
}

function ownerErrors(ownerReferences: readonly OwnerReference[]): FieldError[] {
  const field = "metadata.ownerReferences";
  const errors = ownerReferences.flatMap((reference, index) => {
    const at = `${field}[${index}]`;
    const version = reference.apiVersion.split("/").at(-1);
    return [
      ...(version === "" ? [invalid(`${at}.apiVersion`, reference.apiVersion, "version must not be empty")] : []),
      ...(["kind", "name", "uid"] as const)
        .filter((part) => reference[part] === "")
        .map((part) => invalid(`${at}.${part}`, "", "must not be empty")),
      // Events expire within hours, so no object may depend on them.
      ...(reference.kind === "Event" && reference.apiVersion === "v1"
        ? [invalid(at, reference, "/v1, Kind=Event is disallowed from being an owner")]
        : []),
    ];
  });
  const controllers = ownerReferences.filter((reference) => reference.controller === true);
  if (controllers.length <= 1) return errors;
  const detail = "Only one reference can have Controller set to true. Found more than one";
  return [...errors, invalid(field, ownerReferences, detail)];
}

function finalizerErrors(finalizers: readonly string[]): FieldError[] {
  const errors = finalizers.flatMap((finalizer) => broken("metadata.finalizers", finalizer, qualifiedName));
  const both = finalizers.includes("orphan") && finalizers.includes("foregroundDeletion");
  if (!both) return errors;
  return [...errors, invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set")];
}

/** Parses a resourceVersion. Returns 0 for undefined, "" and "0", and undefined when the text is not a revision. */
export function parseRevision(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return 0;
  return /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : undefined;
}
