/**
 * Measures the cost of a change for the syncer itself, without sockets and TLS: both clusters are texts in memory. "Texts only" does what
 * no syncer can avoid: it parses both events and the response, and writes the body.
 *
 * Three rows show what the setting `backends` costs: copies of Endpoints alone; the default on a host whose mirror makes slices of each
 * copy, which the syncer reads; and the default on a host without one, where the syncer writes a slice after each copy.
 *
 *     npm run bench:own                        changes of 3 and of 250 addresses
 *     npm run bench:own -- --patched           with an expression for each address
 *     npm run bench:own -- --against <folder>  alternating with the sources of another version
 *     npm run bench:own -- --quick             once, to check that it runs
 *
 * The bytes are those of V8's heap. Unlike times, they do not depend on other work on the machine.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type * as Streams from "../../src/kube/client/watch/watch-stream.ts";
import type * as Package from "../../src/index.ts";
import type { ClusterClient, KubeObject, ResourceType } from "../../src/index.ts";

const HERE = join(import.meta.dirname, "../../src");
const { values } = parseArgs({
  options: {
    addresses: { type: "string", default: "3,250" },
    rounds: { type: "string", default: "5" },
    patched: { type: "boolean", default: false },
    against: { type: "string" },
    quick: { type: "boolean", default: false },
    play: { type: "string" },
  },
});

const OBJECTS = 500;
/** Changes of one batch: so few that what they leave fits into the room for short-lived objects, and no collection hides any of it. */
const BATCH = { 3: 100, 250: 20 } as Readonly<Record<number, number>>;
const BATCHES = values.quick ? 1 : 60;
const WARM_UP = values.quick ? 1 : 40;

/** Result of one batch, per change. */
interface Cost {
  /** User and system time, in microseconds. */
  readonly cpuUs: number;
  readonly kilobytes: number;
}

interface Play {
  readonly name: string;
  /** Folder of the sources; undefined for texts only. */
  readonly source?: string;
  readonly addresses: number;
  /** Default: copies of Endpoints alone. */
  readonly world?: World;
}

/** What the syncer is set to, and the host's part in it. */
type World = "endpoints" | "mirror" | "no mirror";

const WORLDS: Readonly<Record<World, string>> = {
  endpoints: "`backends: endpoints`",
  mirror: "default, the host mirrors",
  "no mirror": "default, the host does not",
};

/** One play for each world that a version knows: early ones copy Endpoints and decide nothing. */
function playsOf(name: string, source: string, addresses: number): Play[] {
  const worlds = existsSync(join(source, "engine/sync/backends")) ? (Object.keys(WORLDS) as World[]) : (["endpoints"] as const);
  return worlds.map((world) => ({ name: `${name}: ${WORLDS[world]}`, source, addresses, world }));
}

async function compare(): Promise<void> {
  for (const addresses of values.addresses.split(",").map(Number)) {
    const plays: Play[] = [
      { name: "texts only", addresses },
      ...(values.against === undefined ? [] : playsOf("other version", resolve(values.against), addresses)),
      ...playsOf("this package", HERE, addresses),
    ];
    const costs = new Map<Play, Cost[]>(plays.map((one) => [one, []]));
    for (let round = 0; round < (values.quick ? 1 : Number(values.rounds)); round += 1) {
      for (const one of plays) costs.get(one)!.push(await playAlone(one));
    }
    const rows = plays.map((one) => {
      const [cpu, kilobytes] = (["cpuUs", "kilobytes"] as const).map((field) => median(costs.get(one)!.map((cost) => cost[field])));
      return `| ${one.name} | ${cpu!.toFixed(0)} | ${kilobytes!.toFixed(1)} |`;
    });
    console.log(`\n### One change of ${addresses} addresses\n\n| | CPU, µs | allocated, KB |\n| --- | ---: | ---: |\n${rows.join("\n")}`);
  }
}

async function playAlone(one: Play): Promise<Cost> {
  const argv = [...process.argv.slice(2), "--play", JSON.stringify(one)];
  const execArgv = [...process.execArgv, "--min-semi-space-size=64", "--max-semi-space-size=64", "--expose-gc"];
  const child = fork(import.meta.filename, argv, { execArgv });
  const [cost] = (await once(child, "message")) as [Cost];
  if (child.exitCode === null) await once(child, "exit");
  return cost;
}

async function play({ source, addresses, world = "endpoints" }: Play): Promise<Cost> {
  const change = source === undefined ? textsOnly() : await syncer(source, addresses, world);
  const count = BATCH[addresses] ?? Math.max(1, Math.round(5_000 / addresses));
  const costs: Cost[] = [];
  for (let batch = 0; batch < WARM_UP + BATCHES; batch += 1) {
    const changes = Array.from({ length: count }, (_, at) => changedObject(batch * count + at, addresses));
    globalThis.gc!({ type: "minor", execution: "sync" });
    const [cpu, heap] = [process.cpuUsage(), process.memoryUsage().heapUsed];
    for (const changed of changes) await change(changed);
    const used = process.cpuUsage(cpu);
    const kilobytes = (process.memoryUsage().heapUsed - heap) / count / 1000;
    if (batch >= WARM_UP) costs.push({ cpuUs: (used.user + used.system) / count, kilobytes });
  }
  setImmediate(() => process.exit());
  return { cpuUs: median(costs.map(({ cpuUs }) => cpuUs)), kilobytes: median(costs.map(({ kilobytes }) => kilobytes)) };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[numbers.length >> 1]!;
}

/** A changed object of the tenant as text. */
interface Changed {
  readonly name: string;
  /** Stands in the text of its copy, too. */
  readonly tag: string;
  readonly text: string;
}

/** Resolves when everything about it is over. */
type Change = (changed: Changed) => unknown;

function changedObject(index: number, addresses: number): Changed {
  const object = objectOf("Endpoints", index % OBJECTS, addresses);
  const { metadata } = object;
  const tag = `tag-${index}.`;
  const tagged = { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, "example.com/tag": tag } } };
  return { name: metadata.name!, tag, text: JSON.stringify(tagged) };
}

function objectOf(kind: string, index: number, addresses: number): KubeObject {
  const metadata = {
    name: `service-${index}`,
    namespace: "shop",
    uid: `0b1a7a3c-5d0f-4d0c-9a53-${String(index).padStart(12, "0")}`,
    resourceVersion: String(index + 1),
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { app: "shop" },
    annotations: { "example.com/team": "payments" },
    managedFields: [{ manager: "operator", operation: "Update", apiVersion: "v1", time: "2026-01-01T00:00:00Z", fieldsType: "FieldsV1" }],
  };
  const body =
    kind === "Service"
      ? { spec: { ports: [{ port: 80 }] } }
      : { subsets: [{ addresses: addressesOf(index, addresses), ports: [{ port: 80 }] }] };
  return { apiVersion: "v1", kind, metadata, ...body } as KubeObject;
}

function addressesOf(index: number, count: number): { readonly ip: string; readonly hostname: string }[] {
  return Array.from({ length: count }, (_, at) => ({
    ip: `10.${index % 250}.${(at >> 7) + 1}.${(at % 128) + 1}`,
    hostname: `pod-${at}`,
  }));
}

/** The slice that a host's mirror makes of a copy: by text alone, so that it costs next to nothing. */
function mirrorOf(copy: string, addresses: number): { readonly name: string; readonly text: string } {
  const [labels, annotations] = ["labels", "annotations"].map(
    (field) => new RegExp(`"${field}":\\{((?:"(?:[^"\\\\]|\\\\.)*"[:,]?)*)\\}`).exec(copy)![1]!,
  );
  const service = /"name":"(service-[^"]*)"/.exec(copy)![1]!;
  const own = `"kubernetes.io/service-name":"${service}","endpointslice.kubernetes.io/managed-by":"endpointslicemirroring-controller.k8s.io"`;
  const metadata = `{"name":"${service}-abcde","namespace":"vc-blue","labels":{${labels},${own}},"annotations":{${annotations}}}`;
  const head = `{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":${metadata}`;
  return { name: `${service}-abcde`, text: `${head},"addressType":"IPv4",${mirroredBody(Number(service.split("-")[1]), addresses)}}` };
}

const mirroredBodies = new Map<number, string>();

function mirroredBody(index: number, addresses: number): string {
  const known = mirroredBodies.get(index);
  if (known !== undefined) return known;
  const endpoints = addressesOf(index, addresses).map(({ ip, hostname }) => ({ addresses: [ip], conditions: { ready: true }, hostname }));
  const body = JSON.stringify({ endpoints, ports: [{ name: "", port: 80, protocol: "TCP" }] }).slice(1, -1);
  mirroredBodies.set(index, body);
  return body;
}

/** One kind of one cluster as text. */
class Kind {
  readonly texts = new Map<string, string>();
  readonly #watchers = new Set<Readable>();

  /** Keeps an object's text under a new version. Returns that text. */
  store(name: string, sent: string, version: number, type = "MODIFIED"): string {
    const text = versioned(sent, version);
    this.texts.set(name, text);
    const line = Buffer.from(`{"type":"${type}","object":${text}}\n`);
    for (const watcher of this.#watchers) watcher.push(line);
    return text;
  }

  watch(): Readable {
    const stream = new Readable({ read() {} });
    this.#watchers.add(stream);
    stream.once("close", () => this.#watchers.delete(stream));
    return stream;
  }
}

/** An API server's change of the text, at negligible cost. */
function versioned(text: string, version: number): string {
  const known = text.replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${version}"`);
  if (known !== text) return known;
  const uid = `7c3e1b52-0f49-4d7e-8a11-${String(version).padStart(12, "0")}`;
  return text.replace('"metadata":{', `"metadata":{"uid":"${uid}","resourceVersion":"${version}",`);
}

/** A cluster that keeps texts, which its client parses and makes as the one over HTTP does. `mirrors`: it makes slices of Endpoints. */
function cluster(readWatch: typeof Streams.readWatch, systemClock: typeof Package.systemClock, mirrors?: { readonly addresses: number }) {
  let version = OBJECTS;
  const kinds = new Map<string, Kind>();
  const kindOf = ({ plural }: Pick<ResourceType, "plural">) => {
    const known = kinds.get(plural) ?? new Kind();
    kinds.set(plural, known);
    return known;
  };
  const put = (resource: ResourceType, object: KubeObject, type: string) => {
    const text = kindOf(resource).store(object.metadata.name!, JSON.stringify(object), (version += 1), type);
    if (mirrors !== undefined && resource.plural === "endpoints" && !text.includes('skip-mirror":"true"')) {
      const slice = mirrorOf(text, mirrors.addresses);
      kindOf({ plural: "endpointslices" }).store(slice.name, slice.text, (version += 1), type);
    }
    return Promise.resolve(JSON.parse(text) as KubeObject);
  };
  const client = {
    get: (resource, { name }) => {
      const text = kindOf(resource).texts.get(name);
      return Promise.resolve(text === undefined ? undefined : (JSON.parse(text) as KubeObject));
    },
    list: (resource) => {
      const items = [...kindOf(resource).texts.values()].map((text) => JSON.parse(text) as KubeObject);
      return Promise.resolve({ items, resourceVersion: String(version) });
    },
    watch: (resource, { signal }) =>
      readWatch({
        ...{ body: kindOf(resource).watch() as unknown as Streams.WatchStreamOptions["body"], request: "watch", clock: systemClock },
        ...{ resource, signal, inactivityMs: 90_000, eventBytesMax: 16 << 20 },
      }),
    create: (resource, object) => put(resource, object, "ADDED"),
    update: (resource, object) => put(resource, object, "MODIFIED"),
    patch: () => Promise.reject(new Error("unexpected patch")),
    delete: () => Promise.reject(new Error("unexpected delete")),
    close: () => Promise.resolve(),
  } satisfies ClusterClient;
  return { client, kindOf, next: () => (version += 1) };
}

async function syncer(source: string, addresses: number, world: World): Promise<Change> {
  const load = (file: string) => import(pathToFileURL(join(source, file)).href);
  const { createInformedAccess, createMetrics, createSyncer, DEFAULT_SETTINGS, resolveConfig, systemChance, systemClock } = (await load(
    "index.ts",
  )) as typeof Package;
  const { readWatch } = (await load("kube/client/watch/watch-stream.ts")) as typeof Streams;
  const tenant = cluster(readWatch, systemClock);
  const host = cluster(readWatch, systemClock, world === "mirror" ? { addresses } : undefined);
  const seed = (plural: string, object: KubeObject) =>
    tenant.kindOf({ plural }).store(object.metadata.name!, JSON.stringify(object), tenant.next(), "ADDED");
  seed("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", uid: "1", resourceVersion: "1" } });
  for (let index = 0; index < OBJECTS; index += 1) {
    seed("services", objectOf("Service", index, 0));
    seed("endpoints", objectOf("Endpoints", index, addresses));
  }
  const patches = values.patched ? [{ path: "subsets[*].addresses[*].ip", expression: "value" }] : [];
  const resolved = resolveConfig({ sync: { toHost: { endpoints: { enabled: true, patches } } } });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  const silent = () => {};
  const logger = { debug: silent, info: silent, warn: silent, error: silent };
  const runtime = { clock: systemClock, chance: systemChance, logger, metrics: createMetrics() };
  const access = (client: ClusterClient) => createInformedAccess({ client, ...runtime });
  const vcluster = { name: "blue", namespace: "vc-blue" };
  const running = await createSyncer({
    config: resolved.config,
    settings: { ...DEFAULT_SETTINGS, ...(world === "endpoints" && { backends: "endpoints" }) },
    vcluster,
    tenant: access(tenant.client),
    host: access(host.client),
    ...runtime,
  });
  await running.start();
  const tags = () => host.kindOf({ plural: "endpoints" }).texts;
  const slices = () => host.kindOf({ plural: "endpointslices" }).texts;
  while (tags().size < OBJECTS || running.status().waiting > 0) await turn();
  // That no mirror works is known after some seconds, and then a slice stands for each copy, which carries the label.
  const isTold = () => slices().size >= OBJECTS && [...tags().values()].every((copy) => copy.includes('skip-mirror":"true"'));
  while (world === "no mirror" && !isTold()) await delay(20);
  for (let settle = 0; settle < 100; settle += 1) await turn();
  const names = new Map([...slices().keys()].map((name) => [/^service-\d+/.exec(name)![0], name]));

  const kind = tenant.kindOf({ plural: "endpoints" });
  return async ({ name, tag, text }) => {
    kind.store(name, text, tenant.next());
    const copy = `${name}-x-shop-x-blue`;
    while (!tags().get(copy)!.includes(tag)) await turn();
    while (world === "no mirror" && !slices().get(names.get(name)!)!.includes(tag)) await turn();
    for (let settle = 0; settle < 4; settle += 1) await turn();
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function textsOnly(): Change {
  let version = OBJECTS;
  let kept: unknown;
  return ({ text }) => {
    const parsed = () =>
      JSON.parse(Buffer.from(`{"type":"MODIFIED","object":${versioned(text, (version += 1))}}\n`).toString("utf8")) as unknown;
    const event = parsed();
    kept = [event, JSON.parse(versioned(JSON.stringify((event as { object: unknown }).object), version)), parsed()];
    return kept;
  };
}

if (values.play === undefined) await compare();
else process.send!(await play(JSON.parse(values.play) as Play));
