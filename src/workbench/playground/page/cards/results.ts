import type { Problem } from "../../../../schema/problem.ts";
import type { PlaygroundAnswer, ShownOutcome, ShownPair, ShownVerdicts } from "../../protocol.ts";
import { fill, h, type Child } from "../dom/h.ts";
import { createPatchCard, patchKey, type PatchActions, type ShownPatch } from "./patch-card.ts";
import { createProblemList } from "./problem-list.ts";
import { createTogetherCard } from "./together-card.ts";
import { countOf } from "./words.ts";

/** Actions on results. */
export interface ResultActions {
  readonly jumpToPatch: (patch: ShownPatch) => void;
  readonly jumpToProblem: (problem: Problem) => void;
}

/** The content of the results pane. */
export interface ShownResults {
  readonly answer: PlaygroundAnswer | undefined;
  /** Absent while they are not known. */
  readonly verdicts?: ShownVerdicts | undefined;
  /** The reason why there is no answer. */
  readonly failure?: string | undefined;
}

/** The results of the last answer. */
export interface Results {
  readonly element: HTMLElement;
  show(results: ShownResults): void;
}

/** The list of patches with their outcomes, the problems and the notes. Open parts stay open, and the focused one keeps the focus. */
export function createResults(actions: ResultActions): Results {
  const element = h("div", { class: "results", tabindex: 0, role: "group", "aria-label": "Outcomes" });
  const open = new Set<string>();
  let last: ShownResults = { answer: undefined };
  const show = (results: ShownResults) => {
    last = results;
    keepingFocus(element, () => fill(element, ...content(results, open, patchActions, actions)));
  };
  const patchActions: PatchActions = {
    jump: actions.jumpToPatch,
    toggle(patch) {
      const key = patchKey(patch);
      if (!open.delete(key)) open.add(key);
      show(last);
      element.querySelector(`#verdict-${key}`)?.scrollIntoView({ block: "nearest" });
    },
  };
  return { element, show };
}

const UNKNOWN: ShownVerdicts = { pairs: [], together: [] };

/** Summarizes an answer for screen readers. */
export function summary({ problems, outcomes, notes, back, fuel }: PlaygroundAnswer, { pairs, together }: ShownVerdicts = UNKNOWN): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (errors > 0) return `${countOf(errors, "problem")} found.`;
  const applied = outcomes.filter(({ outcome }) => outcome === "applied").length;
  const failed = [...outcomes, ...(back?.outcomes ?? [])].filter(({ outcome }) => outcome === "error" || outcome === "denied").length;
  const restless = pairs.filter(
    ({ verdict, accepted }) => (verdict === "oscillates" || verdict === "drifts") && accepted === undefined,
  ).length;
  return [
    `${countOf(applied, "patch", "patches")} applied${failed > 0 ? `, ${failed} failed` : ""}.`,
    notes.some(({ code }) => code === "API_INVALID") && "An API server would refuse the object.",
    back && `${countOf(back.flowed.length, "host edit")} synced back, ${back.undone.length} not.`,
    restless > 0 && `${countOf(restless, "patch drifts or oscillates", "patches drift or oscillate")}.`,
    together.length > 0 && `${countOf(together.length, "group of patches drifts or oscillates", "groups of patches drift or oscillate")}.`,
    `${fuel} fuel.`,
  ]
    .filter((part) => typeof part === "string")
    .join(" ");
}

/** The patches of an answer with everything known about each, in the order of their lists. */
export function patchesOf(answer: PlaygroundAnswer, pairs: readonly ShownPair[] = []): ShownPatch[] {
  const found = new Map<string, { patch: ShownOutcome; outcomes: ShownOutcome[] }>();
  for (const outcome of [...answer.outcomes, ...(answer.back?.outcomes ?? [])]) {
    const key = patchKey(outcome);
    const known = found.get(key) ?? { patch: outcome, outcomes: [] };
    known.outcomes.push(outcome);
    found.set(key, known);
  }
  return [...found].map(
    ([
      key,
      {
        patch: { list, patch, path },
        outcomes,
      },
    ]) => {
      const pair = pairs.find((candidate) => patchKey(candidate) === key);
      return { list, patch, path, outcomes, ...(pair && { pair }) };
    },
  );
}

function content(
  { answer, verdicts = UNKNOWN, failure }: ShownResults,
  open: ReadonlySet<string>,
  patchActions: PatchActions,
  actions: ResultActions,
): Child[] {
  if (answer === undefined) return [failure === undefined ? h("p", { class: "pane-empty" }, "The engine is starting…") : alert(failure)];
  const patches = patchesOf(answer, verdicts.pairs);
  // Notes that a patch's card already shows are left out.
  const notes = answer.notes.filter(
    ({ message }) => !answer.outcomes.some((outcome) => outcome.message && message.includes(outcome.message)),
  );
  const errors = answer.problems.filter(({ severity }) => severity === "error");
  const warnings = answer.problems.filter(({ severity }) => severity === "warning");
  return [
    failure !== undefined && alert(failure),
    errors.length > 0 && group(countOf(errors.length, "problem"), createProblemList(errors, actions.jumpToProblem)),
    patches.length > 0 &&
      group(
        countOf(patches.length, "patch", "patches"),
        h("ol", { class: "patches" }, ...patches.map((patch) => createPatchCard(patch, open.has(patchKey(patch)), patchActions))),
      ),
    verdicts.together.length > 0 && group("Together", h("ol", { class: "patches" }, ...verdicts.together.map(createTogetherCard))),
    patches.length === 0 && errors.length === 0 && nothing(),
    warnings.length > 0 && group(countOf(warnings.length, "warning"), createProblemList(warnings, actions.jumpToProblem)),
    notes.length > 0 &&
      group(
        "The syncer would report",
        h(
          "ul",
          { class: "notes" },
          ...notes.map(({ code, message }) => h("li", {}, h("span", { class: "code-name" }, code), " ", message)),
        ),
      ),
  ];
}

function nothing(): HTMLElement {
  return h(
    "div",
    { class: "pane-empty" },
    h("strong", {}, "No patches for this object"),
    "Add patches below sync.toHost.endpoints.patches, or open an example.",
  );
}

function group(title: string, list: HTMLElement): HTMLElement {
  return h("section", { "aria-label": title }, h("h3", {}, title), list);
}

function alert(text: string): HTMLElement {
  return h("p", { class: "failure", role: "alert" }, text);
}

/** Recreates the elements, and moves the focus to the new element that corresponds to the focused one. */
function keepingFocus(element: HTMLElement, render: () => void): void {
  const active = document.activeElement;
  const key = active instanceof HTMLElement && element.contains(active) ? active.dataset["key"] : undefined;
  render();
  if (key !== undefined) element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}
