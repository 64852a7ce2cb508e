import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Annotation, EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { acceptCompletion } from "@codemirror/autocomplete";
import { completing, isCompleting, type Complete } from "./editor-completion.ts";
import { createDiff } from "./editor-diff.ts";
import { markSpans, MATCH_MARKS } from "./editor-marks.ts";
import { EDITOR_THEME } from "./editor-theme.ts";
import { WRAPPING } from "./editor-wrapping.ts";
import type { Span } from "./places.ts";

/** Options of an editor. */
export interface EditorOptions {
  /** Its name for assistive technology. */
  readonly label: string;
  /** Called when the user edits the text, never for {@link Editor.setText}. Without it, the editor is read only. */
  readonly onEdit?: (text: string) => void;
  /** Called with the offset of the cursor when it moved, and whenever the editor gets the focus. */
  readonly onCursor?: (offset: number) => void;
  /** Returns the completions at an offset. Default: none. */
  readonly complete?: Complete;
}

/** One text in a pane. */
export interface Editor {
  /** The element to put into the page. */
  readonly element: HTMLElement;
  text(): string;
  /** Replaces the text, and keeps equal parts and the position of the cursor. Does nothing if the text is the same. */
  setText(text: string): void;
  /** Like `setText`, for the first text of the page: the user cannot undo it. */
  begin(text: string): void;
  /** Compares with another text; undefined compares with nothing. */
  compare(original: string | undefined): void;
  /** Underlines problems. */
  setDiagnostics(diagnostics: readonly Diagnostic[]): void;
  /** Marks spans, and nothing else. `reveal` brings the first into view. */
  mark(spans: readonly Span[], reveal?: boolean): void;
  /** Moves cursor and focus to an offset. */
  goTo(offset: number): void;
  focus(): void;
  /** Offset of a line and column, both from 1; of the nearest place if they do not exist. */
  offsetOf(line: number, column: number): number;
}

/** Marks changes that were not typed. */
const PUT_IN = Annotation.define<boolean>();

/**
 * An editor for YAML. Its shadow tree adopts the style sheets of the editor, which a content security policy without inline styles
 * permits.
 */
export function createEditor({ label, onEdit, onCursor, complete }: EditorOptions): Editor {
  const element = document.createElement("div");
  element.className = "editor";
  const diff = createDiff();
  const view = new EditorView({
    root: element.attachShadow({ mode: "open" }),
    state: EditorState.create({
      doc: "",
      extensions: [
        lineNumbers(),
        lintGutter(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        EditorState.tabSize.of(2),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        yaml(),
        EDITOR_THEME,
        MATCH_MARKS,
        diff.extension,
        WRAPPING,
        complete === undefined ? [] : completing(complete),
        keymap.of([
          ...(onEdit ? [{ key: "Tab", run: acceptCompletion }, indentWithTab] : []),
          ...defaultKeymap,
          ...historyKeymap,
          ...lintKeymap,
        ]),
        EditorView.contentAttributes.of({
          "aria-label": label,
          // The element can have the focus anyway, but not every program recognizes that of an editable element.
          tabindex: "0",
          ...(onEdit === undefined ? { "aria-readonly": "true" } : {}),
        }),
        leaveByEscape(),
        replaceSelection(),
        onCursor === undefined ? [] : reportCursor(onCursor),
        onEdit === undefined ? [EditorState.readOnly.of(true), EditorView.editable.of(false)] : reportEdits(onEdit),
      ],
    }),
  });
  element.shadowRoot!.append(view.dom);
  return {
    element,
    text: () => view.state.doc.toString(),
    setText: (text) => putIn(view, text, true),
    begin: (text) => putIn(view, text, false),
    compare: (original) => diff.compare(view, original),
    setDiagnostics: (diagnostics) => view.dispatch(setDiagnostics(view.state, [...diagnostics])),
    mark: (spans, reveal = false) => markSpans(view, spans, reveal),
    goTo(offset) {
      const at = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
    offsetOf(line, column) {
      const found = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      return Math.min(found.from + Math.max(column, 1) - 1, found.to);
    },
  };
}

function reportEdits(onEdit: (text: string) => void) {
  return EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    if (update.transactions.some((transaction) => transaction.docChanged && transaction.annotation(PUT_IN) !== true))
      onEdit(update.state.doc.toString());
  });
}

function reportCursor(onCursor: (offset: number) => void) {
  return EditorView.updateListener.of(({ state, view, selectionSet, focusChanged }) => {
    if (view.hasFocus && (selectionSet || focusChanged)) onCursor(state.selection.main.head);
  });
}

/**
 * Replaces a selection with typed text. Otherwise the browser does so and copies the colours of the selection as an inline style, which the
 * page's policy blocks with an error.
 */
function replaceSelection() {
  return EditorView.domEventHandlers({
    beforeinput(event, view) {
      if (event.inputType !== "insertText" || event.isComposing || !event.data || view.state.readOnly) return false;
      if (view.state.selection.ranges.every(({ empty }) => empty)) return false;
      event.preventDefault();
      view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
      return true;
    },
  });
}

/** After Escape, Tab moves on to the next control until the editor is left; before, it indents. */
function leaveByEscape() {
  return EditorView.domEventHandlers({
    keydown(event, view) {
      if (event.key === "Escape" && !isCompleting(view)) view.setTabFocusMode(true);
      return false;
    },
    blur(_event, view) {
      view.setTabFocusMode(false);
      return false;
    },
  });
}

/** Replaces only what lies between the common beginning and the common end. */
function putIn(view: EditorView, text: string, canUndo: boolean): void {
  const old = view.state.doc.toString();
  if (old === text) return;
  let from = 0;
  while (from < old.length && from < text.length && old[from] === text[from]) from += 1;
  let same = 0;
  while (same < old.length - from && same < text.length - from && old[old.length - 1 - same] === text[text.length - 1 - same]) same += 1;
  view.dispatch({
    changes: { from, to: old.length - same, insert: text.slice(from, text.length - same) },
    annotations: [PUT_IN.of(true), Transaction.addToHistory.of(canUndo)],
  });
}
