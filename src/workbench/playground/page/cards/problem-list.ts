import type { Problem } from "../../../../schema/problem.ts";
import type { TextName } from "../../protocol.ts";
import { h } from "../dom/h.ts";
import { icon } from "../dom/icons.ts";
import { TEXTS } from "./words.ts";

/** Creates the list of problems in all texts. Each problem is a button that leads to its place. */
export function createProblemList(problems: readonly Problem[], jump: (problem: Problem) => void): HTMLElement {
  return h("ul", { class: "problems" }, ...problems.map((problem) => item(problem, jump)));
}

function item(problem: Problem, jump: (problem: Problem) => void): HTMLLIElement {
  const { severity, code, message, hint, line, column } = problem;
  return h(
    "li",
    { "data-severity": severity },
    h(
      "button",
      { type: "button", "data-key": `problem-${problem.file}-${line}-${column}-${code}`, onclick: () => jump(problem) },
      icon(severity === "error" ? "error" : "warning"),
      h(
        "span",
        { class: "problem-head" },
        h("b", {}, h("span", { class: "unseen" }, severity === "error" ? "Error " : "Warning "), code),
        h("span", {}, `${TEXTS[problemTextName(problem)]}, line ${line}, column ${column}`),
      ),
      h("span", { class: "problem-text" }, message),
      hint !== "" && h("span", { class: "problem-hint" }, hint),
    ),
  );
}

/** The text that a problem belongs to. */
export function problemTextName({ file }: Problem): TextName {
  return file === "tenant" || file === "host" || file === "settings" ? file : "config";
}
