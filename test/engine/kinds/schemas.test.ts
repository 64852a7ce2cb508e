import { describe, expect, test } from "vitest";
import { SYNCED_KINDS } from "../../../src/engine/kinds/synced-kinds.ts";
import { decode } from "../../../src/schema/decode.ts";
import { objectToNode } from "../../../src/schema/object-node.ts";
import { Report } from "../../../src/schema/problem.ts";
import { drawValue, edgeValues } from "../../../src/workbench/laws/samples/draw.ts";
import { accepts } from "../../../src/workbench/laws/samples/shapes.ts";
import { createRandom } from "../../../src/workbench/simulator/model/random.ts";
import { WIDGETS_KIND } from "./widget-kind.ts";

const NOTHING = { words: { texts: [], keys: [], numbers: [], patterns: [], reads: [] }, seen: [] };
const VALUES = 200;

describe.each([...SYNCED_KINDS, WIDGETS_KIND])("the schema of $plural", ({ schema, sample, addresses }) => {
  /** Problems but for what API servers always add, which neither authors nor values to try have. */
  const problemsOf = (value: unknown): string[] => {
    const report = new Report();
    decode(schema, objectToNode(value, { file: "f", report }), { report });
    const added = /"(uid|resourceVersion|creationTimestamp)"/;
    return report.problems.filter(({ message }) => !added.test(message)).map(({ field, message }) => `${field}: ${message}`);
  };

  test("allows the samples", () => {
    for (const { apiVersion: _version, kind: _kind, ...fields } of [sample, ...(addresses ? [addresses.sampleWith(300)] : [])]) {
      expect(problemsOf(fields)).toEqual([]);
      expect(accepts(schema, fields)).toBe(true);
    }
  });

  test("allows the values that are drawn from it", () => {
    const random = createRandom(1);
    const drawn = Array.from({ length: VALUES }, () => drawValue(schema, NOTHING, random));
    for (const value of [...drawn, ...edgeValues(schema, NOTHING)]) {
      expect(problemsOf(value)).toEqual([]);
      expect(accepts(schema, value)).toBe(true);
    }
  });
});
