/**
 * An earlier version and the working tree take turns with the same clusters, from outside:
 *
 *   npm run test:versions -- --with 481069b --rounds 20 [--seed 1]
 *
 * Both sides are changed while each of them runs, and while none does. No change may be lost, a start that finds nothing changed writes
 * nothing, the writes of a round are bounded by its changes, and nothing is written at rest. The exit code is 1 when one of these does not
 * hold. Of a clone that does not have the earlier version, it says so and ends with 0.
 */
import { parseArgs } from "node:util";
import { Chance, hold, runCases, seedOf, type Case } from "../outside/cases.ts";
import { startClusterProcess } from "../outside/cluster.ts";
import { checkOut, EARLIER } from "../outside/earlier.ts";
import { ROOT, temporaryFolder, until } from "../outside/processes.ts";
import { Proxy, tell, type Write } from "../outside/proxy.ts";
import { Syncer } from "../outside/syncer.ts";
import { Model, PATCHES } from "../outside/model.ts";

const { values } = parseArgs({
  options: { with: { type: "string", default: EARLIER }, rounds: { type: "string", default: "20" }, seed: { type: "string" } },
});
const VCLUSTER = { name: "blue", namespace: "vc-blue" };
const NAMESPACE = "shop";
const OBJECTS = 12;
const CHANGES = 10;
/** A host edit is a write to either side; a Service and its Endpoints are two objects. */
const WRITES_PER_CHANGE = 3;

const earlier = checkOut(values.with);
if (earlier === undefined) {
  console.log(`skipped: this clone does not have ${values.with}`);
  process.exit();
}

const seed = seedOf(values.seed);
console.log(`${values.rounds} rounds with ${values.with}, seed ${seed}`);
const folder = temporaryFolder();
const roots = { [values.with]: earlier, "the working tree": ROOT };
const [tenant, host] = await Promise.all([startClusterProcess("tenant", folder), startClusterProcess("host", folder)]);
await tenant.api.namespaces(NAMESPACE);
await host.api.namespaces(VCLUSTER.namespace);
const proxies = { tenant: await Proxy.start(tenant.api), host: await Proxy.start(host.api) };
const syncer = new Syncer({ folder, id: "versions", ...proxies, ...VCLUSTER, config: { sync: { toHost: PATCHES } } });
const chance = new Chance(seed);
const model = new Model({ virtual: VCLUSTER, tenant: tenant.api, host: host.api, chance, namespaces: [NAMESPACE] });
await model.begin(OBJECTS);

let before = OBJECTS * 2;
let broken = false;
const cases: Case[] = Array.from({ length: Number(values.rounds) }, (_none, at) => {
  const [version, root] = Object.entries(roots)[at % 2]!;
  return { name: `round ${at + 1}: ${version}`, run: () => play(root) };
});
await runCases(cases, { lanes: 1 });
await syncer.kill();
for (const proxy of Object.values(proxies)) proxy.close();
await Promise.all([tenant.stop(), host.stop()]);
process.exit();

async function play(root: string): Promise<string> {
  hold(!broken, "an earlier round failed");
  broken = true;
  const writes: string[] = [];
  writes.push(await counted("start", before, () => syncer.begin([], root)));
  const changes = 1 + chance.below(CHANGES);
  writes.push(await counted("changes while it runs", changes, () => model.change(changes)));
  // A change that arrives shows that all before it was seen: its write is the only one.
  writes.push(await counted("one change at rest", 1, () => model.change(1)));
  const during = chance.below(3) === 0 ? await model.change(CHANGES) : [];
  // The earlier version is known to lose edits when it is killed over them.
  if (chance.below(2) === 0 || (during.length > 0 && root !== ROOT)) await syncer.stop();
  else await syncer.kill();
  const down = chance.below(3) === 0 ? [] : await model.change(1 + chance.below(CHANGES));
  before = during.length + down.length;
  broken = false;
  return `writes: ${writes.join(", ")}; ${before} changes for the next${during.length > 0 ? ", some while it stopped" : ""}`;
}

/** Waits until both sides are what they must be, and counts what was written for it. */
async function counted(what: string, changes: number, act: () => Promise<string[] | void>): Promise<string> {
  const marks = [proxies.tenant.writes.length, proxies.host.writes.length] as const;
  const done = (await act()) ?? [];
  let wrong: string[] = [];
  await until(
    `${what}: both sides are as they must be`,
    async () => (wrong = await model.differences()).length === 0,
    () => [...wrong.slice(0, 3), ...done].join("; "),
  );
  const made = [...proxies.tenant.writes.slice(marks[0]), ...proxies.host.writes.slice(marks[1])];
  const most = changes * WRITES_PER_CHANGE;
  hold(made.length <= most, `${what}: ${made.length} writes for ${changes} changes: ${told(made)}`);
  return `${made.length} for ${changes}`;
}

function told(writes: readonly Write[]): string {
  return writes
    .slice(-6)
    .map((write) => `${tell(write)} ${write.body.slice(0, 300)}`)
    .join("; ");
}
