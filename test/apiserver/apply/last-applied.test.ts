import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { ANNOTATIONS_BYTES_MAX } from "../../../src/apiserver/types/objects/metadata.ts";
import { ownersOf, Tracked, widget } from "./support.ts";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/** An object as `kubectl apply` writes it. */
function clientSide(content: JsonObject, annotation: unknown = widget(content)): JsonObject {
  const text = typeof annotation === "string" ? annotation : `${JSON.stringify(annotation)}\n`;
  return { ...content, metadata: { annotations: { [ANNOTATION]: text } } };
}

const applied = (content: JsonObject, annotation?: unknown) =>
  new Tracked().write("kubectl-client-side-apply", clientSide(content, annotation));

describe("kubectl moving from applies of its own to applies on the server", () => {
  test("is in no conflict with what it applied itself", () => {
    const { live } = applied({ data: { x: "1", y: "1" } }).apply("kubectl", { data: { x: "2", y: "1" } });
    expect(live["data"]).toEqual({ x: "2", y: "1" });
    expect(ownersOf(live)["Apply kubectl"]).toEqual([".data.x", ".data.y"]);
    expect(ownersOf(live)["Update kubectl-client-side-apply"]).not.toContain(".data.x");
  });

  test("conflicts with later changes by another manager", () => {
    const tracked = applied({ data: { x: "1" } });
    tracked.write("hand", { ...clientSide({ data: { x: "1" } }), data: { x: "5" } });
    expect(() => tracked.apply("kubectl", { data: { x: "2" } })).toThrow('conflict with "hand" using test/v1: .data.x');
  });

  test("is in conflict with what it never applied", () => {
    const tracked = applied({ data: { x: "1", y: "1" } }, widget({ data: { x: "1" } }));
    expect(() => tracked.apply("kubectl", { data: { x: "2", y: "2" } })).toThrow("Apply failed with 2 conflicts");
  });

  test("gains nothing for other managers", () => {
    expect(() => applied({ data: { x: "1" } }).apply("a", { data: { x: "2" } })).toThrow("1 conflict");
  });

  test.each([
    { why: "no JSON", annotation: "{" },
    { why: "JSON of something else", annotation: "[1]" },
    { why: "an object of another version", annotation: { ...widget({ data: { x: "1" } }), apiVersion: "test/v2" } },
    { why: "metadata that is none", annotation: { ...widget({ data: { x: "1" } }), metadata: 5 } },
    { why: "empty", annotation: "" },
  ])("gains nothing from an annotation that is $why", ({ annotation }) => {
    expect(() => applied({ data: { x: "1" } }, annotation).apply("kubectl", { data: { x: "2" } })).toThrow("1 conflict");
  });

  test("keeps the annotation up to date for the way back", () => {
    const { live } = applied({ data: { x: "1" } }).apply("kubectl", { data: { x: "2" } });
    expect(JSON.parse(live.metadata.annotations![ANNOTATION]!)).toEqual(widget({ data: { x: "2" } }));
  });

  test("never puts the annotation into itself, and adds none where there is none", () => {
    const config = clientSide({ data: { x: "1" } });
    const { live } = applied({ data: { x: "1" } }).apply("kubectl", config);
    expect(JSON.parse(live.metadata.annotations![ANNOTATION]!)).toEqual(widget({ data: { x: "1" }, metadata: { annotations: {} } }));
    expect(new Tracked().apply("kubectl", { data: { x: "1" } }).live.metadata.annotations).toBeUndefined();
  });

  test("leaves the annotation empty when it does not fit", () => {
    const { live } = applied({ data: { x: "1" } }).apply("kubectl", { data: { x: "2".repeat(ANNOTATIONS_BYTES_MAX) } });
    expect(live.metadata.annotations).toEqual({ [ANNOTATION]: "" });
  });
});
