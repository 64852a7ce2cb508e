import type { Clock, Timer } from "../../../../base/clock.ts";
import { h } from "./h.ts";

/** Tells people what happened beside what they look at. */
export interface Announcer {
  readonly elements: readonly HTMLElement[];
  /** Shown for a few seconds, and read aloud. */
  toast(text: string): void;
  /** Only read aloud, when it is another text than the last. */
  say(text: string): void;
}

const SHOWN_MS = 4000;

/** The places where announcements appear. */
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
