/**
 * Measures the highest cost of hostile texts and data: `npm run bench:worst`. The real patcher processes the objects with the default
 * limits. The CPU time of the thread is measured for each evaluation, which nothing can interrupt, and for each object. Prints the most
 * expensive ones. Fails above 50 ms for an evaluation or 300 ms for an object; the smallest of three times
 * counts, because machines are busy.
 *
 * `--rows N` prints N of each (default 10); `--factor N` allows N times as much, for slow machines.
 */
import { parseArgs } from "node:util";
import { resolveConfig } from "../src/engine/config/config.ts";
import type { KubeObject } from "../src/kube/object/types.ts";
import type { PatchEngine } from "../src/engine/patch/types.ts";
import { createPatcher } from "../src/engine/patcher.ts";
import { attackText, CATEGORIES, readAttacks } from "../test/engine/sandbox/attack.ts";
import { hostileShapes } from "./worst-shapes.ts";
import { HOSTILE_TEXTS } from "./worst-texts.ts";

const EVALUATION_MAX_MS = 50;
const OBJECT_MAX_MS = 300;
const ROUNDS = 3;
/** Values that a text is evaluated for in one object. */
const MATCHES = 250;

const { values } = parseArgs({
  options: { rows: { type: "string", default: "10" }, factor: { type: "string", default: "1" } },
});

interface Patch {
  readonly path: string;
  readonly expression: string;
}

interface Cost {
  readonly name: string;
  /** The whole object, and its dearest evaluation, in milliseconds of the thread. */
  readonly objectMs: number;
  readonly evaluationMs: number;
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Measures one object; undefined when the configuration is refused before anything runs. */
async function costOf(name: string, patches: readonly Patch[], tenant: KubeObject): Promise<Cost | undefined> {
  const resolved = resolveConfig({ sync: { toHost: { endpoints: { patches } } } });
  if (!resolved.ok) return undefined;
  const vcluster = { name: "blue", namespace: "vc-blue" };
  let evaluationMs = Number.POSITIVE_INFINITY;
  let objectMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    let dearest = 0;
    const instrument = (engine: PatchEngine): PatchEngine => ({
      compile: (text) => engine.compile(text),
      evaluate(expression, scope) {
        const before = threadMs();
        try {
          return engine.evaluate(expression, scope);
        } finally {
          dearest = Math.max(dearest, threadMs() - before);
        }
      },
    });
    const patcher = await createPatcher({ config: resolved.config, vcluster, instrument });
    const before = threadMs();
    patcher.toHost(tenant);
    objectMs = Math.min(objectMs, threadMs() - before);
    evaluationMs = Math.min(evaluationMs, dearest);
    patcher.dispose();
    if (objectMs < OBJECT_MAX_MS / 4 && evaluationMs < EVALUATION_MAX_MS / 4) break;
  }
  return { name, objectMs, evaluationMs };
}

function annotated(count: number): KubeObject {
  const annotations = Object.fromEntries(Array.from({ length: count }, (_, index) => [`example.com/a${index}`, `value-${index}`]));
  return { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", namespace: "shop", labels: { app: "web" }, annotations } };
}

async function costOfTexts(): Promise<readonly Cost[]> {
  const attacks = CATEGORIES.flatMap((category) =>
    readAttacks(category).map((attack) => ({ name: `${category}: ${attack.why}`, text: attackText(attack) })),
  );
  const costs: Cost[] = [];
  for (const { name, text } of [...attacks, ...HOSTILE_TEXTS]) {
    const cost = await costOf(name, [{ path: "metadata.annotations[*]", expression: text }], annotated(MATCHES));
    if (cost !== undefined) costs.push(cost);
  }
  return costs;
}

async function costOfShapes(): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const { name, patches, tenant } of hostileShapes()) {
    const cost = await costOf(name, patches, tenant);
    if (cost === undefined) throw new Error(`The patches of "${name}" are refused`);
    costs.push(cost);
  }
  return costs;
}

function print(title: string, costs: readonly Cost[], column: "objectMs" | "evaluationMs"): number {
  const sorted = costs.toSorted((one, other) => other[column] - one[column]);
  console.log(`\n${title} (${costs.length} cases)`);
  for (const { name, [column]: ms } of sorted.slice(0, Number(values.rows))) console.log(`${ms.toFixed(1).padStart(8)} ms  ${name}`);
  return sorted[0]![column];
}

const all = [
  { what: "texts", costs: await costOfTexts() },
  { what: "data", costs: await costOfShapes() },
];
for (const { what, costs } of all) {
  const evaluation = print(`Dearest evaluation, ${what}`, costs, "evaluationMs");
  const object = print(`Dearest object, ${what}`, costs, "objectMs");
  const factor = Number(values.factor);
  if (evaluation > EVALUATION_MAX_MS * factor || object > OBJECT_MAX_MS * factor) process.exitCode = 1;
}
