/**
 * Verdicts of the law checker on pairs of expressions, and their evidence.
 */
import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { checkLaws, formatLawSteps, type PairVerdict } from "../../../src/workbench/laws/check-laws.ts";
import { brokenLaws, check, engineWith, reportOf } from "./laws-support.ts";

interface DocumentedCase {
  readonly why: string;
  readonly patch: PatchDefinition;
  readonly object?: { readonly metadata?: object };
  readonly refused?: string;
}

const documented = (
  load(readFileSync(new URL("../../../fixtures/patches/documented.yaml", import.meta.url), "utf8")) as DocumentedCase[]
).filter(({ refused }) => refused === undefined);

/** Documented pairs that lose something; all other pairs are lossless, and all single expressions one-way. */
const LOSSY: Readonly<Record<string, PairVerdict>> = {
  "a prefix on every annotation, with a reverse expression that keeps the hyphen": "oscillates",
  "only a reverse expression": "drifts",
  "a prefix that is added only once": "drifts",
};

describe("a documented example", () => {
  const isPair = ({ reference, reverseExpression }: PatchDefinition) => reference !== undefined || reverseExpression !== undefined;
  const cases = documented.map((one) => ({ ...one, verdict: LOSSY[one.why] ?? (isPair(one.patch) ? "lossless" : "one-way") }));

  test.each(cases)("is $verdict: $why", async ({ patch, object = {}, verdict }) => {
    const metadata = { name: "web", namespace: "default", ...object.metadata };
    const report = await check(patch, { objects: [{ ...object, apiVersion: "v1", kind: "Endpoints", metadata } as KubeObject] });
    expect(report.verdict).toBe(verdict);
    expect(report.counterExample === undefined).toBe(verdict === "lossless" || verdict === "one-way");
  });

  test("that loses something is in the fixture", () => {
    expect(Object.keys(LOSSY).filter((why) => !documented.some((one) => one.why === why))).toEqual([]);
  });
});

describe("a reverse expression that slices one character too few", () => {
  const patch = { path: "metadata.annotations[*]", expression: '"my-prefix-" + value', reverseExpression: "value.slice(9)" };

  test("oscillates, with the strings that grow", async () => {
    const { verdict, counterExample } = await check(patch);
    expect(verdict).toBe("oscillates");
    expect(formatLawSteps(counterExample!.steps)).toBe(
      'tenant "a" → host "my-prefix-a" → tenant "-a" → host "my-prefix--a" → tenant "--a" → host "my-prefix---a" → tenant "---a"',
    );
    expect(counterExample!.explanation).toMatch(
      /gets longer with every round.*this syncer does not sync back an edit that would change on its way/,
    );
  });

  test("is found by every seed", async () => {
    const engine = await engineWith({ endpoints: [patch] });
    const verdicts = Array.from({ length: 20 }, (_unused, seed) => checkLaws(engine, { seed, runs: 20 }).pairs[0]!.verdict);
    engine.dispose();
    expect(new Set(verdicts)).toEqual(new Set(["oscillates"]));
  });
});

interface VerdictCase {
  readonly why: string;
  readonly patch: PatchDefinition;
  readonly list?: "services" | "endpointSlices";
  readonly verdict: PairVerdict;
  readonly steps?: string;
  readonly says?: RegExp;
}

const pair = (path: string, expression: string, reverseExpression?: string): PatchDefinition => ({
  path,
  expression,
  ...(reverseExpression !== undefined && { reverseExpression }),
});
const ANNOTATION = 'metadata.annotations["a"]';

describe("a pair", () => {
  test.each<VerdictCase>([
    {
      why: "whose two values answer each other",
      patch: pair("metadata.labels.app", "value", 'value === "on" ? "off" : value === "off" ? "on" : value'),
      verdict: "oscillates",
      steps: 'tenant "on" → host "on" → tenant "off" → host "off" → tenant "on" → host "on" → tenant "off"',
      says: /returns to its original value/,
    },
    {
      why: "that loses the case of letters",
      patch: pair(ANNOTATION, "value.toUpperCase()", "value.toLowerCase()"),
      verdict: "drifts",
    },
    {
      why: "that loses a character with every round, and rests when nothing is left",
      patch: pair(ANNOTATION, "value", "value.slice(1)"),
      verdict: "drifts",
    },
    {
      why: "that maps ranges of addresses onto each other by their first digits",
      patch: pair("subsets[*].addresses[*].ip", 'value.replace(/^10[.]/, "192.")', 'value.replace(/^192[.]/, "10.")'),
      verdict: "drifts",
      says: /A host edit that sets "192\.[\d.]+" is synced back, and leaves the tenant with "10\./,
    },
    {
      why: "of ports",
      patch: pair("subsets[*].ports[*].port", "value + 1", "value - 1"),
      verdict: "lossless",
    },
    {
      why: "of ports with an exception",
      patch: pair("spec.ports[*].port", "value === 8080 ? 80 : value", "value === 80 ? 8080 : value"),
      list: "services",
      verdict: "drifts",
      steps: "tenant 80 → host 80 → tenant 8080 → host 80",
    },
    {
      why: "of one port with another way out",
      patch: pair("ports[*].port", "value", "value + 1"),
      list: "endpointSlices",
      verdict: "oscillates",
    },
    {
      why: "that swaps two values",
      patch: pair(ANNOTATION, '({ blue: "green", green: "blue" })[value] ?? value', '({ blue: "green", green: "blue" })[value] ?? value'),
      verdict: "lossless",
    },
    {
      why: "on all annotations that adds a key which the tenant may have",
      patch: pair(
        "metadata.annotations",
        '({ ...value, "example.com/from": "blue" })',
        '(({ "example.com/from": _from, ...rest }) => rest)(value)',
      ),
      verdict: "drifts",
      steps: 'tenant {"example.com/from":"a"} → host {"example.com/from":"blue"} → tenant {} → host {"example.com/from":"blue"}',
    },
    {
      why: "on all labels that renames every key",
      patch: pair(
        "metadata.labels",
        'Object.fromEntries(Object.entries(value).map(([key, item]) => ["x-" + key, item]))',
        "Object.fromEntries(Object.entries(value).map(([key, item]) => [key.slice(2), item]))",
      ),
      verdict: "lossless",
    },
    {
      why: "whose values depend on the object around them",
      patch: pair(
        ANNOTATION,
        'context.virtualObject.metadata.labels?.tier === "front" ? "front-" + value : value',
        'context.virtualObject.metadata.labels?.tier === "front" ? value.slice(5) : value',
      ),
      verdict: "oscillates",
    },
    {
      why: "that is good in one namespace only",
      patch: pair(ANNOTATION, 'context.virtualObject.metadata.namespace + "/" + value', 'value.replace(/^shop[/]/, "")'),
      verdict: "oscillates",
    },
    {
      why: "that uses the path",
      patch: pair("metadata.annotations[*]", 'context.path + "=" + value', "value.slice(context.path.length + 1)"),
      verdict: "lossless",
    },
    {
      why: "whose way back fails",
      patch: pair(ANNOTATION, '"{" + value', "JSON.parse(value)"),
      verdict: "drifts",
      says: /cannot be converted back/,
    },
    {
      why: "that removes the field on the way back",
      patch: pair(ANNOTATION, "value", 'value === "" ? null : value'),
      verdict: "drifts",
      steps: 'tenant "" → host "" → tenant without the field',
    },
    {
      why: "that keeps one value from the host",
      patch: pair(ANNOTATION, 'value === "secret" ? null : value', "value"),
      verdict: "lossless",
    },
    {
      why: "of an expression that appends to its own result",
      patch: pair(ANNOTATION, '(context.hostObject?.metadata.annotations?.a ?? value) + "+"'),
      verdict: "oscillates",
      says: /reads its own result in context.hostObject/,
    },
    {
      why: "of an expression that looks whether the host object is there",
      patch: pair(ANNOTATION, 'context.hostObject === null ? "new" : "old"'),
      verdict: "drifts",
      steps: 'tenant "a" → host "new" → host "old"',
    },
    {
      why: "of an expression that keeps what the host has",
      patch: pair(ANNOTATION, "context.hostObject?.metadata.annotations?.a ?? value"),
      verdict: "one-way",
    },
    {
      why: "whose expression always fails",
      patch: pair(ANNOTATION, "value.a.b", "value"),
      verdict: "one-way",
    },
  ])("$why: $verdict", async ({ patch, list = "endpoints", verdict, steps, says = /(?:)/ }) => {
    const [report] = (await reportOf({ [list]: [patch] })).pairs;
    expect(report).toMatchObject({ list, patch: 0, verdict });
    const example = report!.counterExample;
    if (steps !== undefined) expect(formatLawSteps(example!.steps)).toBe(steps);
    expect(example?.explanation ?? "").toMatch(says);
  });
});

describe("the laws beside the verdict", () => {
  test.each<{ why: string; patch: PatchDefinition; broken: readonly string[] }>([
    { why: "an expression that fails for some texts", patch: pair(ANNOTATION, 'value.split(":")[1].trim()'), broken: ["total"] },
    { why: "an expression that makes a number of a text", patch: pair("subsets[*].ports[*].name", "value.length"), broken: ["typeKept"] },
    { why: "a text where annotations take only texts", patch: pair(ANNOTATION, "value.length"), broken: ["total"] },
    { why: "a label that gets too long", patch: pair("metadata.labels.app", 'value + "-blue"'), broken: ["total"] },
    { why: "a constant", patch: pair(ANNOTATION, '"a"'), broken: [] },
    {
      why: "a field that may be missing",
      patch: pair("subsets[*].ports[*]", "({ ...value, name: value.name.toLowerCase() })"),
      broken: ["total"],
    },
    {
      why: "a prefix with its way back, where not every edit is possible",
      patch: pair(ANNOTATION, '"a-" + value', "value.slice(2)"),
      broken: ["hostEdits"],
    },
    {
      why: "a reversal, where every edit is possible",
      patch: pair(ANNOTATION, '[...value].reverse().join("")', '[...value].reverse().join("")'),
      broken: [],
    },
  ])("$why: $broken", async ({ patch, broken }) => {
    const report = await check(patch);
    expect(brokenLaws(report)).toEqual(broken);
    expect(report.laws.every(({ held, counterExample }) => held === (counterExample === undefined))).toBe(true);
  });

  test("an edit that cannot flow says so", async () => {
    const { laws } = await check(pair(ANNOTATION, '"a-" + value', "value.slice(2)"));
    const { counterExample } = laws.find(({ law }) => law === "hostEdits")!;
    expect(formatLawSteps(counterExample!.steps)).toBe('host "a" → tenant "" → host "a-"');
    expect(counterExample!.explanation).toBe(
      'A host edit that sets "a" is not synced back: expression does not reproduce the value from the result of reverseExpression.',
    );
  });

  test("what an expression saw is shown when it looks", async () => {
    const report = await check(pair(ANNOTATION, 'context.virtualObject.metadata.labels?.tier === "x" ? null.a : value'));
    const { counterExample } = report.laws.find(({ law }) => law === "total")!;
    expect(counterExample!.context).toMatchObject({
      path: "metadata.annotations.a",
      virtualObject: { metadata: { labels: { tier: "x" } } },
    });
  });
});

describe("values", () => {
  const onlyFor = (value: string) => pair(ANNOTATION, `value === atob("${btoa(value)}") ? "b" : value`, "value");

  test("of objects are tried", async () => {
    const object = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", annotations: { a: "seldom seen" } } };
    expect((await check(onlyFor("seldom seen"))).verdict).toBe("lossless");
    const { verdict, counterExample } = await check(onlyFor("seldom seen"), { objects: [object] });
    expect({ verdict, value: counterExample?.value }).toEqual({ verdict: "drifts", value: "seldom seen" });
  });

  test("of objects of another kind are not", async () => {
    const object = { apiVersion: "v1", kind: "Service", metadata: { name: "web", annotations: { a: "seldom seen" } } };
    expect((await check(onlyFor("seldom seen"), { objects: [object] })).verdict).toBe("lossless");
  });

  test("are only those of objects, if that is asked", async () => {
    const object = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", annotations: { a: "b" } } };
    const report = await check(pair(ANNOTATION, '"my-prefix-" + value', "value"), { objects: [object], domain: "objects" });
    expect(report.counterExample?.value).toBe("b");
    expect(report.laws.find(({ law }) => law === "roundTrip")?.runs).toBe(1);
  });

  test.each([
    ["a regular expression", 'value.replace(/^team-[0-9]+$/, "one")'],
    ["a template", "value.startsWith(`pool-${1}`) ? `pool` : value"],
    ["a list", '["customer", "internal"].includes(value) ? "x" : value'],
  ])("are made of %s", async (_name, expression) => {
    expect((await check(pair(ANNOTATION, expression, "value"))).verdict).toBe("drifts");
  });
});

describe("a check", () => {
  const patches = [
    pair("metadata.annotations", '({ ...value, a: "b" })', "value"),
    pair("subsets[*].addresses[*].ip", 'value.replace("10.", "11.")', 'value.replace("11.", "10.")'),
    { path: 'metadata.annotations["x"]', reference: { apiVersion: "v1", kind: "Secret" } },
  ];

  test("gives the same report for the same seed", async () => {
    const [left, right] = [await reportOf({ endpoints: patches }, { seed: 7 }), await reportOf({ endpoints: patches }, { seed: 7 })];
    expect(left).toEqual(right);
    expect(left.seed).toBe(7);
    expect(await reportOf({ endpoints: patches }, { seed: 8 })).not.toEqual(left);
  });

  test("gives the same report from the same engine again", async () => {
    const engine = await engineWith({ endpoints: patches });
    expect(checkLaws(engine)).toEqual(checkLaws(engine));
    engine.dispose();
  });

  test("ends with its fuel", async () => {
    const loop = pair(ANNOTATION, "Array.from({ length: 3000 }, (_, i) => i).length && value", "value");
    const { cutShort, laws } = await check(loop, { fuel: 100_000 });
    expect(cutShort).toBe(true);
    expect(laws.find(({ law }) => law === "roundTrip")!.runs).toBeLessThan(300);
    expect((await check(loop, { runs: 3 })).cutShort).toBe(false);
  });

  test("looks at chosen patches only", async () => {
    const report = await reportOf(
      { endpoints: patches, services: patches },
      { only: ({ list, index }) => list === "services" && index === 2 },
    );
    expect(report.pairs.map(({ list, patch, verdict }) => ({ list, patch, verdict }))).toEqual([
      { list: "services", patch: 2, verdict: "lossless" },
    ]);
  });
});
