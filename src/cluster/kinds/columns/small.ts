/**
 * Columns of the kinds that have only one or two specific columns.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, textColumn, type Column } from "../../../apiserver/types/columns.ts";

const sizeOf = (value: unknown) => Object.keys((value ?? {}) as object).length;

const dataColumn = (count: (object: KubeObject) => number): Column => ({
  name: "Data",
  type: "string",
  description: "Number of entries in the data.",
  cell: count,
});

/** The columns that `kubectl get` shows for ConfigMaps. */
export const CONFIG_MAP_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  dataColumn(({ data, binaryData }) => sizeOf(data) + sizeOf(binaryData)),
  AGE_COLUMN,
];

/** The columns that `kubectl get` shows for Secrets. */
export const SECRET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Type", "Type of the Secret.", ({ type }) => String(type)),
  dataColumn(({ data }) => sizeOf(data)),
  AGE_COLUMN,
];

/** The columns that `kubectl get` shows for Namespaces. */
export const NAMESPACE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn(
    "Status",
    "Active, or Terminating while its contents are deleted.",
    ({ status }) => (status as { phase?: string }).phase ?? "",
  ),
  AGE_COLUMN,
];

/** The columns that `kubectl get` shows for Leases. */
export const LEASE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Holder", "Holder of the lease.", ({ spec }) => (spec as { holderIdentity?: string }).holderIdentity ?? ""),
  AGE_COLUMN,
];
