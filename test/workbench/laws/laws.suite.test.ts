/**
 * The laws of a patch test file: the checks, the reports, and their places.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../../../src/engine/engine.ts";
import { decode } from "../../../src/schema/decode.ts";
import { Report } from "../../../src/schema/problem.ts";
import { readYaml } from "../../../src/schema/yaml.ts";
import { runLaws } from "../../../src/workbench/laws/run-laws.ts";
import { LAWS } from "../../../src/workbench/laws/schema.ts";
import { engineWith } from "./laws-support.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await engineWith({
    endpoints: [
      {
        path: "subsets[*].addresses[*].ip",
        expression: 'value.replace(/^10[.]/, "192.")',
        reverseExpression: 'value.replace(/^192[.]/, "10.")',
      },
      { path: 'metadata.annotations["x/y"]', expression: "value.toLowerCase()" },
    ],
    services: [{ path: "metadata.annotations.app", expression: '"a-" + value', reverseExpression: "value.slice(1)" }],
  });
});
afterAll(() => engine.dispose());

/** The results of a `laws` list in YAML. */
function lawsOf(text: string, objects: Parameters<typeof runLaws>[1]["objects"] = []) {
  const report = new Report();
  const laws = decode(LAWS, readYaml(text, { file: "a.patch-test.yaml", report })!, { report, field: "laws" });
  expect(report.problems).toEqual([]);
  return runLaws(laws!, { engine, objects, placeOf: (index) => ({ file: "a.patch-test.yaml", line: 10 + index, column: 3 }) });
}

describe("laws of a test file", () => {
  test("tell what does not hold, with the value, the patch and the place", () => {
    const [result] = lawsOf("- roundTrip: { path: 'subsets[*].addresses[*].ip', domain: schema, runs: 200, seed: 3 }");
    expect(result).toEqual({
      kind: "law",
      name: "roundTrip subsets[*].addresses[*].ip",
      place: { file: "a.patch-test.yaml", line: 10, column: 3 },
      verdict: "failed",
      seed: 3,
      runs: expect.any(Number) as number,
      fuel: expect.any(Number) as number,
      failures: [
        {
          message: expect.stringMatching(
            /^roundTrip does not hold: tenant "192\.(.+)" → host "192\.\1" → tenant "10\.\1" → host "192\.\1"\. reverseExpression does not undo/,
          ) as string,
          place: { file: "a.patch-test.yaml", line: 10, column: 3 },
          expected: expect.stringMatching(/^192[.]/) as string,
          actual: expect.stringMatching(/^10[.]/) as string,
          patch: { index: 0, path: "subsets[*].addresses[*].ip" },
        },
      ],
    });
  });

  test.each([
    ["- total: {}", "passed", []],
    ["- deterministic: {}", "passed", []],
    ["- typeKept: {}", "passed", []],
    ["- idempotent: { list: endpoints }", "passed", []],
    ["- settles: { list: endpoints }", "passed", []],
    ["- settles: { list: services }", "failed", [/^settles does not hold: .*gets longer/]],
    ["- convergent: { rounds: 3 }", "failed", [/does not settle within 3 rounds/]],
    ["- roundTrip: {}", "failed", [/"a-a"/, /"192[.]/]],
    ["- roundTrip: { list: endpointSlices }", "skipped", []],
    ["- hostEdits: { path: 'subsets[*].addresses[*].ip' }", "failed", [/^hostEdits does not hold: host "10\./]],
    ["- roundTrip: { path: 'metadata.annotations[\"x/y\"]' }", "failed", [/^Nothing could be tried: /]],
    ["- roundTrip: { path: metadata.labels.team }", "error", [/^No patch has the path metadata.labels.team$/]],
    ["- roundTrip: { path: 'metadata..' }", "error", [/Cannot parse path/]],
    ["- {}", "error", [/^Expected one law, found none$/]],
    ["- { total: {}, settles: {} }", "error", [/^Expected one law, found total and settles$/]],
    ["- roundTrip: { list: endpoints, domain: objects }", "skipped", []],
  ] as const)("%s is %s", (text, verdict, messages) => {
    const [result] = lawsOf(text);
    expect({ verdict: result!.verdict, count: result!.failures.length }).toEqual({ verdict, count: messages.length });
    messages.forEach((message, index) => expect(result!.failures[index]!.message).toMatch(message));
    expect(result!.reason === undefined).toBe(verdict !== "skipped");
  });

  test("leave a drift that is accepted alone, and say which entries nothing needs", () => {
    const entry = { domain: "schema", runs: 100, seed: 1 } as const;
    const drift = (path: string) => ({ path, reason: "known" });
    const asked = (path: string, side: "acceptedDrifts" | "settingsDrifts") =>
      runLaws([{ roundTrip: { ...entry } }], {
        engine: { rules: engine.rules.filter(({ kind }) => kind.resource.kind === "Endpoints") },
        [side]: [drift("subsets[*].addresses[*].ip"), drift(path)],
        placeOf: () => ({ file: "a", line: 1, column: 1 }),
      })[0]!;
    const idle = /^acceptedDrifts\[1\] is not needed: no patch of metadata\.labels\.app drifts; remove the entry$/;
    expect(asked("metadata.labels.app", "acceptedDrifts")).toMatchObject({
      verdict: "failed",
      failures: [{ message: expect.stringMatching(idle) as string }],
    });
    expect(asked("metadata.labels.app", "settingsDrifts")).toMatchObject({ verdict: "passed", failures: [] });
    expect(asked("$.subsets[*].addresses[*].ip", "settingsDrifts")).toMatchObject({ verdict: "passed", failures: [] });
  });

  test("try the values of the file's objects", () => {
    const objects = [{ apiVersion: "v1", kind: "Endpoints", metadata: { name: "web" }, subsets: [{ addresses: [{ ip: "192.0.2.1" }] }] }];
    const [result] = lawsOf("- roundTrip: { list: endpoints, domain: objects }", objects);
    expect(result).toMatchObject({ verdict: "failed", runs: 1, failures: [{ expected: "192.0.2.1", actual: "10.0.2.1" }] });
  });

  test("speak of the patches of a list together, too", async () => {
    const swaps = (own: string, other: string) => ({
      path: `metadata.annotations.${own}`,
      expression: "value",
      reverseExpression: `context.hostObject.metadata.annotations.${other} ?? value`,
    });
    const swapping = await engineWith({ endpoints: [swaps("a", "b"), swaps("b", "a")] });
    const entry = { domain: "schema", runs: 100, seed: 1 } as const;
    const [settles] = runLaws([{ settles: { ...entry, rounds: 10 } }], {
      engine: swapping,
      placeOf: () => ({ file: "a", line: 1, column: 1 }),
    });
    swapping.dispose();
    expect(settles).toMatchObject({
      verdict: "failed",
      failures: [
        {
          message: expect.stringMatching(/^settles does not hold for patches #0 and #1 together: tenant \{/) as string,
          patch: { index: 1, path: "metadata.annotations.b" },
        },
      ],
    });
  });

  test("do not call a way back unchanged if two patches never settle", async () => {
    const prefix = '(context.virtualObject.metadata.annotations?.b ?? "")';
    const back = '(context.hostObject.metadata.annotations?.b ?? "")';
    const guarded = {
      path: "metadata.annotations.a",
      expression: `${prefix} + value`,
      reverseExpression: `value.startsWith(${back}) ? value.slice(${back}.length) : value`,
    };
    const other = { path: "metadata.annotations.b", expression: '"x" + value', reverseExpression: "value.slice(1)" };
    const oscillating = await engineWith({ endpoints: [guarded, other] });
    const entry = { domain: "schema", runs: 300, seed: 1 } as const;
    const [law] = runLaws([{ roundTrip: { ...entry } }], { engine: oscillating, placeOf: () => ({ file: "a", line: 1, column: 1 }) });
    oscillating.dispose();
    expect(law).toMatchObject({
      verdict: "failed",
      failures: [{ message: expect.stringMatching(/patches #0 and #1 together/) as string }],
    });
  });

  test("name patches however their path is written", () => {
    const [result] = lawsOf(`- total: { path: "$['metadata']['annotations']['x/y']" }`);
    expect(result!.verdict).toBe("passed");
  });
});
