/** Converts problems and failures into underlines of the editors. */
import type { Diagnostic } from "@codemirror/lint";
import type { Problem } from "../../../../schema/problem.ts";
import type { PlaygroundAnswer, TextName } from "../../protocol.ts";
import type { Editor } from "../editor/editor.ts";
import { writtenPatches } from "../editor/places.ts";
import { problemTextName } from "../cards/problem-list.ts";

/** The places to underline in one text: its problems, and in the configuration the expressions that failed. */
export function underlines(answer: PlaygroundAnswer, name: TextName, editor: Editor): Diagnostic[] {
  const text = editor.text();
  const problems = answer.problems
    .filter((problem) => problemTextName(problem) === name)
    .map((problem) => ofProblem(problem, text, editor));
  return name === "config" ? [...problems, ...failures(answer, text)] : problems;
}

function ofProblem({ line, column, severity, code, message, hint }: Problem, text: string, editor: Editor): Diagnostic {
  const at = editor.offsetOf(line, column);
  return { ...stretch(text, at), severity, source: code, message: hint === "" ? message : `${message}\n${hint}` };
}

/** The word or the character at an offset. At the end of a line, this is the character before, so that the underline is visible. */
function stretch(text: string, at: number): { from: number; to: number } {
  const length = /^(?:[\p{L}\p{N}_$-]+|[^\n])/u.exec(text.slice(at, at + 80))?.[0].length ?? 0;
  if (length > 0) return { from: at, to: at + length };
  return { from: text[at - 1] === undefined || text[at - 1] === "\n" ? at : at - 1, to: at };
}

function failures({ outcomes, back }: PlaygroundAnswer, text: string): Diagnostic[] {
  const patches = writtenPatches(text);
  return [...outcomes, ...(back?.outcomes ?? [])].flatMap((outcome) => {
    const { list, patch, direction, code, message, place } = outcome;
    const written = patches.find((candidate) => candidate.list === list && candidate.patch === patch);
    const span = written?.expressions[direction === "toHost" ? "expression" : "reverseExpression"] ?? written?.span;
    if (code === undefined || message === undefined || span === undefined) return [];
    return [{ ...span, severity: "error" as const, source: code, message: `${message}\nat ${place}` }];
  });
}
