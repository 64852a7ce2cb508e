import { SECRETS } from "../../kube/object/resource.ts";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { IMMUTABLE, invalid, required, type FieldError } from "../../apiserver/types/field-error.ts";
import { dataKey, dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { bool, bytes, mapOf, optional, text, textMap } from "../../schema/builders.ts";
import { SECRET_COLUMNS } from "./columns/small.ts";
import { decodedLength, immutableErrors, sizeErrors } from "./config-maps.ts";

interface Secret extends KubeObject {
  readonly data?: StringMap;
  readonly stringData?: StringMap;
  readonly type?: string;
}

/** `v1` Secrets. */
export const secrets: ResourceDefinition = {
  type: SECRETS,
  singular: "secret",
  shape: kindShape(
    {
      immutable: [5, optional(bool), "If true, the data can no longer be changed."],
      data: [2, mapOf(bytes), "Map of names to base64-encoded bytes."],
      stringData: [4, textMap, "Strings by name: write data here without base64. Never returned by reads."],
      type: [3, text, "Purpose of the data; it cannot be changed. Well-known types require certain names in data."],
    },
    "Secret bytes by name.",
  ),
  selectableFields: { type: (object) => (object as Secret).type ?? "" },
  columns: SECRET_COLUMNS,
  strategy: { nameRule: dnsSubdomain, prepare, validate },
};

/** `stringData` is a way of writing `data`; it is never read back. */
function prepare(object: KubeObject): KubeObject {
  const { data = {}, stringData = {}, type = "" } = object as Secret;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString("base64")] as const);
  const { stringData: _written, ...rest } = object as Secret;
  return { ...rest, data: Object.fromEntries([...Object.entries(data), ...encoded]), type: type || "Opaque" };
}

/** Names that the well-known types require in `data`: all names of one of the alternatives. */
const KEYS_BY_TYPE: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "kubernetes.io/tls": [["tls.crt", "tls.key"]],
  "kubernetes.io/dockerconfigjson": [[".dockerconfigjson"]],
  "kubernetes.io/dockercfg": [[".dockercfg"]],
  "kubernetes.io/ssh-auth": [["ssh-privatekey"]],
  "kubernetes.io/basic-auth": [["username"], ["password"]],
};

function validate(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { data = {}, type = "" } = object as Secret;
  const typeChanged = old !== undefined && (old as Secret).type !== type;
  return [
    ...Object.keys(data).flatMap((key) => dataKey(key).map((detail) => invalid(`data[${key}]`, key, detail))),
    ...sizeErrors(Object.values(data).map(decodedLength), "data"),
    ...missingKeys(data, KEYS_BY_TYPE[type] ?? []),
    ...(typeChanged ? [invalid("type", type, IMMUTABLE)] : []),
    ...immutableErrors(object, old, ["data"]),
  ];
}

function missingKeys(data: StringMap, alternatives: readonly (readonly string[])[]): FieldError[] {
  const missing = alternatives.map((keys) => keys.filter((key) => !Object.hasOwn(data, key)));
  if (missing.length === 0 || missing.some((keys) => keys.length === 0)) return [];
  return missing.flat().map((key) => required(`data[${key}]`));
}
