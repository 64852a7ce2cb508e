/**
 * Parts of JavaScript that expressions do not have, and their replacements.
 *
 * @module
 */
import { HOST_FUNCTIONS } from "./functions/host-functions.ts";
import type { AnyNode } from "acorn";
import { EXPRESSION_DEPTH_MAX, type SyntaxStep, type SyntaxProblem } from "./syntax.ts";

const NOTHING_OUTSIDE = "An expression cannot access anything outside its scope; use `value`, `context` and the language's own functions";
const NO_CODE = "Write the code as part of the expression: an expression cannot make code from text";
const NO_WAITING = "There is nothing to await here; write the plain call";
const PLAIN_MEMBERS = "Use ordinary members, or a class without `extends`";
const NO_BINARY = "Use a list of numbers or a string";

/** Global names of JavaScript that expressions do not have, each with a hint. */
export const ABSENT_GLOBALS: ReadonlyMap<string, string> = new Map([
  ...["eval"].map((name) => [name, NO_CODE] as const),
  ...["Promise", "queueMicrotask"].map((name) => [name, NO_WAITING] as const),
  ...["Timeout", "Interval", "Immediate"].map((name) => [`set${name}`, NO_WAITING] as const),
  ...["require", "process", "module", "exports", "fetch", "console", "window", "self", "global", "document", "WebAssembly"].map(
    (name) => [name, NOTHING_OUTSIDE] as const,
  ),
  ...["ArrayBuffer", "SharedArrayBuffer", "DataView", "Atomics", "Buffer", "TextEncoder", "TextDecoder"].map(
    (name) => [name, NO_BINARY] as const,
  ),
  ...["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "BigInt64", "BigUint64", "Float16", "Float32", "Float64"].map(
    (name) => [`${name}Array`, NO_BINARY] as const,
  ),
  ["Proxy", "Use a plain object"],
  ["WeakRef", "Use the object itself"],
  ["FinalizationRegistry", "Use the object itself"],
  ["Intl", "Use toFixed and padStart, and compare with < and >"],
  ["Temporal", "Use new Date(text), which is in UTC"],
  ["performance", "Expressions must be deterministic, so they have no clock"],
  ["crypto", "Expressions must be deterministic, so they have no random numbers"],
]);

/** Names that an expression can use without declaring them. */
export const SCOPE: ReadonlySet<string> = new Set([
  ...["value", "valueExists", "context"],
  ...HOST_FUNCTIONS.map(({ name }) => name),
  ...[
    "AggregateError",
    "Array",
    "BigInt",
    "Boolean",
    "Date",
    "Error",
    "EvalError",
    "Function",
    "Infinity",
    "Iterator",
    "JSON",
    "Map",
    "Math",
  ],
  ...[
    "NaN",
    "Number",
    "Object",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "SyntaxError",
    "TypeError",
  ],
  ...["URIError", "WeakMap", "WeakSet", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "globalThis"],
  ...["isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape"],
]);

/** Returns the syntax problem of a node in an otherwise correct tree. Its offsets are those of the tree. */
export function refuseNode({ node, depth, inFunction }: SyntaxStep): SyntaxProblem | undefined {
  const offset = node.start;
  if (depth > EXPRESSION_DEPTH_MAX) return { message: `it is nested deeper than ${EXPRESSION_DEPTH_MAX} levels`, offset };
  if (node.type === "ImportExpression") return { message: "import is not available", offset, hint: NOTHING_OUTSIDE };
  if ("async" in node && node.async === true) return { message: "async functions are not available", offset, hint: NO_WAITING };
  if (stampsPrivateNames(node)) return { message: "a class that extends another cannot have private members", offset, hint: PLAIN_MEMBERS };
  if (node.type !== "Identifier") return undefined;
  if (node.name === "await") return { message: "await is not available", offset, hint: NO_WAITING };
  if (node.name === "arguments" && !inFunction) {
    return { message: "arguments is available inside a function only", offset, hint: "Use `value` and `context`" };
  }
  return undefined;
}

/**
 * Reports whether a class can add private names to objects that it did not create: the constructor of its parent can return any object, and
 * the engine adds private members even to frozen objects. On built-ins, they would remain and slow down later evaluations.
 */
function stampsPrivateNames(node: AnyNode): boolean {
  if (node.type !== "ClassExpression" && node.type !== "ClassDeclaration") return false;
  if (node.superClass === null || node.superClass === undefined) return false;
  return node.body.body.some((member) => "key" in member && !member.static && member.key.type === "PrivateIdentifier");
}
