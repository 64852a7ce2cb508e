import { RangeSetBuilder, type Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

/** Indent in columns from which the rest of wrapped lines does not move further to the right, so that some room is left. */
const INDENT_MAX = 16;
/** Additional indent of the rest of a wrapped line, in columns. */
const HANGING = 2;

const className = (indent: number) => `cm-indent-${indent}`;
const INDENTS = Array.from({ length: INDENT_MAX + 1 }, (_, indent) => indent);
const LINES = INDENTS.map((indent) => Decoration.line({ class: className(indent) }));

/** A style sheet, because the page's policy does not allow inline styles. */
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

/** Wraps long lines. The rest of a line is indented further than its start, so that the levels of YAML stay visible. */
export const WRAPPING: Extension = [EditorView.lineWrapping, HANGING_LINES, STYLES];
