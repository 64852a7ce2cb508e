/**
 * Measured cost of expressions. Nothing here needs Node: a browser runs the same file.
 *
 * @module
 */
import { EngineError } from "../../../src/base/errors.ts";
import { createFuelBudget, createSandbox, type EvaluationContext, type Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { findDifferencesOfFourth } from "./fourth-function.ts";

/** A row of `fixtures/expressions/fuel.json`. */
export interface FuelRow {
  readonly expression: string;
  /** JSON data. Default "abc". */
  readonly value?: unknown;
  /** How many addresses `context.virtualObject` has. Default 1. */
  readonly addresses?: number;
  /** The answer as JSON text, or a code. */
  readonly answer: string;
  /** Steps of the evaluation. */
  readonly fuel: number;
  /** Steps of compiling the expression. */
  readonly compileFuel: number;
}

/** Input of a row. */
export type FuelCase = Pick<FuelRow, "expression" | "value" | "addresses">;

const COMPILE_BUDGET = 200_000_000;

/** Evaluates the cases, each once, in a sandbox of their own. */
export async function measureFuel(cases: readonly FuelCase[]): Promise<FuelRow[]> {
  const run = { sandbox: await createSandbox({ toHostDns }), compileFuel: new Map<string, number>() };
  return cases.map((row) => ({ ...row, ...measure(row, run) }));
}

/** The cases that do not have the answer and the fuel that the table says, in words; among them one of a function that only tests have. */
export async function findDifferences(rows: readonly FuelRow[]): Promise<string[]> {
  const measured = await measureFuel(rows.map(({ answer, fuel, compileFuel, ...row }) => row));
  const say = ({ answer, fuel, compileFuel }: FuelRow) => `${answer} for ${fuel} steps, compiled in ${compileFuel}`;
  const differences = rows.flatMap((row, index) => {
    const [want, got] = [say(row), say(measured[index]!)];
    return want === got ? [] : [`${row.expression}: expected ${want}, got ${got}`];
  });
  return [...differences, ...(await findDifferencesOfFourth())];
}

interface Run {
  readonly sandbox: Sandbox;
  /** A text costs only the first time. */
  readonly compileFuel: Map<string, number>;
}

function measure({ expression, value = "abc", addresses = 1 }: FuelCase, { sandbox, compileFuel }: Run): Omit<FuelRow, keyof FuelCase> {
  const budget = createFuelBudget(COMPILE_BUDGET);
  const compile = () => {
    const compiled = sandbox.compile(expression, { budget });
    if (!compileFuel.has(expression)) compileFuel.set(expression, budget.limit - budget.remaining);
    return compiled;
  };
  const compiledIn = () => compileFuel.get(expression) ?? 0;
  try {
    const got = sandbox.evaluate(compile(), { value, context: contextWith(addresses) });
    return { answer: JSON.stringify(got.value), fuel: got.fuel, compileFuel: compiledIn() };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { answer: error.code, fuel: (error.details["fuel"] as number | undefined) ?? 0, compileFuel: compiledIn() };
  }
}

function contextWith(addresses: number): EvaluationContext {
  return {
    vcluster: { name: "my-vcluster", namespace: "team-x", config: { sync: { toHost: { endpoints: { enabled: true } } } } },
    hostObject: null,
    virtualObject: {
      metadata: { name: "web", namespace: "default", labels: { app: "web", "app.kubernetes.io/name": "nginx" } },
      subsets: [{ addresses: Array.from({ length: addresses }, (_, index) => addressOf(index)), ports: [{ name: "http", port: 80 }] }],
    },
    path: "subsets[0].addresses[0].ip",
  };
}

function addressOf(index: number): object {
  return { ip: `10.0.${index >> 8}.${index & 255}`, nodeName: `node-${index % 7}`, targetRef: { kind: "Pod", name: `web-${index}` } };
}

function toHostDns(name: string): string {
  const parts = /^([^.]+)\.([^.]+)\.svc$/.exec(name);
  if (parts === null) throw new EngineError("DNS_NAME_INVALID", `Cannot translate DNS name ${JSON.stringify(name)}`);
  return `${parts[1]}-x-${parts[2]}-x-my-vcluster.team-x.svc.cluster.local`;
}
