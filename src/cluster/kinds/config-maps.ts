import { jsonEqual } from "../../base/json.ts";
import { CONFIG_MAPS } from "../../kube/object/resource.ts";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { forbidden, invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import { dataKey, dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { bool, bytes, mapOf, optional, textMap } from "../../schema/builders.ts";
import { CONFIG_MAP_COLUMNS } from "./columns/small.ts";

/** Most bytes of all values of one object. */
const DATA_BYTES_MAX = 1_048_576;

/** `v1` ConfigMaps. */
export const configMaps: ResourceDefinition = {
  type: CONFIG_MAPS,
  singular: "configmap",
  shortNames: ["cm"],
  shape: kindShape(
    {
      immutable: [4, optional(bool), "If true, the data can no longer be changed."],
      data: [2, textMap, "Strings by name. Names consist of letters, digits, '-', '_' and '.'."],
      binaryData: [3, mapOf(bytes), "Map of names to base64-encoded bytes; a name must not also be in data."],
    },
    "Configuration data by name.",
  ),
  columns: CONFIG_MAP_COLUMNS,
  strategy: { nameRule: dnsSubdomain, validate },
};

function validate(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { data = {}, binaryData = {} } = object as KubeObject & { data?: StringMap; binaryData?: StringMap };
  const both = Object.keys(binaryData).filter((key) => Object.hasOwn(data, key));
  const keys = [
    ...Object.keys(data).map((key) => ["data", key] as const),
    ...Object.keys(binaryData).map((key) => ["binaryData", key] as const),
  ];
  return [
    ...keys.flatMap(([field, key]) => dataKey(key).map((detail) => invalid(`${field}[${key}]`, key, detail))),
    ...both.map((key) => invalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
    ...sizeErrors([...Object.values(data).map((text) => Buffer.byteLength(text)), ...Object.values(binaryData).map(decodedLength)], ""),
    ...immutableErrors(object, old, ["data", "binaryData"]),
  ];
}

/** The bytes that base64 text encodes. */
export function decodedLength(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}

/** The error for data that is too large in total. */
export function sizeErrors(lengths: readonly number[], field: string): FieldError[] {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total <= DATA_BYTES_MAX) return [];
  return [{ reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${DATA_BYTES_MAX} bytes` }];
}

/** The errors for changes of fields that `immutable: true` protects, including `immutable` itself. */
export function immutableErrors(object: KubeObject, old: KubeObject | undefined, fields: readonly string[]): FieldError[] {
  if (old?.["immutable"] !== true) return [];
  const why = "field is immutable when `immutable` is set";
  const changed = fields.filter((field) => !jsonEqual(object[field], old[field]));
  return [...(object["immutable"] === true ? [] : ["immutable"]), ...changed].map((field) => forbidden(field, why));
}
