import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { SCOPE } from "../../../src/engine/expression/left-out.ts";
import { CONTEXT, createTestSandbox, readTable } from "./support.ts";

/**
 * Lists everything that can be reached from the names of the scope and from the hidden prototypes of what syntax makes: the path by
 * which it was reached first, and what it is.
 */
const WALK = `(() => {
  const paths = new Map(), queue = [], lines = [], loose = [];
  const add = (value, path) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || paths.has(value)) return;
    paths.set(value, path), queue.push(value);
  };
  const proto = Object.getPrototypeOf;
  add(globalThis, "globalThis");
  add(context, "context");
  const hidden = {
    function: function () {}, arrow: () => 1, method: { f() {} }.f, generatorFunction: function* () {}, class: class {}, generator: proto((function* () {})()),
    listIterator: [][Symbol.iterator](), textIterator: ""[Symbol.iterator](), mapIterator: new Map().keys(), setIterator: new Set().keys(),
    matchIterator: "a".matchAll(/a/g), iteratorHelper: [].values().map(x => x), wrappedIterator: Iterator.from({ next() {} }), joinedIterator: Iterator.concat([1]), regExp: /a/, template: (t => t)\`a\`,
    boundFunction: (() => 1).bind(), accessor: Object.getOwnPropertyDescriptor({ get a() { return 1 } }, "a").get, bigInt: Object(1n), symbol: Object(Symbol()),
  };
  for (const [name, value] of Object.entries(hidden)) add(proto(value), "(" + name + ").__proto__");
  (function () {
    for (const key of Reflect.ownKeys(arguments)) {
      const { value, get } = Object.getOwnPropertyDescriptor(arguments, key);
      add(value, "(arguments)." + String(key)), add(get, "(arguments)." + String(key) + ".get");
    }
  })();
  for (const [name, value] of Object.entries(hidden)) if (typeof value === "function" && value.prototype) add(proto(value.prototype), "(" + name + ").prototype.__proto__");
  for (let at = 0; at < queue.length; at++) {
    const object = queue[at], path = paths.get(object);
    if (!Object.isFrozen(object)) loose.push(path);
    add(proto(object), path + ".__proto__");
    for (const key of Reflect.ownKeys(object)) {
      const name = path + (typeof key === "symbol" ? "[" + key.description + "]" : "." + key);
      const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
      lines.push(name + ": " + (get || set ? "accessor" : typeof value));
      for (const [part, suffix] of [[value, ""], [get, ".get"], [set, ".set"]]) add(part, name + suffix);
    }
  }
  return { lines: lines.sort(), loose };
})()`;

/**
 * Calls and constructs every function in reach with a few values, and lists those that give an object whose prototype is neither
 * frozen nor made by the call. That is how a hidden prototype shows that the walk does not know.
 */
const CALL_ALL = `(() => {
  const functions = new Set(), seen = new Set(), queue = [globalThis], loose = [];
  const generate = function* () { yield 1 };
  Object.freeze(generate.prototype);
  const isObject = (value) => (typeof value === "object" || typeof value === "function") && value !== null;
  const push = (value) => { if (isObject(value) && !seen.has(value)) seen.add(value), queue.push(value) };
  const samples = () => [undefined, 1, "ab", /a/g, [1, 2], { next() { return { done: true } } }, new Map([[1, 2]]), new Set([1]), [1][Symbol.iterator](), x => x, 1n, Symbol.iterator,
    generate(), new Date(0), Object(Symbol())];
  const check = (name, make) => {
    let made;
    try { made = make() } catch (error) { made = error }
    for (let depth = 0; isObject(made) && depth < 3; depth++) {
      const prototype = Object.getPrototypeOf(made);
      push(prototype);
      if (prototype !== null && !Object.isFrozen(prototype)) loose.push(name);
      try { made = made.next ? made.next().value : undefined } catch { made = undefined }
    }
  };
  for (let at = 0; at < queue.length; at++) {
    const object = queue[at];
    push(Object.getPrototypeOf(object));
    if (typeof object === "function") functions.add(object);
    for (const key of Reflect.ownKeys(object)) {
      const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
      push(value), push(get), push(set);
    }
  }
  for (const f of functions) {
    if (f === Reflect.setPrototypeOf || f === Object.setPrototypeOf || f === Object.create || f === Reflect.construct) continue;
    for (const self of samples()) for (const argument of [undefined, [1, 2], x => x, "a", { next() { return { done: true } } }]) check(f.name, () => Reflect.apply(f, self, [argument, argument]));
    for (const argument of samples()) check("new " + f.name, () => new f(argument));
  }
  return { called: functions.size, loose };
})()`;

let sandbox: Sandbox;
let reached: { lines: string[]; loose: string[] };

beforeAll(async () => {
  sandbox = await createTestSandbox({ limits: { fuel: 500_000_000 } });
  reached = sandbox.evaluate(sandbox.compile(WALK), { value: null, context: CONTEXT }).value as typeof reached;
});

describe("the realm", () => {
  test("makes nothing reachable that is not on the list", () => {
    expect(reached.lines).toEqual(readTable<string>("expressions", "reachable.json"));
  });

  test("makes nothing reachable that can be changed", () => {
    expect(reached.loose).toEqual([]);
  });

  test("makes no object whose prototype can be changed", () => {
    const { value } = sandbox.evaluate(sandbox.compile(CALL_ALL), { value: null, context: CONTEXT });
    expect(value).toEqual({ called: expect.any(Number) as number, loose: [] });
    expect((value as { called: number }).called).toBeGreaterThan(400);
  });

  test("knows the names that the check of expressions knows, and no other", () => {
    const names = reached.lines
      .filter((line) => /^globalThis\.[\w$]+:/.test(line))
      .map((line) => line.slice("globalThis.".length).split(":")[0]!);
    const local = ["value", "valueExists", "context"];
    expect(names.sort()).toEqual([...SCOPE].filter((name) => !local.includes(name)).sort());
  });

  test("is the same in every instance", async () => {
    const other = await createTestSandbox({ limits: { fuel: 500_000_000 } });
    expect(other.evaluate(other.compile(WALK), { value: null, context: CONTEXT }).value).toEqual(reached);
  });
});
