/**
 * Converts shapes to OpenAPI 3.0 schemas. Clients read types from them, how lists are merged, and which kind a schema describes.
 *
 * @module
 */
import type { JsonObject } from "../../base/json.ts";
import { groupOf, type ResourceType } from "../../kube/object/resource.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import { MANAGED_FIELDS_ENTRY, OBJECT_META, OWNER_REFERENCE } from "../../kube/object/kind-shape.ts";
import type { ListSchema, ObjectSchema, Schema } from "../../schema/schema.ts";

/** Schemas by name, for `components.schemas`. */
export type Schemas = Record<string, JsonObject>;

const META_PREFIX = "io.k8s.apimachinery.pkg.apis.meta.v1";

/**
 * The name of a type in the schemas of a group version, as in Kubernetes.
 *
 * @example
 * schemaName("discovery.k8s.io/v1", "EndpointSlice"); // "io.k8s.api.discovery.v1.EndpointSlice"
 */
export function schemaName(apiVersion: string, name: string): string {
  const group = groupOf({ apiVersion }).split(".", 1)[0] || "core";
  return `io.k8s.api.${group}.${apiVersion.slice(apiVersion.lastIndexOf("/") + 1)}.${name}`;
}

/** The kind that an operation or a schema belongs to. */
export function kindMarker({ apiVersion, kind }: Pick<ResourceType, "apiVersion" | "kind">): JsonObject {
  return { group: groupOf({ apiVersion }), version: apiVersion.slice(apiVersion.lastIndexOf("/") + 1), kind };
}

/** A reference to a schema. */
export function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * The schemas of the kinds of one group version, of their lists, and of every named type that they use.
 *
 * @example
 * Object.keys(schemasOf([endpoints])).includes("io.k8s.api.core.v1.EndpointSubset"); // true
 */
export function schemasOf(definitions: readonly Pick<ResourceDefinition, "type" | "shape">[]): Schemas {
  const schemas: Schemas = {};
  for (const { type, shape } of definitions) {
    const writer = new SchemaWriter(type.apiVersion, schemas);
    const name = schemaName(type.apiVersion, type.kind);
    schemas[name] = { ...writer.properties(shape), "x-kubernetes-group-version-kind": [kindMarker(type)] };
    schemas[schemaName(type.apiVersion, `${type.kind}List`)] = listSchema(type, name);
  }
  schemas[`${META_PREFIX}.ListMeta`] = LIST_META;
  return schemas;
}

const TEXT = { type: "string" };
const LIST_META = {
  type: "object",
  description: "Metadata of a list.",
  properties: { continue: TEXT, remainingItemCount: { type: "integer", format: "int64" }, resourceVersion: TEXT, selfLink: TEXT },
};

function listSchema({ apiVersion, kind }: ResourceType, itemName: string): JsonObject {
  const items = { type: "array", items: { allOf: [reference(itemName)], default: {} }, description: `Objects of kind ${kind}.` };
  const metadata = { allOf: [reference(`${META_PREFIX}.ListMeta`)], default: {} };
  return {
    type: "object",
    description: `A list of objects of kind ${kind}.`,
    required: ["items"],
    properties: { apiVersion: TEXT, items, kind: TEXT, metadata },
    "x-kubernetes-group-version-kind": [kindMarker({ apiVersion, kind: `${kind}List` })],
  };
}

/** Names of the types that every group version shares. */
const META_TYPES: readonly unknown[] = [MANAGED_FIELDS_ENTRY.name, OBJECT_META.name, OWNER_REFERENCE.name];

/** A named type whose values are not objects. */
interface NamedScalar {
  readonly name: string;
  readonly schema: JsonObject;
}

const QUANTITY: NamedScalar = {
  name: "io.k8s.apimachinery.pkg.api.resource.Quantity",
  schema: { description: "An amount, such as 500m, 2 or 1Gi.", oneOf: [TEXT, { type: "number" }] },
};
const INT_OR_TEXT: NamedScalar = {
  name: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  schema: {
    description: "A number or a string.",
    format: "int-or-string",
    oneOf: [{ type: "integer" }, TEXT],
    "x-kubernetes-int-or-string": true,
  },
};

class SchemaWriter {
  readonly #apiVersion: string;
  readonly #schemas: Schemas;

  constructor(apiVersion: string, schemas: Schemas) {
    this.#apiVersion = apiVersion;
    this.#schemas = schemas;
  }

  properties({ fields, description, about = description }: ObjectSchema): JsonObject {
    const published = Object.entries(fields).filter(([, { internal }]) => internal !== true);
    const properties = published.map(([name, field]) => [name, this.#field(field)] as const);
    const required = Object.keys(fields).filter((name) => isDemanded(fields[name]!));
    return {
      type: "object",
      ...(about && { description: about }),
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(properties),
    };
  }

  #field(field: Schema): JsonObject {
    const description = descriptionOf(field);
    return { ...this.#schema(field), ...(description && { description }) };
  }

  #schema(shape: Schema): JsonObject {
    switch (shape.type) {
      case "string":
        return { ...TEXT, ...(shape.encodes && { format: shape.encodes === "bytes" ? "byte" : "date-time" }) };
      case "literals":
        return TEXT;
      case "integer":
        return { type: "integer", format: `int${shape.bits ?? 64}` };
      case "number":
        return { type: "number", format: "double" };
      case "boolean":
        return { type: "boolean" };
      case "either":
        return this.#scalar(INT_OR_TEXT);
      case "any":
        if (shape.quantity === true) return this.#scalar(QUANTITY);
        if (shape.published !== undefined) return this.#object(shape.published);
        return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      case "map":
        return { type: "object", additionalProperties: this.#schema(shape.values) };
      case "list":
        return { type: "array", items: this.#schema(shape.items), ...mergeMarkers(shape) };
      case "object":
        return this.#object(shape);
    }
  }

  /** Adds a named schema and returns a reference to it, so that `kubectl explain` can show its name. */
  #scalar({ name, schema }: NamedScalar): JsonObject {
    this.#schemas[name] ??= schema;
    return { allOf: [reference(name)] };
  }

  /** Returns the reference inside `allOf`, where clients look for it, so that a description can be next to it. */
  #object(shape: ObjectSchema): JsonObject {
    if (shape.name === undefined) return this.properties(shape);
    const name = META_TYPES.includes(shape.name) ? `${META_PREFIX}.${shape.name}` : schemaName(this.#apiVersion, shape.name);
    // The name is registered before the fields are converted, so that a type may contain itself.
    if (!Object.hasOwn(this.#schemas, name)) {
      this.#schemas[name] = {};
      this.#schemas[name] = this.properties(shape);
    }
    return { allOf: [reference(name)], default: {} };
  }
}

/** Like Kubernetes, lists only required fields that always appear. The server checks the other required fields itself. */
function isDemanded({ required, presence }: Schema): boolean {
  return required === true && presence === "always";
}

/** The description of a field, with the allowed values appended if there are several and the description does not name them all. */
function descriptionOf(field: Schema): string {
  const { description } = field;
  if (field.type !== "literals" || field.values.length === 1 || field.values.every((word) => description.includes(word)))
    return description;
  return description && `${description} One of ${field.values.join(", ")}.`;
}

/**
 * Describes how a list is merged: `list-type` for server-side apply, `patch-strategy` for strategic merge patches with their single key.
 */
function mergeMarkers({ merge }: ListSchema): JsonObject {
  if (merge === undefined) return { "x-kubernetes-list-type": "atomic" };
  if (merge.as === "set") return { "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" };
  return {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [...merge.keys],
    "x-kubernetes-patch-strategy": "merge",
    "x-kubernetes-patch-merge-key": merge.keys[0]!,
  };
}
