/**
 * Other ways to run an expression, with which the sandbox and patch benches compare this package. None of them is as safe: see the
 * decision about the metered engine.
 *
 * @module
 */
import vm from "node:vm";
import { getQuickJS, type QuickJSContext, type QuickJSWASMModule, shouldInterruptAfterDeadline } from "quickjs-emscripten";
import type { EvaluationContext } from "../src/engine/sandbox/sandbox.ts";
import { type IsolatedVm, loadPeer } from "./peers.ts";

/** Runs one expression. */
export type Run = (value: unknown, context: EvaluationContext) => unknown;

/** An engine: makes a runner of each expression. */
export interface Peer {
  readonly name: string;
  compile(text: string): Run;
}

/** An engine that takes many values at once, since every call of it costs more than a value does. */
export interface BatchPeer extends Peer {
  compileBatch(text: string): (values: readonly unknown[], context: EvaluationContext) => unknown;
}

/** Result of `virtualToHostDNS` in engines that call the host for it. */
export type Dns = (name: string) => string;

/** The time that peers with a time limit give one evaluation, in milliseconds. A shorter one ends good ones where others use the machine. */
const TIMEOUT_MS = 1000;
const MEMORY_BYTES = 32 * 1024 * 1024;

export const NAIVE = "quickjs-emscripten, naive";
export const ISOLATE = "isolated-vm, function and context kept";
export const ISOLATE_BATCH = "isolated-vm, one call for all";

/** quickjs-emscripten by its high-level interface: a runtime and a realm for each evaluation, JSON in, `dump` out. */
export async function naiveQuickJs(dns: Dns): Promise<Peer> {
  const quickjs = await getQuickJS();
  return { name: NAIVE, compile: (text) => (value, context) => evaluateNaively(quickjs, { text, value, context, dns }) };
}

function evaluateNaively(
  quickjs: QuickJSWASMModule,
  { text, value, context, dns }: { text: string; value: unknown; context: EvaluationContext; dns: Dns },
): unknown {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(MEMORY_BYTES);
  runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + TIMEOUT_MS));
  const realm = runtime.newContext();
  try {
    for (const [name, call] of Object.entries({ atob, btoa, virtualToHostDNS: dns })) defineFunction(realm, name, call);
    defineJson(realm, "value", value);
    defineJson(realm, "context", context);
    return realm.unwrapResult(realm.evalCode(text)).consume((handle) => realm.dump(handle) as unknown);
  } finally {
    realm.dispose();
    runtime.dispose();
  }
}

function defineFunction(realm: QuickJSContext, name: string, call: (text: string) => string): void {
  realm
    .newFunction(name, (text) => realm.newString(call(realm.getString(text))))
    .consume((handle) => realm.setProp(realm.global, name, handle));
}

function defineJson(realm: QuickJSContext, name: string, value: unknown): void {
  const json = realm.getProp(realm.global, "JSON");
  const parse = realm.getProp(json, "parse");
  const text = realm.newString(JSON.stringify(value));
  realm.unwrapResult(realm.callFunction(parse, json, text)).consume((handle) => realm.setProp(realm.global, name, handle));
  for (const handle of [text, parse, json]) handle.dispose();
}

/**
 * isolated-vm with nothing recreated: one isolate and realm, the function and the context kept in it, a time limit. Safe from the
 * expression's reach, not from what it leaves for the next one. `virtualToHostDNS` is in the isolate and knows short names only.
 */
export async function isolatedVm(): Promise<BatchPeer | undefined> {
  const ivm = await loadPeer<IsolatedVm>("isolated-vm");
  if (ivm === undefined) return undefined;
  const realm = new ivm.Isolate({ memoryLimit: 32 }).createContextSync();
  const keep = (code: string) => realm.evalSync(code, { reference: true });
  const contexts = new Map<unknown, ReturnType<typeof keep>>();
  const known = (context: EvaluationContext) => {
    const kept = contexts.get(context.virtualObject) ?? keep(`(${JSON.stringify(context)})`);
    contexts.set(context.virtualObject, kept);
    return kept;
  };
  keep(`globalThis.virtualToHostDNS = ${SHORT_DNS}`);
  const copies = { arguments: { copy: true }, result: { copy: true } };
  return {
    name: ISOLATE,
    compile(text) {
      const call = keep(`(value, context) => (${text}\n)`);
      return (value, context) => call.applySync(undefined, [value, known(context).derefInto()], { timeout: TIMEOUT_MS });
    },
    compileBatch(text) {
      const call = keep(`(values, context) => values.map((value) => (${text}\n))`);
      return (values, context) => call.applySync(undefined, [values, known(context).derefInto()], { timeout: TIMEOUT_MS, ...copies });
    },
  };
}

const SHORT_DNS = `(name) => {
  const [service, namespace, svc, ...domain] = name.split(".");
  if (svc !== "svc") throw new Error("no DNS name of a Service");
  return service + "-x-" + namespace + "-x-blue.team-a.svc." + (domain.length === 0 ? "cluster.local" : domain.join("."));
}`;

/** node:vm with a script that was compiled once. No security boundary, says its documentation. */
export function nodeVm(dns: Dns, { timeout }: { timeout: boolean }): Peer {
  const globals: Record<string, unknown> = { atob, btoa, virtualToHostDNS: dns };
  const realm = vm.createContext(globals);
  const options = timeout ? { timeout: TIMEOUT_MS } : {};
  return {
    name: timeout ? "node:vm, script kept, timeout" : "node:vm, script kept",
    compile(text) {
      const script = new vm.Script(`(${text}\n)`);
      return (value, context) => {
        globals["value"] = value;
        globals["context"] = context;
        return script.runInContext(realm, options) as unknown;
      };
    },
  };
}

/** No protection at all: the expression as a function of this process. */
export function plainFunctions(dns: Dns): Peer {
  return {
    name: "plain function",
    compile(text) {
      const make = vm.runInThisContext(`(virtualToHostDNS) => (value, context) => (${text}\n)`) as (dns: Dns) => Run;
      return make(dns);
    },
  };
}
