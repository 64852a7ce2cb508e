/**
 * `endpoint-sync/testing`: patches under test with matchers, patch test files, laws, and the simulator.
 *
 * @module
 */
export { loadPatch } from "./workbench/in-code/load-patch.ts";
export type { LoadedPatch, PatchOptions } from "./workbench/in-code/load-patch.ts";
export { loadPatches } from "./workbench/in-code/load-patches.ts";
export type { LoadedPatches, PatchesOptions, PatchSource } from "./workbench/in-code/load-patches.ts";
export { patchMatchers } from "./workbench/in-code/matchers.ts";
export type { CostOptions, MatcherResult, PatchMatchers } from "./workbench/in-code/matchers.ts";
export type { ContextOverrides, PatchRun, PatchRunOptions, PatchUnderTest } from "./workbench/in-code/patch-under-test.ts";
export { createEngineCache } from "./workbench/patch-tests/engines.ts";
export type { EngineCache } from "./workbench/patch-tests/engines.ts";
export { runSuite } from "./workbench/patch-tests/run-suite.ts";
export type { SuiteOptions } from "./workbench/patch-tests/run-suite.ts";
export type { GoldenWrite, SuiteResult, TestFailure, TestPlace, TestResult, Verdict } from "./workbench/asserts/results.ts";
export { checkLaws } from "./workbench/laws/check-laws.ts";
export type { LawOptions, LawReport, LawResult, PairReport, PairVerdict, PatchListName } from "./workbench/laws/check-laws.ts";

export type { SimulatedConfiguration } from "./workbench/simulator/configurations.ts";
export type { Violation } from "./workbench/simulator/model/history.ts";
export type { Decision, Run } from "./workbench/simulator/run.ts";
export type { CreateCore } from "./workbench/simulator/model/replica.ts";
export type { Planner } from "./engine/reconcile/plan.ts";
export { ADOPTING } from "./workbench/simulator/configurations.ts";
export { ACTS } from "./workbench/simulator/swarm.ts";
export { createSimulator, simulate } from "./workbench/simulator/simulator.ts";
export type { SimulateOptions, Simulator, SimulatorOptions } from "./workbench/simulator/simulator.ts";
