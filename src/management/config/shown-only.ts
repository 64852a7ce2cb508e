/**
 * Finds the settings of a configuration that have no effect.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import { fieldPath, indexPath } from "../../schema/field.ts";
import type { Schema } from "../../schema/schema.ts";
import { actsWithin, effectOf } from "./effects.ts";
import { MANAGEMENT_SCHEMA } from "./schema/config-schema.ts";

/** A setting that is written in the file and only shown. */
export interface ShownOnly {
  /** Field path, such as `auth.connectors[0].saml`. */
  readonly field: string;
  /** Why, and what would have to read it, in a sentence without a full stop. */
  readonly why: string;
}

/** Most settings that are found and named in messages. */
export const SHOWN_ONLY_MAX = 200;

/**
 * Returns the settings that have no effect and are only shown, at most {@link SHOWN_ONLY_MAX}. If nothing in a section has an effect, the
 * outermost such section is returned instead of its settings. A setting with a default or empty value does not count as set. Values of a
 * wrong type are skipped.
 *
 * @example
 * shownOnlyIn({ apps: { noDefault: true } }).map(({ field }) => field); // ["apps"]
 */
export function shownOnlyIn(config: unknown): readonly ShownOnly[] {
  const found: ShownOnly[] = [];
  collect(config, { schema: MANAGEMENT_SCHEMA, name: "", field: "" }, found);
  return found;
}

interface Place {
  readonly schema: Schema;
  /** The name in the table of effects. */
  readonly name: string;
  readonly field: string;
}

function collect(value: unknown, { schema, name, field }: Place, found: ShownOnly[]): void {
  if (found.length >= SHOWN_ONLY_MAX || !isSet(value, schema)) return;
  if (name !== "" && !actsWithin(name)) {
    const effect = effectOf(name);
    if ("shownOnly" in effect) found.push({ field, why: `Shown only: ${effect.shownOnly}. The setting would need ${effect.needs}` });
  } else if (schema.type === "object" && isRecord(value)) {
    for (const [member, inner] of Object.entries(schema.fields))
      collect(own(value, member), { schema: inner, name: fieldPath(name, member), field: fieldPath(field, member) }, found);
  } else if (schema.type === "list" && Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collect(item, { schema: schema.items, name: `${name}[]`, field: indexPath(field, index) }, found);
  }
}

/** Whether the written value differs from an absent one. */
function isSet(value: unknown, schema: Schema): boolean {
  if (value === undefined || value === null || value === "") return false;
  if (Array.isArray(value)) return value.length > 0 && !(Array.isArray(schema.default) && sameTexts(value, schema.default));
  if (!isRecord(value)) return value !== schema.default;
  if (schema.type !== "object") return Object.keys(value).length > 0;
  return Object.entries(schema.fields).some(([member, inner]) => isSet(own(value, member), inner));
}

function own(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function sameTexts(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
