import type { Example } from "../../gallery.ts";
import { createDialog, type Dialog } from "./dialog.ts";
import { h } from "../dom/h.ts";

/** Creates the dialog with all examples. Opening an example closes it. */
export function createExamplesDialog(examples: readonly Example[], open: (example: Example) => void): Dialog {
  const groups = [...new Set(examples.map(({ group }) => group))].map(
    (name) => [name, examples.filter(({ group }) => group === name)] as const,
  );
  const dialog = createDialog(
    "examples",
    "Examples",
    {},
    h("p", {}, "These are the examples from the documentation. Opening one replaces the texts; undo restores them."),
    ...groups.map(([group, members]) =>
      h(
        "section",
        { class: "group", "aria-label": group },
        h("h3", {}, group),
        h(
          "ul",
          { class: "cards" },
          ...members.map((example) =>
            h(
              "li",
              {},
              card(example, () => choose(example)),
            ),
          ),
        ),
      ),
    ),
  );
  const choose = (example: Example) => {
    dialog.close();
    open(example);
  };
  return dialog;
}

function card({ title, about }: Example, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "card", onclick }, h("b", {}, title), h("span", {}, about));
}
