/**
 * A patch test file that is ready to run: the result of `read-suite.ts`.
 *
 * @module
 */
import type { JsonObject } from "../../../base/json.ts";
import type { Direction } from "../../../engine/patch/patch-definition.ts";
import type { AcceptedDrift } from "../../../engine/config/accepted-drifts.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Path } from "../../../engine/path/path.ts";
import type { Node } from "../../../schema/node.ts";
import type { Sequence } from "../../sequences/sequence.ts";
import type { Assert } from "../../asserts/asserts.ts";
import type { ConfigurationNodes, SuiteConfiguration } from "./configuration.ts";
import type { TestPlace } from "../../asserts/results.ts";
import type { CaseDefinition, PatchOutcomeDefinition, TestDefinition } from "./schema.ts";

/** A value that is set in an object before the patches run. */
export interface SetValue {
  readonly path: string;
  readonly value: unknown;
  readonly place: TestPlace;
}

/** Context of expressions. The context of a test overrides that of the file. */
export interface SuiteContext {
  readonly vcluster: { readonly name: string; readonly namespace: string; readonly config: JsonObject };
  readonly hostObject?: JsonObject;
  readonly virtualObject?: JsonObject;
}

/** One value of a data-driven test. */
export interface TestCase {
  /** Label, after the test's name. */
  readonly label: string;
  readonly definition: CaseDefinition;
  /** True if the case has `out`, even if it is null. */
  readonly hasOut: boolean;
  readonly place: TestPlace;
}

/** Expected outcome of one patch. */
export interface PatchExpectation {
  readonly path: Path;
  readonly definition: PatchOutcomeDefinition;
  readonly place: TestPlace;
}

/** The whole expected object: in a golden file (whose text is undefined if there is none yet), or inline. */
export type ExpectedObject = { readonly place: TestPlace } & (
  { readonly file: string; readonly object: unknown } | { readonly object: JsonObject }
);

/** One entry of `tests`. */
export interface SuiteTest {
  readonly name: string;
  readonly place: TestPlace;
  readonly definition: TestDefinition;
  readonly direction: Direction;
  readonly object: JsonObject;
  readonly set: readonly SetValue[];
  readonly context: SuiteContext;
  readonly asserts: readonly Assert[];
  readonly patches: readonly PatchExpectation[];
  readonly expected?: ExpectedObject;
  /** Without an entry the test runs once as it is. */
  readonly cases: readonly TestCase[];
  readonly casePath?: Path;
  readonly maxFuel?: number;
  readonly maxMatches?: number;
  /** Returns the position of a field of the test, or of the test if it lacks the field. */
  placeOf(field: string): TestPlace;
}

/** A patch test file. */
export interface Suite {
  readonly file: string;
  readonly name: string;
  readonly configuration: SuiteConfiguration;
  readonly context: SuiteContext;
  /** By name, complete, as objects of the tenant cluster. */
  readonly objects: Readonly<Record<string, KubeObject>>;
  readonly tests: readonly SuiteTest[];
  /** `acceptedDrifts` of the file. */
  readonly acceptedDrifts: readonly AcceptedDrift[];
  /** `laws` as they were written. */
  readonly laws: Node | undefined;
  readonly sequences: readonly Sequence[];
  /** Source of the configuration, for sequences that load another one. */
  readonly configurationNodes: ConfigurationNodes;
}

/**
 * Completes an object with the defaults of test files: it is an Endpoints unless it names another kind.
 *
 * @example
 * completeObject({ subsets: [] }, { name: "web", namespace: "shop" }).kind; // "Endpoints"
 */
export function completeObject(object: JsonObject, defaults: { readonly name: string; readonly namespace: string }): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const given = typeof metadata === "object" && metadata !== null ? (metadata as JsonObject) : {};
  const type = apiVersion === undefined && kind === undefined ? { apiVersion: "v1", kind: "Endpoints" } : {};
  return { ...type, ...object, metadata: { ...defaults, ...given } } as KubeObject;
}
