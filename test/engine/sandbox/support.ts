/** Shared setting of the sandbox tests: one world, and how a row of a table is run in it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EngineError, isEngineError } from "../../../src/base/errors.ts";
import type { EvaluationContext } from "../../../src/engine/sandbox/context.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "../../../src/engine/sandbox/sandbox.ts";

export const CONTEXT: EvaluationContext = {
  vcluster: { name: "my-vcluster", namespace: "team-x", config: { sync: { toHost: { endpoints: { enabled: true } } } } },
  hostObject: null,
  virtualObject: {
    metadata: { name: "web", namespace: "default", labels: { app: "web", "app.kubernetes.io/name": "nginx" }, annotations: {} },
    spec: {
      containers: [
        { name: "a", image: "nginx:1" },
        { name: "b", image: "redis:7" },
      ],
    },
  },
  path: "spec.containers[0].image",
};

/** The single-namespace rule, as far as short names need it. */
export function toHostDns(name: string): string {
  const parts = /^([^.]+)\.([^.]+)\.svc(?:\.(.+))?$/.exec(name);
  if (parts === null) throw new EngineError("DNS_NAME_INVALID", `Cannot translate DNS name ${JSON.stringify(name)}`);
  return `${parts[1]}-x-${parts[2]}-x-my-vcluster.team-x.svc.${parts[3] ?? "cluster.local"}`;
}

export function createTestSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  return createSandbox({ toHostDns, ...options });
}

/** Result of an evaluation: a value, or the code of an error. */
export type Answer = { readonly value: unknown } | { readonly code: string };

/** Evaluates `text`; errors with a code become answers, everything else fails the test. */
export function answer(sandbox: Sandbox, text: string, value: unknown = "abc", context: EvaluationContext = CONTEXT): Answer {
  try {
    return { value: sandbox.evaluate(sandbox.compile(text), { value, context }).value };
  } catch (error) {
    if (isEngineError(error) && error.code.startsWith("EXPRESSION_")) return { code: error.code };
    throw error;
  }
}

/** The error that evaluating `text` throws. */
export function failureOf(sandbox: Sandbox, text: string, value: unknown = "abc"): EngineError {
  try {
    sandbox.evaluate(sandbox.compile(text), { value, context: CONTEXT });
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error(`${text} did not fail`);
}

/** A table of fixtures. */
export function readTable<Row>(...path: string[]): Row[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../../../fixtures", ...path), "utf8")) as Row[];
}
