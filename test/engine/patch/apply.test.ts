import { describe, expect, test } from "vitest";
import { EngineError, isEngineError } from "../../../src/base/errors.ts";
import type { PatchEngine, PatchScope } from "../../../src/engine/patch/types.ts";
import { annotated, engine, objectWith, run } from "./setting.ts";

describe("patches toward the host", () => {
  test("run in list order, and each sees what the one before left", () => {
    const definitions = [
      { path: "metadata.annotations.a", expression: "value + '1'" },
      { path: "metadata.annotations[*]", expression: "value + '2'" },
    ];
    const { object, outcomes } = run(definitions, annotated({ a: "x", b: "y" }));
    expect(object.metadata.annotations).toEqual({ a: "x12", b: "y2" });
    expect(outcomes.map(({ patch, outcome, matches, changed }) => ({ patch, outcome, matches, changed }))).toEqual([
      { patch: 0, outcome: "applied", matches: 1, changed: 1 },
      { patch: 1, outcome: "applied", matches: 2, changed: 2 },
    ]);
  });

  test("do not run reverse expressions", () => {
    const before = annotated({ a: "x" });
    const { object, outcomes } = run([{ path: "metadata.annotations.a", reverseExpression: "'never'" }], before);
    expect(object).toBe(before);
    expect(outcomes).toEqual([{ patch: 0, path: "metadata.annotations.a", outcome: "noExpression", matches: 0, changed: 0, fuel: 0 }]);
  });

  test("name the canonical path of the patch", () => {
    const { outcomes } = run([{ path: "$.metadata.annotations['a']", expression: "value" }], annotated({ a: "x" }));
    expect(outcomes[0]).toMatchObject({ path: "metadata.annotations.a", outcome: "noChange", matches: 1, changed: 0 });
  });
});

describe("patches toward the tenant", () => {
  test("run in reverse list order", () => {
    const definitions = [
      { path: "metadata.annotations.a", expression: "value + '1'", reverseExpression: "value.replace(/1$/, '')" },
      { path: "metadata.annotations[*]", expression: "value + '2'", reverseExpression: "value.replace(/2$/, '')" },
    ];
    const { object, outcomes } = run(definitions, annotated({ a: "x12", b: "y2" }), { direction: "toTenant" });
    expect(object.metadata.annotations).toEqual({ a: "x", b: "y" });
    expect(outcomes.map(({ patch }) => patch)).toEqual([1, 0]);
  });

  test("do not run expressions: the value passes", () => {
    const before = annotated({ a: "x" });
    const { object, outcomes } = run([{ path: "metadata.annotations.a", expression: "'never'" }], before, { direction: "toTenant" });
    expect(object).toBe(before);
    expect(outcomes[0]).toMatchObject({ outcome: "noExpression" });
  });
});

describe("an expression", () => {
  test("sees its value, the context and the concrete path, once per match", () => {
    const seen: PatchScope[] = [];
    const spy: PatchEngine = {
      compile: (text) => ({ text }),
      evaluate: (_expression, scope) => {
        seen.push(scope);
        return { value: scope.value, fuel: 3 };
      },
    };
    const before = objectWith({ subsets: [{ addresses: [{ ip: "10.0.0.1" }] }, { addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.3" }] }] });
    const { outcomes } = run([{ path: "subsets[*].addresses[*].ip", expression: "value" }], before, { engine: spy });
    expect(seen.map(({ value, valueExists, context }) => [value, valueExists, context.path])).toEqual([
      ["10.0.0.1", true, "subsets[0].addresses[0].ip"],
      ["10.0.0.2", true, "subsets[1].addresses[0].ip"],
      ["10.0.0.3", true, "subsets[1].addresses[1].ip"],
    ]);
    expect(seen[0]!.context).toEqual({
      vcluster: { name: "vcluster", namespace: "vcluster-ns", config: {} },
      hostObject: null,
      virtualObject: before,
      path: "subsets[0].addresses[0].ip",
    });
    expect(outcomes[0]).toMatchObject({ outcome: "noChange", fuel: 9 });
  });

  test("never runs for a field that is absent", () => {
    const before = annotated({ a: "x" });
    const { object, outcomes } = run([{ path: "metadata.annotations.b", expression: "value + 'x'" }], before);
    expect(object).toBe(before);
    expect(outcomes).toEqual([{ patch: 0, path: "metadata.annotations.b", outcome: "noMatch", matches: 0, changed: 0, fuel: 0 }]);
  });

  test("deletes the value by returning null, elements of lists after all were decided", () => {
    const before = objectWith({ metadata: { annotations: { a: "x", b: "y" } }, list: [1, 2, 3, 4], field: { x: null, y: 1 } });
    const definitions = [
      { path: "metadata.annotations.a", expression: "null" },
      { path: "list[*]", expression: "value % 2 ? null : value" },
      { path: "field.x", expression: "value" },
    ];
    const { object, outcomes } = run(definitions, before);
    expect(object).toEqual(objectWith({ metadata: { annotations: { b: "y" } }, list: [2, 4], field: { y: 1 } }));
    expect(outcomes.map(({ changed }) => changed)).toEqual([1, 2, 1]);
  });

  test("may return any JSON value", () => {
    const { object } = run([{ path: "spec", expression: "[value, 1, true, { a: null }]" }], objectWith({ spec: "x" }));
    expect(object["spec"]).toEqual(["x", 1, true, { a: null }]);
  });

  test("leave U+FFFD for half a character, as the API server stores it, in texts, items and keys", () => {
    const expressions = ["value + '\\ud83d'", "[value + '\\ude00', '\\ud83d\\ude00']", "({ ['\\ud83d']: { b: '\\ud83d' } })"];
    const results = expressions.map((expression) => run([{ path: "spec", expression }], objectWith({ spec: "x" })).object["spec"]);
    expect(results).toEqual(["x\ufffd", ["x\ufffd", "\ud83d\ude00"], { "\ufffd": { b: "\ufffd" } }]);
  });
});

describe("labels and annotations", () => {
  test("exist while patching, so that a key can be added", () => {
    const definitions = [
      { path: "metadata.annotations", expression: "({...value, team: 'blue'})" },
      { path: "metadata.labels", expression: "({...value, app: 'web'})" },
    ];
    const { object, outcomes } = run(definitions, objectWith({}));
    expect(object.metadata).toMatchObject({ annotations: { team: "blue" }, labels: { app: "web" } });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["applied", "applied"]);
  });

  test("are left out again when they are empty", () => {
    const before = objectWith({ metadata: { annotations: { a: "x" }, labels: {} }, spec: 1 });
    const { object } = run(
      [
        { path: "metadata.annotations[*]", expression: "null" },
        { path: "spec", expression: "2" },
      ],
      before,
    );
    expect(object).toEqual(objectWith({ spec: 2 }));
    expect(Object.keys(object.metadata)).toEqual(["name", "namespace"]);
  });

  test("still exist after a patch deleted them", () => {
    const definitions = [
      { path: "metadata.annotations", expression: "null" },
      { path: "metadata.annotations", expression: "({...value, b: 'y'})" },
    ];
    const { object, outcomes } = run(definitions, annotated({ a: "x" }));
    expect(object.metadata.annotations).toEqual({ b: "y" });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["applied", "applied"]);
  });
});

describe("an object", () => {
  test("that no patch changes comes back itself", () => {
    const definitions = [
      { path: "metadata.annotations", expression: "({...value})" },
      { path: "subsets[*].ports", expression: "value.map(port => ({...port}))" },
      { path: "metadata.labels", expression: "value" },
    ];
    const before = objectWith({ metadata: { annotations: { a: "x" } }, subsets: [{ ports: [{ port: 80 }] }] });
    const { object, outcomes } = run(definitions, before);
    expect(object).toBe(before);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["noChange", "noChange", "noChange"]);
  });

  test("that patches change and change back comes back itself", () => {
    const definitions = [
      { path: "metadata.annotations.a", expression: "'y'" },
      { path: "metadata.annotations['a']", expression: "'x'" },
    ];
    const before = annotated({ a: "x" });
    expect(run(definitions, before).object).toBe(before);
  });

  test("shares with the one before what did not change", () => {
    const before = objectWith({ subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }, { ports: [{ port: 81 }] }] });
    const { object } = run([{ path: "subsets[0].addresses[*].ip", expression: "'10.9.9.9'" }], before);
    const [old, patched] = [before, object].map((one) => one["subsets"] as Record<string, unknown>[]);
    expect(patched![0]!["addresses"]).toEqual([{ ip: "10.9.9.9" }]);
    expect(patched![0]!["ports"]).toBe(old![0]!["ports"]);
    expect(patched![1]).toBe(old![1]);
  });

  test("with hostile keys is patched in its own properties only", () => {
    const before = JSON.parse(
      '{"apiVersion":"v1","kind":"X","metadata":{},"spec":{"__proto__":{"a":1},"constructor":{"prototype":{"b":1}}}}',
    );
    const { object } = run(
      [
        { path: 'spec["__proto__"].a', expression: "2" },
        { path: "spec.constructor.prototype.polluted", expression: "3" },
        { path: "spec[*]", expression: "({...value, own: 1})" },
      ],
      before,
    );
    expect(JSON.stringify(object["spec"])).toBe('{"__proto__":{"a":2,"own":1},"constructor":{"prototype":{"b":1},"own":1}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("fuel", () => {
  test("is counted for failed evaluations, too", () => {
    const { outcomes } = run([{ path: "list[*]", expression: "value.x.y" }], objectWith({ list: [{}, { x: {} }] }));
    expect(outcomes[0]).toMatchObject({ outcome: "error", fuel: 2 });
  });

  test("of one object is limited over all its patches", () => {
    const definitions = [
      { path: "list[*]", expression: "value + 1" },
      { path: "other[*]", expression: "value + 1" },
    ];
    const { object, outcomes } = run(definitions, objectWith({ list: [1, 2], other: [1, 2, 3] }), { fuelMax: 3, onError: "skip-patch" });
    expect([object["list"], object["other"]]).toEqual([
      [2, 3],
      [2, 2, 3],
    ]);
    expect(outcomes[1]).toMatchObject({ outcome: "error", code: "EXPRESSION_FUEL", place: "other[1]", matches: 3, changed: 1, fuel: 1 });
    expect(outcomes[1]!.failures).toHaveLength(2);
  });
});

describe("results", () => {
  test("of one object are limited over all its patches", () => {
    const definitions = [
      { path: "list[*]", expression: "'x'.repeat(10)" },
      { path: "other", expression: "({ key: ['x'.repeat(5), 1, true, null] })" },
      { path: "last", expression: "'x'" },
    ];
    const before = objectWith({ list: ["a", "b", "c"], other: 1, last: 2 });
    const { object, outcomes } = run(definitions, before, { resultMax: 34, onError: "skip-patch" });
    expect([object["list"], object["other"], object["last"]]).toEqual([Array(3).fill("x".repeat(10)), 1, "x"]);
    expect(outcomes[1]).toMatchObject({ outcome: "error", code: "EXPRESSION_RESULT", place: "other", fuel: 1 });
    expect(run(definitions, before, { resultMax: 44 }).outcomes.map(({ outcome }) => outcome)).toEqual(["applied", "applied", "applied"]);
    expect(run(definitions, before, { resultMax: 42 }).outcomes.map(({ outcome }) => outcome)).toEqual(["applied", "error", "applied"]);
  });

  test("are limited without any setting", () => {
    const long = { ...engine, evaluate: () => ({ value: "x".repeat(1024 * 1024), fuel: 1 }) };
    const { outcomes } = run([{ path: "list[*]", expression: "value" }], objectWith({ list: Array(20).fill("a") }), { engine: long });
    expect(outcomes[0]).toMatchObject({ outcome: "error", code: "EXPRESSION_RESULT", matches: 20, changed: 8 });
  });
});

describe("what is not a failure of a patch", () => {
  test("is thrown on: a broken invariant, and what is no engine error", () => {
    for (const thrown of [
      new EngineError("INTERNAL", "a bug"),
      new TypeError("a bug"),
      Object.assign(new Error("x"), { code: "EXPRESSION_ERROR" }),
    ]) {
      const broken: PatchEngine = {
        ...engine,
        evaluate: () => {
          throw thrown;
        },
      };
      expect(() => run([{ path: "spec", expression: "value" }], objectWith({ spec: 1 }), { engine: broken })).toThrow(thrown);
    }
  });

  test("is an engine that returns nothing, against its promise", () => {
    const broken = { ...engine, evaluate: () => ({ value: undefined, fuel: 0 }) };
    let thrown: unknown;
    try {
      run([{ path: "spec", expression: "value" }], objectWith({ spec: 1 }), { engine: broken });
    } catch (error) {
      thrown = error;
    }
    expect(isEngineError(thrown, "INTERNAL")).toBe(true);
  });
});
