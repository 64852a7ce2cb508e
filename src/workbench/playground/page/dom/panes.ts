import { fill, h, type Child } from "./h.ts";
import { icon, type IconName } from "./icons.ts";

/** A pane of the page. */
export type PaneName = "config" | "settings" | "tenant" | "host" | "back" | "results";

/** A pane with its heading. */
export interface Pane {
  readonly element: HTMLElement;
  /** Beside the heading, at its end. */
  readonly tools: HTMLElement;
  readonly body: HTMLElement;
  /** Sets the words beside the heading. */
  note(text: string): void;
}

/** Options of a pane. */
export interface PaneOptions {
  readonly title: string;
  readonly icon?: IconName;
  /** Words beside the heading. */
  readonly note?: string;
  readonly tools?: readonly Child[];
}

/** A pane: a region of the page with a name. */
export function createPane(name: PaneName, options: PaneOptions, ...body: readonly Child[]): Pane {
  const note = h("p", { class: "pane-note" }, options.note);
  const tools = h("div", { class: "pane-tools" }, ...(options.tools ?? []));
  const content = h("div", { class: "pane-body" }, ...body);
  const element = h(
    "section",
    { class: "pane", id: `pane-${name}`, "data-pane": name, "aria-labelledby": `pane-${name}-title`, tabindex: -1 },
    h("div", { class: "pane-head" }, h("h2", { id: `pane-${name}-title` }, options.icon && icon(options.icon), options.title), note, tools),
    content,
  );
  return { element, tools, body: content, note: (text) => void (note.textContent = text) };
}

/** Selects the pane that is shown if there is room for only one. */
export interface PaneSwitch {
  readonly element: HTMLElement;
  show(name: PaneName): void;
  /** Shows a number beside a name, or none if it is 0; `what` names the things that are counted. */
  badge(name: PaneName, number: number, what: string): void;
}

/** The switch between `panes`; on a wide page it is hidden and has no effect. The first pane is shown. */
export function createPaneSwitch(
  panes: readonly { readonly name: PaneName; readonly label: string; readonly element: HTMLElement }[],
): PaneSwitch {
  const buttons = new Map(panes.map(({ name, label }) => [name, h("button", { type: "button", "data-to": name }, label)]));
  const show = (shown: PaneName) => {
    for (const { name, element } of panes) {
      element.toggleAttribute("data-shown", name === shown);
      buttons.get(name)!.setAttribute("aria-current", String(name === shown));
    }
  };
  for (const [name, button] of buttons) button.addEventListener("click", () => show(name));
  if (panes[0] !== undefined) show(panes[0].name);
  return {
    element: h("nav", { class: "pane-switch", "aria-label": "Panes" }, ...buttons.values()),
    show,
    badge(name, number, what) {
      const { label } = panes.find((pane) => pane.name === name)!;
      const counted = number > 0 && h("span", { class: "count" }, String(number), h("span", { class: "unseen" }, ` ${what}`));
      fill(buttons.get(name)!, label, counted);
    },
  };
}
