import { h } from "./h.ts";
import { icon } from "./icons.ts";

/** One line of a menu. */
export interface MenuItem {
  readonly label: string;
  /** A few words below the label. */
  readonly about: string;
  readonly action: () => void;
}

/**
 * A small button that opens a menu below it. Arrow keys move in the menu, Escape and a click outside it close it, and the button gets the
 * focus back.
 */
export function createMenu(label: string, items: readonly MenuItem[]): HTMLElement {
  const lines = items.map(({ label: name, about, action }) =>
    h("button", { type: "button", role: "menuitem", tabindex: -1, onclick: () => choose(action) }, h("b", {}, name), h("span", {}, about)),
  );
  const list = h("div", { class: "menu-list", role: "menu", "aria-label": label, hidden: true }, ...lines);
  const button = h(
    "button",
    { type: "button", class: "button menu-button", "aria-label": label, title: label, "aria-haspopup": "menu", "aria-expanded": "false" },
    icon("chevron", 14),
  );
  const element = h("div", { class: "menu" }, button, list);
  const isOpen = () => !list.hidden;
  const set = (open: boolean) => {
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  };
  const close = () => {
    if (!isOpen()) return;
    set(false);
    button.focus();
  };
  const choose = (action: () => void) => {
    close();
    action();
  };
  button.addEventListener("click", () => {
    set(!isOpen());
    if (isOpen()) lines[0]?.focus();
  });
  element.addEventListener("keydown", (event) => {
    const to = target(
      event.key,
      lines.findIndex((line) => line === document.activeElement),
      lines.length,
    );
    if (event.key === "Escape" && isOpen()) close();
    else if (event.key === "ArrowDown" && !isOpen()) button.click();
    else if (to !== undefined && isOpen()) lines[to]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) set(false);
  });
  return element;
}

/** The line that a key moves to from the line `at`; undefined for other keys. */
function target(key: string, at: number, length: number): number | undefined {
  if (key === "ArrowDown") return (at + 1) % length;
  if (key === "ArrowUp") return (at + length - 1) % length;
  if (key === "Home") return 0;
  return key === "End" ? length - 1 : undefined;
}
