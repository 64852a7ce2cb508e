import { matchesSelector, parseSelector } from "../../kube/object/selector.ts";
import type { ListScope } from "../../kube/object/cluster-client.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { isEngineError } from "../../base/errors.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { badRequest } from "./status.ts";

/** Reports whether an object is among the requested ones. */
export type Matches = (object: KubeObject) => boolean;

/** One condition of a field selector. */
interface FieldRequirement {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/**
 * Compiles the selectors of a request into a test for objects. Returns undefined when they select every object.
 *
 * @throws API_BAD_REQUEST when a selector does not parse or names a field that cannot be selected.
 */
export function compileSelection(definition: ResourceDefinition, scope: ListScope): Matches | undefined {
  const labels = readLabelSelector(scope.labelSelector ?? "");
  const conditions = parseFieldSelector(scope.fieldSelector ?? "").map((requirement) => compileField(definition, requirement));
  if (labels.length > 0) conditions.push((object) => matchesSelector(labels, object.metadata.labels));
  return conditions.length === 0 ? undefined : (object) => conditions.every((matches) => matches(object));
}

/** Combines two tests into one that requires both; undefined when neither is given. */
export function both(left: Matches | undefined, right: Matches | undefined): Matches | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return (object) => left(object) && right(object);
}

function readLabelSelector(text: string): ReturnType<typeof parseSelector> {
  try {
    return parseSelector(text);
  } catch (error) {
    if (isEngineError(error, "API_BAD_REQUEST")) throw badRequest(error.message);
    throw error;
  }
}

function compileField({ selectableFields = {} }: ResourceDefinition, { field, value, equal }: FieldRequirement): Matches {
  const read = fieldReader(selectableFields, field);
  return (object) => (read(object) === value) === equal;
}

function fieldReader(own: NonNullable<ResourceDefinition["selectableFields"]>, field: string): (object: KubeObject) => string {
  if (field === "metadata.name") return (object) => object.metadata.name ?? "";
  if (field === "metadata.namespace") return (object) => object.metadata.namespace ?? "";
  if (Object.hasOwn(own, field)) return own[field]!;
  if (Object.keys(own).length > 0) throw badRequest(`field label not supported: ${field}`);
  throw badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

/**
 * Parses `field=value,field!=value`; a backslash escapes `\`, `,` and `=`.
 *
 * @throws API_BAD_REQUEST when a part has no operator or a broken escape.
 */
function parseFieldSelector(text: string): FieldRequirement[] {
  const parts = text.match(/(?:\\.|[^,\\]|\\$)+/g) ?? [];
  return parts.map((part) => {
    const match = /^((?:\\.|[^=!\\])+)(==|=|!=)((?:\\.|[^=\\])*)$/.exec(part);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    return { field: match[1]!.trim(), value: unescape(match[3]!, text), equal: match[2] !== "!=" };
  });
}

function unescape(value: string, text: string): string {
  return value.replace(/\\(.)/g, (_, escaped: string) => {
    if (escaped === "\\" || escaped === "," || escaped === "=") return escaped;
    throw badRequest(`invalid field selector: invalid escape sequence in value: ${JSON.stringify(text)}`);
  });
}
