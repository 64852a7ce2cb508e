/**
 * Warnings for expressions that run but probably do something unintended.
 *
 * @module
 */
import type { AnyNode, Expression } from "acorn";
import { suggest } from "../../../base/suggest.ts";
import { FINDINGS_MAX, type LintFinding } from "./finding.ts";
import { SCOPE } from "../left-out.ts";
import { adviseOnName } from "./name-advice.ts";
import { isReference } from "../names.ts";
import { memberName } from "../reads.ts";
import { warnOfResult, warnOfSilentCallback, warnOfUnused } from "./result-warnings.ts";
import type { SyntaxStep } from "../syntax.ts";

/** Input of the warnings. */
export interface Findable {
  readonly root: Expression;
  readonly steps: readonly SyntaxStep[];
  readonly declared: ReadonlySet<string>;
  /** The parsed text, to which the offsets refer. */
  readonly text: string;
}

/** Returns the first {@link FINDINGS_MAX} findings, in source order. */
export function findWarnings(findable: Findable): LintFinding[] {
  const { root, steps, text } = findable;
  const found: LintFinding[] = [];
  for (const step of steps) {
    if (found.length >= FINDINGS_MAX) break;
    found.push(
      ...warnIn(step.node, text),
      ...warnOfAssigningTest(step.node, text),
      ...warnOfSilentCallback(step.node),
      ...warnOfUnused(step.node),
      ...warnUnknown(step, findable),
      ...warnUnknownMember(step.node, findable),
    );
  }
  found.push(...warnOfResult(root, text));
  return found.sort((left, right) => left.offset - right.offset).slice(0, FINDINGS_MAX);
}

function warnIn(node: AnyNode, text: string): LintFinding[] {
  if (node.type !== "BinaryExpression" || node.operator !== "in") return [];
  const isText = node.right.type === "TemplateLiteral" || (node.right.type === "Literal" && typeof node.right.value === "string");
  if (node.right.type !== "ArrayExpression" && !isText) return [];
  const whole = text.slice(node.right.start, node.right.end);
  const part = text.slice(node.left.start, node.left.end);
  const message = isText
    ? "`in` tests for a key of an object, and fails on a string"
    : "`in` tests for an index of the list, not for one of its elements";
  return [{ message, offset: node.start, hint: `Write ${whole}.includes(${part})` }];
}

function warnOfAssigningTest(node: AnyNode, text: string): LintFinding[] {
  if (node.type !== "ConditionalExpression" && node.type !== "IfStatement") return [];
  const { test } = node;
  if (test.type !== "AssignmentExpression" || test.operator !== "=") return [];
  const [left, right] = [test.left, test.right].map(({ start, end }) => text.slice(start, end));
  return [{ message: "`=` assigns; it does not compare", offset: test.start, hint: `Write ${left} === ${right}` }];
}

/** Members of `context`, and those known one level deeper. */
const CONTEXT_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["context", ["vcluster", "hostObject", "virtualObject", "path"]],
  ["context.vcluster", ["name", "namespace", "config"]],
]);

/** Maximum length of the source text of these objects. */
const HOLDER_MAX = "context?.vcluster".length;

/** Warns about a member that `context` does not have: reading it does not fail, but gives undefined. */
function warnUnknownMember(node: AnyNode, { declared, text }: Findable): LintFinding[] {
  if (node.type !== "MemberExpression" || declared.has("context")) return [];
  const { start, end } = node.object;
  const holder = end - start > HOLDER_MAX ? "" : text.slice(start, end).replace("?.", ".");
  const known = CONTEXT_MEMBERS.get(holder);
  const name = memberName(node);
  if (known === undefined || name === undefined || known.includes(name)) return [];
  const meant = suggest(name, known);
  const hint = meant === undefined ? `Known members: ${known.join(", ")}` : `Did you mean \`${holder}.${meant}\`?`;
  return [{ message: `\`${holder}.${name}\` does not exist`, offset: node.property.start, hint }];
}

function warnUnknown(step: SyntaxStep, { declared }: Findable): LintFinding[] {
  const { node, parent } = step;
  if (node.type !== "Identifier" || !isReference(step) || declared.has(node.name) || SCOPE.has(node.name) || node.name === "arguments")
    return [];
  // `typeof name` tests whether a name exists.
  if (parent?.type === "UnaryExpression" && parent.operator === "typeof") return [];
  return [{ message: `\`${node.name}\` does not exist in an expression`, offset: node.start, hint: adviseOnName(node.name) }];
}
