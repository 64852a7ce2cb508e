/**
 * An expression engine for tests of what stands around the engine: Node's own, without any protection. Every evaluation costs
 * one unit of fuel.
 */
import { createContext, runInContext, type Context } from "node:vm";
import { EngineError, messageOf } from "../../src/base/errors.ts";
import type { PatchEngine, PatchScope } from "../../src/engine/patch/types.ts";

type Run = (value: unknown, valueExists: true, context: unknown) => unknown;

/** Cost of one evaluation. */
const PLAIN_FUEL = 1;

/** Creates the engine; `toHostDns` answers `virtualToHostDNS`. */
export function createPlainEngine(toHostDns: (name: string) => string = (name) => name): PatchEngine {
  const realm = createContext({ atob, btoa, virtualToHostDNS: toHostDns });
  return {
    compile: (text) => compile(text, realm),
    evaluate: (expression, scope) => ({ value: evaluate(expression as Run, scope), fuel: PLAIN_FUEL }),
  };
}

function compile(text: string, realm: Context): Run {
  try {
    return runInContext(`"use strict"; (value, valueExists, context) => (${text}\n)`, realm) as Run;
  } catch (error) {
    throw new EngineError("EXPRESSION_SYNTAX", `Cannot parse expression: ${messageOf(error)}`);
  }
}

function evaluate(run: Run, { value, valueExists, context }: PatchScope): unknown {
  const result = call(() => run(structuredClone(value), valueExists, structuredClone(context)));
  const text = isJson(result) ? JSON.stringify(result) : undefined;
  if (text === undefined) throw fail("EXPRESSION_RESULT", "Cannot use the result: it is not a JSON value");
  return JSON.parse(text);
}

function call(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    // Errors of the other realm are no instances of this one's Error.
    throw fail("EXPRESSION_ERROR", String((error as { message?: unknown }).message ?? error));
  }
}

function isJson(value: unknown): boolean {
  return value === null || ["string", "boolean", "object"].includes(typeof value) || Number.isFinite(value);
}

function fail(code: "EXPRESSION_ERROR" | "EXPRESSION_RESULT", message: string): EngineError {
  return new EngineError(code, message, { details: { fuel: PLAIN_FUEL } });
}
