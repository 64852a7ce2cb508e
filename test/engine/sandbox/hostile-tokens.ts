/** The smallest parts of hostile expressions: every built-in in reach, keys, literals, patterns and operators. */
import type { Chance } from "../../../src/base/chance.ts";
import { below, pick, type Terminals } from "./grammar.ts";
import { readTable } from "./support.ts";

/** Code that gives the things by whose names the list of everything in reach begins. */
const ROOTS: Readonly<Record<string, string>> = {
  function: "(function () {})",
  generator: "Object.getPrototypeOf((function* () {})())",
  generatorFunction: "(function* () {})",
  iteratorHelper: "[].values().map(x => x)",
  joinedIterator: "Iterator.concat([1])",
  listIterator: "[][Symbol.iterator]()",
  mapIterator: "new Map().keys()",
  matchIterator: '"a".matchAll(/a/g)',
  regExp: "/a/",
  setIterator: "new Set().keys()",
  symbol: "Object(Symbol())",
  template: "(t => t)`a`",
  textIterator: '""[Symbol.iterator]()',
  wrappedIterator: "Iterator.from({ next() {} })",
};

/** Every function in reach, as code. */
const BUILTINS = readTable<string>("expressions", "reachable.json")
  .filter((line) => line.endsWith(": function") && !/\.[gs]et:|^context/.test(line))
  .map((line) => line.slice(0, -": function".length).replace(/^\((\w+)\)/, (all, name: string) => ROOTS[name] ?? all))
  .filter((path) => !path.startsWith("(class)") && !path.startsWith("(a"));

const STRINGS = [
  "",
  "a",
  "ab",
  "aaaaaaaaaaaaaaaaaaaaaaaa",
  "svc.ns.svc",
  "[[1],{}]",
  "\\0",
  "\\ud800",
  "\\u0130",
  "\\u20ac",
  "$&$`$1",
  "gimsuy",
  "g",
  "(",
  "length",
];
const KEYS = [
  "a",
  "b",
  "length",
  "constructor",
  "prototype",
  "__proto__",
  "toString",
  "valueOf",
  "toJSON",
  "name",
  "lastIndex",
  "exec",
  "flags",
  "next",
  "raw",
  "message",
  "stack",
  "map",
  "push",
  "n",
];
const FLAGS = ["", "", "g", "i", "y", "s", "m", "d", "gi", "gs", "u", "gu"];
const ATOMS = [
  "a",
  "b",
  ".",
  "\\w",
  "\\d",
  "\\s",
  "\\b",
  "^",
  "$",
  "[a-z]",
  "[^a]",
  "\\1",
  "\\u0061",
  "()",
  "(?:)",
  "x",
  "\\S",
  "\\B",
  "[]",
  "[\\s\\S]",
  "\\k<n>",
];
const QUANTIFIERS = ["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{0,3}", "{1,}", "{1000}", "{2,1000000}"];

function pattern(chance: Chance, depth = 3): string {
  const form = below(chance, depth > 0 ? 9 : 3);
  const inner = () => pattern(chance, depth - 1);
  if (form < 3) return pick(chance, ATOMS) + (form === 0 ? "" : pick(chance, QUANTIFIERS));
  if (form < 5) return inner() + inner();
  if (form === 5) return `(${inner()})${pick(chance, QUANTIFIERS)}`;
  if (form === 6) return `(?:${inner()}|${inner()})${pick(chance, QUANTIFIERS)}`;
  if (form === 7) return `(${pick(chance, ["?=", "?!", "?<=", "?<!", "?:"])}${inner()})`;
  return `(?<n>${inner()})${pick(chance, QUANTIFIERS)}`;
}

function integer(chance: Chance): string {
  const digits = pick(chance, [1, 1, 1, 1, 2, 2, 3, 4, 6, 9]);
  return String(below(chance, 10 ** digits));
}

export const TERMINALS: Terminals = {
  int: integer,
  big: (chance) => `${integer(chance)}n`,
  string: (chance) => `"${pick(chance, STRINGS)}"`,
  key: (chance) => pick(chance, KEYS),
  builtin: (chance) => pick(chance, BUILTINS),
  pattern: (chance) => pattern(chance).replace(/^\*/, "a"),
  flags: (chance) => pick(chance, FLAGS),
  binary: (chance) =>
    pick(chance, [
      "+",
      "-",
      "*",
      "/",
      "%",
      "**",
      "<",
      "<=",
      "===",
      "==",
      "!=",
      "&&",
      "||",
      "&",
      "|",
      "^",
      "<<",
      ">>",
      ">>>",
      "in",
      "instanceof",
    ]),
  arith: (chance) => pick(chance, ["+", "-", "*", "/", "%", "**", "&", "|", "<<", ">>"]),
  unary: (chance) => pick(chance, ["!", "-", "+", "~", "typeof ", "void "]),
  assign: (chance) => pick(chance, ["=", "+=", "-=", "**=", "??=", "||=", "&&=", ">>>=", "<<="]),
  name: (chance) => pick(chance, ["value", "context", "a", "b", "o", "f", "r", "globalThis", "valueExists"]),
  symbolKey: (chance) =>
    `[Symbol.${pick(chance, ["iterator", "toPrimitive", "species", "split", "replace", "match", "matchAll", "search", "hasInstance", "toStringTag", "unscopables", "isConcatSpreadable"])}]`,
};
