/**
 * The schema of the configuration as the shape of the resource's `status`, for published schemas and `kubectl explain`.
 *
 * @module
 */
import type { ObjectSchema, Schema } from "../../schema/schema.ts";
import { bool, int64, list, optional, quantity, text } from "../../apiserver/types/objects/shape.ts";
import type { Field, ObjectShape, Shape } from "../../apiserver/types/objects/shape.ts";
import { AUDIT, AUDIT_RULE } from "./schema/audit-schema.ts";
import { AUTH, CONNECTOR } from "./schema/auth-schema.ts";
import { MANAGEMENT_SCHEMA } from "./schema/config-schema.ts";
import { COST_CONTROL, COST_SETTINGS, METRICS, REQUIREMENTS } from "./schema/cost-schema.ts";
import { DIRECTORY_PROVIDER_A, DIRECTORY_PROVIDER_B, OIDC, SAML, SOURCE_HOST_A, SOURCE_HOST_B } from "./schema/provider-schema.ts";

/** Names in published schemas; other objects are part of the schema that contains them. */
const NAMES: ReadonlyMap<ObjectSchema, string> = new Map<ObjectSchema, string>([
  [MANAGEMENT_SCHEMA, "ConfigStatus"],
  [AUTH, "ConfigAuthentication"],
  [CONNECTOR, "ConfigConnector"],
  [OIDC, "ConfigOIDC"],
  [SOURCE_HOST_A, "ConfigSourceHostA"],
  [SOURCE_HOST_B, "ConfigSourceHostB"],
  [DIRECTORY_PROVIDER_A, "ConfigDirectoryProviderA"],
  [DIRECTORY_PROVIDER_B, "ConfigDirectoryProviderB"],
  [SAML, "ConfigSAML"],
  [AUDIT, "ConfigAudit"],
  [AUDIT_RULE, "ConfigAuditRule"],
  [COST_CONTROL, "ConfigCostControl"],
  [COST_SETTINGS, "ConfigCostSettings"],
  [METRICS, "ConfigMetrics"],
  [REQUIREMENTS, "ConfigResourceRequirements"],
]);

/**
 * `status` of a Config. Every field with a value is shown, even if it is empty; a null is left out.
 *
 * @example
 * Object.keys(CONFIG_STATUS.fields)[0]; // "auth"
 */
export const CONFIG_STATUS: ObjectShape = statusShape(MANAGEMENT_SCHEMA);

/** An object of the configuration as a published shape. */
export function statusShape(schema: ObjectSchema): ObjectShape {
  const name = NAMES.get(schema);
  const fields = Object.entries(schema.fields).map(([field, member]): [string, Field] => {
    return [field, { ...optional(shapeOf(member)), description: describe(member) }];
  });
  return { type: "object", fields: Object.fromEntries(fields), ...(name !== undefined && { name }), description: schema.description };
}

/** The allowed values of a field are part of its description: shapes have no place for them. */
function describe(schema: Schema): string {
  return schema.type === "literals" ? `${schema.description} One of ${schema.values.join(", ")}.` : schema.description;
}

function shapeOf(schema: Schema): Shape {
  switch (schema.type) {
    case "object":
      return statusShape(schema);
    case "list":
      return list(shapeOf(schema.items));
    case "map":
      return { type: "map", of: shapeOf(schema.values) };
    case "string":
    case "literals":
      return text;
    case "boolean":
      return bool;
    case "integer":
      return int64;
    case "number":
      return { type: "number" };
    case "any":
    case "either":
      // The schema leaves only amounts open.
      return quantity;
  }
}
