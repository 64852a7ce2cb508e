import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { checkExpression } from "../../../src/engine/expression/check.ts";
import { projectContext } from "../../../src/engine/sandbox/context.ts";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { CONTEXT, answer, createTestSandbox } from "./support.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});

/** Keys that collide with each other often, among them those that every object inherits. */
const KEYS = ["a", "b", "0", "length", "a.b/c", "", "__proto__", "constructor", "toString", "hasOwnProperty"];
const key = fc.constantFrom(...KEYS);

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 0, "", "text"),
    fc.array(tie("json"), { maxLength: 3 }),
    // Entries, not a dictionary: assignment to `__proto__` would lose it.
    fc
      .array(fc.tuple(key, tie("json")), { maxLength: 4 })
      .map(
        (entries) =>
          JSON.parse(`{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`) as unknown,
      ),
  ),
}));

const part = fc
  .tuple(fc.constantFrom(".", "?."), key)
  .map(([dot, name]) => (/^[a-z_]\w*$/i.test(name) ? dot + name : `${dot === "?." ? "?." : ""}[${JSON.stringify(name)}]`));
const chain = fc
  .tuple(fc.constantFrom("virtualObject", "hostObject", "vcluster.config", "nothing"), fc.array(part, { maxLength: 4 }))
  .map(([name, parts]) => `context.${name}${parts.join("")}`);
const use = fc.oneof(
  chain,
  chain.map((text) => `typeof ${text}`),
  chain.map((text) => `Object.keys(${text} ?? {})`),
  chain.map((text) => `${text}.toString()`),
  chain.map((text) => `${text}.hasOwnProperty("a")`),
  chain.map((text) => `JSON.stringify(${text})`),
  chain.map((text) => `(${text.replaceAll("?.[", "[").replaceAll("?.", ".")} = 1)`),
  chain.map((text) => `delete ${text}`),
  fc.tuple(chain, chain).map((texts) => `[${texts.join(", ")}, context.path]`),
  fc.tuple(chain, key).map(([text, name]) => `${text}?.[value + ${JSON.stringify(name)}]`),
);

describe("an expression that gets only the parts of context it names", () => {
  test("cannot tell them from the whole", () => {
    fc.assert(
      fc.property(use, json, json, json, (text, virtualObject, hostObject, config) => {
        const context = { vcluster: { name: "v", namespace: "n", config }, virtualObject, hostObject, path: "x.y" };
        const whole = text.replaceAll("context", "(c => c)(context)");
        expect(checkExpression(whole).reads).toBe("all");
        expect(checkExpression(text).reads).not.toBe("all");
        expect(answer(sandbox, text, "", context)).toEqual(answer(sandbox, whole, "", context));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the parts of context", () => {
  test.each([
    { reads: [["vcluster", "name"]], want: { vcluster: { name: "my-vcluster" } } },
    { reads: [["path"]], want: {} },
    { reads: [["path", "length"], ["hostObject"]], want: { hostObject: null } },
    { reads: [["hostObject", "metadata", "name"]], want: { hostObject: null } },
    { reads: [["virtualObject", "metadata", "labels", "app"]], want: { virtualObject: { metadata: { labels: { app: "web" } } } } },
    { reads: [["virtualObject", "metadata", "labels", "none"]], want: { virtualObject: { metadata: { labels: {} } } } },
    { reads: [["virtualObject", "metadata", "labels", "toString"]], want: { virtualObject: { metadata: { labels: {} } } } },
    { reads: [["virtualObject", "none", "deeper"]], want: { virtualObject: {} } },
    { reads: [["virtualObject", "__proto__", "a"]], want: { virtualObject: {} } },
    {
      reads: [
        ["virtualObject", "metadata", "name"],
        ["virtualObject", "metadata", "namespace", "length"],
      ],
      want: { virtualObject: { metadata: { name: "web", namespace: "default" } } },
    },
    { reads: [["nothing"]], want: {} },
  ])("are $want for $reads", ({ reads, want }) => {
    expect(JSON.parse(projectContext(CONTEXT, reads))).toEqual(want);
  });

  test("are a list as a whole, whichever element is named", () => {
    const want = { virtualObject: { spec: (CONTEXT.virtualObject as { spec: unknown }).spec } };
    expect(JSON.parse(projectContext(CONTEXT, [["virtualObject", "spec", "containers", "0", "name"]]))).toEqual(want);
    expect(JSON.parse(projectContext(CONTEXT, [["virtualObject", "spec", "containers", "length"]]))).toEqual(want);
  });
});
