import type { FlowedEdit, ShownBack, UndoneEdit } from "../../protocol.ts";
import { h, type Child } from "../dom/h.ts";
import { breakable, json, tag } from "./words.ts";

/** The outcome of each host edit: it reached the tenant, it was undone, or it stays on the host only. */
export function createFlowList({ flowed, undone, settles }: ShownBack): HTMLElement {
  return h(
    "ul",
    { class: "flow", "aria-label": "Outcomes of the host edits", tabindex: 0 },
    !settles &&
      h("li", {}, tag("Never settles", "error", "oscillates"), "With these expressions, the syncer would react to its own writes forever."),
    ...flowed.map(cameBack),
    ...undone.map(heldBack),
    flowed.length + undone.length === 0 && h("li", {}, "The edits change nothing that is synced."),
  );
}

function cameBack({ path, before, after }: FlowedEdit): HTMLLIElement {
  return h(
    "li",
    {},
    tag("Synced back", "good", "toTenant"),
    h("span", {}, h("span", { class: "flow-path" }, ...breakable(path)), ...change(before, after)),
  );
}

/** Describes a change. Lists and objects are too long for this; the editor below shows what changed in them. */
function change(before: unknown, after: unknown): Child[] {
  if (isLong(before) || isLong(after)) return ["changed, as marked below"];
  const was = before === undefined ? [] : [h("del", { class: "value" }, json(before, 80)), " → "];
  return [...was, h("ins", { class: "value" }, after === undefined ? "removed" : json(after, 80))];
}

function isLong(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function heldBack({ path, why, code, stays }: UndoneEdit): HTMLLIElement {
  return h(
    "li",
    {},
    stays ? tag("Stays on host", "quiet", "noChange") : tag("Undone", "warning", "reset"),
    h("span", {}, h("span", { class: "flow-path" }, ...breakable(path)), why, " ", h("code", {}, code)),
  );
}
