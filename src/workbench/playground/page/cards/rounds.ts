import type { LawCounterExample, LawStep } from "../../../laws/report.ts";
import { h } from "../dom/h.ts";
import { json } from "./words.ts";

/** One line of the table: the value in the tenant, then the value on the host. */
interface Round {
  tenant?: LawStep;
  host?: LawStep;
}

/** A counter-example as a table: the values in the tenant and on the host, round by round. Changed values are marked. */
export function createRounds({ steps }: LawCounterExample): HTMLTableElement {
  const rounds = roundsOf(steps);
  return h(
    "table",
    { class: "rounds" },
    h("caption", {}, "Read from left to right, line by line"),
    h("thead", {}, h("tr", {}, ...["Round", "Tenant", "Host"].map((name) => h("th", { scope: "col" }, name)))),
    h(
      "tbody",
      {},
      ...rounds.map((round, index) =>
        h(
          "tr",
          {},
          h("td", {}, String(index + 1)),
          cell(round.tenant, before(rounds, index, "tenant")),
          cell(round.host, before(rounds, index, "host")),
        ),
      ),
    ),
  );
}

/** Groups steps into lines. Each line begins in the tenant, except for the first, which may begin on the host. */
function roundsOf(steps: readonly LawStep[]): Round[] {
  const rounds: Round[] = [];
  for (const step of steps) {
    const last = rounds.at(-1);
    if (last === undefined || step.on === "tenant" || last.host !== undefined) rounds.push({ [step.on]: step });
    else last.host = step;
  }
  return rounds;
}

function before(rounds: readonly Round[], index: number, side: "tenant" | "host"): LawStep | undefined {
  return rounds.slice(0, index).findLast((round) => round[side] !== undefined)?.[side];
}

function cell(step: LawStep | undefined, earlier: LawStep | undefined): HTMLTableCellElement {
  if (step === undefined) return h("td", {}, h("span", { class: "unseen" }, "nothing"));
  if (step.error !== undefined) return h("td", { "data-changed": true }, step.error);
  const changed = earlier !== undefined && json(step.value) !== json(earlier.value);
  return h(
    "td",
    { "data-changed": changed },
    h("span", { class: "value" }, step.value === null ? "gone" : json(step.value)),
    changed && h("span", { class: "unseen" }, " (changed)"),
  );
}
