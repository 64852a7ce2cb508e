/**
 * Which settings of a configuration are only shown.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import { fieldPath, indexPath } from "../../schema/field.ts";
import type { Schema } from "../../schema/schema.ts";
import { actsWithin, effectOf } from "./effects.ts";
import { MANAGEMENT_SCHEMA } from "./schema/config-schema.ts";

/** A setting that something was written for, and that is only shown. */
export interface ShownOnly {
  /** Where it is, as `auth.connectors[0].saml`. */
  readonly field: string;
  /** Why, and what would have to read it, in a sentence without a full stop. */
  readonly why: string;
}

/** So many are looked for: more are named by nobody. */
export const SHOWN_ONLY_MAX = 200;

/**
 * The settings that are only shown, by the outermost names: a section of which nothing acts is one. What is as it is by default, or
 * empty, is not set. Wrong types are passed over. At most {@link SHOWN_ONLY_MAX}.
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
  /** As the table of effects names it. */
  readonly name: string;
  readonly field: string;
}

function collect(value: unknown, { schema, name, field }: Place, found: ShownOnly[]): void {
  if (found.length >= SHOWN_ONLY_MAX || !isSet(value, schema)) return;
  if (name !== "" && !actsWithin(name)) {
    const effect = effectOf(name);
    if ("shownOnly" in effect) found.push({ field, why: `Is shown only: ${effect.shownOnly}. It would take ${effect.needs}` });
  } else if (schema.type === "object" && isRecord(value)) {
    for (const [member, inner] of Object.entries(schema.fields))
      collect(own(value, member), { schema: inner, name: fieldPath(name, member), field: fieldPath(field, member) }, found);
  } else if (schema.type === "list" && Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collect(item, { schema: schema.items, name: `${name}[]`, field: indexPath(field, index) }, found);
  }
}

/** Whether something was written that differs from leaving it out. */
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
