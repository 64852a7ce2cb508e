/**
 * Random callers with random permissions at three servers on one etcd, which are killed and stand still, beside a model of who may do what:
 *
 *   npm run test:management-chaos -- --minutes 30 [--seed 1] [--with 481069b]
 *
 * It ends with the first answer that the model forbids, or the first server that no longer answers while others do. `--with` starts an earlier
 * version, whose other faults are reported and do not end it. A failure prints what happened around the object or the caller, and the seed; the exit
 * code is 1 then.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { seedOf } from "../outside/cases.ts";
import { checkOut } from "../outside/earlier.ts";
import { ROOT } from "../outside/processes.ts";
import { Troubles } from "../replicas/troubles.ts";
import { followOverHttp } from "../../apiserver/support/http-follower.ts";
import { checkWatches } from "../../apiserver/support/watch-checker.ts";
import { etcdVersion, startEtcd } from "../../support/etcd.ts";
import { ownPorts } from "../../support/own-port.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { Administrator } from "./administrator.ts";
import { Callers } from "./caller.ts";
import { ADMIN_KEY, API, Ground } from "./ground.ts";
import { Model } from "./model.ts";
import { Probes, Server } from "./servers.ts";
import { Watcher } from "./watcher.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "2" }, seed: { type: "string" }, with: { type: "string" } },
});
const root = values.with === undefined ? ROOT : checkOut(values.with);
if (etcdVersion === undefined || root === undefined) {
  console.log(`skipped: there is no ${etcdVersion === undefined ? "etcd here" : `${values.with} in this clone`}`);
  process.exit();
}
const seed = seedOf(values.seed);
console.log(`etcd ${etcdVersion}, seed ${seed}, ${values.minutes} minutes`);

const LANES = 8;
const WATCHERS = 2;
const CHANGE_MS = 100;
const CALL_MS = 5;
const PROGRESS_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), "management-chaos-"));
const etcd = await startEtcd();
const given = { etcd: etcd.url, folder, adminKey: ADMIN_KEY, encryptionKey: Buffer.alloc(32, 7).toString("base64"), root };
const stop = new AbortController();
const servers = (await ownPorts(3)).map((port) => new Server({ ...given, port, stop: stop.signal }));
const model = new Model();
let frozen = false;
const going = () => !frozen && (model.problems.length === 0 || values.with !== undefined);
const ground = new Ground({ model, servers, seed, stop: stop.signal });
const probes: Probes[] = [];
let played = 0;

try {
  for (const server of servers) await server.start();
  const urls = servers.map(({ url }) => `${url}${API}/sharedsecrets`);
  const followers = urls.map((_, at) =>
    followOverHttp({ name: `watch ${at}`, collections: [...urls.slice(at), ...urls.slice(0, at)], key: ADMIN_KEY, timeoutSeconds: 8 }),
  );
  while (followers.some((follower) => follower.position() < 0)) await delay(systemClock, CHANGE_MS);
  const administrator = new Administrator(ground, going);
  await administrator.begin();
  const onFrozen = (server: number, forMs: number) => {
    if (frozen) return;
    model.fail(`at ${server}`, `server ${server} answers nothing for ${(forMs / 1_000).toFixed(0)} s, while others do`);
    frozen = true;
    stop.abort();
  };
  probes.push(new Probes(servers, onFrozen));
  const from = performance.now();
  const elapsed = () => performance.now() - from;
  const playing = () => elapsed() < 60_000 * Number(values.minutes) && going();
  const cut = () => followers.forEach((follower) => follower.cut());
  const troubles = new Troubles({ replicas: servers, etcd, upTo: ground.upTo, cut });
  const callers = new Callers(ground, administrator);
  const watchers = Array.from({ length: WATCHERS }, (_, at) => new Watcher(ground, callers, `watch${at}`));
  const repeat = async (act: () => Promise<void>, pauseMs: number) => {
    while (playing()) {
      await act();
      await delay(systemClock, pauseMs);
    }
  };
  const report = () =>
    console.log(
      `${(elapsed() / 1_000).toFixed(0)} s: ${sum()} requests, ${troubles.counts.kills} kills, ${model.problems.length} problems`,
    );
  const sum = () => [...ground.counts.values()].reduce((all, count) => all + count, 0);
  const told = setInterval(report, PROGRESS_MS);
  await Promise.all([
    repeat(() => administrator.change(), CHANGE_MS),
    ...Array.from({ length: LANES }, (_, lane) => repeat(() => callers.call(lane), CALL_MS)),
    ...watchers.map((watcher) => repeat(() => watcher.step(stop.signal), CALL_MS)),
  ]);
  clearInterval(told);
  played = elapsed();
  if (going()) {
    await troubles.stop();
    const end = await administrator.mark("end");
    const deadline = performance.now() + PATIENCE_MS;
    while (followers.some((follower) => follower.position() < end) && performance.now() < deadline) await delay(systemClock, CHANGE_MS);
    for (const follower of followers) await follower.stop();
    const watches = followers.map(({ record }) => record);
    const { acknowledged, patches } = ground;
    // Patches, changes of permissions and deletions do not report the state that they met: no watch may lack one that another delivered.
    for (const problem of checkWatches({ acknowledged, watches, end, doubtful: Infinity })) model.fail("watches", problem);
    const heard = new Set(watches.flatMap(({ steps }) => steps.flatMap((step) => (step.did === "hear" ? [step.change.revision] : []))));
    for (const { key, revision } of patches) if (!heard.has(revision)) model.fail(key, `no watch told of the patch ${revision}`);
  }
  console.log(`${sum()} requests, ${ground.acknowledged.length + ground.patches.length} acknowledged writes`);
  console.log(`events of callers' watches: ${watchers.reduce((all, { events }) => all + events, 0)}`);
  for (const [name, count] of Object.entries(troubles.counts)) console.log(`${name}: ${Math.round(count)}`);
} finally {
  stop.abort();
  for (const probe of probes) probe.stop();
  for (const server of servers) await server.kill();
  await etcd.remove();
  rmSync(folder, { recursive: true });
}
for (const [name, count] of [...ground.counts].sort()) console.log(`${String(count).padStart(8)}  ${name}`);
for (const problem of model.problems.slice(-10)) console.log(`BROKEN: ${problem}`);
console.log(`${(played / 1_000).toFixed(0)} s played, ${model.problems.length} problems with seed ${seed}`);
process.exit(model.problems.length === 0 ? 0 : 1);
