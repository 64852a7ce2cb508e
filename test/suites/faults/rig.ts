/**
 * Two embedded clusters, a fault proxy before each, and the syncer between them over HTTPS. Its clock runs faster than the
 * wall's, so that all the defaults hold and a test takes no longer than it must.
 *
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { delay, type Clock } from "../../../src/base/clock.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { createMetrics, type MetricsRegistry } from "../../../src/base/metrics.ts";
import { createHttpClient, type HttpClientOptions } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { startCluster, type Cluster } from "../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, NAMESPACES, type ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createInformer, type Informer } from "../../../src/kube/runtime/informer/informer.ts";
import type { ReflectorTimes } from "../../../src/kube/runtime/informer/reflector.ts";
import { createInformedAccess, type InformedAccess } from "../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer, type Syncer } from "../../../src/engine/syncer.ts";
import { createFastClock } from "./fast-clock.ts";
import { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { namePort, openSockets } from "./open-sockets.ts";

export type Side = "tenant" | "host";

/** Limit of waiting on the machine's clock. No machine is so slow. */
export const DEADLINE_MS = 60_000;
/** A socket that is still open so long after everything was closed was forgotten. Shorter than timeouts that would close it anyway. */
const CLOSING_MS = 5_000;

export interface RigOptions {
  /** Default: one of its own. */
  readonly clock?: Clock;
  /** Objects that both sides know before the syncer starts. */
  readonly objects?: number;
  /** Credentials of the client of each side. */
  readonly users?: Partial<Record<Side, Record<string, unknown>>>;
  readonly clusterFields?: Partial<Record<Side, Record<string, unknown>>>;
  readonly client?: Partial<HttpClientOptions>;
  readonly mayWrite?: () => boolean;
  /** Times of the informers that are not the defaults. */
  readonly times?: ReflectorTimes;
}

/** One side of a rig. */
export interface RigSide {
  readonly cluster: Cluster;
  readonly proxy: FaultProxy;
}

export interface Rig {
  readonly tenant: RigSide;
  readonly host: RigSide;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  readonly lines: string[];
  readonly syncer: Syncer;
  /** Creates or changes Endpoints in the tenant cluster, past the proxy. */
  put(name: string, ip: string): Promise<KubeObject>;
  remove(name: string): Promise<void>;
  /** Resolves when the host shows exactly what the tenant has. */
  converged(): Promise<void>;
  isConverged(): Promise<boolean>;
  /**
   * Resolves when the syncer has heard of all its copies, and has looked at them: an event that is still on its way would bring a key back
   * before its backoff ends.
   */
  heard(): Promise<void>;
  /** The host copy of Endpoints, past the proxy. */
  copy(name: string): Promise<KubeObject | undefined>;
  /** Writes to copies that the host accepted since the start, or since this was last called. */
  takeHostWrites(): number;
  /** Waits for a condition of the test's own. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>;
  /** Lets so much of the rig's time pass. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

const NAMESPACE = "shop";
const HOST_NAMESPACE = "vc-blue";
const VCLUSTER = { name: "blue", namespace: HOST_NAMESPACE };

const open: { close(): Promise<void> }[] = [];
const rejections: unknown[] = [];
const keep = (reason: unknown) => void rejections.push(reason);

/** To be called once by each file of tests: opened resources are closed, no socket stays open, and no rejection goes unhandled. */
export function guardRigs(): void {
  vi.setConfig({ testTimeout: 2 * DEADLINE_MS, hookTimeout: DEADLINE_MS });
  beforeEach(() => void process.on("unhandledRejection", keep));
  afterEach(async () => {
    // A close that fails must not keep the others from being tried; it is reported with the rejections.
    for (const one of open.splice(0).reverse()) await one.close().catch(keep);
    await socketsClosed();
    process.off("unhandledRejection", keep);
    expect(rejections.splice(0)).toEqual([]);
    expect(openSockets()).toEqual([]);
  });
}

/** Resolves when no socket is open any more: the other end of one that was closed hears of it a few turns later. */
async function socketsClosed(): Promise<void> {
  const beganMs = performance.now();
  while (openSockets().length > 0 && performance.now() - beganMs < CLOSING_MS) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Closes something after the test. */
export function closeLater(one: { close(): Promise<void> }): void {
  open.push(one);
}

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "endpoint-sync-faults-"));
  closeLater({ close: () => rm(folder, { recursive: true }) });
  return folder;
}

/** A cluster and the proxy before it, both closed after the test. */
export async function startSide(name: string, clock: Clock): Promise<RigSide> {
  const cluster = await startCluster({
    name,
    clock,
    tls: false,
    controllers: ["*", "-endpointslice-controller", "-endpointslice-mirroring-controller"],
  });
  closeLater({ close: () => cluster.stop() });
  const proxy = await startFaultProxy(cluster.url, clock);
  closeLater(proxy);
  namePort(cluster.url, `the ${name} cluster`);
  namePort(proxy.url, `the proxy before the ${name} cluster`);
  return { cluster, proxy };
}

const namespace = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** Starts everything, and waits until the syncer works. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const rig = await prepareRig(options);
  await rig.syncer.start();
  await rig.converged();
  rig.takeHostWrites();
  return rig;
}

/** Starts everything but the syncer. */
export async function prepareRig({ objects = 1, clock = createFastClock(), ...options }: RigOptions = {}): Promise<Rig> {
  const [tenant, host] = await Promise.all([startSide("tenant", clock), startSide("host", clock)]);
  await tenant.cluster.client.create(NAMESPACES, namespace(NAMESPACE));
  await host.cluster.client.create(NAMESPACES, namespace(HOST_NAMESPACE));
  for (let i = 0; i < objects; i++) await putEndpoints(tenant.cluster.client, `web-${i}`, `10.0.0.${(i % 250) + 1}`);
  const metrics = createMetrics();
  const lines: string[] = [];
  const line = (level: string) => (message: string, fields?: object) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug() {}, info: line("info"), warn: line("warn"), error: line("error") };
  const runtime = { clock, chance: systemChance, logger, metrics };
  const clients: ClusterClient[] = [];
  const follow = async (side: Side): Promise<InformedAccess> => {
    const { proxy } = side === "tenant" ? tenant : host;
    const kubeConfig = await loadKubeConfig({ text: proxy.kubeconfig(options.users?.[side], options.clusterFields?.[side]) });
    const client = createHttpClient({ kubeConfig, ...runtime, ...options.client });
    clients.push(client);
    closeLater(client);
    const scope = side === "tenant" ? {} : { namespace: HOST_NAMESPACE };
    const informers = { client, scope, cluster: side, ...runtime };
    const access = createInformedAccess(informers);
    return options.times === undefined
      ? access
      : withTimes(access, (resource) => createInformer({ ...informers, resource, ...options.times }));
  };
  const access = { tenant: await follow("tenant"), host: await follow("host") };
  const config = resolveConfig({});
  if (!config.ok) throw new Error("An empty configuration is valid");
  const syncer = await createSyncer({
    config: config.config,
    vcluster: VCLUSTER,
    ...access,
    ...runtime,
    ...(options.mayWrite && { mayWrite: options.mayWrite }),
  });
  let counted = 0;
  let stopped: Promise<void> | undefined;

  const until = async (what: string, condition: () => boolean | Promise<boolean>) => {
    const startMs = performance.now();
    while (!(await condition())) {
      if (performance.now() - startMs > DEADLINE_MS)
        throw new Error(`Still not so after ${DEADLINE_MS} ms: ${what}\n${lines.slice(-12).join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const rig: Rig = {
    tenant,
    host,
    clock,
    metrics,
    lines,
    syncer,
    put: (name, ip) => putEndpoints(tenant.cluster.client, name, ip),
    remove: async (name) => void (await tenant.cluster.client.delete(ENDPOINTS, { namespace: NAMESPACE, name })),
    async converged() {
      await until("host and tenant agree", () => rig.isConverged());
      // The state is there a moment before its answer. A write that a test holds back is not waited for.
      for (let turn = 0; turn < 100 && host.proxy.openWrites > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    },
    async isConverged() {
      const [wanted, seen] = await Promise.all([statesOf(tenant, NAMESPACE, copyName), statesOf(host, HOST_NAMESPACE, (name) => name)]);
      return JSON.stringify(wanted) === JSON.stringify(seen);
    },
    async heard() {
      const versionsOf = (objects: readonly KubeObject[]) =>
        objects
          .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
          .sort()
          .join();
      await until("the syncer has heard of every copy", async () => {
        const { items } = await host.cluster.client.list(ENDPOINTS, { namespace: HOST_NAMESPACE });
        return versionsOf(items) === versionsOf(access.host.source(ENDPOINTS).list());
      });
      await rig.pass(2_000);
    },
    copy: (name) => host.cluster.client.get(ENDPOINTS, { namespace: HOST_NAMESPACE, name: copyName(name) }),
    takeHostWrites() {
      const all = host.proxy.passed.filter(
        ({ write, url, status }) => write && /\/(endpoints|services)/.test(url) && status >= 200 && status < 300,
      ).length;
      const since = all - counted;
      counted = all;
      return since;
    },
    until,
    pass: (ms) => delay(clock, ms),
    stop: () => (stopped ??= end()),
    close: async () => {
      for (const { proxy } of [tenant, host]) proxy.thaw();
      await rig.stop();
    },
  };
  async function end(): Promise<void> {
    // A call that hangs would hold the end up; closing its connection ends it.
    await Promise.race([syncer.stop(), delay(clock, 10_000)]);
    await Promise.all([access.tenant.stop(), access.host.stop()]);
    await Promise.all(clients.map((client) => client.close()));
  }
  closeLater(rig);
  return rig;
}

/** The same access, but with informers of the test's own. */
function withTimes(access: InformedAccess, create: (resource: ResourceType) => Informer): InformedAccess {
  const informers = new Map<ResourceType, Informer>();
  return {
    ...access,
    source(resource) {
      const informer = informers.get(resource) ?? create(resource);
      informers.set(resource, informer);
      informer.start();
      return informer;
    },
    async stop() {
      await Promise.all([access.stop(), ...[...informers.values()].map((informer) => informer.stop())]);
    },
  };
}

/** The name of a copy, by the rule for short names. */
export function copyName(name: string): string {
  return `${name}-x-${NAMESPACE}-x-${VCLUSTER.name}`;
}

/** Addresses by name. */
async function statesOf({ cluster }: RigSide, inNamespace: string, rename: (name: string) => string): Promise<[string, unknown][]> {
  const { items } = await cluster.client.list(ENDPOINTS, { namespace: inNamespace });
  return items.map((object): [string, unknown] => [rename(object.metadata.name!), object["subsets"]]).sort(([a], [b]) => (a < b ? -1 : 1));
}

async function putEndpoints(client: ClusterClient, name: string, ip: string): Promise<KubeObject> {
  const subsets = [{ addresses: [{ ip }], ports: [{ port: 80, protocol: "TCP" }] }];
  const metadata = { namespace: NAMESPACE, name };
  const known = await client.get(ENDPOINTS, metadata);
  if (known !== undefined) return client.update(ENDPOINTS, { ...known, subsets });
  return client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
}
