/**
 * The list of managers in `metadata.managedFields`.
 *
 * @module
 */
import { isRecord, type JsonObject } from "../../base/json.ts";
import { invalid, type FieldError } from "../types/field-error.ts";
import { hasFourDigits } from "../types/objects/decode.ts";
import { timestamp } from "../types/objects/metadata.ts";
import { decodeFieldsV1, isEmptySet, NO_FIELDS, unionAll, type FieldSet } from "../types/fields/field-set.ts";
import { ownMember } from "../types/fields/structure.ts";

/** Longest name of a manager, in characters. */
export const MANAGER_LENGTH_MAX = 128;
const SUBRESOURCE_LENGTH_MAX = 256;

/** Maximum number of managers with updates. Beyond it, the oldest are merged. Source: the API server's field manager. */
const UPDATE_MANAGERS_MAX = 10;
/** The manager that owns the fields of merged updates. */
const ANCIENT = "ancient-changes";

/** A manager and the fields that it owns. */
export interface ManagerEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** The time at which the entry was added or last changed; RFC 3339. */
  readonly time?: string;
  readonly fields: FieldSet;
  /** The stored form of the entry; absent once the entry has changed. */
  readonly written?: JsonObject;
}

/** The identity of an entry. */
export type ManagerIdentity = Pick<ManagerEntry, "manager" | "operation" | "apiVersion" | "subresource">;

/** Entries by identity. Every entry has fields. */
export type Managers = ReadonlyMap<string, ManagerEntry>;

/** The identity of a manager as a key. An applier has a single set of fields, regardless of the API version that it applies. */
export function identityOf({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  return JSON.stringify([operation, manager, subresource, operation === "Apply" ? "" : apiVersion]);
}

/**
 * Reads the managers of a stored object. The list is not checked: the server wrote it, and {@link parseManagers} has checked the parts that
 * come from clients.
 */
export function readManagers(managedFields: readonly unknown[] | undefined): Managers {
  const managers = new Map<string, ManagerEntry>();
  for (const raw of managedFields ?? []) {
    const { manager, operation, apiVersion, subresource = "", time, fieldsV1 } = raw as StoredEntry;
    const entry = { manager, operation, apiVersion, subresource, fields: fieldsV1, written: raw as JsonObject };
    managers.set(identityOf(entry), time === undefined ? entry : { ...entry, time });
  }
  return managers;
}

/** An entry as {@link writeManagers} writes it. */
interface StoredEntry extends Omit<ManagerEntry, "subresource" | "fields" | "written"> {
  readonly subresource?: string;
  readonly fieldsV1: FieldSet;
}

/** A list of managers, and the errors in it. */
export interface ParsedManagers {
  readonly managers: Managers;
  readonly errors: readonly FieldError[];
}

/** Reads and checks a list of managers from a client. */
export function parseManagers(managedFields: unknown): ParsedManagers {
  const managers = new Map<string, ManagerEntry>();
  const field = "metadata.managedFields";
  if (managedFields === undefined || managedFields === null) return { managers, errors: [] };
  if (!Array.isArray(managedFields)) return { managers, errors: [invalid(field, managedFields, "must be a list")] };
  const errors = managedFields.flatMap((raw: unknown, index) => {
    const faults = entryErrors(raw, `${field}[${index}]`);
    if (faults.length === 0) add(managers, entryOf(raw as JsonObject));
    return faults;
  });
  return { managers, errors };
}

/** Adds an entry that has fields. It replaces an entry with the same identity; only lists from clients contain such duplicates. */
function add(managers: Map<string, ManagerEntry>, entry: ManagerEntry): void {
  if (!isEmptySet(entry.fields)) managers.set(identityOf(entry), entry);
}

function entryErrors(raw: unknown, field: string): FieldError[] {
  if (!isRecord(raw)) return [invalid(field, raw, "must be an object")];
  const own = (name: string) => ownMember(raw, name) ?? undefined;
  const check = (name: string, detail: string, holds: (value: unknown) => boolean) =>
    holds(own(name)) ? [] : [invalid(`${field}.${name}`, own(name) ?? "", detail)];
  return [
    ...check("operation", "must be `Apply` or `Update`", (value) => value === "Apply" || value === "Update"),
    ...check("fieldsType", "must be `FieldsV1`", (value) => value === "FieldsV1"),
    ...check("fieldsV1", "must be a set of fields", (value) => value === undefined || decodeFieldsV1(value) !== undefined),
    ...check("manager", `must be at most ${MANAGER_LENGTH_MAX} printable characters`, isManagerName),
    ...check("apiVersion", "must not be empty", (value) => typeof value === "string" && value !== ""),
    ...check("apiVersion", "must be `group/version`, or a version alone", isApiVersion),
    ...check("subresource", `must be at most ${SUBRESOURCE_LENGTH_MAX} characters`, isSubresource),
    ...check("time", "must be a time in RFC 3339 format", (value) => value === undefined || timeOf(value) !== undefined),
  ];
}

function isManagerName(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === "string" && value.length <= MANAGER_LENGTH_MAX && isPrintable(value);
}

/** Reports whether a string has no control or formatting characters. */
export function isPrintable(text: string): boolean {
  return !/[\p{C}\u2028\u2029]/u.test(text);
}

/** Reports whether a string is `version` or `group/version`. Empty strings and other values are reported by another check. */
function isApiVersion(value: unknown): boolean {
  return typeof value !== "string" || /^(([^/]+\/)?[^/]+)?$/.test(value);
}

function isSubresource(value: unknown): boolean {
  return value === undefined || (typeof value === "string" && value.length <= SUBRESOURCE_LENGTH_MAX);
}

function timeOf(value: unknown): string | undefined {
  const instant = typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : NaN;
  return hasFourDigits(instant) ? timestamp(instant) : undefined;
}

/** Converts a valid entry. */
function entryOf(raw: JsonObject): ManagerEntry {
  const text = (name: string) => (ownMember(raw, name) as string | null | undefined) ?? "";
  const time = timeOf(ownMember(raw, "time"));
  return {
    manager: text("manager"),
    operation: text("operation") as ManagerEntry["operation"],
    apiVersion: text("apiVersion"),
    subresource: text("subresource"),
    ...(time !== undefined && { time }),
    fields: decodeFieldsV1(ownMember(raw, "fieldsV1") ?? {}) ?? NO_FIELDS,
  };
}

/** A copy of the entry with these fields, and with a new time if one is given. */
export function withManagedFields({ written: _old, ...entry }: ManagerEntry, fields: FieldSet, time = entry.time): ManagerEntry {
  return { ...entry, fields, ...(time !== undefined && { time }) };
}

/** The managers as the list in an object: appliers first, then updates in order of time; undefined if there are no managers. */
export function writeManagers(managers: Managers): readonly unknown[] | undefined {
  return managers.size === 0 ? undefined : [...managers.values()].sort(inOrder).map(writeEntry);
}

function inOrder(left: ManagerEntry, right: ManagerEntry): number {
  const keys = (entry: ManagerEntry) => [entry.operation, entry.time ?? "", entry.manager, entry.apiVersion, entry.subresource];
  const others = keys(right);
  const mine = keys(left);
  const at = mine.findIndex((key, index) => key !== others[index]);
  return at < 0 ? 0 : mine[at]! < others[at]! ? -1 : 1;
}

/** One entry of the list in an object. */
export function writeEntry({ manager, operation, apiVersion, time, subresource, fields, written }: ManagerEntry): JsonObject {
  return (
    written ?? {
      manager,
      operation,
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: "FieldsV1",
      fieldsV1: fields,
      ...(subresource !== "" && { subresource }),
    }
  );
}

/** Merges the oldest updates of each API version into one, until no more than {@link UPDATE_MANAGERS_MAX} are left. */
export function withoutExcess(managers: Managers): Managers {
  const updates = [...managers.values()].filter(({ operation }) => operation === "Update");
  let excess = updates.length - UPDATE_MANAGERS_MAX;
  if (excess <= 0) return managers;
  const groups = new Map<string, Set<ManagerEntry>>();
  for (const entry of updates.sort(inOrder)) {
    if (excess <= 0) break;
    const group = groups.get(entry.apiVersion);
    if (group === undefined) groups.set(entry.apiVersion, new Set([entry]));
    else excess -= joinGroup(group, entry, managers.get(ancientIn(entry.apiVersion)));
  }
  const left = new Map(managers);
  for (const [apiVersion, group] of groups) if (group.size > 1) joinAncient(left, apiVersion, [...group]);
  return left;
}

/** The identity of the merged updates of an API version. */
function ancientIn(apiVersion: string): string {
  return identityOf({ manager: ANCIENT, operation: "Update", apiVersion, subresource: "" });
}

/** Adds an entry to a group. An existing entry of merged updates joins too. Returns the number of entries that the merge removes. */
function joinGroup(group: Set<ManagerEntry>, entry: ManagerEntry, ancient: ManagerEntry | undefined): number {
  const count = group.size;
  group.add(entry);
  if (ancient !== undefined) group.add(ancient);
  return group.size - count;
}

function joinAncient(managers: Map<string, ManagerEntry>, apiVersion: string, group: readonly ManagerEntry[]): void {
  for (const entry of group) managers.delete(identityOf(entry));
  const { time } = group.toSorted(inOrder).at(-1)!;
  const fields = unionAll(group.map((entry) => entry.fields));
  const joined = { manager: ANCIENT, operation: "Update", apiVersion, subresource: "", fields } as const;
  managers.set(identityOf(joined), time === undefined ? joined : { ...joined, time });
}
