/**
 * A further field of the platform's file is one entry of its schema: read with its default and with errors at their place, published with the
 * object `config`, in the reference, and shown only until something reads it.
 */
import { describe, expect, test } from "vitest";
import { schemaTable } from "../../../docs/generate/schema-tables.ts";
import { schemasOf } from "../../../src/apiserver/documents/openapi-schema.ts";
import { decodeObject } from "../../../src/apiserver/types/objects/decode.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { optional } from "../../../src/schema/builders.ts";
import { effectOf } from "../../../src/management/config/effects.ts";
import { MANAGEMENT_SCHEMA } from "../../../src/management/config/schema/config-schema.ts";
import { CONFIG } from "../../../src/management/kinds/types.ts";
import { decode } from "../../../src/schema/decode.ts";
import { toJsonSchema } from "../../../src/schema/json-schema.ts";
import { Report } from "../../../src/schema/problem.ts";
import type { ObjectSchema } from "../../../src/schema/schema.ts";
import { readYaml } from "../../../src/schema/yaml.ts";

const SCHEMA = {
  ...MANAGEMENT_SCHEMA,
  fields: {
    ...MANAGEMENT_SCHEMA.fields,
    parcels: { type: "integer", default: 3, minimum: 1, maximum: 9, description: "How many parcels a cart takes." },
  },
} as const satisfies ObjectSchema;

function read(text: string) {
  const report = new Report();
  const value = decode(SCHEMA, readYaml(text, { file: "platform.yaml", report })!, { report });
  return {
    parcels: value?.parcels,
    problems: report.problems.map(({ line, column, field, message }) => ({ line, column, field, message })),
  };
}

describe("a further field of the platform's file", () => {
  test("is read, with its default", () => {
    expect(read("{}\n")).toEqual({ parcels: 3, problems: [] });
    expect(read("parcels: 4\n")).toEqual({ parcels: 4, problems: [] });
  });

  test("is refused at its place", () => {
    expect(read("vault: {}\nparcels: 12\n").problems).toEqual([
      { line: 2, column: 10, field: "parcels", message: "Expected at most 9, found 12" },
    ]);
    expect(read("parcel: 1\n").problems).toHaveLength(1);
  });

  test("is completed by editors", () => {
    const schema = toJsonSchema(SCHEMA, { title: "Platform" }) as { properties: Record<string, unknown> };
    expect(schema.properties["parcels"]).toEqual({
      description: "How many parcels a cart takes.",
      type: "integer",
      minimum: 1,
      maximum: 9,
      default: 3,
    });
  });

  test("is shown by the object config, and explained by kubectl", () => {
    const options = {
      root: "ConfigStatus",
      onUnknownField: (path: string) => expect.fail(path),
      refuse: (why: string) => expect.fail(why),
    };
    expect(decodeObject(SCHEMA, { parcels: 4 }, options)).toMatchObject({ parcels: 4 });
    const schemas = Object.values(schemasOf([{ type: CONFIG, shape: kindShape({ status: optional<ObjectSchema>(SCHEMA) }) }]));
    const published = JSON.stringify(schemas);
    expect(published).toContain('"parcels":{"type":"integer","format":"int64","description":"How many parcels a cart takes."}');
  });

  test("is in the reference, and shown only until something reads it", () => {
    expect(schemaTable(SCHEMA)).toContain("| `parcels` | integer | 3 | How many parcels a cart takes. From 1 to 9. |");
    expect(effectOf("parcels")).toMatchObject({ shownOnly: "nothing reads it" });
  });
});
