/**
 * Computes the answer for a state. Pure: the same state gives the same answer and the same fuel, in Node and in every browser.
 *
 * @module
 */
import { dump } from "js-yaml";
import { isEngineError, type EngineError } from "../../../base/errors.ts";
import { readKinds } from "../../../engine/config/backends.ts";
import { syncOf } from "../../../engine/config/config.ts";
import { createEngine, type Engine } from "../../../engine/engine.ts";
import { SYNCED_KINDS } from "../../../engine/kinds/synced-kinds.ts";
import { keyOf, sameKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import type { CopyInput } from "../../../engine/reconcile/plan-types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";
import { locate, startOf, type Node } from "../../../schema/node.ts";
import { Report, sortProblems, type Problem } from "../../../schema/problem.ts";
import { endsEmpty, formatRefusals, patchOfRefusal, refusalsOf } from "../../host-api.ts";
import { watched } from "../../patch-tests/evaluations.ts";
import { playEdits, shownHost, withCopyMarks, type EditedCopy } from "./host-edits.ts";
import { playToRest, servicesBeside, withoutEmptyMaps } from "./play.ts";
import type { PlaygroundAnswer, PlaygroundState, ShownBack } from "../protocol.ts";
import { readObjectsOfText, type ReadObject } from "./read-objects.ts";
import { readState, type ReadState } from "./read-state.ts";
import { showOutcomes, type OutcomeContext } from "./show-outcomes.ts";

/**
 * Evaluates a state.
 *
 * @example
 * const { host, outcomes } = await evaluate({ config: "sync: {toHost: {endpoints: {patches: []}}}", tenant: endpointsYaml });
 */
export async function evaluate(state: PlaygroundState): Promise<PlaygroundAnswer> {
  const read = readState(state);
  const report = new Report();
  const objects = readObjectsOfText(state.tenant, { file: "tenant", report }).map(inNamespace);
  const problems = [...read.problems, ...sortProblems(report.problems)];
  if (read.parts === undefined || report.failed) return nothing(problems);
  let engine: Engine;
  try {
    engine = await createEngine({ ...read.parts, vcluster: read.vcluster });
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return nothing([...problems, compileProblem(read, error)]);
  }
  try {
    return await answer(state, { engine, root: read.root, objects, problems });
  } finally {
    engine.dispose();
  }
}

function nothing(problems: readonly Problem[]): PlaygroundAnswer {
  return { problems, outcomes: [], notes: [], fuel: 0 };
}

function inNamespace({ object, node }: ReadObject): ReadObject {
  const { namespace = "default" } = object.metadata;
  return { object: { ...object, metadata: { ...object.metadata, namespace } }, node };
}

interface Parts {
  readonly engine: Engine;
  /** The configuration as it was written. */
  readonly root: Node | undefined;
  readonly objects: readonly ReadObject[];
  readonly problems: readonly Problem[];
}

async function answer(state: PlaygroundState, { engine, root, objects, problems }: Parts): Promise<PlaygroundAnswer> {
  const shown = objects.find(({ object }) => rulesOf(engine, object) !== undefined);
  if (shown === undefined) return nothing([...problems, ...nothingShown(engine, objects)]);
  const tenant = shown.object;
  const found = rulesOf(engine, tenant)!;
  const { rules: noting, evaluations } = watched([found]);
  const rules = noting[0]!;
  const context = { engine, rules, evaluations, config: root };
  const others = objects.map(({ object }) => object);
  const input = { key: keyOf(tenant), tenant, host: undefined, ...servicesBeside(engine.rules, found, { tenant, others }) };
  const { first, host } = playToRest(rules, input);
  // Hints describe the object that users see: without the syncer's markers.
  const seen = host === undefined ? tenant : withoutEmptyMaps(shownHost(rules, host));
  const outcomes = await showOutcomes(first.outcomes, { direction: "toHost", object: seen }, context);
  const judged = host === undefined ? [] : verdictNotes(tenant, shownHost(rules, host), first.outcomes);
  const notes = [...first.notes.map(({ code, message }) => ({ code, message })), ...judged];
  const forth = { tenant: yaml(tenant), outcomes, notes };
  if (host === undefined) return { problems, ...forth, fuel: fuelOf(outcomes) };

  const report = new Report();
  const edited = state.host === undefined ? undefined : editedCopy(rules, { written: host, text: state.host, report });
  const back = edited && (await backOf({ ...input, hostKey: first.hostKey! }, edited, context));
  return {
    problems: [...problems, ...sortProblems(report.problems)],
    host: yaml(shownHost(rules, host)),
    ...forth,
    ...(back && { back }),
    fuel: fuelOf([...outcomes, ...(back?.outcomes ?? [])]),
  };
}

/** Notes that `validate` and `render` give too: values that an API server would refuse, and that no address is left. */
function verdictNotes(tenant: KubeObject, host: KubeObject, outcomes: readonly Outcome[]): PlaygroundAnswer["notes"] {
  const refused = refusalsOf(host).map((refusal) => {
    const patch = patchOfRefusal(refusal, { outcomes, object: host })?.path;
    const what = patch === undefined ? "the object" : `what the patch of ${patch} wrote`;
    return { code: "API_INVALID", message: `An API server refuses ${what}: ${formatRefusals([refusal])}` };
  });
  if (!endsEmpty(tenant, { object: host })) return refused;
  return [...refused, { code: "ADDRESS_REFUSED", message: "No address is left on the host" }];
}

function rulesOf({ rules }: Engine, { kind, apiVersion }: KubeObject): Rules | undefined {
  return rules.find(({ kind: { resource } }) => resource.kind === kind && resource.apiVersion === apiVersion);
}

function nothingShown({ rules }: Engine, objects: readonly ReadObject[]): Problem[] {
  const kinds = rules.map(({ kind: { resource } }) => resource.kind).reverse();
  const message = objects.length === 0 ? "Found no object" : "Found no object of a synced kind";
  const { line, column } = objects[0] === undefined ? { line: 1, column: 1 } : startOf(objects[0].node);
  const hint = `Write one of ${kinds.join(", ")}`;
  return [{ code: "CONFIG_REQUIRED", severity: "error", message, file: "tenant", line, column, field: "", hint }];
}

/** Reads the edited copy. Reports a problem and returns undefined if the text is not an object that can replace the copy. */
function editedCopy(
  rules: Rules,
  { written, text, report }: { readonly written: KubeObject; readonly text: string; readonly report: Report },
): EditedCopy | undefined {
  const found = readObjectsOfText(text, { file: "host", report });
  if (report.failed) return undefined;
  const { apiVersion, kind } = rules.kind.resource;
  const key = keyOf(written);
  const one = found[0];
  if (found.length === 1 && one!.object.apiVersion === apiVersion && one!.object.kind === kind && sameKey(keyOf(one!.object), key))
    return { written, edited: withCopyMarks(rules, written, one!.object) };
  const at = one === undefined ? { file: "host", line: 1, column: 1 } : startOf((found[1] ?? one).node);
  const message = `Expected one ${kind} "${key.namespace}/${key.name}"`;
  report.error({ code: "CONFIG_VALUE", at, field: "", message, hint: "An edit must keep the kind, name and namespace of the host object" });
  return undefined;
}

async function backOf(input: CopyInput, edited: EditedCopy, context: OutcomeContext): Promise<ShownBack> {
  const { tenant, host, outcomes, ...rest } = playEdits(context.rules, input, edited);
  return {
    tenant: yaml(tenant),
    host: host === undefined ? "" : yaml(shownHost(context.rules, host)),
    outcomes: await showOutcomes(outcomes, { direction: "toTenant", object: edited.edited }, context),
    ...rest,
  };
}

/** Formats an object like the command line. */
function yaml(object: KubeObject): string {
  return dump(withoutEmptyMaps(object), { lineWidth: -1, noRefs: true, skipInvalid: true });
}

function fuelOf(outcomes: readonly Outcome[]): number {
  return outcomes.reduce((sum, { fuel }) => sum + fuel, 0);
}

/** The problem of an expression that only the engine's compiler refuses, because it takes too much fuel. Its place is the patch. */
function compileProblem({ root, parts }: ReadState, { code, message, details }: EngineError): Problem {
  const { config, settings } = parts!;
  const { patch = -1, field = "", text: expression = details["expression"], hint = "" } = details as CompileDetails;
  // In the order in which they are compiled.
  const read = readKinds({ kinds: SYNCED_KINDS, backends: settings.backends, config, services: "managed" });
  const list = read.find(({ kind }) => syncOf(config, kind).patches[patch]?.[field as "expression"] === expression)?.kind.section;
  const pointer = `/sync/toHost/${list}/patches/${patch}/${field}`;
  const place = root === undefined || list === undefined ? undefined : locate(root, pointer)?.value;
  const { line, column } = place ?? { line: 1, column: 1 };
  const path = list === undefined ? "" : `sync.toHost.${list}.patches[${patch}].${field}`;
  return { code, severity: "error", message, file: "config", line, column, field: path, hint };
}

interface CompileDetails {
  readonly patch?: number;
  readonly field?: string;
  readonly text?: unknown;
  readonly hint?: string;
}
