import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { patcherOf } from "../../../src/engine/patcher.ts";
import { DEFAULT_LIMITS } from "../../../src/engine/sandbox/limits.ts";
import { createSandbox, type Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createCoverage, type Coverage } from "../../../src/workbench/coverage/coverage.ts";
import { formatCoverage, mergeCoverage, percentagesOf } from "../../../src/workbench/coverage/report.ts";
import type { SuiteCoverage } from "../../../src/workbench/coverage/types.ts";
import { watchingLimits } from "../../../src/workbench/explain/explain.ts";

const IP = {
  path: "subsets[*].addresses[*].ip",
  expression: 'value.startsWith("10.") ? "192." + value.slice(3) : value',
  reverseExpression: "value",
};
const TWIN = { path: "metadata.labels.a", expression: "value?.x?.y ?? value" };
const OTHER = { path: "metadata.labels.b", expression: "value?.x?.y ?? value" };
const VCLUSTER = { name: "blue", namespace: "vc" };

const config = configOf([IP, TWIN, OTHER, { path: "metadata.annotations.c", reverseExpression: "value && value" }]);
const ENDPOINTS = {
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name: "web", namespace: "shop", labels: { a: "1" } },
  subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] }],
};

let sandbox: Sandbox;
let plain: Engine;
let coverage: Coverage;
let engine: Engine;
beforeAll(async () => {
  sandbox = await createSandbox({ limits: watchingLimits(DEFAULT_LIMITS) });
  plain = await createEngine({ config, vcluster: VCLUSTER });
  coverage = createCoverage(sandbox);
  engine = await createEngine({ config, vcluster: VCLUSTER, instrument: coverage.instrument });
});
afterAll(() => {
  for (const one of [sandbox, plain, engine]) one.dispose();
});

function configOf(patches: readonly object[]) {
  const result = resolveConfig({ sync: { toHost: { endpoints: { patches } } } });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

function hits({ patches, branches }: SuiteCoverage): Record<string, number> {
  return Object.fromEntries([
    ...patches.map(({ index, direction, hit }) => [`${index} ${direction}`, hit]),
    ...branches.map(({ index, text, start, end, label, hit }) => [`${index} ${label}: ${text.slice(start, end)}`, hit]),
  ]) as Record<string, number>;
}

describe("coverage of patches", () => {
  test("counts each patch and direction by itself, and the sides of choices", () => {
    patcherOf(engine.rules).toHost(ENDPOINTS);
    expect(hits(coverage.take(engine.rules))).toEqual({
      "0 toHost": 2,
      "0 toTenant": 0,
      "1 toHost": 1,
      "2 toHost": 0,
      "3 toTenant": 0,
      '0 condition true: "192." + value.slice(3)': 2,
      "0 condition false: value": 0,
      "1 value present: ?.x": 1,
      "1 value absent: value": 0,
      "1 value present: ?.y": 0,
      "1 value absent: value?.x": 1,
      "1 left side decides: value?.x?.y": 0,
      "1 right side runs: value": 1,
      "2 value present: ?.x": 0,
      "2 value absent: value": 0,
      "2 value present: ?.y": 0,
      "2 value absent: value?.x": 0,
      "2 left side decides: value?.x?.y": 0,
      "2 right side runs: value": 0,
      "3 left side decides: value": 0,
      "3 right side runs: value": 0,
    });
  });

  test("starts again at every take", () => {
    patcherOf(engine.rules).toHost(ENDPOINTS);
    coverage.take(engine.rules);
    expect(coverage.take(engine.rules).patches.map(({ hit }) => hit)).toEqual([0, 0, 0, 0, 0]);
  });

  test("leaves values, outcomes and fuel as they are", () => {
    const watched = patcherOf(engine.rules).toHost(ENDPOINTS);
    expect(watched).toEqual(patcherOf(plain.rules).toHost(ENDPOINTS));
    expect(watched.outcomes[0]!.fuel).toBeGreaterThan(0);
  });

  test("counts the branches up to an exception, and lets it through", async () => {
    const own = createCoverage(sandbox);
    const failing = await createEngine({
      config: configOf([{ path: "metadata.labels.a", expression: "value ? missing : 1" }]),
      vcluster: VCLUSTER,
      instrument: own.instrument,
    });
    expect(patcherOf(failing.rules).toHost(ENDPOINTS).outcomes[0]).toMatchObject({ outcome: "error", code: "EXPRESSION_ERROR" });
    expect(hits(own.take(failing.rules))).toEqual({ "0 toHost": 1, "0 condition true: missing": 1, "0 condition false: 1": 0 });
    failing.dispose();
  });

  test("counts an expression without its branches when it cannot be watched", async () => {
    const own = createCoverage({ ...sandbox, compile: () => sandbox.compile(";"), evaluate: sandbox.evaluate.bind(sandbox) });
    const other = await createEngine({ config: configOf([TWIN]), vcluster: VCLUSTER, instrument: own.instrument });
    patcherOf(other.rules).toHost(ENDPOINTS);
    const { patches, branches } = own.take(other.rules, "a.yaml");
    expect(patches).toEqual([{ source: "a.yaml", list: "endpoints", index: 0, path: "metadata.labels.a", direction: "toHost", hit: 1 }]);
    expect(branches.map(({ hit }) => hit)).toEqual([0, 0, 0, 0, 0, 0]);
    other.dispose();
  });
});

const PATCH = { source: "", list: "endpoints", index: 0, path: "metadata.labels.a", direction: "toHost", hit: 1 } as const;
const BRANCH = { ...PATCH, text: "value ?  1\n : 2", start: 0, end: 5, label: "condition true" };

describe("coverages of several suites", () => {
  test("add up by source, list, patch and branch", () => {
    const one = { patches: [PATCH], branches: [{ ...BRANCH, hit: 0 }] };
    const merged = mergeCoverage([
      one,
      one,
      {
        patches: [
          { ...PATCH, source: "b" },
          { ...PATCH, direction: "toTenant", hit: 0 },
        ],
        branches: [BRANCH],
      },
    ]);
    expect(merged).toEqual({
      patches: [
        { ...PATCH, hit: 2 },
        { ...PATCH, source: "b" },
        { ...PATCH, direction: "toTenant", hit: 0 },
      ],
      branches: [BRANCH],
    });
    expect(mergeCoverage([])).toEqual({ patches: [], branches: [] });
  });

  test.each([
    { patches: [], branches: [], want: { patches: 100, branches: 100 } },
    { patches: [1, 0], branches: [1, 5, 0, 0], want: { patches: 50, branches: 50 } },
    { patches: [1], branches: [1, 0, 0], want: { patches: 100, branches: (1 / 3) * 100 } },
    { patches: [0], branches: [1], want: { patches: 0, branches: 100 } },
  ])("come to percentages: $patches, $branches", ({ patches, branches, want }) => {
    const covered = { patches: patches.map((hit) => ({ ...PATCH, hit })), branches: branches.map((hit) => ({ ...BRANCH, hit })) };
    expect(percentagesOf(covered)).toEqual(want);
  });

  test("name what never ran, by patch", () => {
    const branches = [
      { ...BRANCH, start: 8, end: 14, label: "condition false", hit: 0 },
      BRANCH,
      { ...BRANCH, direction: "toTenant", hit: 0 } as const,
    ];
    expect(formatCoverage({ patches: [PATCH, { ...PATCH, source: "b.yaml", direction: "toTenant", hit: 0 }], branches })).toEqual([
      "endpoints.patches[0] expression (metadata.labels.a): never taken: condition false: 1 :",
      "b.yaml: endpoints.patches[0] reverseExpression (metadata.labels.a): never ran",
    ]);
  });
});
