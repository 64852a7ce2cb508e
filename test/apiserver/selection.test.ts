import { describe, expect, test } from "vitest";
import { CONFIG_MAPS, EVENTS } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { dnsSubdomain } from "../../src/apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../src/apiserver/types/resource-definition.ts";
import { compileSelection } from "../../src/apiserver/types/selection.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import { invalidObject } from "../../src/apiserver/types/status.ts";

const plain: ResourceDefinition = { type: CONFIG_MAPS, singular: "configmap", shape: kindShape({}), strategy: { nameRule: dnsSubdomain } };
const rich: ResourceDefinition = { ...plain, type: EVENTS, selectableFields: { reason: (object) => String(object["reason"] ?? "") } };
const object = (rest: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "db", namespace: "shop", labels: { app: "web" } },
  ...rest,
});

describe("a selection", () => {
  test("of everything is no test at all", () => {
    expect(compileSelection(plain, {})).toBeUndefined();
    expect(compileSelection(plain, { labelSelector: "", fieldSelector: "" })).toBeUndefined();
  });

  test.each([
    { fieldSelector: "metadata.name=db", want: true },
    { fieldSelector: "metadata.name==db", want: true },
    { fieldSelector: "metadata.name!=db", want: false },
    { fieldSelector: "metadata.namespace=shop,metadata.name=db", want: true },
    { fieldSelector: "metadata.namespace=shop,metadata.name=web", want: false },
    { fieldSelector: "reason=a\\,b\\=c\\\\d", want: true },
    { fieldSelector: "reason=a", want: false },
    { fieldSelector: "reason!=", want: true },
    { labelSelector: "app=web", fieldSelector: "metadata.name=db", want: true },
    { labelSelector: "app=db", fieldSelector: "metadata.name=db", want: false },
  ])("$fieldSelector $labelSelector: $want", ({ want, ...scope }) => {
    expect(compileSelection(rich, scope)!(object({ reason: "a,b=c\\d" }))).toBe(want);
  });

  test.each([
    {
      definition: plain,
      fieldSelector: "spec.x=1",
      want: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    },
    { definition: rich, fieldSelector: "spec.x=1", want: "field label not supported: spec.x" },
    { definition: rich, fieldSelector: "toString=1", want: "field label not supported: toString" },
    { definition: rich, fieldSelector: "reason", want: "invalid selector: 'reason'; can't understand 'reason'" },
    { definition: rich, fieldSelector: "reason=a\\b", want: 'invalid field selector: invalid escape sequence in value: "reason=a\\\\b"' },
  ])("refuses $fieldSelector", ({ definition, fieldSelector, want }) => {
    expect(() => compileSelection(definition, { fieldSelector })).toThrow(want);
  });
});

test("a Status says each fault once", () => {
  const fault = { reason: "FieldValueInvalid", field: "a", message: "Invalid value: 1: no" };
  expect(invalidObject(CONFIG_MAPS, "x", [fault, fault]).message).toBe('ConfigMap "x" is invalid: a: Invalid value: 1: no');
});
