import type { KubeObject } from "../../kube/object/types.ts";
import { humanDuration } from "./human-duration.ts";

/** Content of one cell. */
export type Cell = string | number;

/** A column of the table in which a kind is shown. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer";
  /** `name` marks the column that names the object. */
  readonly format?: "name";
  readonly description: string;
  /** 1 for columns that only wide tables show. Default 0. */
  readonly priority?: 0 | 1;
  /** `now` is in milliseconds since 1970. */
  readonly cell: (object: KubeObject, now: number) => Cell;
}

/** Text of an empty cell. */
export const NONE = "<none>";

/** The first column of most kinds. */
export const NAME_COLUMN: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name of the object.",
  cell: ({ metadata }) => metadata.name ?? "",
};

/** The column that shows the age of an object. */
export const AGE_COLUMN: Column = {
  name: "Age",
  type: "string",
  description: "Time since the object was created.",
  cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now),
};

/** The columns of kinds that define no columns. */
export const DEFAULT_COLUMNS: readonly Column[] = [NAME_COLUMN, AGE_COLUMN];

/**
 * A column of strings.
 *
 * @example
 * textColumn("Type", "Type of the Secret.", (object) => String(object["type"]));
 */
export function textColumn(name: string, description: string, cell: Column["cell"]): Column {
  return { name, type: "string", description, cell };
}

/** A column that appears only in wide tables. */
export function wide(column: Column): Column {
  return { ...column, priority: 1 };
}

/**
 * Time since a timestamp, in the form that tables show.
 *
 * @example
 * ageOf("1970-01-01T00:00:00Z", 200_000); // "3m20s"
 */
export function ageOf(timestamp: string | null | undefined, now: number): string {
  const instant = Date.parse(timestamp ?? "");
  return Number.isNaN(instant) ? "<unknown>" : humanDuration(now - instant);
}

/** Formats the first three items of a list and the number of further items. `empty` is the text for an empty list. */
export function firstThree(texts: readonly string[], empty: string): string {
  if (texts.length === 0) return empty;
  const shown = texts.slice(0, SHOWN_MAX).join(",");
  return texts.length > SHOWN_MAX ? `${shown} + ${texts.length - SHOWN_MAX} more...` : shown;
}

const SHOWN_MAX = 3;
