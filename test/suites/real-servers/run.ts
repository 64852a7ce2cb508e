/**
 * Two real kube-apiservers, each with etcd and kube-controller-manager, and the syncer between them with its default `backends: auto`:
 *
 *   KUBE_APISERVER=PATH KUBE_CONTROLLER_MANAGER=PATH [ETCD=PATH] npm run test:real-servers -- [--with REF]
 *
 * Eight kinds of Services change while the mirroring controllers of both sides go off and come back, and the syncer is killed. All the time
 * the host's slices are read: no backend may be missing that the tenant shows throughout. After each step the host shows what the tenant
 * shows, each backend once; at rest nothing is written. How long backends are doubled is measured. `--with` looks at an earlier version. The
 * exit code is 1 after a violation. Without the programs it says what is skipped and ends with 0.
 */
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ownPorts } from "../../support/own-port.ts";
import { ENDPOINTS, SERVICES, SLICES } from "../outside/api.ts";
import { hold } from "../outside/cases.ts";
import { checkOut } from "../outside/earlier.ts";
import { hostPlace } from "../outside/names.ts";
import { ROOT, temporaryFolder } from "../outside/processes.ts";
import { Syncer } from "../outside/syncer.ts";
import { RealCluster, type Programs } from "./cluster.ts";
import { ms, Readers, type Limits } from "./readers.ts";
import { LARGE, NAMESPACE, PLAIN, Shop } from "./shop.ts";

const { values } = parseArgs({ options: { with: { type: "string" } } });

const VCLUSTER = { name: "blue", namespace: "vc-blue" };
/** The manager of slices that a mirroring controller makes. */
const MIRROR = "endpointslicemirroring-controller.k8s.io";
const CONFIG = { sync: { toHost: { endpoints: { enabled: true } } } };
/** kube-apiserver 1.36 does not work with an older one. */
const ETCD_MIN = [3, 5] as const;
/** What a mirror, or the syncer, may need to notice that the other one is gone. */
const NOTICE_MS = 8_000;
const REST_MS = 8_000;

/** One thing that happens while readers look. */
interface Step extends Limits {
  readonly name: string;
  act(): Promise<void>;
}

const programs = findPrograms();
const root = values.with === undefined ? ROOT : checkOut(values.with);
if (typeof programs === "string" || root === undefined) {
  console.log(`skipped: ${typeof programs === "string" ? programs : `this clone does not have ${values.with}`}`);
  process.exit();
}

const folder = temporaryFolder();
const clusters: RealCluster[] = [];
const problems: string[] = [];
let doubled = { ms: 0, what: "" };
let looks = 0;
let syncer: Syncer<RealCluster> | undefined;
try {
  await play(programs, root);
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error));
  console.log(`FAILED  ${problems.at(-1)}`);
}
await syncer?.kill();
for (const cluster of clusters) await cluster.stop();
if (problems.length > 0) console.log(`\nViolations:\n${problems.join("\n")}`);
console.log(`\n${problems.length} violations in ${looks} looks; backends were doubled for at most ${ms(doubled.ms)}${doubled.what}`);
process.exit(problems.length === 0 ? 0 : 1);

/** The programs that the environment names, or why there are none. @throws Error when one that is named does not run. */
function findPrograms(): Programs | string {
  const { KUBE_APISERVER: apiServer = "", KUBE_CONTROLLER_MANAGER: controllerManager = "", ETCD: etcd = "etcd" } = process.env;
  if (apiServer === "" || controllerManager === "") {
    return "real API servers: KUBE_APISERVER and KUBE_CONTROLLER_MANAGER do not both name a program";
  }
  const version = /etcd Version: ((\d+)\.(\d+)\S*)/.exec(spawnSync(etcd, ["--version"], { encoding: "utf8" }).stdout ?? "");
  if (version === null) return `real API servers: no "${etcd}" here, ETCD names another one`;
  const [major, minor] = [Number(version[2]), Number(version[3])];
  if (major < ETCD_MIN[0] || (major === ETCD_MIN[0] && minor < ETCD_MIN[1])) {
    return `real API servers: they need etcd ${ETCD_MIN.join(".")} or newer, "${etcd}" is ${version[1]}`;
  }
  const told = [apiServer, controllerManager].map(versionOf);
  console.log(`kube-apiserver ${told[0]}, kube-controller-manager ${told[1]}, etcd ${version[1]}`);
  return { etcd, apiServer, controllerManager };
}

function versionOf(program: string): string {
  const { status, stdout, error } = spawnSync(program, ["--version"], { encoding: "utf8" });
  hold(status === 0, `${program} does not run: ${error?.message ?? stdout}`);
  return stdout.trim().replace(/^Kubernetes /, "");
}

async function play(found: Programs, from: string): Promise<void> {
  const start = async (name: string) => {
    const cluster = await RealCluster.start(found, name, folder);
    clusters.push(cluster);
    return cluster;
  };
  const [tenant, host] = await Promise.all([start("tenant"), start("host")]);
  const [metricsPort] = await ownPorts(1);
  const args = ["--metrics-address", `127.0.0.1:${metricsPort}`];
  syncer = new Syncer({ folder, id: "real", tenant, host, ...VCLUSTER, config: CONFIG, args });
  await host.api.namespaces(VCLUSTER.namespace);
  await Promise.all([tenant.control("all"), host.control("all")]);
  await syncer.begin([], from);

  const shop = new Shop(tenant.api);
  const readers = new Readers(host.api, shop, VCLUSTER);
  for (const step of stepsOf({ tenant, host, shop, syncer, from })) await playStep(step, readers, [tenant, host]);
  await rest([tenant, host], `http://127.0.0.1:${metricsPort}/metrics`);
}

async function playStep({ name, act, ...limits }: Step, readers: Readers, both: readonly RealCluster[]): Promise<void> {
  const seen = await readers.watch(act, limits);
  for (const cluster of both) cluster.checkControllers();
  looks += seen.looks;
  problems.push(...seen.problems.map((problem) => `${name}: ${problem}`));
  const told = [`${seen.looks} looks`];
  if (seen.unanswered > 0) told.push(`${seen.unanswered} of them without an answer (${seen.reason})`);
  if (seen.doubledMs > 0) told.push(`${seen.doubledService} doubled for ${ms(seen.doubledMs)}`);
  if (seen.doubledMs > doubled.ms) doubled = { ms: seen.doubledMs, what: `: ${name}, ${seen.doubledService}` };
  console.log(`${seen.problems.length === 0 ? "passed" : "FAILED"}  ${name.padEnd(48)}  ${told.join(", ")}`);
  for (const problem of seen.problems) console.log(`        ${problem}`);
}

/** What the steps act on. */
interface Ground {
  readonly tenant: RealCluster;
  readonly host: RealCluster;
  readonly shop: Shop;
  readonly syncer: Syncer<RealCluster>;
  /** The version of the product. */
  readonly from: string;
}

/** All that happens, in this order: each step begins where the one before has ended. */
function stepsOf({ tenant, host, shop, syncer: ours, from }: Ground): Step[] {
  const begin = () => ours.begin([], from);
  const restart = async (settings?: object) => {
    await ours.stop();
    ours.options = { ...ours.options, settings };
    await begin();
    await sleep(NOTICE_MS);
  };
  const killAmidChurn = async () => {
    const churn = shop.churn(12);
    await sleep(600);
    await ours.kill();
    await sleep(500);
    await Promise.all([begin(), churn]);
  };
  const control = async (cluster: RealCluster, which: Parameters<RealCluster["control"]>[0]) => {
    await cluster.control(which);
    await shop.churn(10);
    await sleep(NOTICE_MS);
  };
  const restartHost = async () => {
    await host.killApiServer();
    await Promise.all([sleep(1_000), shop.churn(2)]);
    await host.startApiServer();
    await sleep(NOTICE_MS);
    await shop.churn(5);
  };
  return [
    { name: "both mirrors: first objects", act: () => shop.fill() },
    { name: "both mirrors: changes", act: () => shop.churn(10).then(() => checkMirror(host, "works")) },
    { name: "the syncer restarts", act: () => restart() },
    { name: "the syncer is killed amid changes", act: killAmidChurn },
    { name: "the host's mirror goes", act: () => control(host, "all but the mirror") },
    { name: "without the host's mirror: changes", act: () => shop.churn(20).then(() => checkMirror(host, "is replaced")) },
    { name: "without the host's mirror: the syncer restarts", act: () => restart() },
    { name: "the host's mirror comes back", act: () => control(host, "all") },
    { name: "the tenant's mirror goes", act: () => control(tenant, "all but the mirror") },
    { name: "both mirrors are gone", act: () => control(host, "all but the mirror") },
    { name: "no controllers at all", act: () => Promise.all([host.control("none"), tenant.control("none")]).then(() => shop.churn(10)) },
    { name: "a Service loses its addresses", act: () => shop.emptyPlain() },
    { name: "it has them again", act: () => shop.plain() },
    { name: "the controllers of both come back", act: () => host.control("all").then(() => control(tenant, "all")) },
    // With `both`, readers see what the tenant's mirror has made: 1,000 addresses of a Service.
    { name: "from auto to both", act: () => restart({ backends: "both" }), except: LARGE, exceptAtRest: LARGE },
    { name: "from both to auto", act: () => restart(), except: LARGE },
    { name: "the host's API server is killed and starts again", act: restartHost, hostIsDown: true },
    { name: "a Service is deleted", act: () => shop.deletePlain() },
  ];
}

/**
 * Looks who shows a Service that changes: one that does not keeps what a mirror has made of it.
 *
 * @throws Error when the steps would not do what their names say: a mirror that never worked cannot go.
 */
async function checkMirror({ api }: RealCluster, which: "works" | "is replaced"): Promise<void> {
  const [namespace, service] = hostPlace(VCLUSTER, [NAMESPACE, PLAIN]);
  const labels = (await api.list(SLICES, namespace)).map(({ metadata }) => metadata.labels ?? {});
  const own = labels.filter((label) => label["kubernetes.io/service-name"] === service);
  const managers = own.map((label) => label["endpointslice.kubernetes.io/managed-by"]);
  const told = `slices of ${service} are made by ${managers.join(", ")}, though the host's mirror ${which}`;
  hold(managers.includes(MIRROR) === (which === "works"), told);
}

/** Nothing is written when nothing changes, neither by what the syncer counts nor by what the clusters have. */
async function rest([tenant, host]: readonly [RealCluster, RealCluster], metrics: string): Promise<void> {
  await sleep(NOTICE_MS);
  const look = async () => ({
    writes: await writesOf(metrics),
    objects: [await versions(tenant, NAMESPACE), await versions(host, VCLUSTER.namespace)],
  });
  const before = await look();
  await sleep(REST_MS);
  const after = await look();
  const writes = after.writes - before.writes;
  const changed = after.objects.flatMap((list, side) => list.filter((one) => !before.objects[side]!.includes(one)));
  const gone = before.objects.flat().length !== after.objects.flat().length;
  console.log(`${writes} writes at rest in ${ms(REST_MS)}, of ${after.writes} since the last start of the syncer`);
  if (writes > 0) problems.push(`at rest: the syncer has written ${writes} times`);
  if (changed.length > 0 || gone) problems.push(`at rest: objects changed: ${changed.slice(0, 5).join("; ") || "some are gone"}`);
  const [, copy] = hostPlace(VCLUSTER, [NAMESPACE, PLAIN]);
  if ((await host.api.get(SERVICES, VCLUSTER.namespace, copy)) !== undefined) problems.push("at rest: a deleted Service has a copy");
}

/** Every Service, Endpoints and slice of a namespace, with its version. */
async function versions({ api }: RealCluster, namespace: string): Promise<string[]> {
  const lists = await Promise.all([SERVICES, ENDPOINTS, SLICES].map(async (kind) => [kind.kind, await api.list(kind, namespace)] as const));
  return lists.flatMap(([kind, list]) => list.map(({ metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`));
}

/** How often the syncer has written since its start. @throws Error when it does not say. */
async function writesOf(metrics: string): Promise<number> {
  const lines = (await (await fetch(metrics)).text()).matchAll(/^endpoint_sync_writes_total\{.*\} (\d+)$/gm);
  const counts = [...lines].map((match) => Number(match[1]));
  hold(counts.length > 0, "the syncer does not tell of its writes");
  return counts.reduce((sum, count) => sum + count, 0);
}
