import { EngineError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Engine } from "../../engine/engine.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { compilePatches } from "../../engine/patch/compile.ts";
import type { NameRules } from "../../engine/patch/types.ts";
import type { Rules } from "../../engine/reconcile/rules/rules.ts";
import { formatProblem } from "../../schema/problem.ts";
import { createMapping } from "../../engine/translate/mapping.ts";
import { formatKind } from "../../engine/translate/markers.ts";
import { createCoverage, type Coverage } from "../coverage/coverage.ts";
import type { EngineCache } from "./engines.ts";
import { mergeJson } from "./suite/merge-json.ts";
import type { Suite, SuiteContext } from "./suite/suite.ts";

/** The rules that tests use, and the engine that they come from. */
export interface TestRules {
  readonly engine: Engine;
  readonly rules: readonly Rules[];
  /** The same rules, with a coverage that counts their evaluations. */
  readonly counted?: { readonly rules: readonly Rules[]; readonly coverage: Coverage };
  /** The same rules without patches. */
  readonly unpatched: readonly Rules[];
}

/**
 * The rules of a context: the suite's configuration for its virtual cluster, with its `context.vcluster.config`.
 *
 * @throws CONFIG_VALUE when the configuration is not valid for that virtual cluster.
 * @throws EXPRESSION_FUEL when compiling the expressions takes more than `limits.configurationFuel`.
 */
export async function rulesOfContext(suite: Suite, { vcluster }: SuiteContext, engines: EngineCache): Promise<TestRules> {
  const { name, namespace } = vcluster;
  const result = suite.configuration.configFor({ name, namespace });
  if (!result.ok) {
    const [problem] = result.problems;
    throw new EngineError(
      "CONFIG_VALUE",
      `The configuration does not fit the virtual cluster ${name} in ${namespace}: ${formatProblem(problem!)}`,
    );
  }
  const { settings } = suite.configuration;
  const engine = await engines.engineFor({ config: result.config, settings, vcluster: { name, namespace } });
  const config = mergeJson(result.config.merged, vcluster.config) as JsonObject;
  const isMocked = Object.keys(vcluster.config).length > 0;
  const rules = isMocked ? engine.rules.map((own) => ({ ...own, vcluster: { ...own.vcluster, config } })) : engine.rules;
  return { engine, rules, unpatched: rules.map((own) => ({ ...own, patches: [] })) };
}

/** Rules that record in `counted` which of their expressions run, and which branches. */
export async function withCoverage(from: TestRules, engines: EngineCache): Promise<TestRules> {
  const { engine, rules } = from;
  const coverage = createCoverage(await engines.watchingSandbox(engine));
  const counted = rules.map((own): Rules => {
    const counting = coverage.instrument(own.engine);
    const definitions = own.patches.map(({ definition }) => definition);
    return { ...own, engine: counting, patches: compilePatches(definitions, { engine: counting, pathSyntax: engine.settings.pathSyntax }) };
  });
  return { ...from, counted: { rules: counted, coverage } };
}

/**
 * Rules whose names of referenced objects are valid for one test only: the names of `objects`, and those that the test itself translates.
 * Rules without references are returned unchanged.
 */
export function withOwnNames(rules: readonly Rules[], objects: readonly KubeObject[]): readonly Rules[] {
  if (!rules.some(({ patches }) => patches.some(({ reference }) => reference !== undefined))) return rules;
  const mapping = createMapping();
  return rules.map((own) => {
    const names: NameRules = {
      ...own.names,
      toHost(kind, tenant) {
        const host = own.names.toHost(kind, tenant);
        if (host !== undefined) mapping.record(formatKind(kind), tenant, host);
        return host;
      },
      toTenant: (kind, host) => mapping.toTenant(formatKind(kind), host),
    };
    for (const { apiVersion, kind, metadata } of objects) {
      const { namespace = "default", name = "" } = metadata;
      if (names.knows({ apiVersion, kind })) names.toHost({ apiVersion, kind }, { namespace, name });
    }
    return { ...own, names };
  });
}
