import { h, type Child } from "../dom/h.ts";
import { icon } from "../dom/icons.ts";

/** A dialog of the page. While it is open nothing else has the focus; Escape closes it. */
export interface Dialog {
  readonly element: HTMLDialogElement;
  open(): void;
  close(): void;
}

/** A dialog with a heading and a button that closes it. A click outside it closes it as well. */
export function createDialog(id: string, title: string, options: { readonly narrow?: boolean }, ...body: readonly Child[]): Dialog {
  const close = h("button", { type: "button", class: "button button-bare button-icon", "aria-label": "Close" }, icon("close"));
  const element = h(
    "dialog",
    { id, "aria-labelledby": `${id}-title`, class: options.narrow ? "narrow" : undefined },
    h("div", { class: "dialog-head" }, h("h2", { id: `${id}-title` }, title), close),
    h("div", { class: "dialog-body" }, ...body),
  );
  close.addEventListener("click", () => element.close());
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  return { element, open: () => element.showModal(), close: () => element.close() };
}
