/**
 * Both clusters in one process, over TLS, with a load on the tenant and observation of the host: what reaches it, when, and by how
 * many writes and connections.
 */
import { writeFileSync } from "node:fs";
import { Server } from "node:https";
import { join } from "node:path";
import { startCluster } from "../../src/cluster/cluster.ts";
import { ENDPOINTS, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { answer } from "./child.ts";

const TAG = "example.com/tag";
const NAMESPACE = "shop";
const HOST_NAMESPACE = "vc-blue";

const [folder] = process.argv.slice(2) as [string];
let handshakes = 0;
const emit = Server.prototype.emit as (this: Server, name: string, ...rest: unknown[]) => boolean;
Server.prototype.emit = function (this: Server, name: string, ...rest: unknown[]) {
  if (name === "secureConnection") handshakes += 1;
  return emit.call(this, name, ...rest);
} as typeof Server.prototype.emit;

const [tenant, host] = await Promise.all([startCluster({ name: "tenant" }), startCluster({ name: "host" })]);
writeFileSync(join(folder, "tenant.kubeconfig"), tenant.kubeconfig);
writeFileSync(join(folder, "host.kubeconfig"), host.kubeconfig);
await tenant.client.create(NAMESPACES, namespace(NAMESPACE));
await host.client.create(NAMESPACES, namespace(HOST_NAMESPACE));

/** Host copies by kind and name, and what has happened to them. */
const copies = new Map<string, KubeObject>();
let writes = 0;
/** The tags of each object that were written in the tenant cluster and have not reached the host, and when; and how long others took. */
const underWay = new Map<string, { readonly tag: string; readonly since: number }[]>();
let lagsMs: number[] = [];
let wake: () => void = () => {};
const forEver = new AbortController().signal;
for (const type of [SERVICES, ENDPOINTS]) void follow(type);

async function follow(type: typeof SERVICES): Promise<void> {
  const { resourceVersion } = await host.client.list(type, { namespace: HOST_NAMESPACE });
  for await (const event of host.client.watch(type, { namespace: HOST_NAMESPACE, resourceVersion, signal: forEver })) {
    if (event.type === "BOOKMARK") continue;
    const id = `${type.plural}/${event.object.metadata.name}`;
    writes += 1;
    if (event.type === "DELETED") copies.delete(id);
    else copies.set(id, event.object);
    if (type === ENDPOINTS) arrive(event.object.metadata.annotations?.[TAG]);
    wake();
  }
}

/** Tags that were overtaken by this one, on an object that changed again meanwhile, do not arrive any more. */
function arrive(tag: string | undefined): void {
  for (const [id, tags] of underWay) {
    const at = tags.findIndex((one) => one.tag === tag);
    if (at === -1) continue;
    lagsMs.push(performance.now() - tags[at]!.since);
    if (at === tags.length - 1) underWay.delete(id);
    else tags.splice(0, at + 1);
    return;
  }
}

function namespace(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

function nameOf(index: number): string {
  return `service-${index}`;
}

async function seed({ objects, addresses }: { objects: number; addresses: number }): Promise<void> {
  for (let index = 0; index < objects; index += 1) await createOne(index, addresses);
}

async function createOne(index: number, addresses: number): Promise<void> {
  const metadata = { name: nameOf(index), namespace: NAMESPACE, labels: { app: "shop" }, annotations: { "example.com/team": "payments" } };
  await tenant.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 80 }] } } as KubeObject);
  const list = Array.from({ length: addresses }, (_, at) => ({
    ip: `10.${index % 250}.${(at >> 7) + 1}.${(at % 128) + 1}`,
    hostname: `pod-${at}`,
  }));
  await tenant.client.create(ENDPOINTS, {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata,
    subsets: [{ addresses: list, ports: [{ port: 80 }] }],
  } as KubeObject);
}

async function tagOne(index: number, tag: string): Promise<void> {
  const name = nameOf(index);
  if (!underWay.has(name)) underWay.set(name, []);
  underWay.get(name)!.push({ tag, since: performance.now() });
  await tenant.client.patch(ENDPOINTS, { namespace: NAMESPACE, name }, "merge", { metadata: { annotations: { [TAG]: tag } } });
}

/** One change after the other, evenly spread over time; over the objects in turn. */
async function change({
  count,
  perSecond,
  objects,
  run,
}: {
  count: number;
  perSecond: number;
  objects: number;
  run: string;
}): Promise<object> {
  lagsMs = [];
  const before = writes;
  const from = performance.now();
  for (let index = 0; index < count; index += 1) {
    await sleep(from + (index * 1000) / perSecond - performance.now());
    await tagOne(index % objects, `${run}-${index}`);
  }
  await until(() => underWay.size === 0);
  return { writes: writes - before, lagsMs: lagsMs.toSorted((left, right) => left - right), elapsedMs: performance.now() - from };
}

/** Many changes of one object at once; only the last one has to arrive. */
async function burst({ count, run }: { count: number; run: string }): Promise<object> {
  const before = writes;
  const from = performance.now();
  for (let index = 0; index < count; index += 1) await tagOne(0, `${run}-${index}`);
  await until(() => underWay.size === 0);
  const elapsedMs = performance.now() - from;
  await sleep(300);
  return { writes: writes - before, elapsedMs };
}

/** Objects that come and go. */
async function churn({ count, objects, addresses }: { count: number; objects: number; addresses: number }): Promise<object> {
  const before = writes;
  const from = performance.now();
  const present = copies.size;
  for (let index = objects; index < objects + count; index += 1) await createOne(index, addresses);
  await until(() => copies.size === present + 2 * count);
  for (let index = objects; index < objects + count; index += 1) {
    for (const type of [ENDPOINTS, SERVICES]) await tenant.client.delete(type, { namespace: NAMESPACE, name: nameOf(index) });
  }
  await until(() => copies.size === present);
  return { writes: writes - before, elapsedMs: performance.now() - from };
}

/** Waits until the host has so many copies. */
async function arrived({ count }: { count: number }): Promise<object> {
  await until(() => copies.size >= count);
  return { at: Date.now() };
}

/** Takes everything away that was copied. */
async function clear(): Promise<object> {
  for (const type of [ENDPOINTS, SERVICES]) {
    for (const { metadata } of (await host.client.list(type, { namespace: HOST_NAMESPACE })).items) {
      await host.client.delete(type, { namespace: HOST_NAMESPACE, name: metadata.name! });
    }
  }
  await until(() => copies.size === 0);
  return {};
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise<void>((resolve) => (wake = resolve));
}

function sleep(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

answer({
  seed: async (question: { objects: number; addresses: number }) => ({ done: await seed(question) }),
  change,
  burst,
  churn,
  arrived,
  clear,
  counts: () => ({ writes, handshakes, copies: copies.size }),
});
