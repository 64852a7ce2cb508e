/**
 * Texts that mean harm, as a link can bring them: each comes to a problem or to an answer, soon, and changes nothing of the program.
 */
import { load } from "js-yaml";
import { afterEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { evaluate } from "../../../src/workbench/playground/worker/evaluate.ts";
import type { PlaygroundAnswer, PlaygroundState, TextName } from "../../../src/workbench/playground/protocol.ts";

const CONFIG = `sync:
  toHost:
    endpoints:
      patches:
        - { path: "metadata.annotations[*]", expression: value }
        - { path: metadata.labels.a, expression: value }
`;
const TENANT = `apiVersion: v1
kind: Endpoints
metadata: { name: web, labels: { a: b } }
`;
const HOST = `apiVersion: v1
kind: Endpoints
metadata: { name: web-x-default-x-my-vcluster, namespace: team-x, labels: { a: b } }
`;
const SETTINGS = "addressPolicy: { allow: [10.0.0.0/8] }\n";
const TEXTS: Readonly<Record<TextName, string>> = { config: CONFIG, settings: SETTINGS, tenant: TENANT, host: HOST };
const NAMES: readonly TextName[] = ["config", "settings", "tenant", "host"];

/** What comes of a text in the place of the good one. */
const answerTo = (name: TextName, text: string): Promise<PlaygroundAnswer> =>
  evaluate({ ...TEXTS, [name]: text } satisfies PlaygroundState);

/** Nine levels of ten aliases each: a billion values, written out. */
const aliases = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", ...Array.from({ length: 8 }, (_, index) => `a${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`).join(", ")}]`)].join("\n"); // prettier-ignore

/** Merge keys that take over each other. */
const merges = [`m0: &m0 { ${Array.from({ length: 40 }, (_, index) => `k${index}: 1`).join(", ")} }`, ...Array.from({ length: 30 }, (_, index) => `m${index + 1}: &m${index + 1} { <<: [${Array(30).fill(`*m${index}`).join(", ")}] }`)].join("\n"); // prettier-ignore

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

describe.each(NAMES)("in the text %s", (name) => {
  test.each([
    ["aliases of aliases", aliases],
    ["merge keys of merge keys", merges],
    ["an alias to itself", "a: &a [*a]"],
    ["lists in lists", "[".repeat(200_000)],
    ["maps in maps", "{a: ".repeat(100_000)],
    ["indentation without an end", Array.from({ length: 2_000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
    ["four million characters", `a: ${"x".repeat(4_000_000)}`],
    ["a tag that makes things", "a: !!js/function 'function () { polluted = 1 }'"],
    ["control characters", "a: \u0000\u0008"],
    ["half a character", 'a: "\\ud800"\nb: ['],
  ])("%s are a problem at a place", async (_, text) => {
    const { problems, host } = await answerTo(name, text);
    expect(problems.filter(({ severity }) => severity === "error")[0]).toMatchObject({ file: name, line: expect.any(Number) as number });
    expect(problems.length).toBeLessThan(1_000);
    expect(host === undefined).toBe(name !== "host");
  });
});

test.each(["tenant", "host"] as const)("a hundred thousand documents in the text %s are one problem", async (name) => {
  const { problems } = await answerTo(name, "---\n".repeat(100_000));
  expect(problems).toEqual([expect.objectContaining({ file: name, code: "CONFIG_SYNTAX", message: "Found more than 100 documents" })]);
});

describe("keys of every object", () => {
  const KEYS = `{ __proto__: p, constructor: c, toString: t, hasOwnProperty: h }`;

  test("are keys like others in labels and annotations, there and back", async () => {
    const tenant = TENANT.replace("labels: { a: b }", `labels: ${KEYS}, annotations: ${KEYS}`);
    const host = HOST.replace("labels: { a: b }", `labels: ${KEYS.replace(": t", ": edited")}, annotations: ${KEYS}`);
    const { problems, host: written, back, outcomes } = await evaluate({ config: CONFIG, tenant, host });
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
    const { labels, annotations } = (load(written!) as KubeObject).metadata;
    for (const map of [labels, annotations])
      expect(Object.entries(map!)).toEqual(expect.arrayContaining([["constructor", "c"], ["toString", "t"], ["hasOwnProperty", "h"]])); // prettier-ignore
    expect(outcomes[0]!.matches).toBeGreaterThan(2);
    expect(back!.flowed).toEqual([{ path: expect.stringContaining("toString") as string, before: "t", after: "edited" }]);
  });

  test("are unknown fields of a configuration", async () => {
    const { problems } = await answerTo(
      "config",
      "sync:\n  toHost:\n    endpoints:\n      __proto__: { polluted: 1 }\n      constructor: { prototype: { polluted: 1 } }\n",
    );
    expect(problems.map(({ code, line }) => [code, line])).toEqual([
      ["CONFIG_UNKNOWN_FIELD", 4],
      ["CONFIG_UNKNOWN_FIELD", 5],
    ]);
  });

  test("lead a path nowhere", async () => {
    const config = CONFIG.replace("metadata.labels.a", "metadata.__proto__.polluted").replace(
      "expression: value }\n",
      "expression: '1' }\n",
    );
    const { outcomes, problems } = await answerTo("config", config);
    expect([...problems.map(({ code }) => code), ...outcomes.map(({ outcome }) => outcome)]).not.toContain("applied");
  });
});

test.each([
  ["without an end", "(() => { for (;;) { Math.sqrt(2) } return value })()", "EXPRESSION_FUEL"],
  ["that grows", "value + 'x'.repeat(1e9)", "EXPRESSION_MEMORY"],
  ["that calls itself", "(function again() { return again() + value })()", "EXPRESSION_STACK"],
])("an expression %s is a failure of its patch, and of no other", async (_, expression, code) => {
  const config = CONFIG.replace(
    "path: metadata.labels.a, expression: value",
    `path: metadata.labels.a, expression: ${JSON.stringify(expression)}`,
  );
  const tenant = TENANT.replace("labels: { a: b }", "labels: { a: b }, annotations: { x: y }");
  const { outcomes } = await evaluate({ config, tenant });
  expect(outcomes.find(({ path }) => path === "metadata.labels.a")).toMatchObject({ outcome: "error", code });
  expect(outcomes.find(({ path }) => path === "metadata.annotations[*]")).toMatchObject({ outcome: "noChange" });
});
