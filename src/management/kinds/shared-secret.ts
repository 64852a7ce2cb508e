import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, textColumn, type Column } from "../../apiserver/types/columns.ts";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, listOf, mapOf, named, objectOf, strictBytes, text } from "../../schema/builders.ts";
import { ACCESS_RULE, CONDITION, OWNER, OWNER_FIELDS, PAYER, specOf, USUAL_STRATEGY, USUAL_TEXTS, type OwnedSpec } from "./common.ts";
import { SHARED_SECRETS } from "./types.ts";

/** `spec` of a SharedSecret. */
export interface SharedSecretSpec extends OwnedSpec {
  readonly displayName?: string;
  readonly description?: string;
  /** Bytes in base64. */
  readonly data?: StringMap;
}

/** Maximum size of all values together, in bytes. Source: the limit of Kubernetes Secrets, to which the values are synced. */
const SECRET_BYTES_MAX = 1_048_576;
const KEY_LENGTH_MAX = 253;
const NOT_CANONICAL = "must be base64 in which the unused bits of the last digit are zero (RFC 4648, section 3.5)";
const KEY = /^[-._a-zA-Z0-9]+$/;

const SPEC = named("SharedSecretSpec", "The shared data, and the users and teams with access to it.", {
  displayName: [text, USUAL_TEXTS.displayName],
  description: [text, USUAL_TEXTS.description],
  owner: [OWNER, USUAL_TEXTS.owner],
  data: [mapOf(strictBytes), "Map of names to base64-encoded values. Names consist of letters, digits, '-', '_' and '.'."],
  access: [listOf(ACCESS_RULE), USUAL_TEXTS.access],
});

const COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Display Name", USUAL_TEXTS.displayName, (object) => specOf<SharedSecretSpec>(object).displayName ?? ""),
  { name: "Data", type: "integer", description: "Number of values.", cell: (object) => Object.keys(dataOf(object)).length },
  AGE_COLUMN,
];

/** Sensitive data for users, teams and connected clusters. */
export const sharedSecrets: ResourceDefinition = {
  type: SHARED_SECRETS,
  singular: "sharedsecret",
  shortNames: ["ss"],
  categories: ["platform"],
  shape: kindShape(
    {
      spec: [always(SPEC), "The shared data, and the users and teams with access to it."],
      status: [always(objectOf({ conditions: [listOf(CONDITION), "Conditions of the object."] })), "Status as reported by the server."],
      payer: PAYER,
    },
    "Shares sensitive data across users, teams and connected clusters.",
  ),
  columns: COLUMNS,
  selectableFields: OWNER_FIELDS,
  strategy: { ...USUAL_STRATEGY, unconditionalUpdate: false, validate },
};

const NO_DATA: StringMap = {};

function dataOf(object: KubeObject): StringMap {
  return specOf<SharedSecretSpec>(object).data ?? NO_DATA;
}

function validate(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const data = dataOf(object);
  const before = old === undefined ? NO_DATA : dataOf(old);
  const errors: FieldError[] = [];
  for (const name in data) for (const detail of keyErrors(name)) errors.push(invalid(`spec.data[${name}]`, name, detail));
  let size = 0;
  for (const [name, value] of Object.entries(data)) {
    size += Buffer.byteLength(value, "base64");
    // Stored values predate this check and stay valid.
    if (before[name] === value || isCanonical(value)) continue;
    errors.push(invalid(`spec.data[${name}]`, "<hidden>", NOT_CANONICAL));
  }
  if (size <= SECRET_BYTES_MAX) return errors;
  const message = `Too long: may not be more than ${SECRET_BYTES_MAX} bytes`;
  return [...errors, { reason: "FieldValueTooLong", field: "spec.data", message }];
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Reports whether the unused bits of the last digit are zero. Reading the value has already checked everything else. */
function isCanonical(value: string): boolean {
  const padding = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
  return padding === 0 || DIGITS.indexOf(value.at(-1 - padding)!) % 4 ** padding === 0;
}

function keyErrors(name: string): readonly string[] {
  if (name.length > KEY_LENGTH_MAX) return [`must be no more than ${KEY_LENGTH_MAX} characters`];
  return KEY.test(name) ? [] : ["must consist of alphanumeric characters, '-', '_' or '.'"];
}
