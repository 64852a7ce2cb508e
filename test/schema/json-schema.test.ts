import { describe, expect, test } from "vitest";
import { toJsonSchema } from "../../src/schema/json-schema.ts";
import type { ObjectSchema } from "../../src/schema/schema.ts";

const SCHEMA = {
  type: "object",
  description: "A thing.",
  fields: {
    name: { type: "string", description: "Its name.", required: true, pattern: "^a", minLength: 1 },
    size: { type: "integer", description: "Its size.", nullable: true, default: null, minimum: 1 },
    mode: { type: "literals", description: "Its mode.", values: ["a", "b"], nullable: true, default: "a" },
    parts: { type: "list", description: "Its parts.", items: { type: "any", description: "A part." }, maxItems: 2 },
    labels: { type: "map", description: "Its labels.", values: { type: "string", description: "A label." } },
    port: {
      ...{ type: "either", description: "A port." },
      options: [
        { type: "integer", description: "Its number." },
        { type: "string", description: "Its name." },
      ],
    },
    limits: {
      type: "object",
      description: "Limits.",
      open: true,
      default: {},
      fields: { low: { type: "number", description: "Low.", default: 0.5 } },
    },
  },
  jsonSchema: { examples: [{ name: "abc" }] },
} as const satisfies ObjectSchema;

describe("toJsonSchema", () => {
  test("writes every keyword of a shape", () => {
    expect(toJsonSchema(SCHEMA, { title: "Thing" })).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "Thing",
      description: "A thing.",
      type: "object",
      required: ["name"],
      additionalProperties: false,
      examples: [{ name: "abc" }],
      properties: {
        name: { description: "Its name.", type: "string", pattern: "^a", minLength: 1 },
        size: { description: "Its size.", type: ["integer", "null"], minimum: 1, default: null },
        mode: { description: "Its mode.", type: ["string", "null"], enum: ["a", "b", null], default: "a" },
        parts: { description: "Its parts.", type: "array", items: { description: "A part." }, maxItems: 2 },
        port: {
          description: "A port.",
          anyOf: [
            { description: "Its number.", type: "integer" },
            { description: "Its name.", type: "string" },
          ],
        },
        labels: { description: "Its labels.", type: "object", additionalProperties: { description: "A label.", type: "string" } },
        limits: {
          description: "Limits.",
          type: "object",
          additionalProperties: true,
          properties: { low: { description: "Low.", type: "number", default: 0.5 } },
          default: { low: 0.5 },
        },
      },
    });
  });
});
