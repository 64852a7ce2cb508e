/**
 * Better messages for "unexpected token": the token found, and replacements for constructs of other languages.
 *
 * @module
 */
import type { SyntaxProblem } from "../syntax.ts";

/** Patterns for the text at the place of the problem (▸), each with a hint. The first match counts. */
const HABITS: readonly (readonly [where: RegExp, hint: string])[] = [
  [/\{\{[^]*▸|^\{▸\{/, "Leave out the braces of the template: the text is already an expression"],
  [/^\$▸\{/, "Leave out ${ and }, or write a template: `…${value}…`"],
  [/▸and\b/, "Write &&"],
  [/▸or\b/, "Write ||"],
  [/\bnot ▸/, "Write !"],
  [/▸then\b|▸if\b|▸else\b|▸elif\b/, "Write condition ? one : other"],
  [/-▸>/, "Write => instead of -> for a function"],
  [/\blambda ▸/, "Write (x) => … for a function"],
  [/\?▸:/, "Write ?? instead of ?: for a default"],
  [/= ▸=/, "Write === to compare"],
  [/^[a-z]▸["']/, "Write `…${value}…` to put values into a string"],
  [/["'] \. ▸/, "Write + to join strings"],
  [/["'][^]*["']▸[a-z]/i, "Write \\' for a quote inside a string, or put the string in other quotes"],
  [/▸[“”‘’„]/, "Write straight quotes: \" or '"],
  [/▸…/, "Write ... with three dots"],
  [/▸#/, "Write a comment as /* … */"],
  [/▸@/, "Write the name without @"],
  [/\.▸\./, "Write one dot, or ?. for a member that can be absent"],
];

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Adds the name of the token and a hint to `problem`, if it is about an unexpected token and has neither. */
export function adviseOnToken(text: string, problem: SyntaxProblem): SyntaxProblem {
  const { message, offset } = problem;
  if (!/^(unexpected (token|character)|unterminated (string|template))/.test(message)) return problem;
  if (message.startsWith("unterminated"))
    return { hint: `Close it with the ${/string/.test(message) ? "quote" : "backquote"} that opened it`, ...problem };
  const hint = HABITS.find(([where]) => where.test(marked(text, offset)))?.[1];
  const advice = hint === undefined ? {} : { hint };
  if (text.slice(offset).trim() === "") return { ...problem, message: "it ends too early", hint: hint ?? adviseOnEnd(text) };
  const token = /^([\p{L}\d_$]+|[^])/u.exec(text.slice(offset, offset + 40))![0];
  return { ...problem, message: `unexpected ${message.includes("character") ? "character " : ""}${JSON.stringify(token)}`, ...advice };
}

/** The text around an offset, with ▸ at the offset. */
function marked(text: string, offset: number): string {
  return `${text.slice(Math.max(0, offset - 200), offset)}▸${text.slice(offset, offset + 20)}`;
}

function adviseOnEnd(text: string): string {
  const open: string[] = [];
  for (const unit of text) {
    if (unit in CLOSERS) open.push(CLOSERS[unit]!);
    else if (unit === open.at(-1)) open.pop();
  }
  return open.length === 0 ? "Complete the expression" : `Write ${open.reverse().join("").slice(0, 20)} at the end`;
}
