/**
 * A single patch for tests in code, applied to one value at a time.
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import type { Code } from "../../base/codes.ts";
import { isRecord, type JsonObject } from "../../base/json.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Direction, PatchDefinition } from "../../engine/patch/patch-definition.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { applyPatches } from "../../engine/patch/apply.ts";
import type { CompiledPatch } from "../../engine/patch/compile.ts";
import type { OutcomeKind, PatchContext } from "../../engine/patch/types.ts";
import { parseConcrete } from "../../engine/path/path.ts";
import type { Rules } from "../../engine/reconcile/rules/rules.ts";
import { explain, type Evaluator } from "../explain/explain.ts";
import { checkLaws, type LawOptions } from "../laws/check-laws.ts";
import type { PairReport, PatchListName } from "../laws/report.ts";
import { placeValue, plainSituation } from "../laws/trips/situations.ts";
import { findWords } from "../laws/samples/words.ts";
import { mergeJson } from "../patch-tests/suite/merge-json.ts";
import { completeObject } from "../patch-tests/suite/suite.ts";
import type { KindDescription } from "../../engine/reconcile/rules/kind-description.ts";
import { domainOf } from "../laws/samples/domain.ts";
import { drawValue, edgeValues } from "../laws/samples/draw.ts";
import { createRandom } from "../simulator/model/random.ts";

/** Parts of `context` that differ from those that the patch was loaded with. */
export interface ContextOverrides {
  /** `config` is merged into the configuration. Names of host objects, which `virtualToHostDNS` returns, do not change. */
  readonly vcluster?: { readonly name?: string; readonly namespace?: string; readonly config?: JsonObject };
  /** On the way to the host: the existing copy. Default null. */
  readonly hostObject?: JsonObject;
  /** On the way back: the tenant's own object. Default null. */
  readonly virtualObject?: JsonObject;
}

/** The object and the context that surround a value. */
export interface PatchRunOptions {
  /**
   * The object that contains the value. Expressions see it, with the value in its place, as `context.virtualObject` on the way to the
   * host and as `context.hostObject` on the way back. Default: an object "web" in namespace "shop" with nothing else in it.
   */
  readonly object?: JsonObject;
  readonly context?: ContextOverrides;
}

/** Result of a patch for one value. */
export interface PatchRun {
  readonly direction: Direction;
  readonly before: unknown;
  /** The resulting value; undefined if it was removed, or left out because the patch failed. */
  readonly value: unknown;
  readonly outcome: OutcomeKind;
  /** Fuel that the evaluation used. */
  readonly fuel: number;
  /** Concrete path of the value. */
  readonly at: string;
  /** Code and message of the failure, if the patch failed. */
  readonly code?: Code;
  readonly message?: string;
  /** The expression with the value of each part below it; "" when no expression ran. */
  explain(): string;
}

/** A patch that is applied to single values, without the other patches of its list and the syncer's own steps. */
export interface PatchUnderTest {
  readonly list: PatchListName;
  /** Index in its list, starting at 0. */
  readonly index: number;
  /** Canonical path. */
  readonly path: string;
  readonly definition: PatchDefinition;
  /** Applies the patch to a value on its way to the host; undefined means no value. Never throws for failures of an expression. */
  toHost(value: unknown, options?: PatchRunOptions): PatchRun;
  /** Applies the patch to a value on its way back to the tenant. */
  toTenant(value: unknown, options?: PatchRunOptions): PatchRun;
  /** Tries the patch on many values: those that the kind allows, and those that the expressions mention. */
  checkLaws(options?: Omit<LawOptions, "only">): PairReport;
  /** Returns `count` possible values at the path. The same seed gives the same values. Default seed 1. */
  sampleValues(count: number, seed?: number): readonly unknown[];
}

/** Parts of a patch under test. */
export interface PatchParts {
  readonly engine: Engine;
  /** A sandbox with {@link watchingLimits}. */
  readonly watching: Evaluator;
  readonly rules: Rules;
  readonly patch: CompiledPatch;
}

/**
 * Creates a patch under test from a patch of an engine. The result throws USAGE for a value if the path has JSONPath operators and
 * `options.object` has no value there.
 *
 * @example
 * createPatchUnderTest({ engine, watching, rules, patch: rules.patches[0] }).toHost("10.0.0.1").value;
 */
export function createPatchUnderTest(parts: PatchParts): PatchUnderTest {
  const { engine, rules, patch } = parts;
  const { kind } = rules;
  const list = kind.section;
  const { index, path, definition } = patch;
  return {
    list,
    index,
    path: path.canonical,
    definition,
    toHost: (value, options = {}) => run(parts, "toHost", value, options),
    toTenant: (value, options = {}) => run(parts, "toTenant", value, options),
    checkLaws: (options = {}) =>
      checkLaws(engine, { ...options, only: (candidate) => candidate.list === list && candidate.index === index }).pairs[0]!,
    sampleValues: (count, seed = 1) => sampleValues(patch, { kind, count, seed }),
  };
}

function run(parts: PatchParts, direction: Direction, value: unknown, { object = {}, context = {} }: PatchRunOptions): PatchRun {
  const { rules, watching, patch } = parts;
  const placed = place(parts, direction, object, value);
  const { subject, namespace } = placed;
  const seen: Omit<PatchContext, "path"> = {
    vcluster: vclusterOf(rules, context),
    hostObject: direction === "toHost" ? (context.hostObject ?? null) : placed.object,
    virtualObject: direction === "toHost" ? placed.object : (context.virtualObject ?? null),
  };
  const applied = applyPatches([patch], subject, {
    direction,
    engine: rules.engine,
    context: seen,
    names: rules.names,
    onError: rules.settings.onError,
    markerPrefix: rules.translator.markerPrefix,
    fuelMax: rules.settings.objectFuel,
    namespace: direction === "toHost" ? namespace : namespaceOf(context.virtualObject ?? {}),
  });
  const { outcome, fuel, code, message } = applied.outcomes[0]!;
  const after = patch.path.find(applied.object).find((match) => match.path === placed.at || placed.isAlone);
  const text = direction === "toHost" ? patch.definition.expression : patch.definition.reverseExpression;
  const isRun = text !== undefined && outcome !== "noMatch";
  return {
    direction,
    before: value,
    value: after?.value,
    outcome,
    fuel,
    at: placed.at,
    ...(code !== undefined && { code, message: message! }),
    explain: () => (isRun ? explain(watching, text, { value, context: { ...seen, path: placed.at } }).drawing : ""),
  };
}

/** A value in its place. */
interface Placed {
  /** The patched object. */
  readonly subject: KubeObject;
  /** The value is the only one that the path finds there. */
  readonly isAlone: boolean;
  /** The object that expressions see around the value. */
  readonly object: KubeObject;
  readonly at: string;
  /** Namespace of the tenant object. */
  readonly namespace: string;
}

/** Places the value in an object. With wildcards, its place is the first match, or the place where the first match would be. */
function place({ rules, patch }: PatchParts, direction: Direction, given: JsonObject, value: unknown): Placed {
  const { resource, schema: shape } = rules.kind;
  const { apiVersion, kind } = resource;
  const tenant = completeObject({ apiVersion, kind, ...given }, { name: "web", namespace: "shop" });
  const { name = "", namespace = "" } = tenant.metadata;
  const hostKey = rules.translator.toHost({ namespace, name }, resource) ?? { namespace: rules.vcluster.namespace, name };
  const isRenamed = direction === "toTenant" && !isRecord(given["metadata"]);
  const around = isRenamed ? { ...tenant, metadata: { ...tenant.metadata, ...hostKey } } : tenant;
  const { canonical, segments } = patch.path;
  const isPlain = !canonical.startsWith("$") && !canonical.includes("..");
  const [found] = patch.path.find(around);
  if (found === undefined && !isPlain) {
    throw new EngineError("USAGE", `Cannot determine which value ${canonical} selects: expected an object with such a value`, {
      details: { hint: "Pass one as options.object" },
    });
  }
  const options = { resource, shape, segments, sources: { words: findWords([]), seen: [] }, looksAtObject: false };
  const { steps, path } = found === undefined ? plainSituation(options) : { steps: parseConcrete(found.path), path: found.path };
  const object = placeValue(around, steps, value) as KubeObject;
  if (!isPlain) return { subject: object, isAlone: false, object, at: path, namespace };
  const bare = { apiVersion, kind, metadata: direction === "toHost" ? hostKey : around.metadata };
  const subject = placeValue({ ...bare, metadata: namesOf(bare.metadata) }, steps, value) as KubeObject;
  return { subject, isAlone: true, object, at: patch.path.find(subject)[0]?.path ?? path, namespace };
}

function namesOf({ name = "", namespace = "" }: KubeObject["metadata"]): KubeObject["metadata"] {
  return { name, namespace };
}

function namespaceOf(object: JsonObject): string {
  return completeObject(object, { name: "web", namespace: "shop" }).metadata.namespace ?? "";
}

function vclusterOf({ vcluster }: Rules, { vcluster: own = {} }: ContextOverrides): PatchContext["vcluster"] {
  const { config, ...names } = own;
  return { ...vcluster, ...names, config: config === undefined ? vcluster.config : mergeJson(vcluster.config, config) };
}

/**
 * Possible values where a patch applies: first the limits of the values that the kind allows, then random values.
 *
 * @example
 * const three = sampleValues(compiledPatch, { kind: ENDPOINTS_KIND, count: 3, seed: 1 });
 */
function sampleValues(
  patch: CompiledPatch,
  { kind, count, seed }: { readonly kind: Pick<KindDescription, "schema">; readonly count: number; readonly seed: number },
): readonly unknown[] {
  const { expression, reverseExpression } = patch.definition;
  const words = findWords([expression, reverseExpression].filter((text) => text !== undefined));
  const { shape } = domainOf(patch, kind, []);
  const sources = { words, seen: [] };
  const random = createRandom(seed);
  const edges = edgeValues(shape, sources);
  return Array.from({ length: count }, () => {
    const edge = edges.next();
    return edge.done === true ? drawValue(shape, sources, random) : edge.value;
  });
}
