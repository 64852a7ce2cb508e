import { autocompletion, completionStatus, type Completion } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { FoundCompletion, FoundCompletions } from "./completions.ts";

/** Returns the completions at an offset; `asked` is true if the user requested them. */
export type Complete = (offset: number, asked: boolean) => FoundCompletions | undefined;

/** Offers the completions of `complete`, while the user types and at Ctrl-Space. */
export function completing(complete: Complete): Extension {
  return autocompletion({
    icons: false,
    override: [
      ({ pos, explicit }) => {
        const found = complete(pos, explicit);
        return found === undefined ? null : { from: found.from, options: found.options.map(toCompletion) };
      },
    ],
  });
}

/** Reports whether a list is open: it then handles the keys. */
export function isCompleting(view: EditorView): boolean {
  return completionStatus(view.state) === "active";
}

function toCompletion({ label, detail, about, cut = 0 }: FoundCompletion, index: number): Completion {
  return {
    label,
    ...(detail !== undefined && { detail }),
    ...(about !== undefined && { info: about.replaceAll("`", "") }),
    // Keep the order in which they were found.
    boost: -index / 100,
    apply(view, _completion, from, to) {
      const start = from - cut;
      view.dispatch({
        changes: { from: start, to, insert: label },
        selection: { anchor: start + label.length },
        userEvent: "input.complete",
        scrollIntoView: true,
      });
    },
  };
}
