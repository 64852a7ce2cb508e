import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import fixtures from "../../../fixtures/paths.json" with { type: "json" };
import { compilePath, formatSteps, parseConcrete, type Segment, type PathStep } from "../../../src/engine/path/path.ts";
import { formatSegments } from "../../../src/engine/path/syntax/format.ts";
import { documents, documentsWithPath, objectOf, placesOf, valueAt } from "./support.ts";

const sources: Readonly<Record<string, unknown>> = fixtures.documents;

describe("find", () => {
  test.each(fixtures.find)("$path in $document: $why", ({ path, document, found }) => {
    const matches = compilePath(path).find(sources[document]);
    expect(matches.map(({ path: place, value }) => [place, value])).toEqual(Object.entries(found));
  });

  test("finds what the rules of matching say, in document order", () => {
    fc.assert(
      fc.property(documentsWithPath({ keys: "adversarial" }), ({ document, segments }) => {
        const path = compilePath(formatSegments(segments));
        expect(path.segments).toEqual(segments);
        const got = path.find(document).map((match) => [parseConcrete(match.path), match.value]);
        expect(got).toEqual(placesByTheRules(document, segments).map((steps) => [steps, follow(document, steps)]));
      }),
      { numRuns: 1000 },
    );
  });

  test("prints every place so that it parses back to exactly that place", () => {
    fc.assert(
      fc.property(documents({ keys: "adversarial" }), (document) => {
        const places = placesOf(document);
        const depths = new Set(places.map((steps) => steps.length));
        const matches = [...depths].flatMap((depth) => compilePath("[*]".repeat(depth)).find(document));
        expect(new Set(matches.map(({ path }) => path)).size).toBe(places.length);
        for (const { path, value } of matches) {
          const steps = parseConcrete(path);
          expect(formatSteps(steps)).toBe(path);
          const { found, value: there } = valueAt(document, steps);
          expect(found && Object.is(there, value)).toBe(true);
          const again = compilePath(path);
          expect(again.canonical).toBe(path);
          expect(again.find(document)).toEqual([{ path, value }]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("takes a snapshot: what happens to the document later does not show", () => {
    const document = { ports: [80, 81] };
    const matches = compilePath("ports[*]").find(document);
    document.ports.length = 0;
    expect(matches.map(({ value }) => value)).toEqual([80, 81]);
  });

  test("takes undefined for absent, in members and elements", () => {
    const document = { a: undefined, list: [undefined, 1, , 2] };
    expect(compilePath("a").find(document)).toEqual([]);
    expect(compilePath("*").find({ a: undefined, b: 1 })).toEqual([{ path: "b", value: 1 }]);
    expect(
      compilePath("list[*]")
        .find(document)
        .map(({ path }) => path),
    ).toEqual(["list[1]", "list[3]"]);
    expect(compilePath("list[0]").find(document)).toEqual([]);
  });

  test("does not read inherited members, even of a polluted prototype", () => {
    const inheriting = Object.create({ spec: { x: 1 } }) as object;
    expect(compilePath("spec.x").find(inheriting)).toEqual([]);
    expect(compilePath("spec[*]").find(inheriting)).toEqual([]);
    expect(compilePath("*").find(inheriting)).toEqual([]);
    expect(compilePath("[0]").find(Object.create({ "0": 1 }))).toEqual([]);
  });

  test("finds own members named like those of prototypes", () => {
    const document: unknown = JSON.parse('{"__proto__":{"polluted":1},"hasOwnProperty":2}');
    expect(compilePath("__proto__.polluted").find(document)).toEqual([{ path: "__proto__.polluted", value: 1 }]);
    expect(
      compilePath("[*]")
        .find(document)
        .map(({ path }) => path),
    ).toEqual(["__proto__", "hasOwnProperty"]);
    expect(compilePath("hasOwnProperty").find(objectOf([["hasOwnProperty", 3]]))).toEqual([{ path: "hasOwnProperty", value: 3 }]);
  });

  test.each([null, undefined, 1, "text", true])("finds nothing in %s", (root) => {
    for (const text of ["a", "[0]", "*", "length", "a.b[*].c"]) expect(compilePath(text).find(root)).toEqual([]);
  });
});

/** The rules once more, as plainly as they can be said. */
function placesByTheRules(root: unknown, segments: readonly Segment[]): PathStep[][] {
  return placesOf(root).filter((steps) => {
    if (steps.length !== segments.length) return false;
    return steps.every((step, at) => selects(segments[at]!, step, follow(root, steps.slice(0, at))));
  });
}

function selects(segment: Segment, step: PathStep, parent: unknown): boolean {
  if (segment.kind === "wildcard") return parent !== undefined;
  if (segment.kind === "key") return segment.key === step;
  if (typeof step === "string") return String(segment.index) === step;
  return (segment.index < 0 ? (parent as unknown[]).length + segment.index : segment.index) === step;
}

function follow(root: unknown, steps: readonly PathStep[]): unknown {
  return steps.reduce<unknown>((node, step) => (node as Record<PathStep, unknown> | undefined)?.[step], root);
}
