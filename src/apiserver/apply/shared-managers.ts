/**
 * Managers of the fields in a view of an object. A field that the view and the object share has the same managers in both. Source: the API
 * server's `ScaleHandler`.
 *
 * @module
 */
import { difference, intersection, isEmptySet, union, type FieldSet } from "../types/fields/field-set.ts";
import { identityOf, readManagers, withManagedFields, writeManagers, type ManagerEntry } from "./managers.ts";

/** Fields that a view has in common with the object behind it. */
export interface SharedFields {
  /** Fields that both have at the same path. */
  readonly shared: FieldSet;
  /** The API versions of both. */
  readonly viewVersion: string;
  readonly objectVersion: string;
}

/**
 * Converts the managers of an object to those of its view. The entry of an applier names the API version of the view.
 *
 * @example
 * managersOfView(deployment.metadata.managedFields, { shared, viewVersion: "autoscaling/v1", objectVersion: "apps/v1" });
 */
export function managersOfView(
  ofObject: readonly unknown[] | undefined,
  { shared, viewVersion }: SharedFields,
): readonly unknown[] | undefined {
  const entries = [...readManagers(ofObject).values()].map((entry): ManagerEntry => {
    const apiVersion = entry.operation === "Apply" ? viewVersion : entry.apiVersion;
    return withManagedFields({ ...entry, apiVersion }, intersection(entry.fields, shared));
  });
  return writeManagers(byIdentity(entries.filter(({ fields }) => !isEmptySet(fields))));
}

/** Returns the managers of the object after the managers of its view have changed. */
export function managersBehindView(
  ofObject: readonly unknown[] | undefined,
  ofView: readonly unknown[] | undefined,
  { shared, objectVersion }: SharedFields,
): readonly unknown[] | undefined {
  const left = new Map(readManagers(ofView));
  const kept = [...readManagers(ofObject)].map(([id, entry]): ManagerEntry => {
    const now = intersection(left.get(id)?.fields ?? {}, shared);
    const before = intersection(entry.fields, shared);
    const time = left.get(id)?.time;
    left.delete(id);
    const lost = difference(before, now);
    const won = difference(now, before);
    if (isEmptySet(lost) && isEmptySet(won)) return entry;
    return withManagedFields(entry, union(difference(entry.fields, lost), won), isEmptySet(won) ? entry.time : time);
  });
  const come = [...left.values()].map((entry) =>
    withManagedFields({ ...entry, apiVersion: objectVersion }, intersection(entry.fields, shared)),
  );
  return writeManagers(byIdentity([...kept, ...come].filter(({ fields }) => !isEmptySet(fields))));
}

function byIdentity(entries: readonly ManagerEntry[]): ReadonlyMap<string, ManagerEntry> {
  return new Map(entries.map((entry) => [identityOf(entry), entry]));
}
