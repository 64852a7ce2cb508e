import { describe, expect, test } from "vitest";
import { formatSteps, parseConcrete, type PathStep } from "../../../src/engine/path/path.ts";
import { refusalOf } from "./support.ts";

describe("formatSteps and parseConcrete", () => {
  test.each<{ steps: PathStep[]; text: string; why: string }>([
    { steps: ["subsets", 0, "addresses", 3, "ip"], text: "subsets[0].addresses[3].ip", why: "elements stand in brackets" },
    { steps: ["metadata", "annotations", "example.com/x"], text: 'metadata.annotations["example.com/x"]', why: "a dot needs quotes" },
    { steps: ["metadata", "labels", "team/name"], text: "metadata.labels.team/name", why: "a slash alone needs none" },
    { steps: ["data", "0"], text: 'data["0"]', why: "a key of digits is not an element" },
    { steps: [0, "a"], text: "[0].a", why: "a list may be the root" },
    { steps: ["a b"], text: '["a b"]', why: "a first key may need quotes" },
    { steps: ["/x"], text: '["/x"]', why: "a slash must not look like a JSON Pointer" },
    { steps: ["$"], text: '["$"]', why: "a dollar is not the root" },
    { steps: ["a", "\u0000\ud800\u202e"], text: 'a["\\u0000\\ud800\\u202e"]', why: "what cannot be seen is escaped" },
    { steps: [], text: "$", why: "no steps are the whole object" },
  ])("$text: $why", ({ steps, text }) => {
    expect(formatSteps(steps)).toBe(text);
    expect(parseConcrete(text)).toEqual(steps);
  });

  test("a long key does not stop a concrete path from parsing", () => {
    const steps = ["data", "x".repeat(10_000)];
    expect(parseConcrete(formatSteps(steps))).toEqual(steps);
  });

  test.each([
    { text: "subsets[*].ports", column: 8, why: "a wildcard is not one place" },
    { text: "subsets[-1]", column: 8, why: "counting from the end depends on the list" },
    { text: "a[", column: 3, why: "it does not parse" },
  ])("$text is refused: $why", ({ text, column }) => {
    expect(refusalOf(() => parseConcrete(text))).toMatchObject({ code: "PATH_SYNTAX", column });
  });
});
