/** Embedded clusters, and syncers of virtual clusters "blue" that run between them in virtual time. */
import { afterEach, beforeEach } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { silentLogger, type Logger } from "../../../src/base/logger.ts";
import { noMetrics } from "../../../src/base/metrics.ts";
import { createEmbeddedCluster, type EmbeddedClusterOptions, type EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../../src/engine/config/settings.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, NAMESPACES, SERVICES } from "../../../src/kube/object/resource.ts";
import type { ClusterAccess } from "../../../src/engine/sync/cluster/access.ts";
import { createInformedAccess } from "../../../src/engine/sync/cluster/informed-access.ts";
import type { SyncHooks } from "../../../src/engine/sync/run/reconcile.ts";
import { createSyncer, type Syncer } from "../../../src/engine/syncer.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";

/** Of the test that runs. */
export let clock: FakeClock;
const clusters: EmbeddedCluster[] = [];
const syncers: { stop(): Promise<unknown> }[] = [];

/** To be called at the top of a test file: syncers of a test stop after it. */
export function useRunningSyncers(): void {
  beforeEach(() => void (clock = createFakeClock()));
  afterEach(async () => {
    await stopAll();
    await Promise.all(clusters.splice(0).map((one) => one.stop()));
  });
}

/** A cluster with these namespaces. */
export async function cluster(...namespaces: readonly string[]): Promise<EmbeddedCluster> {
  return clusterWith({}, ...namespaces);
}

/** The same, with options. */
export async function clusterWith(options: EmbeddedClusterOptions, ...namespaces: readonly string[]): Promise<EmbeddedCluster> {
  const made = await createEmbeddedCluster({ ...options, clock });
  clusters.push(made);
  for (const name of namespaces) await made.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return made;
}

/** Services without selector, and their Endpoints. */
export async function fill({ client }: EmbeddedCluster, namespace: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const metadata = { namespace, name };
    const ports = [{ port: 80 }];
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports }];
    await client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports } });
    await client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  }
}

/** A syncer to start. */
export interface Start {
  readonly tenant: EmbeddedCluster;
  readonly on: EmbeddedCluster;
  /** Host namespace of the virtual cluster. */
  readonly namespace: string;
  /** `namespaces.mappings.byName`; single-namespace mode when omitted. */
  readonly mapped?: Readonly<Record<string, string>> | undefined;
  /** Further sections of `sync.toHost`. */
  readonly toHost?: Readonly<Record<string, unknown>>;
  readonly services?: "managed" | "external";
  /** Where they differ from the defaults. */
  readonly settings?: Partial<Settings>;
  readonly adopt?: string;
  readonly adoptCluster?: string;
  readonly hooks?: SyncHooks;
  readonly logger?: Logger;
  /** Stands between the syncer and a cluster. */
  readonly through?: (client: ClusterClient, side: "tenant" | "host") => ClusterClient;
  /** Replaces the access to each cluster. */
  readonly access?: (access: ClusterAccess) => ClusterAccess;
}

/** Starts a syncer and lets it come to rest. */
export async function start({
  tenant,
  on,
  namespace,
  mapped,
  toHost = {},
  through = (client) => client,
  access: accessOf = (access) => access,
  settings = {},
  ...options
}: Start): Promise<Syncer> {
  const shared = { clock, chance: systemChance, logger: silentLogger, metrics: noMetrics };
  const clients = [through(tenant.client, "tenant"), through(on.client, "host")];
  const sides = clients.map((client) => createInformedAccess({ client, ...shared }));
  const namespaces = mapped && { namespaces: { enabled: true, mappings: { byName: mapped } } };
  const resolved = resolveConfig({ sync: { toHost: { ...toHost, ...namespaces } } });
  if (!resolved.ok) throw new Error("The configuration has errors");
  const access = { tenant: accessOf(sides[0]!), host: accessOf(sides[1]!) };
  const configured = { config: resolved.config, settings: { ...DEFAULT_SETTINGS, ...settings } };
  const syncer = await createSyncer({ ...configured, vcluster: { name: "blue", namespace }, ...access, ...options, clock });
  const stop = () => Promise.all([syncer.stop(), ...sides.map((side) => side.stop())]);
  syncers.push({ stop });
  const started = syncer.start();
  let ended = false;
  const end = () => void (ended = true);
  started.then(end, end);
  while (!ended) await clock.advance(5);
  await started;
  await clock.advance(5_000);
  return syncer;
}

/** Stops every syncer that runs. */
export async function stopAll(): Promise<void> {
  for (const one of syncers.splice(0)) await one.stop();
}
