import { createDialog, type Dialog } from "./dialog.ts";
import { h } from "../dom/h.ts";
import { SHORTCUTS } from "./shortcuts.ts";
import { tag, GLOSSARY } from "../cards/words.ts";

const FUEL =
  "The cost of expressions, in steps of the engine. The same texts cost the same fuel here, in Node and in a cluster. An expression that costs more than limits.fuel is stopped.";

/** The meaning of the words on the page, and the keyboard shortcuts. On machines with a Command key, that key works like Ctrl. */
export function createHelpDialog(): Dialog {
  return createDialog(
    "help",
    "Help",
    { narrow: true },
    h("h3", {}, "Words"),
    h(
      "dl",
      { class: "words" },
      h("dt", {}, h("span", { class: "tag" }, "fuel")),
      h("dd", {}, FUEL),
      ...GLOSSARY.flatMap((word) => [h("dt", {}, tag(word.text, word.tone, word.icon)), h("dd", {}, word.meaning)]),
    ),
    h("h3", {}, "Keys"),
    h("dl", { class: "keys" }, ...SHORTCUTS.flatMap(([keys, what]) => [h("dt", {}, ...spaced(keys)), h("dd", {}, what)])),
  );
}

function spaced(keys: readonly string[]): (Node | string)[] {
  return keys.flatMap((combination, index) => [
    ...(index === 0 ? [] : [" … "]),
    ...combination.split(" ").flatMap((name, at) => [...(at === 0 ? [] : [" "]), h("kbd", {}, name)]),
  ]);
}
