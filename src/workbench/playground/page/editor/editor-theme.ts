import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

const THEME = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--code-size)", color: "var(--ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { padding: "10px 0 24px", caretColor: "var(--accent)" },
  ".cm-line": { padding: "0 14px 0 8px" },
  // The gutters are opaque, because text that is scrolled sideways moves below them.
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 12px", minWidth: "30px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--line-active)" },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--ink)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--mark)", outline: "none" },
  ".cm-patch-match": { backgroundColor: "var(--mark)", borderRadius: "3px", boxShadow: "0 0 0 1px var(--mark-edge)" },
  ".cm-patch-line": { backgroundColor: "var(--mark)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    maxWidth: "min(560px, 86vw)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "var(--code-size)", maxHeight: "14em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px", lineHeight: "1.5" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--selection)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  "[aria-selected] > .cm-completionDetail": { color: "inherit" },
  ".cm-tooltip.cm-completionInfo": { padding: "8px 12px", maxWidth: "min(320px, 86vw)", fontFamily: "var(--sans)", whiteSpace: "pre-wrap" },
  ".cm-diagnostic": { padding: "8px 12px", borderLeftWidth: "3px", fontFamily: "var(--sans)", lineHeight: "1.45", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--error)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warning)" },
  ".cm-diagnosticSource": { fontFamily: "var(--mono)", fontSize: "11px", opacity: "1", color: "var(--muted)" },
  ".cm-lintRange": { backgroundImage: "none", textDecorationLine: "underline", textDecorationSkipInk: "none", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { textDecorationStyle: "wavy", textDecorationColor: "var(--error)", backgroundColor: "var(--error-soft)" },
  ".cm-lintRange-warning": { textDecorationStyle: "wavy", textDecorationColor: "var(--warning)" },
  ".cm-lintRange-active": { backgroundColor: "var(--error-soft)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--error)" },
  ".cm-lint-marker": { width: "9px", height: "9px", margin: "6px 0 0 3px" },
  ".cm-lint-marker-error": { content: '""', backgroundColor: "var(--error)", borderRadius: "50%" },
  ".cm-lint-marker-warning": { content: '""', backgroundColor: "var(--warning)", clipPath: "polygon(50% 0, 100% 100%, 0 100%)" },
  ".cm-gutter-lint": { width: "14px" },
  "&.cm-merge-b .cm-changedLine, .cm-changedLine": { backgroundColor: "var(--added-soft)" },
  "&.cm-merge-b .cm-changedText, .cm-insertedLine .cm-changedText, .cm-changedText": {
    background: "var(--added)",
    borderRadius: "2px",
  },
  ".cm-deletedChunk": { backgroundColor: "var(--removed-soft)", padding: "0 14px 0 8px" },
  ".cm-deletedLine, del": { textDecoration: "none" },
  ".cm-deletedChunk .cm-deletedText": { background: "var(--removed)", borderRadius: "2px" },
  "&.cm-merge-b .cm-changedLineGutter, .cm-changedLineGutter": { backgroundColor: "var(--added-edge)" },
  ".cm-deletedLineGutter": { backgroundColor: "var(--removed-edge)" },
  ".cm-changeGutter": { width: "4px", paddingLeft: "0" },
});

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.literal], color: "var(--code-number)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--code-quiet)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.meta, tags.typeName, tags.labelName], color: "var(--code-mark)" },
  { tag: [tags.punctuation, tags.separator, tags.bracket, tags.brace, tags.squareBracket], color: "var(--code-quiet)" },
]);

/** The look of editors, in the colours of the page: its custom properties apply inside the editors, but its rules do not. */
export const EDITOR_THEME: Extension = [THEME, syntaxHighlighting(HIGHLIGHT)];
