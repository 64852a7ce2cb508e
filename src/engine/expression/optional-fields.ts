/**
 * Finds unguarded uses of fields that objects of the kind can lack.
 *
 * Only plain chains of members count, from `value`, from `context`'s objects, and from the parameter of a callback over a list of known
 * shape. A field counts as guarded if a condition around its use mentions it in any way, or if any earlier condition in a function with
 * statements does.
 *
 * @module
 */
import type { AnyNode, MemberExpression } from "acorn";
import { placesOfOffsets } from "./excerpt.ts";
import { FINDINGS_MAX } from "./lints/finding.ts";
import { memberName } from "./reads.ts";
import { childrenOf, type Offset, type SyntaxStep } from "./syntax.ts";
import type { ExpressionWarning, ReadExpression } from "./check.ts";
import { anything } from "../../schema/builders.ts";
import type { Schema } from "../../schema/schema.ts";

/** A value that may be absent. */
interface KnownValue {
  readonly schema: Schema;
  readonly optional: boolean;
}

/** Values that an expression starts from. */
export interface KnownValues {
  readonly value: Schema;
  /** `context.virtualObject`, which is present. */
  readonly virtualObject: Schema;
  /** `context.hostObject`. */
  readonly hostObject: KnownValue;
}

/** Methods of a list that call a function with its elements. */
const OVER_ELEMENTS: ReadonlySet<string> = new Set([
  "map",
  "filter",
  "flatMap",
  "find",
  "findIndex",
  "findLast",
  "some",
  "every",
  "forEach",
]);

/** Facts that are known at one place of the tree. */
interface Around {
  readonly start: KnownValues;
  /** Parameters of callbacks. */
  readonly names: ReadonlyMap<string, Schema>;
  /** Tests that precede this place, the outermost first. */
  readonly tests: readonly Stretch[];
}

/** A stretch of the parsed text: one node, or several that follow each other. */
interface Stretch {
  readonly start: Offset;
  readonly end: Offset;
}

/** State of the search in one text. */
interface Search {
  readonly uses: Use[];
  /** Offsets of each name, in source order. */
  readonly places: ReadonlyMap<string, readonly Offset[]>;
}

/** An unguarded use of a value that can be absent. */
interface Use {
  readonly chain: MemberExpression;
  /** Where the name of the optional field starts. */
  readonly offset: Offset;
  readonly use: "object" | "result" | "text";
}

const WORDS: Readonly<Record<Use["use"], { readonly what: string; readonly write: (name: string) => string }>> = {
  object: { what: "and then using it fails", write: (name) => `?. after it: ${name}?.` },
  result: { what: "and then there is no result", write: (name) => `${name} ?? …, with null to delete the field` },
  text: { what: 'and then the text contains "undefined"', write: (name) => `(${name} ?? "")` },
};

/**
 * Returns the first {@link FINDINGS_MAX} warnings for an expression. They concern members that can be absent: accessing or calling
 * a member of an absent value fails, and an absent value is not a result.
 *
 * @example
 * // For an address: value.nodeName.startsWith("a") → `value.nodeName` can be absent. Write value.nodeName?.startsWith("a")
 */
export function warnOfOptionalFields({ checked, parsed, steps, declared }: ReadExpression, start: KnownValues): ExpressionWarning[] {
  // If the expression declares one of these names, chains that start with it are ambiguous.
  if (declared.has("value") || declared.has("context")) return [];
  const uses: Use[] = [];
  visit(parsed.root, { start, names: new Map(), tests: [] }, { uses, places: placesOfNames(steps), isResult: true });
  const sourceOf = ({ start, end }: AnyNode) => parsed.text.slice(start, end);
  const found = uses.slice(0, FINDINGS_MAX).sort((left, right) => left.offset - right.offset);
  const places = placesOfOffsets(
    checked.text,
    found.map(({ offset }) => offset - parsed.start),
  );
  return found.map(({ chain, use }, index) => {
    const name = sourceOf(chain);
    const { what, write } = WORDS[use];
    return { message: `\`${name}\` can be absent, ${what}`, hint: `Write ${write(name)}`, ...places[index]! };
  });
}

function placesOfNames(steps: readonly SyntaxStep[]): Search["places"] {
  const places = new Map<string, Offset[]>();
  for (const { node } of steps) {
    const name = node.type === "Identifier" ? node.name : node.type === "Literal" ? node.value : undefined;
    if (typeof name !== "string") continue;
    const known = places.get(name);
    if (known === undefined) places.set(name, [node.start]);
    else known.push(node.start);
  }
  return places;
}

/** Collects the uses at and below `node`. */
function visit(node: AnyNode, around: Around, found: Search & { readonly isResult: boolean }): void {
  if (found.uses.length >= FINDINGS_MAX) return;
  const below = (child: AnyNode, inside: Around = around, isResult = false) => visit(child, inside, { ...found, isResult });
  const tested = ({ start, end }: Stretch): Around => ({ ...around, tests: [...around.tests, { start, end }] });
  const afterOthers = (list: readonly AnyNode[], node: AnyNode): Around => tested({ start: list[0]!.start, end: node.start });
  switch (node.type) {
    case "ConditionalExpression":
      below(node.test);
      below(node.consequent, tested(node.test), found.isResult);
      below(node.alternate, tested(node.test), found.isResult);
      return;
    case "LogicalExpression":
      below(node.left, around, found.isResult && node.operator === "&&");
      below(node.right, tested(node.left), found.isResult);
      return;
    case "SequenceExpression":
      // Assignments in earlier parts may have filled in absent values.
      node.expressions.forEach((part, index) => {
        below(part, afterOthers(node.expressions, part), found.isResult && index === node.expressions.length - 1);
      });
      return;
    case "BlockStatement":
      for (const statement of node.body) below(statement, afterOthers(node.body, statement));
      return;
    case "IfStatement":
      for (const child of childrenOf(node)) below(child, child === node.test ? around : tested(node.test));
      return;
    case "TryStatement":
      // The author has handled failure.
      return;
    case "MemberExpression":
      visitMember(node, around, found);
      return;
    case "BinaryExpression":
    case "TemplateLiteral":
      for (const child of childrenOf(node)) {
        const isText = node.type === "TemplateLiteral" || node.operator === "+";
        if (isText && child.type === "MemberExpression" && fieldOf(child, around)?.optional === true && !isTested(child, around, found))
          found.uses.push({ chain: child, offset: child.property.start, use: "text" });
        below(child);
      }
      return;
    case "CallExpression":
      below(node.callee);
      for (const argument of node.arguments) below(argument, insideCallback(node.callee, argument, around));
      return;
    default:
      for (const child of childrenOf(node)) below(child);
  }
}

function visitMember(node: MemberExpression, around: Around, found: Search & { readonly isResult: boolean }): void {
  const { object } = node;
  const { uses, isResult } = found;
  const reached = object.type === "MemberExpression" ? fieldOf(object, around) : undefined;
  if (reached?.optional === true && !node.optional && object.type === "MemberExpression" && !isTested(object, around, found)) {
    uses.push({ chain: object, offset: object.property.start, use: "object" });
  } else if (isResult && fieldOf(node, around)?.optional === true && !isTested(node, around, found)) {
    uses.push({ chain: node, offset: node.property.start, use: "result" });
  }
  visit(object, around, { ...found, isResult: false });
  if (node.computed) visit(node.property, around, { ...found, isResult: false });
}

/** The field that a chain reaches; undefined if nothing is known about it. */
function fieldOf(node: AnyNode, around: Around): KnownValue | undefined {
  if (node.type === "ChainExpression") return fieldOf(node.expression, around);
  if (node.type === "Identifier") return present(node.name === "value" ? around.start.value : around.names.get(node.name));
  if (node.type !== "MemberExpression") return undefined;
  const name = memberName(node);
  if (node.object.type === "Identifier" && node.object.name === "context") {
    if (name === "virtualObject") return present(around.start.virtualObject);
    return name === "hostObject" ? around.start.hostObject : undefined;
  }
  const owner = fieldOf(node.object, around)?.schema;
  if (owner?.type === "list") return /^\d+$/.test(name ?? "x") ? present(owner.items) : undefined;
  if (owner?.type === "map") return { schema: owner.values, optional: true };
  if (owner?.type !== "object" || name === undefined || !Object.hasOwn(owner.fields, name)) return undefined;
  const schema = owner.fields[name]!;
  return { schema, optional: schema.required !== true && schema.presence !== "always" };
}

function present(schema: Schema | undefined): KnownValue | undefined {
  return schema && { schema, optional: false };
}

/** Returns the facts that are known inside a function that a method of a list calls with its elements. */
function insideCallback(callee: AnyNode, argument: AnyNode, around: Around): Around {
  if (argument.type !== "ArrowFunctionExpression" || argument.params[0]?.type !== "Identifier") return around;
  const names = new Map(around.names);
  const list =
    callee.type === "MemberExpression" && OVER_ELEMENTS.has(memberName(callee) ?? "") ? fieldOf(callee.object, around)?.schema : undefined;
  names.set(argument.params[0].name, list?.type === "list" ? list.items : anything);
  // `filter(x => x.y).map(x => x.y.z)`: a field that an earlier callback tested is present.
  return { ...around, names, tests: [...around.tests, { start: callee.start, end: callee.end }] };
}

/** Reports whether the last name of a chain occurs in an earlier test. */
function isTested(chain: MemberExpression, { tests }: Around, { places }: Search): boolean {
  const offsets = places.get(memberName(chain) ?? "") ?? [];
  return tests.some(({ start, end }) => (offsets[firstFrom(offsets, start)] ?? end) < end);
}

/** Position of the first of the ascending `offsets` that is not before `start`. */
function firstFrom(offsets: readonly Offset[], start: Offset): number {
  let [low, high] = [0, offsets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
