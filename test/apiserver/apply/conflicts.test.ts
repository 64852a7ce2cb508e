/**
 * When applying meets what others own.
 */
import { describe, expect, test } from "vitest";
import { contentOf, ownersOf, Tracked } from "./support.ts";
import { refusal } from "./refusal.ts";

describe("conflicts", () => {
  test("one with an update names manager, version and field", () => {
    const tracked = new Tracked().write("kubectl-create", { data: { x: "1" } });
    expect(refusal(() => tracked.apply("a", { data: { x: "2" } }))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'Apply failed with 1 conflict: conflict with "kubectl-create" using test/v1: .data.x',
      reason: "Conflict",
      details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "kubectl-create" using test/v1', field: ".data.x" }] },
      code: 409,
    });
  });

  test("several are reported by manager; another applier goes by its name alone, a subresource is named", () => {
    const tracked = new Tracked().apply("b", { data: { x: "1" }, spec: { ports: [{ port: 80, name: "n" }] } });
    tracked.write("s", { ...contentOf(tracked.live), metadata: { labels: { l: "1" } } }, { subresource: "status" });
    const config = { metadata: { labels: { l: "2" } }, data: { x: "2" }, spec: { ports: [{ port: 80, name: "m" }] } };
    const { message, details } = refusal(() => tracked.apply("a", config));
    expect(message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "b":',
        "- .data.x",
        '- .spec.ports[port=80,protocol="TCP"].name',
        'conflicts with "s" with subresource "status" using test/v1:',
        "- .metadata.labels.l",
      ].join("\n"),
    );
    expect(details?.causes).toHaveLength(3);
  });

  test("arise with one's own updates, too", () => {
    const tracked = new Tracked().write("a", { data: { x: "1" } });
    expect(refusal(() => tracked.apply("a", { data: { x: "2" } })).reason).toBe("Conflict");
  });

  test("arise from a new value of a whole list", () => {
    const tracked = new Tracked().apply("a", { spec: { rows: [{ a: "1" }] } });
    expect(refusal(() => tracked.apply("b", { spec: { rows: [{ a: "1" }, { a: "2" }] } })).message).toContain(": .spec.rows");
  });

  test("do not arise from values that the server completes to the present ones", () => {
    const tracked = new Tracked().apply("a", { spec: { rows: [{ a: "1" }] } });
    const config = { spec: { rows: [{ a: "1", b: "" }] } };
    expect(ownersOf(tracked.apply("b", config).live)).toEqual({ "Apply a": [".spec.rows"], "Apply b": [".spec.rows"] });
    const alone = new Tracked().apply("a", { spec: { rows: [{ a: "1" }] } });
    expect(refusal(() => alone.apply("b", config, { complete: (merged) => merged })).reason).toBe("Conflict");
  });

  test("arise with every field of an untracked object", () => {
    const tracked = new Tracked().write("u", { data: { x: "1" } }).write("u", { data: { x: "1" } }, { requested: [] });
    expect(refusal(() => tracked.apply("a", { data: { x: "2" } })).message).toContain(
      'conflict with "before-first-apply" using test/v1: .data.x',
    );
  });
});
