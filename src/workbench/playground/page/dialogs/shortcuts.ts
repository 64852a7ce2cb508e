import type { PaneName } from "../dom/panes.ts";

/** Actions of the shortcuts. */
export interface ShortcutActions {
  /** Moves the focus to a pane. */
  readonly pane: (name: PaneName) => void;
  readonly share: () => void;
  readonly examples: () => void;
  readonly nextProblem: (back: boolean) => void;
  readonly help: () => void;
}

const PANE_KEYS: Readonly<Record<string, PaneName>> = {
  Digit1: "config",
  Digit2: "tenant",
  Digit3: "host",
  Digit4: "back",
  Digit5: "results",
  Digit6: "settings",
};

/** All shortcuts, with descriptions. */
export const SHORTCUTS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["Alt 1", "Alt 6"], "Go to a pane: 1 patches, 2 tenant, 3 host, 4 back, 5 results, 6 settings"],
  [["Ctrl Space"], "In an expression or a path: show completions; Enter or Tab accepts one"],
  [["F8"], "Go to the next problem; with Shift, to the previous one"],
  [["Ctrl S"], "Copy a link to what you see"],
  [["Alt E"], "Open the examples"],
  [["Esc"], "In an editor: let the next Tab leave the editor instead of indenting"],
  [["Ctrl Z"], "Undo in a pane, including what a reset or an example replaced"],
  [["?"], "Open the help, unless the cursor is in an editor"],
];

/** Handles {@link SHORTCUTS}. Editors have additional shortcuts. */
export function listenToShortcuts(target: Document, actions: ShortcutActions): void {
  target.addEventListener(
    "keydown",
    (event) => {
      if (act(event, actions)) event.preventDefault();
    },
    { capture: true },
  );
}

function act(event: KeyboardEvent, actions: ShortcutActions): boolean {
  if (document.querySelector("dialog[open]") !== null) return false;
  const { altKey, ctrlKey, metaKey, shiftKey, code, key } = event;
  const pane = PANE_KEYS[code];
  if (altKey && !ctrlKey && !metaKey && pane !== undefined) return done(() => actions.pane(pane));
  if (altKey && !ctrlKey && !metaKey && code === "KeyE") return done(actions.examples);
  if ((ctrlKey || metaKey) && !altKey && !shiftKey && code === "KeyS") return done(actions.share);
  if (key === "F8") return done(() => actions.nextProblem(shiftKey));
  if (key === "?" && !writes(event)) return done(actions.help);
  return false;
}

function done(action: () => void): true {
  action();
  return true;
}

function writes(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
