import { unifiedMergeView } from "@codemirror/merge";
import { Compartment, type Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

/** Shows the differences between the text of an editor and another text. */
export interface EditorDiff {
  readonly extension: Extension;
  /** Compares with `original`; undefined compares with nothing. */
  compare(view: EditorView, original: string | undefined): void;
}

/** A diff for one editor. At first it compares with nothing. */
export function createDiff(): EditorDiff {
  const compartment = new Compartment();
  let shown: string | undefined;
  return {
    extension: compartment.of([]),
    compare(view, original) {
      if (original === shown) return;
      shown = original;
      view.dispatch({ effects: compartment.reconfigure(original === undefined ? [] : against(original)) });
    },
  };
}

function against(original: string): Extension {
  return unifiedMergeView({ original, mergeControls: false, highlightChanges: true, gutter: true });
}
