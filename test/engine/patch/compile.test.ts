import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { compilePatches } from "../../../src/engine/patch/compile.ts";
import { engine } from "./setting.ts";

const good: PatchDefinition = { path: "metadata.annotations[*]", expression: "value" };
const secret = { apiVersion: "v1", kind: "Secret" };

describe("compilePatches", () => {
  test("keeps order, definition and canonical path", () => {
    const definitions = [good, { path: "a['b']", reverseExpression: "value" }, { path: "c", reference: { ...secret, namePath: "d" } }];
    const patches = compilePatches(definitions, { engine });
    expect(patches.map(({ index, path, definition }) => [index, path.canonical, definition])).toEqual([
      [0, "metadata.annotations[*]", definitions[0]],
      [1, "a.b", definitions[1]],
      [2, "c", definitions[2]],
    ]);
    expect(patches.map((patch) => Object.keys(patch).filter((key) => /xpression|reference/.test(key)))).toEqual([
      ["expression"],
      ["reverseExpression"],
      ["reference"],
    ]);
  });

  test.each<{ why: string; patch: PatchDefinition; code: string; field?: string }>([
    { why: "no mode", patch: { path: "a" }, code: "PATCH_MODE" },
    { why: "two modes", patch: { path: "a", expression: "value", reference: secret }, code: "PATCH_MODE" },
    { why: "a bad path", patch: { path: "a[", expression: "value" }, code: "PATH_SYNTAX", field: "path" },
    { why: "an empty path", patch: { path: "", expression: "value" }, code: "PATH_SYNTAX", field: "path" },
    { why: "a filter", patch: { path: "a[?(@.b)]", expression: "value" }, code: "PATH_UNSUPPORTED", field: "path" },
    { why: "a bad expression", patch: { path: "a", expression: "value +" }, code: "EXPRESSION_SYNTAX", field: "expression" },
    {
      why: "a bad reverse expression",
      patch: { path: "a", reverseExpression: "}" },
      code: "EXPRESSION_SYNTAX",
      field: "reverseExpression",
    },
    { why: "an empty expression", patch: { path: "a", expression: "" }, code: "EXPRESSION_SYNTAX", field: "expression" },
    {
      why: "a relative path with wildcard",
      patch: { path: "a", reference: { ...secret, namePath: "b[*]" } },
      code: "PATH_SYNTAX",
      field: "reference.namePath",
    },
    {
      why: "a bad relative path",
      patch: { path: "a", reference: { ...secret, kindPath: "[" } },
      code: "PATH_SYNTAX",
      field: "reference.kindPath",
    },
  ])("refuses $why and says where", ({ patch, code, field }) => {
    const details = expect.objectContaining({ patch: 1, ...(field !== undefined && { field }) });
    expect(() => compilePatches([good, patch], { engine })).toThrow(
      expect.objectContaining({ code, details, message: expect.stringContaining("Patch 1") }),
    );
  });

  test("keeps what the room below said", () => {
    expect(() => compilePatches([{ path: "a[", expression: "value" }], { engine })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ column: expect.any(Number) }), cause: expect.any(Error) }),
    );
  });

  test("accepts a JSONPath by setting only", () => {
    const patch = { path: "$..ip", expression: "value" };
    expect(() => compilePatches([patch], { engine })).toThrow(expect.objectContaining({ code: "PATH_UNSUPPORTED" }));
    expect(compilePatches([patch], { engine, pathSyntax: "jsonpath" })).toHaveLength(1);
  });
});
