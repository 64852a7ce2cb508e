/**
 * A victim beside each attacker, from outside: clusters and the syncer are processes, and the victim's changes are timed from the tenant's
 * write until a watch of the host has the copy.
 *
 *   npm run test:attackers -- [--only TEXT] [--seconds 20] [--with REF] [--count-only]
 *
 * Each attacker has clusters and a syncer of its own, and three periods: the victim alone; beside an attacker whose objects the syncer does
 * not select, which shows what the clusters themselves make of the attack; and beside the attacker. The first two are its controls. The exit code is 1 when the attacker
 * takes more from the victim than it may, when a probe waits, when the Lease is lost, or when more is written than was asked for. With
 * `--count-only` there is the last period only, and no time is judged. `--with` takes the syncer of an earlier version.
 */
import { parseArgs } from "node:util";
import { hold, runCases } from "../outside/cases.ts";
import { checkOut } from "../outside/earlier.ts";
import { ROOT } from "../outside/processes.ts";
import { ATTACKS, type Attack } from "./attacks.ts";
import { Ground, type Period } from "./ground.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seconds: { type: "string" },
    with: { type: "string" },
    "count-only": { type: "boolean", default: false },
  },
});
const countOnly = values["count-only"];
const seconds = Number(values.seconds ?? (countOnly ? 3 : 20));

/** More than the p99 of the worse control, and the slowest probe, in milliseconds. */
const LATER_MAX_MS = 100;
const PROBE_MAX_MS = 100;
/** Short, so that a late renewal is seen; where no time is judged, the usual times. */
const LEASE_SECONDS = 4;
const LEASE = countOnly ? {} : { leaseDurationSeconds: LEASE_SECONDS, renewDeadlineSeconds: 3, retryPeriodSeconds: 1 };

/** An act is at most a create and a delete, and a change of a copy comes with at most one more of what is noted on it. */
const WRITES_PER_ACT = 2;

const root = values.with === undefined ? ROOT : checkOut(values.with);
if (root === undefined) {
  console.log(`skipped: this clone does not have ${values.with}`);
  process.exit();
}

async function play(attack: Attack): Promise<string> {
  const ground = await Ground.start(attack, { root: root!, lease: LEASE });
  try {
    const periods: [string, Period][] = [];
    if (!countOnly) {
      periods.push(["quiet", await ground.period(seconds, "none")]);
      periods.push(["ignored", await ground.period(seconds, "ignored")]);
    }
    periods.push(["beside", await ground.period(seconds, "attacker")]);
    const told = periods.map(([name, period]) => `${name}: ${countOnly ? countsOf(period) : `${timesOf(period)}, ${countsOf(period)}`}`);
    const beside = periods.at(-1)![1];
    const controls = periods.slice(0, -1).map(([, period]) => period.p99);
    const wrong = [...wrongCounts(attack, beside, ground.holders), ...(countOnly ? [] : wrongTimes(Math.max(...controls), beside))];
    hold(wrong.length === 0, [...wrong, ...told].join("; "));
    return told.join("; ");
  } finally {
    await ground.close();
  }
}

/** The clusters share the machine with the syncer: the cost of an attack that it ignores is theirs. */
function wrongTimes(control: number, { p99, probe, renewal }: Period): string[] {
  return [
    ...(p99 > control + LATER_MAX_MS ? [`p99 is ${ms(p99 - control)} above what it is without the syncer's work`] : []),
    ...(probe > PROBE_MAX_MS ? [`a probe took ${ms(probe)}`] : []),
    ...(renewal > LEASE_SECONDS * 1000 ? [`the Lease was not renewed for ${ms(renewal)}`] : []),
  ];
}

function wrongCounts({ unasked }: Attack, { acts, writes }: Period, holders: readonly string[]): string[] {
  const most = acts * WRITES_PER_ACT + unasked;
  return [
    ...(writes > most ? [`${writes} writes for ${acts} acts`] : []),
    ...(holders.length === 1 ? [] : [`the Lease was held by ${holders.join(", ")}`]),
  ];
}

function timesOf({ p50, p99, probe, renewal }: Period): string {
  return `p50 ${ms(p50)}, p99 ${ms(p99)}, probe ${ms(probe)}, renewal ${ms(renewal)}`;
}

function countsOf({ changes, acts, writes }: Period): string {
  return `${changes} changes, ${acts} acts, ${writes} writes`;
}

function ms(time: number): string {
  return `${Math.round(time)} ms`;
}

const cases = ATTACKS.filter(({ name }) => name.includes(values.only)).map((attack) => ({ name: attack.name, run: () => play(attack) }));
console.log(`${seconds} s a period${values.with === undefined ? "" : `, with ${values.with}`}`);
await runCases(cases, { lanes: 1 });
process.exit();
