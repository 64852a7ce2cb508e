import { h } from "../dom/h.ts";
import type { Compare } from "./settings.ts";

const CHOICES: readonly (readonly [value: Compare, label: string, title: string])[] = [
  ["tenant", "Tenant", "Shows the differences from the tenant object"],
  ["synced", "Synced", "Shows your edits: the differences from the object that the syncer wrote"],
  ["nothing", "Off", "Shows only the text"],
];

/** Creates a control to select the object with which the host object is compared. */
export function createCompareChoice(chosen: Compare, onChoice: (compare: Compare) => void): HTMLFieldSetElement {
  return h(
    "fieldset",
    { class: "choice", "data-control": "compare" },
    h("legend", {}, "Diff", h("span", { class: "unseen" }, " of the host object with")),
    ...CHOICES.map(([value, label, title]) =>
      h(
        "label",
        { title },
        h("input", { type: "radio", name: "compare", value, checked: value === chosen, onchange: () => onChoice(value) }),
        label,
      ),
    ),
  );
}
