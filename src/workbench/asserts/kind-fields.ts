/**
 * Compares objects and paths of test files with the fields of their kind, because a test with a misspelled field would test nothing.
 *
 * @module
 */
import { isRecord, typeInWords } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import { formatSteps, type Segment, type PathStep } from "../../engine/path/path.ts";
import type { ObjectSchema, Schema } from "../../schema/schema.ts";

/** Fields that every object has and that no patch can reach. */
const OF_ALL_KINDS = ["apiVersion", "kind"];

/**
 * Explains why a path does not exist in a kind, if the cause is clear: one of its names is not a field, but resembles one. Otherwise
 * undefined.
 *
 * @example
 * misspelling("Endpoints", compilePath("subsets[*].adresses[*].ip").segments); // 'Endpoints have no "adresses" there; did you mean "addresses"?'
 */
export function misspelling(kind: unknown, segments: readonly Segment[]): string | undefined {
  let schema = schemaOf(kind);
  for (const segment of segments) {
    if (schema?.type === "list") schema = segment.kind === "key" ? undefined : schema.items;
    else if (schema?.type === "map") schema = schema.values;
    else if (schema?.type === "object" && segment.kind === "key") {
      const meant = nearly(schema, segment.key);
      if (meant !== undefined)
        return `${String(kind)} have no ${JSON.stringify(segment.key)} there; did you mean ${JSON.stringify(meant)}?`;
      schema = fieldOf(schema, segment.key);
    } else return undefined;
  }
  return undefined;
}

/**
 * Describes the first part of an object that no API server would return, if that is clear: a name that resembles a field of the kind, or
 * a value of the wrong type, such as a string in place of a list. Otherwise undefined.
 *
 * @example
 * misfitOf({ apiVersion: "v1", kind: "Endpoints", subsets: "none" }); // "subsets is a string in place of a list"
 */
export function misfitOf(object: unknown): string | undefined {
  const kind = isRecord(object) ? object["kind"] : undefined;
  const schema = schemaOf(kind);
  return schema && misfitAt(object, schema, []);
}

function misfitAt(value: unknown, schema: Schema, steps: readonly PathStep[]): string | undefined {
  if (value === undefined) return undefined;
  const wrong = (wanted: string) => `${formatSteps(steps)} is ${typeInWords(value)} in place of ${wanted}`;
  if (schema.type === "list") {
    if (Array.isArray(value)) return firstOf(value.entries(), ([index, item]) => misfitAt(item, schema.items, [...steps, index]));
    // Lists that are null count as absent.
    return value === null ? undefined : wrong("a list");
  }
  if (schema.type !== "map" && schema.type !== "object") return undefined;
  if (!isRecord(value)) return value === null && !isItem(steps) ? undefined : wrong("a map");
  if (schema.type === "map") return undefined;
  return firstOf(Object.entries(value), ([name, inner]) => {
    const meant = nearly(schema, name);
    if (meant !== undefined) return `${formatSteps([...steps, name])} is not a field of the kind; did you mean ${JSON.stringify(meant)}?`;
    const field = fieldOf(schema, name);
    return field && misfitAt(inner, field, [...steps, name]);
  });
}

/** Reports whether the value is an item of a list: null means absent for a field, but not for an item. */
function isItem(steps: readonly PathStep[]): boolean {
  return typeof steps.at(-1) === "number";
}

function firstOf<Item>(items: Iterable<Item>, find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function schemaOf(kind: unknown): Schema | undefined {
  return SYNCED_KINDS.find(({ resource }) => resource.kind === kind)?.schema;
}

function fieldOf({ fields }: ObjectSchema, name: string): Schema | undefined {
  return Object.hasOwn(fields, name) ? fields[name]! : undefined;
}

/** The field that a name was probably meant to be; undefined if the kind has the name, or if no field resembles it. */
function nearly({ fields }: ObjectSchema, name: string): string | undefined {
  return Object.hasOwn(fields, name) || OF_ALL_KINDS.includes(name) ? undefined : suggest(name, Object.keys(fields));
}
