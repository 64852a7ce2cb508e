import type { PlaygroundState } from "../protocol.ts";
import { createDialog } from "./dialog.ts";
import type { Dialog } from "./dialog.ts";
import { h } from "./h.ts";

/** One example as it is offered. */
export interface OfferedExample {
  readonly title: string;
  /** What it shows, in a sentence. */
  readonly about: string;
  /** Heading that it stands under. */
  readonly group: string;
  readonly state: PlaygroundState;
}

/** The gallery. Opening an example closes it. */
export function createExamplesDialog(examples: readonly OfferedExample[], open: (example: OfferedExample) => void): Dialog {
  const groups = [...new Set(examples.map(({ group }) => group))].map(
    (name) => [name, examples.filter(({ group }) => group === name)] as const,
  );
  const dialog = createDialog(
    "examples",
    "Examples",
    {},
    h("p", {}, "The examples of the documentation. Opening one replaces the texts; undo brings them back."),
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
  const choose = (example: OfferedExample) => {
    dialog.close();
    open(example);
  };
  return dialog;
}

function card({ title, about }: OfferedExample, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "card", onclick }, h("b", {}, title), h("span", {}, about));
}
