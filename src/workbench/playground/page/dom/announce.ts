import type { Clock, Timer } from "../../../../base/clock.ts";
import { h } from "./h.ts";

/** Tells users about events that they may not see. */
export interface Announcer {
  readonly elements: readonly HTMLElement[];
  /** Shows a text for a few seconds; screen readers read it aloud. */
  toast(text: string): void;
  /** Makes screen readers read a text aloud, unless it is the same as the last one. */
  say(text: string): void;
}

const SHOWN_MS = 4000;

/** Creates the elements in which announcements appear. */
export function createAnnouncer(clock: Clock): Announcer {
  const toast = h("div", { class: "toast", role: "status" });
  const said = h("div", { class: "unseen", role: "status", id: "said" });
  let timer: Timer | undefined;
  return {
    elements: [toast, said],
    toast(text) {
      timer?.cancel();
      toast.textContent = text;
      toast.setAttribute("data-shown", "");
      timer = clock.schedule(SHOWN_MS, () => toast.removeAttribute("data-shown"));
    },
    say(text) {
      if (said.textContent !== text) said.textContent = text;
    },
  };
}
