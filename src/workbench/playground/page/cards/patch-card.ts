import type { PatchListName } from "../../../laws/report.ts";
import type { ShownOutcome, ShownPair } from "../../protocol.ts";
import { h } from "../dom/h.ts";
import { icon } from "../dom/icons.ts";
import { createRounds } from "./rounds.ts";
import { breakable, countOf, LISTS, outcomeTag, verdictWord, type Tone } from "./words.ts";

/** Everything that is known about one patch. */
export interface ShownPatch {
  readonly list: PatchListName;
  readonly patch: number;
  readonly path: string;
  /** Toward the host, then toward the tenant when something came back. */
  readonly outcomes: readonly ShownOutcome[];
  readonly pair?: ShownPair;
}

/** Actions on a patch. */
export interface PatchActions {
  /** Goes to the patch in the configuration. */
  readonly jump: (patch: ShownPatch) => void;
  /** Opens or closes the details of the verdict. */
  readonly toggle: (patch: ShownPatch) => void;
}

/** The unique name of a patch. It is used to keep the focus and open details when results change. */
export function patchKey({ list, patch }: Pick<ShownPatch, "list" | "patch">): string {
  return `${list}-${patch}`;
}

/** One patch in the results: what it did in each direction, the verdict on its pair, and why it failed. */
export function createPatchCard(patch: ShownPatch, open: boolean, actions: PatchActions): HTMLLIElement {
  const key = patchKey(patch);
  const { pair } = patch;
  return h(
    "li",
    { class: "patch" },
    h(
      "div",
      { class: "patch-head" },
      h(
        "button",
        {
          type: "button",
          class: "patch-jump",
          "data-key": `jump-${key}`,
          title: "Show in the editors",
          onclick: () => actions.jump(patch),
        },
        h("span", { class: "unseen" }, `Patch ${patch.patch + 1} of ${LISTS[patch.list]}, `),
        ...breakable(patch.path),
      ),
      pair && verdictButton(patch, pair, open, actions),
    ),
    h("div", { class: "ways" }, ...patch.outcomes.filter(isShown).map(way)),
    pair && open && verdictDetails(patch, pair),
    ...patch.outcomes.map(why),
  );
}

function verdictButton(patch: ShownPatch, pair: ShownPair, open: boolean, actions: PatchActions): HTMLElement {
  const key = patchKey(patch);
  const word = verdictWord(pair.verdict);
  return h(
    "button",
    {
      type: "button",
      class: "tag verdict",
      "data-tone": toneOf(pair),
      "data-verdict": pair.verdict,
      "data-key": `verdict-${key}`,
      "aria-expanded": String(open),
      "aria-controls": `verdict-${key}`,
      title: word.meaning,
      onclick: () => actions.toggle(patch),
    },
    icon(word.icon),
    h("span", { class: "unseen" }, "Round trip: "),
    pair.accepted === undefined ? word.text : `${word.text}, accepted`,
    h("span", { class: "chevron" }, icon("chevron", 12)),
  );
}

/** The tone of a verdict. A drift that the settings accept needs no attention. */
function toneOf({ verdict, accepted }: ShownPair): Tone {
  return accepted === undefined ? verdictWord(verdict).tone : "quiet";
}

function verdictDetails(patch: ShownPatch, pair: ShownPair): HTMLElement {
  const { verdict, counterExample, accepted } = pair;
  return h(
    "div",
    { class: "why", id: `verdict-${patchKey(patch)}`, "data-tone": toneOf(pair) },
    h("p", {}, verdictWord(verdict).meaning),
    accepted !== undefined && h("p", {}, `The settings accept this drift: ${accepted}`),
    counterExample && h("p", {}, counterExample.explanation),
    counterExample && createRounds(counterExample),
  );
}

/** Reports whether an outcome is shown. A missing reverse expression is not: the verdict shows it. */
function isShown({ direction, outcome }: ShownOutcome): boolean {
  return direction === "toHost" || outcome !== "noExpression";
}

function way(outcome: ShownOutcome): HTMLElement {
  const { direction, outcome: kind, matches, changed, fuel, hint } = outcome;
  const ran = kind !== "noExpression" && kind !== "noMatch";
  return h(
    "div",
    { class: "way", "data-way": direction, "data-outcome": kind },
    h(
      "span",
      { class: "way-name" },
      icon(direction),
      h("span", {}, h("span", { class: "unseen" }, "To "), direction === "toHost" ? "Host" : "Tenant"),
    ),
    h(
      "span",
      { class: "way-facts" },
      outcomeTag(kind),
      ran &&
        h(
          "span",
          { class: "number", title: `${countOf(matches, "match", "matches")}, ${changed.toLocaleString("en")} changed` },
          `${changed.toLocaleString("en")} of ${matches.toLocaleString("en")} changed`,
        ),
      fuel > 0 && h("span", { class: "number" }, `${fuel.toLocaleString("en")} fuel`),
      hint !== undefined && h("span", { class: "way-hint" }, hint),
    ),
  );
}

function why(outcome: ShownOutcome): HTMLElement | undefined {
  const { code, message, place, failures = [], explanation, outcome: kind } = outcome;
  if (code === undefined) return undefined;
  const more = failures.length - 1;
  return h(
    "div",
    { class: "why", "data-tone": kind === "denied" ? "denied" : "error" },
    h(
      "p",
      {},
      h("span", { class: "code-name" }, code),
      " at ",
      h("code", {}, place),
      more > 0 && `, and at ${countOf(more, "more place")}`,
    ),
    h("p", {}, message),
    explanation !== undefined &&
      h("pre", { class: "drawing", tabindex: 0, role: "group", "aria-label": "The expression with the value of each part" }, explanation),
  );
}
