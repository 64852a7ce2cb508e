/**
 * The program that turns QuickJS's realm into the scope of expressions. It runs once, inside the engine, before any expression.
 *
 * Order matters: built-ins are captured and replaced first, everything reachable is frozen last.
 *
 * Guarantees for expressions:
 * - The global object is out of reach. `globalThis` is a frozen look-alike: the engine lets `Object.defineProperty` change the
 *   properties of its real global object even when that is frozen.
 * - No code from text (`eval`, function constructors), no clock, no randomness.
 * - Nothing reachable can be changed, so no evaluation can leave anything for the next one.
 * - A frozen prototype does not forbid a property of the same name on an object of one's own: the inherited ones are accessors
 *   that define it there ("override mistake").
 *
 * @module
 */

/**
 * JavaScript source of a function `(global, callHost) => tools`. `tools` are `parse`, `stringify`, `freezeParsed`, `withPath`
 * and `describe`, for the host only.
 */
export const REALM_SOURCE = String.raw`(function (global, callHost) {
"use strict";
const { parse, stringify } = JSON;
const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, deleteProperty, construct } = Reflect;
const { freeze } = Object;
const hide = (object, key, value) => defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true });
const refuse = (name, message) => ({ [name](...args) { throw new TypeError(message); } })[name];

// Code from text.
const noCode = function Function() { throw new TypeError("Function() is not available: an expression can not make code from text"); };
noCode.prototype = Function.prototype;
// Asynchronous functions have no prototype here: without promises the engine has not set them up.
for (const sample of [function () {}, function* () {}, async function () {}, async function* () {}]) {
  if (getPrototypeOf(sample) !== null) hide(getPrototypeOf(sample), "constructor", noCode);
}
hide(global, "Function", noCode);

// Time and chance.
const RealDate = Date;
const noClock = "the current time is not available: an expression must always give the same answer";
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
hide(Math, "random", refuse("random", "chance is not available: an expression must always give the same answer"));

// Base64 of Latin-1 text, as the HTML standard has it. Methods are called directly: nobody can have replaced them at run time.
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAIRS = [];
for (const high of DIGITS) for (const low of DIGITS) PAIRS[PAIRS.length] = high + low;
const VALUES = [];
for (let code = 0; code < 128; code += 1) VALUES[code] = DIGITS.indexOf(String.fromCharCode(code));
const { fromCharCode } = String;
const BLANKS = /[\t\n\f\r ]/g;
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const badText = (message) => {
  const error = new Error(message);
  hide(error, "name", "InvalidCharacterError");
  return error;
};
const needText = (name, count) => {
  if (count === 0) throw new TypeError(name + "() needs a text");
};
const checkLatin1 = (codes) => {
  if (codes > 255) throw badText("btoa() takes characters up to U+00FF");
};
const builtins = {
  btoa(text) {
    needText("btoa", arguments.length);
    // Not ("" + text), which asks valueOf first; not String(text), which accepts symbols.
    const input = "".concat(text), rest = input.length % 3, whole = input.length - rest;
    let out = "";
    for (let at = 0; at < whole; at += 3) {
      const first = input.charCodeAt(at), second = input.charCodeAt(at + 1), third = input.charCodeAt(at + 2);
      if ((first | second | third) > 255) checkLatin1(first | second | third);
      const bits = (first << 16) | (second << 8) | third;
      out += PAIRS[bits >> 12] + PAIRS[bits & 4095];
    }
    if (rest === 0) return out;
    const first = input.charCodeAt(whole), second = rest === 2 ? input.charCodeAt(whole + 1) : 0;
    checkLatin1(first | second);
    const bits = (first << 10) | (second << 2);
    return out + PAIRS[bits >> 6] + (rest === 2 ? DIGITS[bits & 63] + "=" : "==");
  },
  atob(text) {
    needText("atob", arguments.length);
    let input = "".concat(text).replace(BLANKS, "");
    if (input.length % 4 === 0 && input.endsWith("=")) input = input.slice(0, input.endsWith("==") ? -2 : -1);
    const rest = input.length % 4, whole = input.length - rest;
    if (rest === 1 || NOT_BASE64.test(input)) throw badText("atob() takes base64 text");
    const digit = (at) => VALUES[input.charCodeAt(at)];
    let out = "";
    for (let at = 0; at < whole; at += 4) {
      const bits =
        (VALUES[input.charCodeAt(at)] << 18) | (VALUES[input.charCodeAt(at + 1)] << 12) |
        (VALUES[input.charCodeAt(at + 2)] << 6) | VALUES[input.charCodeAt(at + 3)];
      out += fromCharCode(bits >> 16, (bits >> 8) & 255, bits & 255);
    }
    if (rest === 2) out += fromCharCode((digit(whole) << 2) | (digit(whole + 1) >> 4));
    if (rest === 3) {
      const bits = (digit(whole) << 10) | (digit(whole + 1) << 4) | (digit(whole + 2) >> 2);
      out += fromCharCode(bits >> 8, bits & 255);
    }
    return out;
  },
  virtualToHostDNS(name) {
    if (typeof name !== "string") throw new TypeError("virtualToHostDNS() needs a string");
    // The host reads strings that are in one piece; the engine keeps only long ones in several.
    const answer = callHost(name.length < 256 ? name : parse(stringify(name)));
    if (answer.charCodeAt(0) === 33) throw new Error(answer.slice(1));
    return answer;
  },
};
for (const name of ownKeys(builtins)) hide(global, name, builtins[name]);

// What stays of the globals; the rest goes.
const KEPT = new Set(["AggregateError", "Array", "BigInt", "Boolean", "Date", "Error", "EvalError", "Function", "Infinity", "Iterator", "JSON",
  "Map", "Math", "NaN", "Number", "Object", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "String", "Symbol", "SyntaxError",
  "TypeError", "URIError", "WeakMap", "WeakSet", "atob", "btoa", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent",
  "escape", "isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape", "virtualToHostDNS"]);
for (const key of ownKeys(global)) if (!KEPT.has(key)) deleteProperty(global, key);
const lookalike = {};
for (const key of ownKeys(global)) hide(lookalike, key, global[key]);
hide(lookalike, "globalThis", lookalike);
hide(global, "globalThis", lookalike);
for (const key of ["fileName", "lineNumber", "columnNumber"]) deleteProperty(Function.prototype, key);

// Everything reachable, also what only a call or syntax gives.
const roots = [
  lookalike, callHost, function* () {}, (function* () {})(), [].values(), [].values().map((item) => item), ""[Symbol.iterator](), "a".matchAll(/a/g),
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
  const open = [root];
  for (let at = 0; at < open.length; at += 1) {
    const object = open[at];
    if (typeof object !== "object" || object === null) continue;
    const keys = ownKeys(object);
    for (let index = 0; index < keys.length; index += 1) open[open.length] = object[keys[index]];
    freeze(object);
  }
  return root;
};
const textOf = (value) => { try { return String(value).slice(0, 2000); } catch { return "?"; } };
return {
  parse,
  stringify,
  freezeParsed: (text) => freezeDeep(parse(text)),
  withPath: (base, path) => freeze({ ...base, path }),
  describe(thrown) {
    try {
      if (typeof thrown !== "object" || thrown === null) return stringify({ name: "", message: textOf(thrown), stack: "" });
      return stringify({ name: textOf(thrown.name), message: textOf(thrown.message), stack: textOf(thrown.stack) });
    } catch {
      return "{}";
    }
  },
};
})`;
