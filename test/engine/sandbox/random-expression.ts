/** Expressions at random, in the part of the language where every engine must agree, and values for them. */
import * as fc from "fast-check";

/** Names that an expression finds: its value's members, and parameters of functions around it. */
const NAMES = ["value.n", "value.s", "value.l", "value.o", "value.missing", "value"];

/** Types of an expression's parts. */
type Kinds = Record<"any" | "text" | "number" | "list", string>;

/** A value whose members fit what the expressions do with them. */
export const randomValue = fc.record({
  n: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  s: fc.string({ unit: "binary", maxLength: 8 }),
  l: fc.array(fc.oneof(fc.integer(), fc.string({ maxLength: 4 })), { maxLength: 5 }),
  o: fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
});

/** An expression that ends quickly; it may throw or give anything. */
export const randomExpression: fc.Arbitrary<string> = fc.letrec<Kinds>((tie) => {
  const any = tie("any");
  const text = tie("text");
  const number = tie("number");
  const list = tie("list");
  const join = (...parts: readonly (string | fc.Arbitrary<string>)[]) =>
    fc.tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part))).map((texts) => texts.join(""));
  const literalText = fc.string({ unit: "grapheme-ascii", maxLength: 5 }).map((words) => JSON.stringify(words));
  const regExp = fc.constantFrom("/a/g", "/[a-m]+/", "/(.)(?:\\1)?/u", "/^\\s*|x$/gm", "/\\d+(?=.)/", "/(?<k>\\w)/i", "/$/", "/(a|b)*?c/");
  const small = fc.integer({ min: -3, max: 6 }).map(String);
  const callback = fc.oneof(
    join("x => (", any, ")"),
    fc.constantFrom("x => x", "x => [x]", "String", "(x, i) => i", "(x, y) => x + y", "x => typeof x", "x => !x"),
  );
  return {
    any: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(...NAMES, "null", "undefined", "true", "false", "[]", "({})", "NaN"),
      text,
      number,
      list,
      join("(", any, " ? ", any, " : ", any, ")"),
      join("(", any, fc.constantFrom(" && ", " || ", " ?? ", " === ", " == ", " !== ", " < ", " >= ", ", "), any, ")"),
      join("({ a: ", any, ", [", text, "]: ", any, " })"),
      join("({ ...value.o, ", fc.constantFrom("x", '"y z"', "1", "toString"), ": ", any, " })"),
      join("(x => ", any, ")(", any, ")"),
      join("(({ a = ", any, ", ...r }) => [a, r])({ a: ", any, ", b: ", any, " })"),
      join("(([p, ...q]) => ({ p, q }))(", list, ")"),
      join("typeof ", any),
      join("JSON.parse(JSON.stringify(", any, ") ?? null)"),
      join("(() => { try { return ", any, " } catch (e) { return e.name } })()"),
      join("(() => { const o = { v: ", any, " }; o.v ??= 1; o.w = ", any, "; return o })()"),
      join("value.o?.[", text, "]"),
      join("Object.", fc.constantFrom("keys", "values", "entries"), "(", any, " ?? {})"),
    ),
    text: fc.oneof(
      { depthSize: "small" },
      literalText,
      fc.constant("value.s"),
      join("`<${", any, "}>`"),
      join("String(", any, ")"),
      join("(", text, " + ", any, ")"),
      join(
        text,
        ".",
        fc.constantFrom(
          "trim()",
          "toUpperCase()",
          "toLowerCase()",
          "at(-1)",
          'padStart(4, "ab")',
          "slice(1)",
          "slice(-2)",
          "substring(2, 1)",
          'concat("!")',
        ),
      ),
      join(text, ".replace(", regExp, ", ", fc.constantFrom('"-"', '"$&$&"', '"[$1]"', "m => m + m", '"$`$\'"'), ")"),
      join(text, ".replaceAll(", literalText, ", ", literalText, ")"),
      join(list, ".join(", literalText, ")"),
      join("JSON.stringify(", any, ", null, ", small, ")"),
      join("(", number, " | 0).toString(", fc.constantFrom("2", "16", "36"), ")"),
      join("(", number, ").toString()"),
      join("encodeURIComponent(", text, ")"),
    ),
    number: fc.oneof(
      { depthSize: "small" },
      fc.constant("value.n"),
      small,
      fc.double({ noNaN: true }).map((value) => (Number.isFinite(value) ? `(${String(value)})` : "Infinity")),
      join("(", number, fc.constantFrom(" + ", " - ", " * ", " / ", " % ", " | ", " & ", " ^ ", " << ", " >> ", " >>> "), number, ")"),
      join(fc.constantFrom("+", "-", "~"), "(", any, ")"),
      join("Math.", fc.constantFrom("floor", "ceil", "round", "abs", "sign", "trunc", "fround", "clz32"), "(", number, ")"),
      join("Math.", fc.constantFrom("max", "min"), "(...", list, ")"),
      join("parseInt(", text, ", ", fc.constantFrom("10", "16", "0", "37"), ")"),
      join("Number(", any, ")"),
      join(text, ".", fc.constantFrom("length", "charCodeAt(0)", 'indexOf("a")', "search(/[a-z]/)")),
      join(list, ".", fc.constantFrom("length", "indexOf(1)", "findIndex(x => x)", "findLastIndex(x => !x)")),
      join(list, ".reduce((x, y) => ", any, ", ", any, ")"),
    ),
    list: fc.oneof(
      { depthSize: "small" },
      fc.constant("value.l"),
      join("[", any, ", ", any, "]"),
      join("[...", list, ", ", any, "]"),
      join("[...", text, "]"),
      join(list, ".", fc.constantFrom("map", "filter", "flatMap", "some", "findLast"), "(", callback, ")"),
      join(
        list,
        ".",
        fc.constantFrom("slice(1)", "toReversed()", "flat()", "concat([0, [1]])", "toSorted()", "with(0, 9)", "toSpliced(0, 1)", "fill(2)"),
      ),
      join(text, ".split(", fc.oneof(regExp, literalText), ")"),
      join("[...", text, ".matchAll(/[a-z]/g)].map(m => m.index)"),
      join("Array.from({ length: ", fc.integer({ min: 0, max: 4 }).map(String), " }, (x, i) => ", any, ")"),
      join("(", text, ".match(", regExp, ") ?? [])"),
    ),
  };
}).any;
