/**
 * Advice for expressions that threw or returned an unusable value. The patterns match the engine's own messages.
 *
 * @module
 */
import { suggest } from "../../../base/suggest.ts";
import { operandBefore, type TextPosition } from "../../expression/excerpt.ts";
import { adviseOnName } from "../../expression/lints/name-advice.ts";
import type { Thrown } from "./outcome.ts";

/** Facts about a failure. */
export interface Circumstances {
  readonly text: string;
  readonly value: unknown;
  readonly place: TextPosition | undefined;
}

/**
 * Names the kind of a JSON value.
 *
 * @example
 * kindOf(["a"]); // "a list of 1"
 */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

const METHODS = {
  list: "at concat every filter find findIndex flat flatMap forEach includes indexOf join map pop push reduce reverse slice some sort".split(
    " ",
  ),
  text: (
    "at charAt concat endsWith includes indexOf lastIndexOf match matchAll padEnd padStart repeat replace replaceAll slice split " +
    "startsWith substring toLowerCase toUpperCase trim trimEnd trimStart"
  ).split(" "),
  number: ["toFixed", "toPrecision"],
};

/** Methods of other languages, and the names of these methods in JavaScript. */
const FOREIGN_METHODS: ReadonlyMap<string, string> = new Map([
  ["contains", "includes"],
  ["has", "includes"],
  ["hasPrefix", "startsWith"],
  ["hasSuffix", "endsWith"],
  ["lower", "toLowerCase"],
  ["upper", "toUpperCase"],
  ["strip", "trim"],
]);

type Rule = readonly [pattern: RegExp, advise: (match: RegExpExecArray, where: Circumstances) => string | undefined];

const RULES: readonly Rule[] = [
  [/^'([^']*)' is not defined/, ([, name]) => adviseOnName(name!)],
  [/^cannot read property (?:'(.*)' )?of (undefined|null)/, ([, name, absent], where) => adviseOnAbsent(name, absent!, where)],
  [/^cannot set property/, () => "Create the object first: ({...value, outer: {...value.outer, inner: 1}})"],
  [/not a function/, (_, where) => adviseOnCall(where)],
  [
    /is read-only|not extensible|could not delete/,
    () => "`context` and built-ins cannot be changed; return the new value: ({...value, key: 1})",
  ],
  [
    /not an object/,
    ({ input }, { value }) => (input === "not an object" ? `Check typeof value first: here it is ${kindOf(value)}` : undefined),
  ],
  [/is not iterable/, () => "Only lists, strings, Map and Set can be spread here; write Object.entries(…) for an object"],
  [/^invalid 'in' operand/, () => "`in` tests an object for a key; write includes for lists and strings"],
  [/^invalid 'instanceof'/, () => "Write typeof instead of instanceof, or Array.isArray(…) for a list"],
  [/^cannot convert bigint/, () => "Do not mix 1n with 1; write Number(…)"],
  [/^cannot convert symbol/, () => "Write symbol.description"],
  [/^cannot convert to object/, () => "null and undefined have no members; write … ?? {}"],
  [/^empty array/, () => "Give reduce an initial value: list.reduce((sum, one) => sum + one, 0)"],
  [/^Date value is NaN/, () => "Use a format such as `2024-02-29` or `2024-02-29T12:00:00Z`"],
  [/current time|randomness is not available/, () => "Use `value` and `context`"],
  [/^Function\(\) is not available/, () => "Write the code as part of the expression"],
  [/^atob\(\) takes base64/, () => "The text is not base64. atob() decodes base64; btoa() encodes text"],
  [/^btoa\(\) takes characters/, () => "Write btoa(unescape(encodeURIComponent(value))) to encode any text as UTF-8"],
  [/^virtualToHostDNS\(\) needs/, () => "Write virtualToHostDNS(String(value))"],
  [/^invalid (repeat|array|string) (count|length)/, () => "Write Math.max(0, …) around a number that can be negative"],
];

/** A hint for what an expression threw. */
export function adviseOnThrown({ name, message }: Thrown, where: Circumstances): string | undefined {
  for (const [pattern, advise] of RULES) {
    const match = pattern.exec(message);
    if (match !== null) return advise(match, where);
  }
  const called = name === "SyntaxError" && where.place !== undefined ? operandBefore(where.text, where.place) : undefined;
  return called === "JSON.parse" ? "The text is not JSON; quote plain text with JSON.stringify first, or use it as it is" : undefined;
}

function adviseOnAbsent(name: string | undefined, absent: string, { text, place }: Circumstances): string {
  const operand = place && operandBefore(text, place);
  if (operand === "this") return "There is no `this`; use `value` and `context`";
  if (operand === undefined || operand === absent) return "Use ?. to access the member, and ?? to set a default";
  const member = name !== undefined && /^[\p{L}_$][\w$]*$/u.test(name) ? `.${name}` : ".[…]";
  return `\`${operand}\` is ${absent} here; write ${operand}?${member} ?? "…"`;
}

function adviseOnCall({ text, place, value }: Circumstances): string | undefined {
  const callee = place && operandBefore(text, place);
  if (callee === undefined) return undefined;
  const dot = callee.lastIndexOf(".");
  if (dot < 0) return `\`${callee}\` is not a function`;
  const [owner, method] = [callee.slice(0, dot).replace(/\?$/, ""), callee.slice(dot + 1)];
  return owner === "value" ? `It has no ${method}(): ${adviseOnMethod(owner, method, value)}` : adviseOnMethod(owner, method, undefined);
}

/** Replacement for `owner.method(…)`; `value` is the value of the owner, if known. */
function adviseOnMethod(owner: string, method: string, value: unknown): string {
  if (method === "length") return `write ${owner}.length without parentheses`;
  const ways = [
    ...(METHODS.list.includes(method) ? waysToList(owner, value).map((list) => `${list}.${method}(…)`) : []),
    ...(METHODS.text.includes(method) ? waysToText(owner, method, value) : []),
    ...(METHODS.number.includes(method) ? [`Number(${owner}).${method}(…)`] : []),
  ];
  if (ways.length > 0) return `write ${ways.join(" or ")}`;
  const near = FOREIGN_METHODS.get(method) ?? suggest(method, Object.values(METHODS).flat());
  return near === undefined ? `\`${owner}.${method}\` is not a function` : `did you mean ${owner}.${near}(…)?`;
}

function waysToList(owner: string, value: unknown): string[] {
  if (typeof value === "string") return [`${owner}.split(",")`];
  return [`Object.values(${owner})`, ...(value === undefined ? [`${owner}.split(",")`] : [])];
}

function waysToText(owner: string, method: string, value: unknown): string[] {
  const each = `${owner}.map((item) => item.${method}(…))`;
  if (Array.isArray(value)) return [each];
  return [`String(${owner}).${method}(…)`, ...(value === undefined ? [each] : [])];
}

/** Hints by the beginning of the description of an unusable result. */
const RESULTS: readonly (readonly [found: string, hint: string])[] = [
  ["undefined", "Return `value` to keep the value, null to delete the field, or append ?? and a default"],
  ["a function", "Call the function: (…)(value)"],
  ["a symbol", "Return its description"],
  ["a BigInt", "Write Number(…) or String(…)"],
  ["an object that is written as null", "The date or number is invalid; check its valueOf() with Number.isNaN"],
  ["a value that JSON cannot represent", "Leave out cycles and BigInts"],
  ["more than", "Return less"],
];

/** A hint for a result that is not a JSON value, given its kind. */
export function adviseOnResult(found: string): string {
  const hint = RESULTS.find(([start]) => found.startsWith(start))?.[1];
  return hint ?? "Check the operands with Number.isFinite. Common causes are a string operand and a division by zero";
}
