import { isRecord, type JsonObject } from "../../../base/json.ts";
import { JSON_DEPTH_MAX, oncePerObject } from "./json-data.ts";
import { canonicalQuantity } from "./quantity.ts";
import { int32 } from "../../../schema/builders.ts";
import type { ListSchema, MapSchema, NumberSchema, ObjectSchema, Schema, StringSchema } from "../../../schema/schema.ts";

/** Options of decoding. */
export interface DecodeOptions {
  /** Name of the outermost type, for messages. */
  readonly root: string;
  /** Called with the path of each field that the shape does not have. The field itself is dropped. */
  readonly onUnknownField: (path: string) => void;
  /** Reads internal fields of the server too; otherwise these are unknown. Default false. */
  readonly internal?: boolean;
  /** Throws the error for a value that does not fit. */
  readonly refuse: (why: string) => never;
  /**
   * An earlier result for the same shape from which the value was derived. Parts that the value shares with it are not decoded again, so it
   * must not have been modified. Default: none.
   */
  readonly decoded?: JsonObject | undefined;
}

/** The message of the API server. */
const QUANTITY_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const INT32_MAX = 2 ** 31 - 1;
/** The largest integer of 64 bits, rounded to a number in JavaScript. */
const INT64_ROUNDED = 2 ** 63;

const FIRST_INSTANT = Date.parse("0000-01-01T00:00:00Z");
const AFTER_LAST_INSTANT = Date.parse("9999-12-31T23:59:59Z") + 1_000;

/**
 * Reports whether an instant, in milliseconds since 1970, has a year of four digits in UTC. The texts of other instants cannot be parsed.
 * In a text with an offset, the year may differ from that in UTC.
 *
 * @example
 * hasFourDigits(Date.parse("9999-12-31T23:59:59-01:00")); // false
 */
export function hasFourDigits(instant: number): boolean {
  return instant >= FIRST_INSTANT && instant < AFTER_LAST_INSTANT;
}

/** The stored form of the last decoded time. Objects that are written one after another often have the same time. */
let lastTime = "";

/**
 * Decodes JSON data according to a shape: fields in the shape's order, maps sorted, without nulls, and without empty values that Go would
 * omit, so that equal objects have equal JSON text.
 *
 * @example
 * decodeObject(objectOf({ ip: text }), { ip: "10.0.0.1", x: 1 }, { root: "Address", onUnknownField: () => {}, refuse: fail }); // { ip: "10.0.0.1" }
 */
export function decodeObject(shape: ObjectSchema, value: unknown, options: DecodeOptions): JsonObject {
  return new Decoder(options).object(shape, value, "", options.decoded);
}

/** The properties of a field that decoding needs. Reading them from the schemas would make decoding a quarter slower. */
interface FieldRules {
  readonly name: string;
  readonly schema: Schema;
  readonly isInternal: boolean;
  readonly isAlwaysShown: boolean;
  readonly omitsEmpty: boolean;
}

const fieldsOf = oncePerObject(({ fields }: ObjectSchema): ReadonlyMap<string, FieldRules> => {
  const rules = Object.entries(fields).map(([name, schema]): [string, FieldRules] => {
    const { presence, internal = false } = schema;
    return [name, { name, schema, isInternal: internal, isAlwaysShown: presence === "always", omitsEmpty: presence === "omitEmpty" }];
  });
  return new Map(rules);
});

class Decoder {
  readonly #options: DecodeOptions;

  constructor(options: DecodeOptions) {
    this.#options = options;
  }

  object(shape: ObjectSchema, value: unknown, path: string, decoded?: JsonObject): JsonObject {
    if (!isRecord(value)) return this.#mismatch(value, path, "object");
    const fields = fieldsOf(shape);
    for (const name in value) {
      const field = fields.get(name);
      if (field === undefined || this.#isHidden(field)) this.#options.onUnknownField(join(path, name));
    }
    // The names come from the shape, and none of them is special in JavaScript.
    const members: Record<string, unknown> = {};
    for (const field of fields.values()) {
      if (this.#isHidden(field)) continue;
      const { name } = field;
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      // A type may have many fields, of which an object has few, so a path is created only for decoded fields.
      if ((given === undefined || given === null) && !field.isAlwaysShown) continue;
      const before = typeof given === "object" && given !== null ? decoded?.[name] : undefined;
      const read = given === before && before !== undefined ? before : this.#field(field, given, join(path, name), before);
      if (read !== undefined) members[name] = read;
    }
    return members;
  }

  #isHidden({ isInternal }: FieldRules): boolean {
    return isInternal && this.#options.internal !== true;
  }

  /** Decodes a field that is given or always shown. */
  #field({ schema, omitsEmpty }: FieldRules, value: unknown, path: string, before: unknown): unknown {
    if (value === undefined || value === null) return this.#zero(schema, path);
    const isPart = schema.type === "object" && isRecord(before);
    const decoded = isPart ? this.object(schema, value, path, before) : this.#value(schema, value, path);
    return omitsEmpty && isEmpty(decoded) ? undefined : decoded;
  }

  /** The zero value of a type, for a value that is absent but must appear. */
  #zero(shape: Schema, path: string): unknown {
    switch (shape.type) {
      case "string":
        return shape.encodes === undefined || shape.encodes === "bytes" ? "" : null;
      case "literals":
        return "";
      case "integer":
      case "number":
      case "either":
        return 0;
      case "boolean":
        return false;
      case "object":
        return this.object(shape, {}, path);
      case "any":
        if (shape.quantity === true) return "0";
        return shape.opaque === undefined ? null : {};
      case "map":
      case "list":
        return null;
    }
  }

  #value(shape: Schema, value: unknown, path: string): unknown {
    switch (shape.type) {
      case "string":
        return this.#text(shape, value, path);
      case "literals":
        return typeof value === "string" ? value : this.#mismatch(value, path, "string");
      case "integer":
      case "number":
        return this.#number(shape, value, path);
      case "boolean":
        return typeof value === "boolean" ? value : this.#mismatch(value, path, "bool");
      case "either":
        return typeof value === "string" ? value : this.#number(int32, value, path);
      case "object":
        return this.object(shape, value, path);
      case "map":
        return this.#map(shape, value, path);
      case "list":
        return this.#list(shape, value, path);
      case "any":
        if (shape.quantity === true) return this.#quantity(value);
        if (shape.opaque === undefined) return this.#any(value, path, JSON_DEPTH_MAX);
        return isRecord(value) ? this.#opaque(value, path, JSON_DEPTH_MAX) : this.#mismatch(value, path, "object");
    }
  }

  #text({ encodes, strict }: StringSchema, value: unknown, path: string): string {
    if (typeof value !== "string") return this.#mismatch(value, path, "string");
    if (encodes === undefined) return value;
    if (encodes === "bytes") return this.#bytes(strict ? value : value.replace(/[\r\n]/g, ""));
    return this.#time(value, encodes);
  }

  /** Like Kubernetes, parses a quantity from a string, or from the JSON text of any other value. */
  #quantity(value: unknown): string {
    const canonical = canonicalQuantity(typeof value === "string" ? value : JSON.stringify(value));
    return canonical ?? this.#options.refuse(QUANTITY_WRONG);
  }

  #bytes(value: string): string {
    const wrong = /[^A-Za-z0-9+/=]|=(?=[^=])|={3,}/.exec(value)?.index ?? (value.length % 4 === 0 ? -1 : value.length);
    if (wrong >= 0) return this.#options.refuse(`illegal base64 data at input byte ${wrong}`);
    return value;
  }

  #time(value: string, format: "time" | "microTime"): string {
    if (value === lastTime && format === "time") return value;
    const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.exec(value);
    const instant = match === null ? NaN : Date.parse(`${match[1]}${match[3]}`);
    if (!hasFourDigits(instant)) {
      return this.#options.refuse(`parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse`);
    }
    const seconds = new Date(instant).toISOString().slice(0, 19);
    if (format === "time") return (lastTime = `${seconds}Z`);
    return `${seconds}.${(match![2] ?? ".").slice(1, 7).padEnd(6, "0")}Z`;
  }

  #number({ type, bits = 64, assigned }: NumberSchema, value: unknown, path: string): number {
    const goType = type === "number" ? "float64" : `int${bits}`;
    if (typeof value !== "number") return this.#mismatch(value, path, goType);
    const isExact = Number.isSafeInteger(value) || (assigned === true && Number.isInteger(value) && Math.abs(value) <= INT64_ROUNDED);
    const fits = type === "number" || (isExact && (bits === 64 || (value <= INT32_MAX && value >= -INT32_MAX - 1)));
    if (!fits) return this.#options.refuse(this.#unmarshal(`number ${value}`, path, goType));
    return value;
  }

  #map({ values }: MapSchema, value: unknown, path: string): JsonObject {
    if (!isRecord(value)) return this.#mismatch(value, path, `map[string]${values.type}`);
    const keys = Object.keys(value);
    const entries = keys.length > 1 ? keys.sort() : keys;
    return Object.fromEntries(entries.map((key) => [key, this.#element(values, value[key], `${path}.${key}`)]));
  }

  #list({ items }: ListSchema, value: unknown, path: string): unknown[] {
    if (!Array.isArray(value)) return this.#mismatch(value, path, `[]${items.type}`);
    return value.map((item, index) => this.#element(items, item, `${path}[${index}]`));
  }

  /** A null inside a list or map is the zero value of its type. */
  #element(schema: Schema, value: unknown, path: string): unknown {
    return value === null || value === undefined ? this.#zero(schema, path) : this.#value(schema, value, path);
  }

  #any(value: unknown, path: string, depth: number): unknown {
    if (depth === 0) return this.#options.refuse(`exceeded max depth below ${JSON.stringify(path)}`);
    if (Array.isArray(value)) return value.map((item) => this.#any(item, path, depth - 1));
    if (!isRecord(value)) return this.#leaf(value, path);
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((key) => [key, this.#any(value[key], path, depth - 1)]),
    );
  }

  /** Like `#any`, but drops null members, as in all data for which Kubernetes has a type. */
  #opaque(value: unknown, path: string, depth: number): unknown {
    if (depth === 0) return this.#options.refuse(`exceeded max depth below ${JSON.stringify(path)}`);
    if (Array.isArray(value)) return value.map((item) => this.#opaque(item, path, depth - 1));
    if (!isRecord(value)) return this.#leaf(value, path);
    const names = Object.keys(value).filter((name) => value[name] !== null && value[name] !== undefined);
    return Object.fromEntries(names.sort().map((name) => [name, this.#opaque(value[name], path, depth - 1)]));
  }

  /**
   * Refuses numbers such as `1e999`, which JavaScript reads as infinity. JSON cannot represent infinity, so a different value would be
   * stored.
   */
  #leaf(value: unknown, path: string): unknown {
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    return this.#options.refuse(this.#unmarshal("number", path, "float64"));
  }

  #mismatch(value: unknown, path: string, goType: string): never {
    return this.#options.refuse(this.#unmarshal(jsonType(value), path, goType));
  }

  #unmarshal(what: string, path: string, goType: string): string {
    const place = path.replace(/\[\d+\]/g, "");
    const target = place === "" ? "Go value" : `Go struct field ${this.#options.root}.${place}`;
    return `json: cannot unmarshal ${what} into ${target} of type ${goType}`;
  }
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function isEmpty(value: unknown): boolean {
  if (value === "" || value === 0 || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
