/**
 * Formats objects as tables, which `kubectl get` requests, and as metadata only.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { DEFAULT_COLUMNS, type Column } from "../../types/columns.ts";
import type { ResourceDefinition } from "../../types/resource-definition.ts";
import { invalidObject } from "../../types/status.ts";
import { notSupported } from "../../types/field-error.ts";

const META_V1 = "meta.k8s.io/v1";

/** The part of each object that a table contains in addition to the cells. */
export type IncludeObject = "None" | "Metadata" | "Object";

const INCLUDE_OBJECT: readonly IncludeObject[] = ["None", "Metadata", "Object"];

/** Reads the parameter `includeObject`. @throws API_INVALID when its value is not one of `INCLUDE_OBJECT`. */
export function readIncludeObject(query: URLSearchParams): IncludeObject {
  const text = query.get("includeObject") || "Metadata";
  const value = INCLUDE_OBJECT.find((candidate) => candidate === text);
  if (value !== undefined) return value;
  throw invalidObject({ apiVersion: META_V1, kind: "TableOptions" }, "", [notSupported("includeObject", text, [...INCLUDE_OBJECT])]);
}

/** Options of a table. */
export interface TableOptions {
  readonly definition: Pick<ResourceDefinition, "columns">;
  readonly include: IncludeObject;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Metadata of the list. */
  readonly metadata: object;
  /** Omit the column definitions, as in all tables of a watch except the first. Default false. */
  readonly continued?: boolean;
}

/** A table without its rows. */
type TableHead = Pick<TableOptions, "definition" | "metadata" | "continued">;

/**
 * A `meta.k8s.io/v1` Table.
 *
 * @example
 * tableOf([object], { definition, include: "Metadata", now: clock.now(), metadata: { resourceVersion: "7" } });
 */
export function tableOf(objects: readonly KubeObject[], options: TableOptions): object {
  return tableWith(
    objects.map((object) => rowOf(object, options)),
    options,
  );
}

/** A table with these rows. */
export function tableWith(rows: readonly object[], { definition: { columns = DEFAULT_COLUMNS }, metadata, continued }: TableHead): object {
  const columnDefinitions = continued === true ? null : columns.map(columnDefinition);
  return { kind: "Table", apiVersion: META_V1, metadata, columnDefinitions, rows };
}

/** The row of a table for one object. */
export function rowOf(object: KubeObject, { definition, include, now }: Pick<TableOptions, "definition" | "include" | "now">): object {
  const { columns = DEFAULT_COLUMNS } = definition;
  return { cells: columns.map(({ cell }) => cell(object, now)), ...included(object, include) };
}

function columnDefinition({ name, type, format, description, priority = 0 }: Column): object {
  return { name, type, format: format ?? "", description, priority };
}

function included(object: KubeObject, include: IncludeObject): object {
  if (include === "None") return { object: null };
  return { object: include === "Object" ? object : metadataOf(object) };
}

/**
 * A `meta.k8s.io/v1` PartialObjectMetadata.
 *
 * @example
 * metadataOf(configMap); // { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: {…} }
 */
export function metadataOf({ metadata }: KubeObject): object {
  return { kind: "PartialObjectMetadata", apiVersion: META_V1, metadata };
}

/** A `meta.k8s.io/v1` PartialObjectMetadataList with these items. */
export function metadataListWith(items: readonly object[], metadata: object): object {
  return { kind: "PartialObjectMetadataList", apiVersion: META_V1, metadata, items };
}
