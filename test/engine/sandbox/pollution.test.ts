import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { attackText, attackValue, readAttacks, type Attack } from "./attack.ts";
import { CONTEXT, answer, createTestSandbox } from "./support.ts";

/**
 * Lists everything in reach with what it is: the source of functions, the value of data, whether it can be changed, what it inherits
 * from. Private names do not show; their traces show in the steps that the list takes.
 */
const PROBE = `(() => {
  const numbers = new Map(), queue = [], lines = [];
  const isObject = (value) => (typeof value === "object" || typeof value === "function") && value !== null;
  const name = (value) => {
    if (!isObject(value)) return typeof value + " " + String(value);
    if (!numbers.has(value)) numbers.set(value, numbers.size), queue.push(value);
    return "#" + numbers.get(value);
  };
  const proto = Object.getPrototypeOf;
  const roots = [globalThis, context, proto(proto([][Symbol.iterator]())), proto(""[Symbol.iterator]()), proto("a".matchAll(/a/g)), proto(new Map().keys()),
    proto(new Set().keys()), proto(function* () {}), proto([].values().map(x => x)), proto(Iterator.from({ next() {} })), proto(Iterator.concat([1])),
    (function () { return Object.getOwnPropertyDescriptor(arguments, "callee").get })()];
  for (const root of roots) name(root);
  for (let at = 0; at < queue.length; at++) {
    const object = queue[at];
    const source = typeof object === "function" ? Function.prototype.toString.call(object) : "";
    lines.push("#" + at, Object.isFrozen(object), name(proto(object)), source);
    for (const key of Reflect.ownKeys(object)) {
      const { value, get, set, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(object, key);
      lines.push(String(key), name(value), name(get), name(set), writable, enumerable, configurable);
    }
  }
  const fresh = [{}, [], "", 0, true, 1n, Symbol(), () => 1, /a/, new Date(0), new Map(), new Error("x")];
  for (const one of fresh) { const keys = []; for (const key in one) keys.push(key); lines.push(keys.join(), [].concat(one).length, typeof one.toJSON) }
  lines.push(JSON.stringify([, 1]), [..."ab"].join(), String(/(a)/.exec("a")), ("a" + {} + [1]), 1 instanceof Object, JSON.stringify(context));
  return lines;
})()`;

const ATTEMPTS_MIN = 100;
const FUEL = 50_000_000;

/** Attempts to leave something behind; intended behavior is no attempt. */
const attempts = [...readAttacks("pollution"), ...readAttacks("escape")].filter(({ mechanism }) => mechanism !== undefined);

let polluted: Sandbox;
let atRest: unknown;

beforeAll(async () => {
  polluted = await createTestSandbox({ limits: { fuel: FUEL } });
  atRest = probe(await createTestSandbox({ limits: { fuel: FUEL } }));
});

function probe(sandbox: Sandbox): unknown {
  return sandbox.evaluate(sandbox.compile(PROBE), { value: "abc", context: CONTEXT });
}

describe("an attempt to leave something for the next evaluation", () => {
  test("is made in at least 100 ways that run", () => {
    const run = readAttacks("pollution").filter(({ want, mechanism }) => mechanism !== undefined && !isRefused(want));
    expect(run.length).toBeGreaterThanOrEqual(ATTEMPTS_MIN);
  });

  test.each(attempts)("changes nothing in reach: $why", (attempt) => {
    answer(polluted, attackText(attempt), attackValue(attempt));
    expect(same(probe(polluted), atRest)).toBe(true);
  });

  test("changes nothing, even in combination with all the others in one instance", async () => {
    const sandbox = await createTestSandbox({ limits: { fuel: FUEL } });
    for (const attempt of attempts) answer(sandbox, attackText(attempt), attackValue(attempt));
    expect(probe(sandbox)).toEqual(atRest);
  });
});

function isRefused(want: Attack["want"]): boolean {
  return "code" in want && want.code === "EXPRESSION_SYNTAX";
}

/** Comparison of the long lists, without their texts in a report of each attempt. */
function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
