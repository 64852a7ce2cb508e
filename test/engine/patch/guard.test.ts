import { describe, expect, test } from "vitest";
import { PROTECTED_METADATA } from "../../../src/engine/patch/place.ts";
import { annotated, objectWith, run } from "./setting.ts";

const full = objectWith({
  metadata: {
    uid: "u",
    resourceVersion: "1",
    generation: 2,
    creationTimestamp: "2026-01-01T00:00:00Z",
    deletionTimestamp: "2026-01-02T00:00:00Z",
    ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "vcluster", uid: "o" }],
    finalizers: ["a/b"],
    managedFields: [{ manager: "x" }],
    generateName: "web-",
    labels: { app: "web" },
    annotations: { a: "x" },
  },
  subsets: [],
});

describe("a protected field", () => {
  test.each(["apiVersion", "kind", ...PROTECTED_METADATA.map((field) => `metadata.${field}`)])("%s is restored", (path) => {
    const { object, outcomes } = run([{ path, expression: "'forged'" }], full);
    expect(object).toBe(full);
    expect(outcomes[0]).toMatchObject({ outcome: "denied", code: "PROTECTED_FIELD", place: path, matches: 1, changed: 0 });
    expect(outcomes[0]!.failures).toHaveLength(1);
  });

  test.each(["apiVersion", "metadata.name", "metadata.finalizers"])("%s cannot be deleted", (path) => {
    expect(run([{ path, expression: "null" }], full).object).toBe(full);
  });

  test("is put back when an element of it is changed", () => {
    const { object, outcomes } = run([{ path: "metadata.ownerReferences[*].name", expression: "'other'" }], full);
    expect(object).toBe(full);
    expect(outcomes[0]).toMatchObject({ outcome: "denied", place: "metadata.ownerReferences[0].name" });
  });

  test("may be returned as it is", () => {
    expect(run([{ path: "metadata.ownerReferences", expression: "value.map(x => ({...x}))" }], full).outcomes[0]).toMatchObject({
      outcome: "noChange",
    });
  });

  test("survives a patch on everything, while the rest changes", () => {
    const expression =
      "typeof value === 'object' ? (Array.isArray(value) ? ['new'] : { forged: true, name: 'forged', finalizers: [], labels: { app: 'db' } }) : 'forged'";
    const { object, outcomes } = run([{ path: "[*]", expression }], full);
    expect(object).toEqual({
      ...full,
      metadata: {
        ...Object.fromEntries(PROTECTED_METADATA.map((field) => [field, full.metadata[field as "name"]])),
        forged: true,
        labels: { app: "db" },
      },
      subsets: ["new"],
    });
    expect(outcomes[0]).toMatchObject({ outcome: "denied", place: "apiVersion", matches: 4, changed: 2 });
  });

  test("survives a result without labels and annotations, which are deleted", () => {
    const { object, outcomes } = run([{ path: "[*]", expression: "context.path === 'metadata' ? {} : value" }], full);
    const { labels: _labels, annotations: _annotations, generateName: _generateName, ...metadata } = full.metadata;
    expect(object).toEqual({ ...full, metadata });
    expect(outcomes[0]!.failures!.map(({ place }) => place)).toEqual(PROTECTED_METADATA.map((field) => `metadata.${field}`));
  });

  test("cannot be added", () => {
    const { object, outcomes } = run(
      [{ path: "[*]", expression: "context.path === 'metadata' ? {...value, finalizers: ['x/y']} : value" }],
      objectWith({}),
    );
    expect(object).toEqual(objectWith({}));
    expect(outcomes[0]).toMatchObject({ outcome: "denied", place: "metadata.finalizers", changed: 0 });
  });

  test("stays when its patch fails", () => {
    const { object, outcomes } = run([{ path: "metadata.name", expression: "value.x.y" }], full);
    expect(object).toBe(full);
    expect(outcomes[0]).toMatchObject({ outcome: "error", code: "EXPRESSION_ERROR" });
  });

  test("is reported after what failed in the same patch", () => {
    const { outcomes } = run([{ path: "[*]", expression: "context.path === 'subsets' ? value.no.such : 'x'" }], full);
    expect(outcomes[0]).toMatchObject({ outcome: "error", code: "EXPRESSION_RESULT", place: "metadata" });
    expect(outcomes[0]!.failures!.map(({ place, code }) => `${place} ${code}`)).toEqual([
      "metadata EXPRESSION_RESULT",
      "subsets EXPRESSION_ERROR",
      "apiVersion PROTECTED_FIELD",
      "kind PROTECTED_FIELD",
    ]);
  });

  test("of the same name elsewhere is not protected", () => {
    const { object } = run([{ path: "spec.metadata.name", expression: "'y'" }], objectWith({ spec: { metadata: { name: "x" } } }));
    expect(object["spec"]).toEqual({ metadata: { name: "y" } });
    expect(run([{ path: "kindness", expression: "'y'" }], objectWith({ kindness: "x" })).object["kindness"]).toBe("y");
    expect(
      run([{ path: 'spec["metadata.name"]', expression: "'y'" }], objectWith({ spec: { "metadata.name": "x" } })).object["spec"],
    ).toEqual({
      "metadata.name": "y",
    });
  });
});

describe("a marker", () => {
  const marked = objectWith({
    metadata: {
      labels: { app: "web", "sync.platform/managed-by": "vcluster" },
      annotations: { a: "x", "sync.platform/object-uid": "u", "sync.platform/label-vcluster-x-a4d451ec23": "not one" },
    },
  });

  test("is skipped by a patch on all labels or annotations", () => {
    const definitions = [
      { path: "metadata.annotations[*]", expression: "'p-' + value" },
      { path: "metadata.labels[*]", expression: "'p-' + value" },
    ];
    const { object, outcomes } = run(definitions, marked, { direction: "toHost" });
    expect(object.metadata).toMatchObject({
      labels: { app: "p-web", "sync.platform/managed-by": "vcluster" },
      annotations: { a: "p-x", "sync.platform/object-uid": "u", "sync.platform/label-vcluster-x-a4d451ec23": "p-not one" },
    });
    expect(outcomes.map(({ outcome, matches }) => [outcome, matches])).toEqual([
      ["applied", 2],
      ["applied", 1],
    ]);
  });

  test("is seen by no expression on the whole map, and survives its result", () => {
    const definitions = [{ path: "metadata.annotations", expression: "({ keys: Object.keys(value).join() })" }];
    const { object, outcomes } = run(definitions, marked);
    expect(object.metadata.annotations).toEqual({ keys: "a,sync.platform/label-vcluster-x-a4d451ec23", "sync.platform/object-uid": "u" });
    expect(outcomes[0]).toMatchObject({ outcome: "applied" });
  });

  test("is not found by its own path", () => {
    const { object, outcomes } = run([{ path: 'metadata.annotations["sync.platform/object-uid"]', expression: "null" }], marked);
    expect(object).toBe(marked);
    expect(outcomes[0]).toMatchObject({ outcome: "noMatch" });
  });

  test.each([
    { path: "metadata.annotations", expression: "({...value, 'sync.platform/object-uid': 'forged', b: 'y'})" },
    {
      path: "metadata[*]",
      expression: "context.path === 'metadata.annotations' ? {...value, 'sync.platform/object-uid': 'forged', b: 'y'} : value",
    },
    {
      path: "[*]",
      expression:
        "context.path === 'metadata' ? {...value, annotations: {...value.annotations, 'sync.platform/object-uid': 'forged', b: 'y'}} : value",
    },
  ])("cannot be written through $path", (patch) => {
    for (const before of [marked, annotated({ a: "x" })]) {
      const { object, outcomes } = run([patch], before);
      expect(object.metadata.annotations).toEqual({ ...before.metadata.annotations, b: "y" });
      expect(outcomes[0]).toMatchObject({ outcome: "denied", changed: 1, place: 'metadata.annotations["sync.platform/object-uid"]' });
    }
  });

  test("survives the way back", () => {
    const { object } = run([{ path: "metadata.annotations[*]", reverseExpression: "null" }], marked, { direction: "toTenant" });
    expect(object.metadata.annotations).toEqual({ "sync.platform/object-uid": "u" });
  });
});

describe("a result that the API server would refuse", () => {
  test.each([
    {
      path: "metadata.annotations.a",
      expression: "1",
      message: "annotation values must be strings, found a number; write String(…) around the result",
    },
    {
      path: "metadata.annotations.a",
      expression: "({})",
      message: "annotation values must be strings, found an object; write JSON.stringify(…) around the result",
    },
    { path: "metadata.annotations.a", expression: "[]", message: "annotation values must be strings, found a list" },
    { path: "metadata.labels.app", expression: "true", message: "label values must be strings, found a boolean" },
    { path: "metadata.labels.app", expression: "'a b'", message: "label values have at most 63 letters" },
    { path: "metadata.labels.app", expression: "'a'.repeat(64)", message: "label values have at most 63 letters" },
    {
      path: "metadata.annotations",
      expression: "({...value, b: null})",
      message: "annotation values must be strings, found null; leave the key out",
    },
    {
      path: "metadata.annotations",
      expression: "({...value, b: 1})",
      message: "Cannot write metadata.annotations.b: annotation values must be strings",
    },
    {
      path: "metadata.annotations",
      expression: "'text'",
      message: "Cannot write metadata.annotations: expected an object, found a string",
    },
    { path: "metadata.labels", expression: "['list']", message: "expected an object, found a list" },
    { path: "metadata.labels", expression: "({...value, 'a b': 'x'})", message: "this is not a valid label key" },
    { path: "metadata.labels", expression: "({...value, 'Upper.io/b': 'x'})", message: "this is not a valid label key" },
    { path: "metadata.annotations", expression: "({...value, [`${'a'.repeat(64)}`]: 'x'})", message: "this is not a valid annotation key" },
    { path: "metadata[*]", expression: "context.path === 'metadata.labels' ? 1 : value", message: "expected an object, found a number" },
  ])("fails as EXPRESSION_RESULT: $path becomes $expression", ({ path, expression, message }) => {
    const { object, outcomes } = run([{ path, expression }], full, { onError: "skip-patch" });
    expect(object).toBe(full);
    const failure = outcomes[0]!.failures!.find(({ code }) => code === "EXPRESSION_RESULT")!;
    expect(failure.message).toContain(message);
  });

  test("as metadata or in it fails without any change", () => {
    for (const result of ["1", "null", "({...value, labels: 1})", "({...value, annotations: {a: 1}})"]) {
      const { object, outcomes } = run([{ path: "[*]", expression: `context.path === 'metadata' ? ${result} : value` }], full);
      expect(object).toBe(full);
      expect(outcomes[0]).toMatchObject({ outcome: "error", code: "EXPRESSION_RESULT", place: "metadata" });
    }
  });

  test("is not confused with what it accepts", () => {
    const expression = "({ 'Upper.io/B': 'any text\\n', 'x.io/y_z': '', plain: 'p' })";
    expect(run([{ path: "metadata.annotations", expression }], full).outcomes[0]).toMatchObject({ outcome: "applied" });
    expect(run([{ path: "metadata.labels", expression: "({ 'x.io/y_z': 'A.b-c_9', empty: '' })" }], full).outcomes[0]).toMatchObject({
      outcome: "applied",
    });
  });
});
