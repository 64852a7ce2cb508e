/**
 * Measures the input of docs/scale.md: an API server with watches, and the size of objects in etcd. `npm run bench:syncer` measures the
 * syncer.
 *
 *   npm run bench:scale                prints the measurements
 *   npm run bench:scale -- --report    writes it to bench/scale/measured.json and docs/scale.md
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openEtcdStore } from "../../src/apiserver/store/etcd/etcd-store.ts";
import { etcdVersion, startEtcd } from "../../test/support/etcd.ts";
import { tablesOf, type Measured, type ServerMeasured } from "./formula.ts";

const { values } = parseArgs({ options: { report: { type: "boolean", default: false } } });
const FILE = join(import.meta.dirname, "measured.json");
const PAGE = join(import.meta.dirname, "../../docs/scale.md");
const MARKS = /(<!-- measured -->\n)[\s\S]*(\n<!-- end of measured -->)/;
const KEY = "administrator-0123456789abcdefghijklmn";
const API = "/kubernetes/management/apis/management.platform/v1";
const EVENTS = 50;
const PAIRS = 1_000;
const AT_ONCE = 100;
/** A host copy: its fields beside the addresses, and the markers of its syncer. */
const MARKERS = Object.fromEntries(
  ["name", "namespace", "uid", "vcluster", "kind", "base"].map((name) => [`endpoint-sync.io/${name}`, "x".repeat(36)]),
);
const metadata = (name: string) => ({
  name,
  namespace: "vc-blue",
  uid: "00000000-0000-4000-8000-000000000000",
  creationTimestamp: "2026-06-01T12:00:00Z",
  labels: { app: "shop", team: "payments" },
  annotations: MARKERS,
});
const service = (name: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: metadata(name),
  spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] },
});
const endpoints = (name: string, round = 0) => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: metadata(name),
  subsets: [{ addresses: [1, 2, 3].map((at) => ({ ip: `10.${round}.0.${at}`, hostname: `pod-${at}` })), ports: [{ port: 80 }] }],
});
/** Data on a watch, without line ends. */
const eventBytes = JSON.stringify({ type: "MODIFIED", object: endpoints("service-1-x-shop-x-blue") }).length + 1;

async function measureServer(watches: number): Promise<ServerMeasured> {
  const child = fork(join(import.meta.dirname, "server.ts"), [KEY], { execArgv: ["--no-warnings"] });
  const [url] = (await once(child, "message")) as [string];
  const usage = async () => {
    child.send("usage");
    return ((await once(child, "message")) as [{ cpuMs: number; rssMb: number }])[0];
  };
  const agent = new Agent({ maxSockets: Infinity });
  const send = (method: string, path: string, body?: object) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
      request(`${url}${API}${path}`, { method, agent, headers }, resolve)
        .on("error", reject)
        .end(body && JSON.stringify(body));
    });
  let heard = 0;
  const open: IncomingMessage[] = [];
  for (let at = 0; at < watches; at += 1) {
    const watch = await send("GET", "/sharedsecrets?watch=true");
    watch.on("data", (chunk: Buffer) => (heard += chunk.toString().split("\n").length - 1));
    open.push(watch);
  }
  const write = async (at: number) => {
    const spec = { displayName: "x".repeat(Math.max(0, eventBytes - 600)) };
    (await send("POST", "/namespaces/a/sharedsecrets", { metadata: { name: `event-${at}` }, spec })).resume();
    while (heard < (at + 1) * watches) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const WARM = 5;
  for (let at = 0; at < WARM; at += 1) await write(at);
  const before = await usage();
  for (let at = WARM; at < WARM + EVENTS; at += 1) await write(at);
  const after = await usage();
  for (const watch of open) watch.destroy();
  agent.destroy();
  child.disconnect();
  return { watches, rssMb: Math.round(after.rssMb), eventCpuMs: Number(((after.cpuMs - before.cpuMs) / EVENTS).toPrecision(2)) };
}

/** Growth of etcd's file. */
async function measureEtcd(): Promise<{ pairBytes: number; writeBytes: number }> {
  const etcd = await startEtcd();
  const store = await openEtcdStore({ endpoints: [etcd.url], times: { requestMs: 60_000, giveUpMs: 60_000 } });
  const size = async () => Number((await etcd.ask("/v3/maintenance/status", {}))["dbSizeInUse"]);
  const all = async <T>(act: (at: number) => Promise<T>) => {
    const done: T[] = [];
    for (let from = 0; from < PAIRS; from += AT_ONCE) {
      done.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => act(from + at)))));
    }
    return done;
  };
  const empty = await size();
  await all((at) => store.create(`/core/services/vc-blue/s-${at}`, service(`s-${at}`)));
  const made = await all((at) => store.create(`/core/endpoints/vc-blue/s-${at}`, endpoints(`s-${at}`)));
  const full = await size();
  await all((at) => store.update(`/core/endpoints/vc-blue/s-${at}`, endpoints(`s-${at}`, 1), made[at]!.revision));
  const twice = await size();
  await store.close();
  await etcd.remove();
  return { pairBytes: Math.round((full - empty) / PAIRS), writeBytes: Math.round((twice - full) / PAIRS) };
}

if (etcdVersion === undefined) throw new Error("there is no etcd here");
const { syncer } = JSON.parse(readFileSync(FILE, "utf8")) as Measured;
const inEtcd = await measureEtcd();
const measured: Measured = {
  syncer,
  server: [await measureServer(100), await measureServer(1_000)],
  eventBytes,
  ...inEtcd,
};
console.log(tablesOf(measured));
if (values.report) {
  writeFileSync(FILE, `${JSON.stringify(measured, undefined, 2)}\n`);
  writeFileSync(PAGE, readFileSync(PAGE, "utf8").replace(MARKS, `$1\n${tablesOf(measured)}\n$2`));
}
