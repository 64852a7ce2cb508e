/**
 * Measures from outside what a syncer keeps of cut connections and of names that were referenced once:
 *
 *   npm run test:soak -- --cuts 2000 --names 100000 [--with 481069b]
 *
 * It ends with the heap and the sockets that it began with. The beginning is after a warm-up that fills what it remembers on purpose.
 * The exit code is 1 when it kept more. `--with` soaks an earlier version.
 */
import { parseArgs } from "node:util";
import { ENDPOINTS } from "../outside/api.ts";
import { hold } from "../outside/cases.ts";
import { startClusterProcess } from "../outside/cluster.ts";
import { checkOut } from "../outside/earlier.ts";
import { hostPlace } from "../outside/names.ts";
import { ROOT, temporaryFolder, until } from "../outside/processes.ts";
import { Syncer } from "../outside/syncer.ts";
import { Cutter } from "./cutter.ts";
import { INSPECTED, Inspector, type Held } from "./inspector.ts";

const { values } = parseArgs({
  options: { cuts: { type: "string", default: "2000" }, names: { type: "string", default: "100000" }, with: { type: "string" } },
});

const VCLUSTER = { name: "blue", namespace: "vc-blue" };
const NAMESPACE = "shop";
/** The object that is changed to see that the syncer follows, and the one that refers to others. */
const [PROBE, REFERRER] = ["probe", "referrer"];
const ROUND = "round";
const NAMES_AT_A_TIME = 250;
const CONFIG = {
  sync: {
    toHost: {
      secrets: { enabled: true },
      endpoints: { patches: [{ path: "subsets[*].addresses[*].hostname", reference: { apiVersion: "v1", kind: "Secret" } }] },
    },
  },
};
/** Each name that is followed has a watch of its own on either side, and gives it back as soon as nothing refers to it. */
const SETTINGS = { references: { objects: 4, retentionMinutes: 0 } };

/** More than the names that a syncer remembers of a kind. */
const WARM_NAMES = 15_000;
const WARM_CUTS = 200;
/** Allowed differences between the beginning and the end: code that V8 has compiled meanwhile, watches that are about to be opened again. */
const HEAP_MORE_MAX = 5_000_000;
const SOCKETS_MORE_MAX = 8;

const root = values.with === undefined ? ROOT : checkOut(values.with);
if (root === undefined) {
  console.log(`skipped: this clone does not have ${values.with}`);
  process.exit();
}

const folder = temporaryFolder();
const [tenant, host] = await Promise.all([startClusterProcess("tenant", folder), startClusterProcess("host", folder)]);
await tenant.api.namespaces(NAMESPACE);
await host.api.namespaces(VCLUSTER.namespace);
const cutters = { tenant: await Cutter.start(tenant.api.access), host: await Cutter.start(host.api.access) };
const ways = Object.values(cutters);
const syncer = new Syncer({ folder, id: "soak", ...cutters, ...VCLUSTER, config: CONFIG, settings: SETTINGS, node: INSPECTED });
for (const name of [PROBE, REFERRER]) await tenant.api.create(ENDPOINTS, { metadata: { namespace: NAMESPACE, name } });
await syncer.begin([], root);
const inspector = await Inspector.connect(syncer.log);
let rounds = 0;
let named = 0;

try {
  await refer(WARM_NAMES);
  await cut(WARM_CUTS);
  const begun = performance.now();
  const before = await rest();
  console.log(`after the warm-up:   ${told(before)}`);
  const cuts = await cut(Number(values.cuts));
  const between = await rest();
  console.log(`after ${cuts} cuts:   ${told(between)}`);
  await refer(Number(values.names));
  const after = await rest();
  console.log(`after ${values.names} names: ${told(after)}`);
  const heapMore = after.heapBytes - before.heapBytes;
  hold(heapMore <= HEAP_MORE_MAX, `the heap grew by ${inMega(heapMore)} MB, more than ${inMega(HEAP_MORE_MAX)} MB`);
  for (const held of [between, after]) {
    const socketsMore = held.sockets - before.sockets;
    hold(socketsMore <= SOCKETS_MORE_MAX, `${socketsMore} sockets more are in memory than in the beginning`);
  }
  console.log(`the heap and the sockets of the beginning, after ${Math.round((performance.now() - begun) / 1000)} s`);
} catch (error) {
  console.log(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
inspector.close();
await syncer.kill();
for (const way of ways) way.close();
await Promise.all([tenant.stop(), host.stop()]);
process.exit();

/** Cuts all connections again and again, each time after a change has arrived: at least so many of them. */
async function cut(atLeast: number): Promise<number> {
  let cuts = 0;
  while (cuts < atLeast) {
    await follows(PROBE, {});
    for (const way of ways) cuts += way.cut();
  }
  await follows(PROBE, {});
  return cuts;
}

/** Refers to so many names that no object has, none of them twice; in the end to none. */
async function refer(names: number): Promise<void> {
  for (let left = names; left > 0; left -= NAMES_AT_A_TIME) {
    const addresses = Array.from({ length: NAMES_AT_A_TIME }, (_none, at) => {
      named += 1;
      return { ip: `10.1.0.${at + 1}`, hostname: `secret-${named}` };
    });
    await follows(REFERRER, { subsets: [{ addresses, ports: [{ port: 80 }] }] });
  }
  await follows(REFERRER, { subsets: [] });
}

/** Changes a tenant object, and waits until its copy has the change. */
async function follows(name: string, change: object): Promise<void> {
  rounds += 1;
  const round = String(rounds);
  await tenant.api.merge(ENDPOINTS, [NAMESPACE, name], { metadata: { annotations: { [ROUND]: round } }, ...change });
  const place = hostPlace(VCLUSTER, [NAMESPACE, name]);
  await until(
    `the copy of ${name} has round ${round}`,
    async () => (await host.api.get(ENDPOINTS, ...place))?.metadata.annotations?.[ROUND] === round,
    () => syncer.log.slice(-800),
  );
}

/** Memory of a syncer with as few connections as after its start: idle ones are cut first. */
async function rest(): Promise<Held & { readonly open: number }> {
  await cut(1);
  const held = await inspector.measure();
  return { ...held, open: ways.reduce((sum, way) => sum + way.open, 0) };
}

function told({ heapBytes, sockets, open }: Held & { readonly open: number }): string {
  return `heap ${inMega(heapBytes)} MB, ${sockets} TLS sockets in memory, ${open} open`;
}

function inMega(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
