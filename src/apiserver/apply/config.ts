import { isRecord, type JsonObject } from "../../base/json.ts";
import { decodeObject } from "../types/objects/decode.ts";
import { duplicate, invalid, required, type FieldError } from "../types/field-error.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import { objectOf, optional } from "../../schema/builders.ts";
import type { AnySchema, ListSchema, ObjectSchema, Schema } from "../../schema/schema.ts";

import { badRequest, invalidObject } from "../types/status.ts";
import { itemStep, memberShape, ownMember } from "../types/fields/structure.ts";
import type { FieldStep } from "../types/fields/step.ts";

/** Options for reading an applied configuration. */
export interface ReadConfigOptions {
  readonly definition: Pick<ResourceDefinition, "type" | "shape" | "strategy">;
  readonly body: unknown;
  readonly subresource?: string | undefined;
}

/**
 * Reads an applied configuration: drops fields that the kind does not have or that this request cannot write, and converts strings of a
 * fixed format to canonical spelling. Defaults are not filled in, because the applier becomes the owner of every field in the
 * configuration.
 *
 * @throws API_BAD_REQUEST when the body is not a configuration of this kind; API_INVALID if items of a list cannot be distinguished.
 */
export function readConfig({ definition, body, subresource }: ReadConfigOptions): JsonObject {
  const { type, shape, strategy } = definition;
  if (!isRecord(body)) throw badRequest(`error decoding patch: an applied configuration of a ${type.kind} must be an object`);
  checkHead(body, type.apiVersion);
  const reader = new ConfigReader();
  const config = reader.object(
    shape,
    withoutIgnored(body, { shape, subresource, subresources: Object.keys(strategy.subresources ?? {}) }),
    "",
  );
  if (reader.errors.length === 0) return config;
  throw invalidObject(type, nameIn(config), reader.errors);
}

function checkHead(body: JsonObject, expected: string): void {
  const apiVersion = ownMember(body, "apiVersion") ?? "";
  if (apiVersion !== expected) {
    const which = `Specified patch version: ${String(apiVersion)}, expected: ${expected}`;
    throw badRequest(`Incorrect version specified in apply patch. ${which}`);
  }
  const metadata = ownMember(body, "metadata");
  const managedFields = isRecord(metadata) ? ownMember(metadata, "managedFields") : undefined;
  if (managedFields !== undefined && managedFields !== null) throw badRequest("metadata.managedFields must be nil");
}

function nameIn({ metadata }: JsonObject): string {
  const name = isRecord(metadata) ? ownMember(metadata, "name") : undefined;
  return typeof name === "string" ? name : "";
}

/** Metadata that writes to a subresource cannot change. */
const MAIN_METADATA = ["generateName", "ownerReferences", "finalizers"];

interface IgnoredOptions {
  readonly shape: ObjectSchema;
  readonly subresource: string | undefined;
  readonly subresources: readonly string[];
}

/** Drops fields that a write to the object, or to the subresource, ignores. The applier cannot become their owner. */
function withoutIgnored(body: JsonObject, { shape, subresource, subresources }: IgnoredOptions): JsonObject {
  if (subresource === undefined) return without(body, subresources);
  if (!Object.hasOwn(shape.fields, subresource)) return body;
  const rest = Object.keys(body).filter((name) => !["apiVersion", "kind", "metadata", subresource].includes(name));
  const { metadata, ...kept } = without(body, rest);
  return isRecord(metadata) ? { ...kept, metadata: without(metadata, MAIN_METADATA) } : { ...kept, metadata };
}

function without(record: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

class ConfigReader {
  readonly errors: FieldError[] = [];

  object({ fields: known }: ObjectSchema, value: JsonObject, path: string): JsonObject {
    const entries = Object.entries(value).filter(([name]) => Object.hasOwn(known, name) && known[name]!.internal !== true);
    const join = (name: string) => (path === "" ? name : `${path}.${name}`);
    return Object.fromEntries(entries.map(([name, member]) => [name, this.#value(known[name]!, member, join(name))]));
  }

  /** Reads a value. A value of the wrong type stays unchanged; decoding the object later reports the error. */
  #value(shape: Schema, value: unknown, path: string): unknown {
    switch (shape.type) {
      case "object":
        return isRecord(value) ? this.object(shape, value, path) : value;
      case "map":
        if (!isRecord(value)) return value;
        return Object.fromEntries(
          Object.entries(value).map(([name, member]) => [name, this.#value(shape.values, member, `${path}.${name}`)]),
        );
      case "list":
        return Array.isArray(value) ? this.#list(shape, value, path) : value;
      case "any":
        if (shape.quantity === true) return respelled(shape, value);
        return shape.opaque !== undefined && isRecord(value) ? this.#opaque(shape, value, path) : value;
      case "string":
        return shape.encodes === undefined ? value : respelled(shape, value);
      case "literals":
      case "integer":
      case "number":
      case "boolean":
      case "either":
        return value;
    }
  }

  #opaque(shape: AnySchema, value: JsonObject, path: string): JsonObject {
    const read = (name: string, member: unknown) => this.#value(memberShape(shape, name), member, `${path}.${name}`);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, read(name, member)]));
  }

  #list(shape: ListSchema, value: readonly unknown[], path: string): unknown[] {
    const seen = new Set<FieldStep>();
    return value.map((item, index) => {
      const at = `${path}[${index}]`;
      const step = itemStep(shape, item);
      if (shape.merge !== undefined && step === undefined) this.errors.push(noIdentity(shape, item, at));
      if (step !== undefined && seen.has(step)) this.errors.push(duplicate(at, JSON.parse(step.slice(2))));
      if (step !== undefined) seen.add(step);
      return this.#value(shape.items, item, at);
    });
  }
}

function noIdentity({ merge }: ListSchema, item: unknown, at: string): FieldError {
  if (merge?.as !== "map") return invalid(at, item, "items of a set must be strings, numbers or booleans");
  const missing = isRecord(item) ? merge.keys.find((name) => (ownMember(item, name) ?? null) === null) : undefined;
  return missing === undefined
    ? invalid(at, item, `items must be objects with ${merge.keys.join(" and ")}`)
    : required(`${at}.${missing}`, "this field identifies the items of the list");
}

/** Converts a string to the canonical spelling of the decoder. Unreadable strings stay unchanged. */
function respelled(shape: Schema, value: unknown): unknown {
  if (typeof value !== "string") return value;
  class Unreadable extends Error {}
  try {
    const refuse = () => {
      throw new Unreadable();
    };
    return decodeObject(objectOf({ value: optional(shape) }), { value }, { root: "", onUnknownField: () => {}, refuse })["value"];
  } catch (error) {
    if (error instanceof Unreadable) return value;
    throw error;
  }
}
