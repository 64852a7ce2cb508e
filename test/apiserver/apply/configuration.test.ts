/**
 * Configurations that can be applied, and those that are refused.
 */
import { describe, expect, test } from "vitest";
import { ownersOf, Tracked, widget } from "./support.ts";
import { refusal } from "./refusal.ts";

describe("a configuration", () => {
  test.each([
    {
      why: "that is not an object is 400",
      body: [],
      code: 400,
      message: "error decoding patch: an applied configuration of a Widget must be an object",
    },
    {
      why: "of another version is 400",
      body: { ...widget(), apiVersion: "test/v2" },
      code: 400,
      message: "Incorrect version specified in apply patch. Specified patch version: test/v2, expected: test/v1",
    },
    {
      why: "without version is 400",
      body: { kind: "Widget", metadata: { name: "w" } },
      code: 400,
      message: "Incorrect version specified in apply patch. Specified patch version: , expected: test/v1",
    },
    {
      why: "that says who manages what is 400",
      body: widget({ metadata: { managedFields: [] } }),
      code: 400,
      message: "metadata.managedFields must be nil",
    },
    {
      why: "with an item twice is 422",
      body: widget({ spec: { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] } }),
      code: 422,
      message: 'Widget.test "w" is invalid: spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"}',
    },
    {
      why: "with a text twice in a set is 422",
      body: widget({ spec: { tags: ["a", "a"] } }),
      code: 422,
      message: 'Widget.test "w" is invalid: spec.tags[1]: Duplicate value: "a"',
    },
    {
      why: "with an item without key is 422",
      body: widget({ spec: { ports: [{ protocol: "UDP" }] } }),
      code: 422,
      message: 'Widget.test "w" is invalid: spec.ports[0].port: Required value: this field identifies the items of the list',
    },
    {
      why: "with an item of another kind is 422",
      body: widget({ spec: { ports: ["80"] } }),
      code: 422,
      message: 'Widget.test "w" is invalid: spec.ports[0]: Invalid value: "80": items must be objects with port and protocol',
    },
    {
      why: "with an object in a set is 422",
      body: widget({ spec: { tags: [{}] } }),
      code: 422,
      message: 'Widget.test "w" is invalid: spec.tags[0]: Invalid value: {}: items of a set must be strings, numbers or booleans',
    },
  ])("$why", ({ body, code, message }) => {
    const status = refusal(() => new Tracked().apply("a", {}, { config: body }));
    expect({ code: status.code, message: status.message }).toEqual({ code, message });
  });

  test("may say null where it may say nothing about managers", () => {
    expect(ownersOf(new Tracked().apply("a", { metadata: { managedFields: null }, data: { x: "1" } }).live)).toEqual({
      "Apply a": [".data.x"],
    });
  });
});
