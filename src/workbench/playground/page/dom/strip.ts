import { h, type Child } from "./h.ts";

/** Options of a strip. */
export interface StripOptions {
  /** Its name for assistive technology. */
  readonly label: string;
  /** Screen readers read `error` aloud at once. */
  readonly tone: "quiet" | "error";
  /** Label of the button that closes the strip. */
  readonly close: string;
  readonly onClose: () => void;
}

/** A banner that stays until it is dismissed. */
export function createStrip({ label, tone, close, onClose }: StripOptions, ...children: readonly Child[]): HTMLElement {
  const button = h("button", { type: "button", class: "button button-small" }, close);
  const element = h(
    "section",
    { class: "strip", "aria-label": label, "data-tone": tone },
    h("div", { class: "strip-text", role: tone === "error" ? "alert" : undefined }, ...children),
    button,
  );
  button.addEventListener("click", () => {
    element.remove();
    onClose();
  });
  return element;
}

/** An introduction to the page for new users. */
export function createWelcome(onClose: () => void): HTMLElement {
  return createStrip(
    { label: "How it works", tone: "quiet", close: "Got it", onClose },
    h(
      "ol",
      { class: "steps" },
      h("li", {}, "Change a patch or the tenant object."),
      h("li", {}, "See what the syncer writes to the host, and what each patch did."),
      h("li", {}, "Edit the host object, and see what is synced back to the tenant."),
    ),
  );
}
