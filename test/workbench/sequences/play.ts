import { resolveConfig } from "../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../src/engine/config/settings.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { isRecord } from "../../../src/base/json.ts";
import { decode } from "../../../src/schema/decode.ts";
import { toJson, valueAt } from "../../../src/schema/node.ts";
import { formatProblem, Report } from "../../../src/schema/problem.ts";
import { readYaml } from "../../../src/schema/yaml.ts";
import type { TestResult } from "../../../src/workbench/asserts/results.ts";
import { readSequences } from "../../../src/workbench/sequences/reading/read-sequences.ts";
import { runSequence, type SequenceOptions } from "../../../src/workbench/sequences/run-sequence.ts";
import { SEQUENCES } from "../../../src/workbench/sequences/reading/schema.ts";
import type { NamedObjects, Sequence } from "../../../src/workbench/sequences/sequence.ts";

const FILE = "web.patch-test.yaml";
const VCLUSTER = { name: "blue", namespace: "vc-blue" };

/** Beginning of every text here that has no objects of its own. */
const OBJECTS = `objects:
  web:
    apiVersion: v1
    kind: Endpoints
    metadata: { name: web, namespace: shop, labels: { tier: front } }
    subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ port: 80 }] }]
  service:
    apiVersion: v1
    kind: Service
    metadata: { name: web, namespace: shop }
    spec: { ports: [{ port: 80 }] }
  squatter:
    apiVersion: v1
    kind: Endpoints
    metadata: { name: web-x-shop-x-blue, namespace: vc-blue }
    subsets: [{ addresses: [{ ip: 10.9.9.9 }], ports: [{ port: 80 }] }]
`;

/** How a text is played, beside what it says. */
export type PlayOptions = Pick<SequenceOptions, "planner" | "createCore"> & Partial<Pick<SequenceOptions, "reload">>;

const engines = new Map<string, Promise<Engine>>();

async function engineOf(config: unknown, settings: unknown): Promise<Engine> {
  const key = JSON.stringify([config, settings]);
  const made = engines.get(key) ?? makeEngine(config, settings);
  engines.set(key, made);
  return made;
}

async function makeEngine(config: unknown, given: unknown): Promise<Engine> {
  const settings = resolveSettings(given ?? {});
  if (!settings.ok) throw new Error(settings.problems.map((problem) => formatProblem(problem)).join("\n"));
  const resolved = resolveConfig(config ?? {}, { settings: settings.settings, vcluster: VCLUSTER });
  if (!resolved.ok) throw new Error(resolved.problems.map((problem) => formatProblem(problem)).join("\n"));
  return createEngine({ config: resolved.config, settings: settings.settings, vcluster: VCLUSTER });
}

/** Frees all engines that were made. */
export async function disposeEngines(): Promise<void> {
  for (const engine of engines.values()) (await engine).dispose();
  engines.clear();
}

function wholeText(text: string): string {
  return /^objects:/m.test(text) ? text : OBJECTS + text;
}

/** The line of a text that a place speaks of. */
export function lineOf(text: string, { line }: { readonly line: number }): string {
  return wholeText(text).split("\n")[line - 1]!;
}

/** A text with `sequences`, and `config`, `settings` and `objects` if it has any. */
export function read(text: string): { sequences: readonly Sequence[]; problems: readonly string[]; data: Record<string, unknown> } {
  const report = new Report();
  const root = readYaml(wholeText(text), { file: FILE, report });
  const data = root === undefined ? {} : toJson(root);
  const node = valueAt(root, "sequences");
  if (node !== undefined) decode(SEQUENCES, node, { report, field: "sequences" });
  const objects = isRecord(data) && isRecord(data["objects"]) ? data["objects"] : {};
  const sequences = report.failed ? [] : readSequences(node, { report, names: Object.keys(objects) });
  return { sequences, problems: report.problems.map((problem) => formatProblem(problem)), data: data as Record<string, unknown> };
}

/** Runs every sequence of a text. */
async function playAll(text: string, options: PlayOptions = {}): Promise<readonly TestResult[]> {
  const { sequences, problems, data } = read(text);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const engine = await engineOf(data["config"], data["settings"]);
  const all: SequenceOptions = {
    engine,
    objects: data["objects"] as NamedObjects,
    reload: (reload) => engineOf(reload.config ?? data["config"], reload.settings ?? data["settings"]),
    matcher: async () => (pattern, value) => new RegExp(pattern, "u").test(value),
    ...options,
  };
  const results: TestResult[] = [];
  for (const sequence of sequences) results.push(await runSequence(sequence, all));
  return results;
}

/** Runs the only sequence of a text. */
export async function play(text: string, options: PlayOptions = {}): Promise<TestResult> {
  const results = await playAll(text, options);
  if (results.length !== 1) throw new Error(`Expected one sequence, found ${results.length}`);
  return results[0]!;
}

/** One sequence with these events, and what is expected: lists in YAML's flow style, without dashes. */
export function sequence(events: readonly string[], expectations: readonly string[], more = ""): string {
  const items = (list: readonly string[]) => list.map((item) => `      - ${item}`).join("\n");
  return `${more}sequences:\n  - it: shows something\n    events:\n${items(events)}\n    expect:\n${items(expectations)}\n`;
}

/** The messages of a result, with their places. */
export function messagesOf({ failures }: TestResult): readonly string[] {
  return failures.map(({ message, place }) => `${place.file}:${place.line}:${place.column} ${message}`);
}
