/**
 * The program that turns QuickJS's realm into the scope of expressions. It runs once, inside the engine, before any expression.
 *
 * Order matters: built-ins are captured and replaced first, everything reachable is frozen last.
 *
 * Guarantees for expressions:
 * - The global object cannot be reached. `globalThis` is a frozen look-alike: the engine lets `Object.defineProperty` change the
 *   properties of its real global object even when that is frozen.
 * - No code from text (`eval`, function constructors), no clock, no randomness.
 * - Nothing reachable can be changed, so no evaluation can leave anything for the next one.
 * - A frozen prototype does not prevent objects from having properties of the same name: the inherited properties are accessors that
 * define the property on the object itself (this avoids the "override mistake").
 *
 * @module
 */

import type { HostFunction } from "../../expression/functions/host-functions.ts";

/**
 * Returns the JavaScript source of a function `(global) => (wayOut) => tools`. The inner function is called with the way out of each host
 * function in order, and finally with undefined; then it returns `tools`: `parse`, `stringify`, `freezeParsed`, `withPath` and `describe`,
 * for the host only.
 */
export function realmSource(functions: readonly HostFunction[]): string {
  const ways = functions.map(({ name }) => `${name}Way`);
  const methods = functions.map(
    ({ name, signature, guest }, at) => `${name}(${parametersOf(signature)}) {${guest.replaceAll("host(", `${ways[at]!}(`)}\n  },`,
  );
  return String.raw`((global) => { "use strict"; const waysOut = []; return (wayOut) => {
if (wayOut !== undefined) return void (waysOut[waysOut.length] = wayOut); const [${ways.join(", ")}] = waysOut;
const { parse, stringify } = JSON;
const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, deleteProperty, construct } = Reflect;
const { freeze, values } = Object;
const { isArray } = Array;
const hide = (object, key, value) => defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true });
const refuse = (name, message) => ({ [name](...args) { throw new TypeError(message); } })[name];

// Code from text.
const noCode = function Function() { throw new TypeError("Function() is not available: an expression cannot make code from text"); };
noCode.prototype = Function.prototype;
// Asynchronous functions have no prototype here: without promises the engine has not set them up.
for (const sample of [function () {}, function* () {}, async function () {}, async function* () {}]) {
  if (getPrototypeOf(sample) !== null) hide(getPrototypeOf(sample), "constructor", noCode);
}
hide(global, "Function", noCode);

// Time and chance.
const RealDate = Date;
const noClock = "the current time is not available: an expression must always give the same result";
const PureDate = function Date(...args) {
  if (new.target === undefined) throw new TypeError(noClock);
  if (args.length === 0) throw new TypeError(noClock);
  return construct(RealDate, args, new.target);
};
defineProperty(PureDate, "length", { value: 7 });
PureDate.prototype = RealDate.prototype;
defineProperty(PureDate, "prototype", { writable: false });
hide(PureDate, "parse", RealDate.parse);
hide(PureDate, "UTC", RealDate.UTC);
hide(PureDate, "now", refuse("now", noClock));
hide(RealDate.prototype, "constructor", PureDate);
hide(global, "Date", PureDate);
hide(Math, "random", refuse("random", "randomness is not available: an expression must always give the same result"));

// Methods are called directly: nobody can have replaced them at run time.
const badText = (message) => {
  const error = new Error(message);
  hide(error, "name", "InvalidCharacterError");
  return error;
};
// A text in one piece, which the host can read. Not ("" + text), which asks valueOf first; not String(text), which accepts symbols.
const flat = (text) => "".concat(text).slice(0);
const needText = (name, count) => {
  if (count === 0) throw new TypeError(name + "() needs a text");
};
const builtins = {
  ${methods.join("\n  ")}
};
for (const name of ownKeys(builtins)) hide(global, name, builtins[name]);

// Calls that nest too deep end in the one, parsers of JSON and of regular expressions in the other.
const deepCall = global.InternalError.prototype;
const deepText = SyntaxError.prototype;

// What stays of the globals; the rest goes.
const KEPT = new Set(["AggregateError", "Array", "BigInt", "Boolean", "Date", "Error", "EvalError", "Function", "Infinity", "Iterator", "JSON",
  "Map", "Math", "NaN", "Number", "Object", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "String", "Symbol", "SyntaxError",
  "TypeError", "URIError", "WeakMap", "WeakSet", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent",
  "escape", "isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape", ...ownKeys(builtins)]);
for (const key of ownKeys(global)) if (!KEPT.has(key)) deleteProperty(global, key);
const lookalike = {};
for (const key of ownKeys(global)) hide(lookalike, key, global[key]);
hide(lookalike, "globalThis", lookalike);
hide(global, "globalThis", lookalike);
for (const key of ["fileName", "lineNumber", "columnNumber"]) deleteProperty(Function.prototype, key);

// Everything reachable, also what only a call or syntax gives.
const roots = [
  lookalike, ...waysOut, function* () {}, (function* () {})(), [].values(), [].values().map((item) => item), ""[Symbol.iterator](), "a".matchAll(/a/g),
  new Map().entries(), new Set().entries(), Iterator.from({ next() {} }), Iterator.concat([]),
  (function () { return getOwnPropertyDescriptor(arguments, "callee").get; })(),
];
const reached = new Set();
const reach = (value) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || value === global || reached.has(value)) return;
  reached.add(value);
  reach(getPrototypeOf(value));
  for (const key of ownKeys(value)) {
    const property = getOwnPropertyDescriptor(value, key);
    reach(property.value);
    reach(property.get);
    reach(property.set);
  }
};
for (const root of roots) reach(root);

// Only these names are overridden in practice, and an accessor costs a call; on Object.prototype every name may be a key of data.
const OVERRIDDEN = new Set(["constructor", "toString", "toLocaleString", "valueOf", "name", "message"]);
const define = (object, key, property) => {
  if (!defineProperty(object, key, property)) throw new TypeError("'" + String(key) + "' is read-only");
};
const openToOverride = (owner, key) => {
  const { value, enumerable, configurable } = getOwnPropertyDescriptor(owner, key);
  if (!configurable || value === undefined) return;
  const accessors = {
    get [key]() { return value; },
    set [key](own) {
      const isNew = getOwnPropertyDescriptor(this, key) === undefined;
      define(this, key, isNew ? { value: own, writable: true, enumerable: true, configurable: true } : { value: own });
    },
  };
  const { get, set } = getOwnPropertyDescriptor(accessors, key);
  define(owner, key, { get: freeze(get), set: freeze(set), enumerable, configurable: false });
};
for (const object of reached) {
  if (getOwnPropertyDescriptor(object, "constructor") === undefined) continue;
  for (const key of ownKeys(object)) if (object === Object.prototype || OVERRIDDEN.has(key)) openToOverride(object, key);
}
for (const object of reached) freeze(object);
freeze(global);

const freezeDeep = (root) => {
  if (typeof root !== "object" || root === null) return root;
  const open = [root];
  for (let at = 0; at < open.length; at += 1) {
    const object = open[at];
    const items = isArray(object) ? object : values(object);
    const count = items.length;
    for (let index = 0; index < count; index += 1) {
      const item = items[index];
      if (typeof item === "object" && item !== null) open[open.length] = item;
    }
    freeze(object);
  }
  return root;
};
const { isError } = Error;
const textOf = (value) => { try { return String(value).slice(0, 2000); } catch { return "?"; } };
return {
  parse,
  stringify,
  freezeParsed: (text) => freezeDeep(parse(text)),
  withPath: (base, path) => freeze({ ...base, path }),
  describe(thrown) {
    try {
      if (typeof thrown !== "object" || thrown === null) return stringify({ name: "", message: textOf(thrown), stack: "" });
      const own = isError(thrown);
      const prototype = getPrototypeOf(thrown);
      const byEngine = own && (prototype === deepCall || prototype === deepText);
      return stringify({ name: textOf(thrown.name), message: textOf(thrown.message), stack: own ? textOf(thrown.stack) : "", byEngine });
    } catch {
      return "{}";
    }
  },
};
};
})`;
}

/** The names of the parameters that TypeScript declares. */
function parametersOf(signature: string): string {
  return [...signature.matchAll(/(\w+)\??: /g)].map(([, name]) => name).join(", ");
}
