import { RangeSetBuilder } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";
import type { DecorationSet, ViewUpdate } from "@codemirror/view";

/** Deeper lines go on as far to the left as these do: some room must be left. In columns. */
const INDENT_MAX = 16;
/** How much further to the right a line goes on than it starts, in columns. */
const HANGING = 2;

const className = (indent: number) => `cm-indent-${indent}`;
const INDENTS = Array.from({ length: INDENT_MAX + 1 }, (_, indent) => indent);
const LINES = INDENTS.map((indent) => Decoration.line({ class: className(indent) }));

/** In a style sheet, since the page's policy allows no style at an element. */
const STYLES = EditorView.theme(
  Object.fromEntries(
    INDENTS.map((indent) => {
      const columns = `${indent + HANGING}ch`;
      return [`.cm-line.${className(indent)}`, { paddingLeft: `calc(8px + ${columns})`, textIndent: `-${columns}` }];
    }),
  ),
);

const HANGING_LINES = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = hang(view);
    }

    update({ docChanged, viewportChanged, view }: ViewUpdate): void {
      if (docChanged || viewportChanged) this.decorations = hang(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function hang({ state: { doc }, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  let last = -1;
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to;) {
      const line = doc.lineAt(at);
      const indent = Math.min(INDENT_MAX, line.text.search(/\S|$/));
      if (line.from > last) builder.add(line.from, line.from, LINES[indent]!);
      last = line.from;
      at = line.to + 1;
    }
  }
  return builder.finish();
}

/** Long lines go on below, to the right of where they start, so that the levels of YAML can still be told apart. */
export const WRAPPING: Extension = [EditorView.lineWrapping, HANGING_LINES, STYLES];
