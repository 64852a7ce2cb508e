import type { LawBreach } from "../../../laws/breaches.ts";
import { h } from "../dom/h.ts";
import { createRounds } from "./rounds.ts";
import { breakable, LISTS, tag, verdictWord } from "./words.ts";

/** Several patches in the results with a combined verdict that no single patch has: the patches, the verdict, and an object that shows it. */
export function createTogetherCard({ list, paths, verdict, counterExample }: LawBreach): HTMLLIElement {
  const word = verdictWord(verdict);
  return h(
    "li",
    { class: "patch" },
    h(
      "div",
      { class: "patch-head" },
      h(
        "ul",
        { class: "together", "aria-label": `Patches of ${LISTS[list]}` },
        ...paths.map((path) => h("li", {}, h("code", {}, ...breakable(path)))),
      ),
      tag(word.text, word.tone, word.icon, word.meaning),
    ),
    h("div", { class: "why", "data-tone": word.tone }, h("p", {}, counterExample.explanation), createRounds(counterExample)),
  );
}
