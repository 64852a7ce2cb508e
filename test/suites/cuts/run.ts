/**
 * Two syncers of one virtual cluster that are cut from its clusters, from outside: a member that sees both clusters leads, `/readyz` reports what each
 * cannot reach, nothing is written twice, and the Lease does not change hands without need.
 *
 *   npm run test:cuts -- [--only TEXT] [--seconds 20] [--with REF] [--short]
 *
 * The exit code is 1 as well when the one that sees both leads later than so many seconds after the cut, with the default times of an
 * election. With `--short` the times are short, most stories are played with one of both ways to cut, and nothing is judged by time. `--with`
 * takes the syncer of an earlier version.
 */
import { parseArgs } from "node:util";
import { hold, runCases, type Case } from "../outside/cases.ts";
import { checkOut } from "../outside/earlier.ts";
import { ROOT, until } from "../outside/processes.ts";
import type { Cut } from "../outside/proxy.ts";
import { Pair, type Member, type Side } from "./pair.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seconds: { type: "string", default: "20" },
    with: { type: "string" },
    short: { type: "boolean", default: false },
  },
});
const { short } = values;
const TIMES = short ? { leaseDurationSeconds: 6, renewDeadlineSeconds: 4, retryPeriodSeconds: 1 } : {};
const REST_MS = short ? 1_000 : 30_000;

const root = values.with === undefined ? ROOT : checkOut(values.with);
if (root === undefined) {
  console.log(`skipped: this clone does not have ${values.with}`);
  process.exit();
}

type Who = "leader" | "standby";
/** The member that is cut, and the clusters. */
type Cuts = Readonly<Partial<Record<Who, readonly Side[]>>>;

interface Story {
  readonly name: string;
  readonly cuts: Cuts;
  /** The leader during the cut; undefined if the Lease is out of reach for both. */
  readonly then?: Who;
  /** Whose ways are healed first, so that it leads from then on. */
  readonly first?: Who;
  /** Left out of the short form, which has the same in another story. */
  readonly long?: true;
}

const BOTH = ["tenant", "host"] as const;
const STORIES: readonly Story[] = [
  { name: "leader cut from the tenant", cuts: { leader: ["tenant"] }, then: "standby" },
  { name: "leader cut from the host", cuts: { leader: ["host"] }, then: "standby" },
  { name: "leader cut from both", cuts: { leader: BOTH }, then: "standby" },
  { name: "standby cut from the tenant", cuts: { standby: ["tenant"] }, then: "leader" },
  { name: "standby cut from the host", cuts: { standby: ["host"] }, then: "leader" },
  { name: "standby cut from both", cuts: { standby: BOTH }, then: "leader" },
  {
    name: "both cut from the tenant, leader first",
    cuts: { leader: ["tenant"], standby: ["tenant"] },
    then: "leader",
    first: "leader",
    long: true,
  },
  { name: "both cut from the tenant, standby first", cuts: { leader: ["tenant"], standby: ["tenant"] }, then: "leader", first: "standby" },
  { name: "both cut from the host, standby first", cuts: { leader: ["host"], standby: ["host"] }, first: "standby", long: true },
  {
    name: "leader from the tenant and standby from the host",
    cuts: { leader: ["tenant"], standby: ["host"] },
    then: "leader",
    first: "standby",
  },
];

/** Plays one story, and says how long it took until the right one led. */
async function play(pair: Pair, { cuts, then, first }: Story, how: Cut): Promise<string> {
  const leader = await pair.leader();
  const members: Record<Who, Member> = { leader, standby: pair.members.find((member) => member !== leader)! };
  const told: string[] = [];
  const leads = async (who: Who, judged: boolean): Promise<void> => {
    const seconds = await pair.leads(members[who], REST_MS);
    told.push(`${who} after ${seconds.toFixed(1)} s`);
    hold(short || !judged || seconds <= Number(values.seconds), `${who} leads only after ${seconds.toFixed(1)} s`);
  };
  const way = (who: Who, act: (way: Member["ways"][Side]) => void): void => {
    for (const side of cuts[who] ?? []) act(members[who].ways[side]);
  };
  const both = ["leader", "standby"] as const;
  for (const who of both) way(who, (one) => one.cut(how));
  await Promise.all([
    ...both.map((who) => saysWhatItLacks(members[who], cuts[who] ?? [])),
    // Counted from the cut. Where neither sees both, nothing is promised but that it stays as it is.
    then !== undefined && leads(then, cuts[then] === undefined),
  ]);
  if (then !== undefined && cuts[then] === undefined) await pair.arrived();
  if (first !== undefined) {
    way(first, (one) => one.heal());
    await leads(first, true);
    await pair.arrived();
  }
  for (const who of both) way(who, (one) => one.heal());
  await Promise.all(both.map((who) => saysWhatItLacks(members[who], [])));
  const last = first ?? then!;
  await leads(last, false);
  await pair.arrived();
  pair.holdWrites();
  return told.join(", ");
}

/** `/readyz` names each cluster that is out of reach, with the time since when, and no other one. */
async function saysWhatItLacks(member: Member, lacks: readonly Side[]): Promise<void> {
  let said = "";
  await until(
    `/readyz of ${member.name} says that ${lacks.join(" and ") || "nothing"} is out of reach`,
    async () => {
      said = await member.readyz();
      const named = BOTH.filter((side) =>
        new RegExp(`^(?:503 )?unable to (?:reach|follow) .*the ${side} cluster since 20\\d\\d-`, "m").test(said),
      );
      return named.join() === BOTH.filter((side) => lacks.includes(side)).join() && said.startsWith(lacks.length === 0 ? "200 ok" : "503 ");
    },
    () => said,
  );
}

/** One pair plays its stories one after the other, so that each begins with the leader of the one before. */
function group(stories: readonly Story[], at: number): Case {
  const hows: readonly Cut[] = ["silent", "refused"];
  const plays = stories.flatMap((story, index) => (short ? [hows[(index + at) % 2]!] : hows).map((how) => ({ story, how })));
  return {
    name: short ? `pair ${at + 1}` : stories[0]!.name,
    async run() {
      const pair = await Pair.start(root!, TIMES);
      try {
        const told: string[] = [];
        for (const { story, how } of plays) {
          const result = await play(pair, story, how).catch((error: unknown) => {
            throw new Error(`${story.name}, ${how}: ${error instanceof Error ? error.message : String(error)}`);
          });
          told.push(`${short ? `${story.name}, ` : ""}${how}: ${result}`);
        }
        return told.join("; ");
      } finally {
        await pair.close();
      }
    },
  };
}

const stories = STORIES.filter(({ name, long = false }) => name.includes(values.only) && !(short && long));
const groups = short ? [0, 1].map((rest) => stories.filter((_, index) => index % 2 === rest)) : stories.map((story) => [story]);
await runCases(groups.filter(({ length }) => length > 0).map(group), { lanes: 2 });
process.exit();
