/**
 * Two independent JSONPath implementations as judges: json-p3, which follows RFC 9535 to the letter, for every key; jsonpath-plus
 * for keys of an alphabet that it reads.
 */
import * as fc from "fast-check";
import { query } from "json-p3";
import { JSONPath } from "jsonpath-plus";
import { describe, expect, test } from "vitest";
import { formatSegments } from "../../../src/engine/path/syntax/format.ts";
import { compilePath, formatSteps, type Segment, type PathStep } from "../../../src/engine/path/path.ts";
import { documents, documentsWithPath, placesOf } from "./support.ts";

/** The path as RFC 9535 writes it. Indexes select no members there, and generated paths hold them for lists only. */
function standardText(segments: readonly Segment[]): string {
  const texts = segments.map((segment) => {
    if (segment.kind === "key") return JSON.stringify(segment.key);
    return segment.kind === "index" ? String(segment.index) : "*";
  });
  return `$${texts.map((text) => `[${text}]`).join("")}`;
}

function located(text: string, document: unknown): { path: string; value: unknown }[] {
  const nodes = query(text, document as Parameters<typeof query>[1]).nodes;
  return nodes.map(({ location, value }) => ({ path: formatSteps(location as PathStep[]), value }));
}

/** Some wildcard may meet an object where an index follows; the standard and we differ there by decision. */
function hasIndexBehindWildcard(segments: readonly Segment[]): boolean {
  const wildcard = segments.findIndex(({ kind }) => kind === "wildcard");
  return wildcard >= 0 && segments.slice(wildcard).some(({ kind }) => kind === "index");
}

/** Texts that json-p3 does not take, although JSON does: lone surrogates, which the standard excludes, and NUL. */
function isStandard(segments: readonly Segment[]): boolean {
  return segments.every((segment) => segment.kind !== "key" || !/[\0\p{Cs}]/u.test(segment.key));
}

describe("find agrees", () => {
  test("with json-p3 on documents with adversarial keys", () => {
    fc.assert(
      fc.property(documentsWithPath({ keys: "adversarial" }), ({ document, segments }) => {
        fc.pre(isStandard(segments) && !hasIndexBehindWildcard(segments));
        expect(compilePath(formatSegments(segments)).find(document)).toEqual(located(standardText(segments), document));
      }),
      { numRuns: 1000 },
    );
  });

  test("with json-p3 and jsonpath-plus on documents with plain keys", () => {
    fc.assert(
      fc.property(documentsWithPath({ keys: "plain" }), ({ document, segments }) => {
        // jsonpath-plus selects characters of texts, counts from the end in slices only, and takes a falsy document for a missing one.
        fc.pre(typeof document === "object" && document !== null && !hasIndexBehindWildcard(segments));
        fc.pre(segments.every((segment) => segment.kind !== "index" || segment.index >= 0));
        const found = compilePath(formatSegments(segments)).find(document);
        expect(found).toEqual(located(standardText(segments), document));
        const path = standardText(segments).replaceAll('"', "'");
        const values = JSONPath({ path, json: document, eval: false, resultType: "value" });
        expect(found.map(({ value }) => value)).toEqual(values);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("JSONPath operators agree", () => {
  const key = fc.constantFrom("a", "b", "spec", "name", "app_1", "x-y");
  const bound = fc.oneof(fc.constant(""), fc.integer({ min: -4, max: 4 }).map(String));
  const selector = fc.oneof(
    key.map((name) => `"${name}"`),
    fc.integer({ min: -3, max: 3 }).map(String),
    fc.constant("*"),
    fc.tuple(bound, bound, fc.constantFrom("", ":1", ":2", ":-1")).map(([start, end, step]) => `${start}:${end}${step}`),
  );
  const segment = fc.tuple(fc.constantFrom("", "", ".."), fc.array(selector, { minLength: 1, maxLength: 2 }));
  const operators = fc.array(segment, { minLength: 1, maxLength: 4 }).filter((parts) => {
    return parts.filter(([descent]) => descent !== "").length <= 2;
  });

  test("with json-p3, each place once and in document order", () => {
    fc.assert(
      fc.property(documents({ keys: "plain" }), operators, (document, parts) => {
        const text = `$${parts.map(([descent, selectors]) => `${descent}[${selectors.join(",")}]`).join("")}`;
        const found = compilePath(text, { syntax: "jsonpath" }).find(document);
        const expected = new Map(located(text, document).map(({ path, value }) => [path, value]));
        expect(new Map(found.map(({ path, value }) => [path, value]))).toEqual(expected);
        expect(found).toHaveLength(expected.size);
        const order = placesOf(document)
          .map((steps) => formatSteps(steps))
          .filter((path) => expected.has(path));
        expect(found.map(({ path }) => path)).toEqual(order);
      }),
      { numRuns: 1000 },
    );
  });
});
