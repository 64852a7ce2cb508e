import { describe, expect, test } from "vitest";
import type { OnError } from "../../../src/engine/patch/types.ts";
import { annotated, objectWith, run } from "./setting.ts";

/** Fails for the given values, and marks the others. */
function failingFor(...values: readonly unknown[]): string {
  return `${JSON.stringify(values)}.includes(value) ? value.no.such.field : "new-" + value`;
}

function lastOf(values: Readonly<Record<string, unknown>>) {
  return (place: string) => (Object.hasOwn(values, place) ? { value: values[place] } : undefined);
}

describe("a failing patch with keep-last", () => {
  test("keeps the annotation that was last written, and produces an outcome with its place", () => {
    const { object, outcomes, blocked } = run(
      [{ path: "metadata.annotations[*]", expression: failingFor("bad") }],
      annotated({ a: "bad", b: "good" }),
      {
        lastWritten: lastOf({ "metadata.annotations.a": "new-old" }),
      },
    );
    expect(object.metadata.annotations).toEqual({ a: "new-old", b: "new-good" });
    expect(outcomes[0]).toMatchObject({
      outcome: "error",
      code: "EXPRESSION_ERROR",
      place: "metadata.annotations.a",
      matches: 2,
      changed: 1,
    });
    expect(outcomes[0]!.message).toContain("such");
    expect(blocked).toBe(false);
  });

  test("leaves out an annotation that was never written", () => {
    const { object } = run([{ path: "metadata.annotations[*]", expression: failingFor("bad") }], annotated({ a: "bad", b: "good" }));
    expect(object.metadata.annotations).toEqual({ b: "new-good" });
  });

  test("does not put the last value through later patches again", () => {
    const definitions = [
      { path: "metadata.annotations.a", expression: "value.no.such" },
      { path: "metadata.annotations[*]", expression: "'2-' + value" },
      { path: "metadata.annotations", expression: "({...value, seen: Object.keys(value).join()})" },
    ];
    const { object } = run(definitions, annotated({ a: "x", b: "y" }), { lastWritten: lastOf({ "metadata.annotations.a": "2-1-x" }) });
    expect(object.metadata.annotations).toEqual({ a: "2-1-x", b: "2-y", seen: "b" });
  });

  test("keeps the whole map last written, without markers", () => {
    const last = { a: "old", "sync.platform/object-uid": "u" };
    const { object } = run([{ path: "metadata.annotations", expression: "value.no.such" }], annotated({ a: "x" }), {
      lastWritten: lastOf({ "metadata.annotations": last }),
    });
    expect(object.metadata.annotations).toEqual({ a: "old" });
  });

  test("leaves the whole map out when it was never written", () => {
    expect(run([{ path: "metadata.annotations", expression: "value.no.such" }], annotated({ a: "x" })).object).toEqual(objectWith({}));
  });

  test("comes back to the very object when the last value is the one it has", () => {
    const before = annotated({ a: "x", b: "y" });
    const { object } = run([{ path: "metadata.annotations.a", expression: "value.no.such" }], before, {
      lastWritten: lastOf({ "metadata.annotations.a": "x" }),
    });
    expect(object).toBe(before);
  });

  test("does not keep a last value that is not a string", () => {
    const { object } = run([{ path: "metadata.annotations.a", expression: "value.no.such" }], annotated({ a: "x", b: "y" }), {
      lastWritten: lastOf({ "metadata.annotations.a": 7 }),
    });
    expect(object.metadata.annotations).toEqual({ b: "y" });
  });

  test("leaves out the nearest element of a list, whatever stood around it", () => {
    const before = objectWith({
      subsets: [
        { addresses: [{ ip: "10.0.0.1" }, { ip: "bad" }, { ip: "10.0.0.3" }, { ip: "bad" }], ports: [{ port: 80 }] },
        { addresses: [{ ip: "bad" }], ports: [{ port: 81 }] },
        { addresses: [{ ip: "10.0.0.4" }], ports: [{ port: 82 }] },
      ],
    });
    const { object, outcomes } = run([{ path: "subsets[*].addresses[*].ip", expression: failingFor("bad") }], before, {
      lastWritten: () => ({ value: "never used" }),
    });
    expect(object["subsets"]).toEqual([
      { addresses: [{ ip: "new-10.0.0.1" }, { ip: "new-10.0.0.3" }], ports: [{ port: 80 }] },
      { addresses: [], ports: [{ port: 81 }] },
      { addresses: [{ ip: "new-10.0.0.4" }], ports: [{ port: 82 }] },
    ]);
    expect(outcomes[0]).toMatchObject({ outcome: "error", matches: 6, changed: 3, place: "subsets[0].addresses[1].ip" });
    expect(outcomes[0]!.failures!.map(({ place }) => place)).toEqual([
      "subsets[0].addresses[1].ip",
      "subsets[0].addresses[3].ip",
      "subsets[1].addresses[0].ip",
    ]);
    const subsets = [before, object].map((one) => one["subsets"] as { ports: unknown }[]);
    expect(subsets[1]![0]!.ports).toBe(subsets[0]![0]!.ports);
  });

  test("leaves out the element itself, and the one around a field that is not a list", () => {
    const before = objectWith({ hosts: ["a", "bad", "b"], rules: [{ deep: { host: "bad" } }, { deep: { host: "a" } }] });
    const definitions = [
      { path: "hosts[*]", expression: failingFor("bad") },
      { path: "rules[*].deep.host", expression: failingFor("bad") },
    ];
    expect(run(definitions, before).object).toEqual(objectWith({ hosts: ["new-a", "new-b"], rules: [{ deep: { host: "new-a" } }] }));
  });

  test("mixes well with elements that an expression deleted", () => {
    const expression = "value === 2 ? null : value === 3 ? value.no.such : value";
    expect(run([{ path: "list[*]", expression }], objectWith({ list: [1, 2, 3, 4] })).object["list"]).toEqual([1, 4]);
  });

  test("leaves out a field elsewhere", () => {
    const before = objectWith({ spec: { name: "bad", "list[0]": "bad", other: 1 } });
    expect(run([{ path: "spec[*]", expression: failingFor("bad") }], before).object["spec"]).toEqual({ other: "new-1" });
  });

  test("does not stop the patches after it", () => {
    const definitions = [
      { path: "spec.a", expression: "value.no.such" },
      { path: "spec.b", expression: "value + 1" },
    ];
    const { object, outcomes } = run(definitions, objectWith({ spec: { a: 1, b: 1 } }));
    expect(object["spec"]).toEqual({ b: 2 });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["error", "applied"]);
  });
});

describe("a failing patch", () => {
  const before = objectWith({
    metadata: { annotations: { a: "bad" } },
    subsets: [{ addresses: [{ ip: "bad" }, { ip: "10.0.0.1" }] }],
    spec: "bad",
  });
  const definitions = [
    { path: "metadata.annotations[*]", expression: failingFor("bad") },
    { path: "subsets[*].addresses[*].ip", expression: failingFor("bad") },
    { path: "spec", expression: failingFor("bad") },
  ];

  test.each<{ onError: OnError; blocked: boolean }>([
    { onError: "skip-patch", blocked: false },
    { onError: "block-object", blocked: true },
  ])("with $onError leaves its value as it was", ({ onError, blocked }) => {
    const got = run(definitions, before, { onError });
    expect(got.object).toEqual({ ...before, subsets: [{ addresses: [{ ip: "bad" }, { ip: "new-10.0.0.1" }] }] });
    expect(got.blocked).toBe(blocked);
    expect(got.outcomes.map(({ outcome }) => outcome)).toEqual(["error", "error", "error"]);
  });

  test("blocks only when it fails", () => {
    expect(run([{ path: "spec", expression: "'x'" }], before, { onError: "block-object" }).blocked).toBe(false);
    expect(run([{ path: "kind", expression: "'x'" }], before, { onError: "block-object" }).blocked).toBe(false);
  });

  test.each<OnError>(["keep-last", "skip-patch", "block-object"])("on the way back leaves its value as it was, with %s", (onError) => {
    const reverse = definitions.map(({ path, expression }) => ({ path, reverseExpression: expression }));
    const got = run(reverse, before, { onError, direction: "toTenant", lastWritten: () => ({ value: "never used" }) });
    expect(got.object).toEqual({ ...before, subsets: [{ addresses: [{ ip: "bad" }, { ip: "new-10.0.0.1" }] }] });
    expect(got.outcomes.map(({ outcome }) => outcome)).toEqual(["error", "error", "error"]);
  });

  test("has a message of bounded length", () => {
    const { outcomes } = run(
      [
        {
          path: "spec",
          expression: "(() => { throw new Error('x'.repeat(100_000)) })()".replace(
            "throw new Error('x'.repeat(100_000))",
            "return null['x'.repeat(100_000)]",
          ),
        },
      ],
      before,
    );
    expect(outcomes[0]!.message!.length).toBeLessThanOrEqual(1001);
  });
});
