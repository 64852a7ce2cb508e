import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";
import type { Span } from "./places.ts";

const SET_MARKS = StateEffect.define<readonly Span[]>();
const MARK = Decoration.mark({ class: "cm-patch-match" });

const MARKS = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    const set = transaction.effects.find((effect) => effect.is(SET_MARKS));
    if (set === undefined) return marks.map(transaction.changes);
    const spans = (set.value as readonly Span[]).filter(({ from, to }) => from < to).toSorted((a, b) => a.from - b.from);
    return Decoration.set(spans.map(({ from, to }) => MARK.range(from, to)));
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Lets an editor show marks. */
export const MATCH_MARKS: Extension = MARKS;

/** Marks `spans` and nothing else; `reveal` brings the first into view. */
export function markSpans(view: EditorView, spans: readonly Span[], reveal: boolean): void {
  const first = spans[0];
  view.dispatch({
    effects: [SET_MARKS.of(spans), ...(first === undefined || !reveal ? [] : [EditorView.scrollIntoView(first.from, { y: "center" })])],
  });
}
