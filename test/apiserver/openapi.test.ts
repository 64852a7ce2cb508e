import { describe, expect, test } from "vitest";
import { CONFIG_MAPS, ENDPOINT_SLICES } from "../../src/kube/object/resource.ts";
import { dnsSubdomain } from "../../src/apiserver/types/objects/names.ts";
import { openApiDocuments, openApiIndex } from "../../src/apiserver/documents/openapi.ts";
import { schemasOf } from "../../src/apiserver/documents/openapi-schema.ts";
import { replaceStatus, type ResourceDefinition } from "../../src/apiserver/types/resource-definition.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import {
  always,
  anything,
  bytes,
  int32,
  intOrText,
  listOf,
  mandatory,
  named,
  objectOf,
  opaque,
  text,
  textMap,
} from "../../src/schema/builders.ts";
import type { Schema } from "../../src/schema/schema.ts";

import { PATCH_TYPES } from "../../src/apiserver/verbs/write/patch.ts";
import type { Json } from "../conformance/raw-client.ts";

const schemaOfField = (shape: Schema) => {
  const schemas = schemasOf([{ type: CONFIG_MAPS, shape: kindShape({ field: shape }) }]);
  const { properties } = schemas["io.k8s.api.core.v1.ConfigMap"] as { properties: Record<string, unknown> };
  return properties["field"];
};

describe("schemas", () => {
  test.each([
    { why: "a text", shape: text, schema: { type: "string" } },
    { why: "what is opaque", shape: opaque({}), schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    { why: "bytes", shape: bytes, schema: { type: "string", format: "byte" } },
    { why: "a number", shape: int32, schema: { type: "integer", format: "int32" } },
    {
      why: "a number or text",
      shape: intOrText,
      schema: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString" }] },
    },
    { why: "anything", shape: anything, schema: { "x-kubernetes-preserve-unknown-fields": true } },
    { why: "a map", shape: textMap, schema: { type: "object", additionalProperties: { type: "string" } } },
    { why: "a list that is replaced", shape: listOf(text), schema: { type: "array", "x-kubernetes-list-type": "atomic" } },
    {
      why: "a set",
      shape: listOf(text, { as: "set" }),
      schema: { "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" },
    },
    {
      why: "a list that is merged by keys",
      shape: listOf(objectOf({ port: always(int32) }), { as: "map", keys: ["port", "protocol"] }),
      schema: {
        items: { type: "object", properties: { port: { type: "integer" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "x-kubernetes-patch-merge-key": "port",
      },
    },
  ])("tell $why", ({ shape, schema }) => {
    expect(schemaOfField(shape)).toMatchObject(schema);
  });

  test("put a named type beside the others and refer to it, with the field's own description", () => {
    const part = named("Part", "A part.", { ip: [text, "Its address."] });
    const shape = kindShape({ one: [always(part), "The first."], many: listOf(part) });
    const schemas = schemasOf([{ type: ENDPOINT_SLICES, shape }]);
    const name = "io.k8s.api.discovery.v1.Part";
    expect(schemas[name]).toEqual({
      type: "object",
      description: "A part.",
      properties: { ip: { type: "string", description: "Its address." } },
    });
    expect(schemas["io.k8s.api.discovery.v1.EndpointSlice"]).toMatchObject({
      properties: {
        one: { allOf: [{ $ref: `#/components/schemas/${name}` }], description: "The first." },
        many: { items: { allOf: [{ $ref: `#/components/schemas/${name}` }] } },
        metadata: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }] },
      },
      "x-kubernetes-group-version-kind": [{ group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice" }],
    });
  });

  test("describe every field of metadata, and those of its managers", () => {
    const schemas = schemasOf([{ type: CONFIG_MAPS, shape: kindShape({}) }]) as Record<string, { properties: Record<string, object> }>;
    const inMeta = (name: string) => schemas[`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`]!.properties;
    expect(inMeta("ObjectMeta")["managedFields"]).toMatchObject({
      items: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry" }] },
    });
    expect(Object.keys(inMeta("ManagedFieldsEntry"))).toEqual(
      ["apiVersion", "fieldsType", "fieldsV1", "manager", "operation", "subresource", "time"], // prettier-ignore
    );
    const bare = ["ObjectMeta", "OwnerReference", "ManagedFieldsEntry"].flatMap((type) =>
      Object.entries(inMeta(type)).flatMap(([name, field]) => ("description" in field ? [] : [`${type}.${name}`])),
    );
    expect(bare).toEqual([]);
  });

  test("list the fields that have to be there, of each type its own", () => {
    const part = named("Part", "", { ip: mandatory(text), port: always(int32) });
    const schemas = schemasOf([{ type: CONFIG_MAPS, shape: kindShape({ part: mandatory(part), more: text }) }]);
    expect(schemas["io.k8s.api.core.v1.Part"]).toMatchObject({ required: ["ip"] });
    expect(schemas["io.k8s.api.core.v1.ConfigMap"]).toMatchObject({ required: ["part"] });
    expect(schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]).not.toHaveProperty("required");
  });
});

const definition = (changes: Partial<ResourceDefinition> = {}): ResourceDefinition => ({
  type: CONFIG_MAPS,
  singular: "configmap",
  shape: kindShape({ data: textMap }),
  strategy: { nameRule: dnsSubdomain, subresources: { status: replaceStatus } },
  ...changes,
});

const documentOf = (changes?: Partial<ResourceDefinition>) => JSON.parse(openApiDocuments([definition(changes)])[0]!.text) as Json;

describe("documents", () => {
  const object = "/api/v1/namespaces/{namespace}/configmaps/{name}";

  test("every reference in them has a schema", () => {
    const [document] = openApiDocuments([definition()]);
    const names = [...document!.text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
    const { schemas } = (JSON.parse(document!.text) as { components: { schemas: object } }).components;
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !Object.hasOwn(schemas, name))).toEqual([]);
  });

  test("say which patches are served, and that fields are validated", () => {
    const patch = documentOf()["paths"]![object]!["patch"]!;
    expect(Object.keys(patch["requestBody"]!["content"]!)).toEqual(Object.keys(PATCH_TYPES));
    expect(patch["x-kubernetes-group-version-kind"]).toEqual({ group: "", version: "v1", kind: "ConfigMap" });
    const names = patch["parameters"]!.map((parameter) => String(parameter["name"]));
    expect(names).toEqual(["dryRun", "fieldManager", "fieldValidation", "force"]);
  });

  test("say nothing of strategic merge patches where they do not say how lists are merged", () => {
    const shape = kindShape({ spec: always(opaque({ items: { as: "set" } })) });
    const patch = documentOf({ shape })["paths"]![object]!["patch"]!;
    expect(Object.keys(patch["requestBody"]!["content"]!)).toEqual(
      Object.keys(PATCH_TYPES).filter((type) => type !== "application/strategic-merge-patch+json"),
    );
  });

  test("have the operations that are served, and no others", () => {
    const operations = (changes?: Partial<ResourceDefinition>) =>
      Object.entries(documentOf(changes)["paths"]!).map(([path, item]) => [path, Object.keys(item as object).slice(0, -1)]);
    expect(operations()).toEqual([
      ["/api/v1/namespaces/{namespace}/configmaps", ["get", "post", "delete"]],
      [object, ["get", "put", "patch", "delete"]],
      [`${object}/status`, ["get", "put", "patch"]],
      ["/api/v1/configmaps", ["get"]],
    ]);
    expect(operations({ verbs: ["create"] })).toContainEqual(["/api/v1/namespaces/{namespace}/configmaps", ["post"]]);
    expect(operations({ verbs: ["get"] })).toContainEqual([object, ["get"]]);
  });

  test("say of a kind that is created only that fields are validated, where kubectl looks for it, and that nothing is patched", () => {
    const patch = documentOf({ verbs: ["create"] })["paths"]![object]!["patch"]!;
    expect(patch["parameters"]!.map((parameter) => String(parameter["name"]))).toContain("fieldValidation");
    expect(Object.keys(patch["responses"]!)).toEqual(["405"]);
  });

  test("have an address that changes with what they say", () => {
    const before = openApiDocuments([definition()]);
    const after = openApiDocuments([definition({ shape: kindShape({ data: textMap, more: text }) })]);
    const url = `/openapi/v3/api/v1?hash=${before[0]!.hash}`;
    expect(openApiIndex(before)).toEqual({ paths: { "api/v1": { serverRelativeURL: url } } });
    expect(after[0]!.hash).not.toBe(before[0]!.hash);
  });
});
