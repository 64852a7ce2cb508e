/**
 * What readers on the host see of backends, over HTTPS: who writes them in the tenant × whether either cluster mirrors × the type of the Service
 * × the setting `backends`, 192 combinations. Two tenant clusters and two hosts, and a syncer with a namespace of its own for each way
 * between them. The guide has the table.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { noMetrics } from "../../src/base/metrics.ts";
import { startCluster } from "../../src/clusters.ts";
import { resolveConfig } from "../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/config/settings.ts";
import { createInformedAccess } from "../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../src/engine/syncer.ts";
import { createHttpClient } from "../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../src/kube/client/kube-config.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import { eventually } from "../conformance/sandbox-namespace.ts";
import type { EndpointSlice } from "../../src/kube/object/types.ts";
import {
  BACKEND_MODES,
  BACKEND_WRITERS,
  readyAddresses,
  rowOf,
  SERVICE_TYPES,
  wordFor,
  writeBackends,
  type BackendWriter,
} from "../support/backend-writers.ts";

const GUIDE = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/guides/sync-endpoint-slices.md"), "utf8");
const ROWS = Object.keys(BACKEND_WRITERS).flatMap((writer) =>
  [true, false].flatMap((tenantMirrors) => [true, false].map((hostMirrors) => ({ writer, tenantMirrors, hostMirrors }))),
);
type Row = (typeof ROWS)[number];
type Mode = (typeof BACKEND_MODES)[number];

const ends: (() => Promise<unknown>)[] = [];
const tenants = new Map<boolean, Side>();
const hosts = new Map<boolean, Side>();

interface Side {
  readonly kubeconfig: string;
  readonly client: ClusterClient;
}

/** A cluster that mirrors Endpoints or does not, and a client of its own over HTTPS. */
async function side(name: string, mirrors: boolean): Promise<Side> {
  const cluster = await startCluster({ name, ...(!mirrors && { controllers: ["*", "-endpointslice-mirroring-controller"] }) });
  ends.push(() => cluster.stop());
  return { kubeconfig: cluster.kubeconfig, client: await clientFor(cluster.kubeconfig) };
}

async function clientFor(text: string): Promise<ClusterClient> {
  const client = createHttpClient({ kubeConfig: await loadKubeConfig({ text }), clock: systemClock });
  expect(text).toContain("https://");
  ends.unshift(() => client.close());
  return client;
}

/** Name of the virtual cluster, and of its namespace on the host. */
const nameOf = (tenantMirrors: boolean, mode: Mode) => `${mode}-${tenantMirrors ? "mirrored" : "plain"}`;
/** Where the names of a writer's Services begin: short, so that they stand on the host as they are. */
const prefixOf = (writer: string) => `${"abcd"[Object.keys(BACKEND_WRITERS).indexOf(writer)]}-`;

async function sync(tenant: Side, host: Side, { name, mode }: { readonly name: string; readonly mode: Mode }): Promise<void> {
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const shared = { clock: systemClock, chance: systemChance, logger: silentLogger, metrics: noMetrics };
  const access = async ({ kubeconfig }: Side, scope = {}) =>
    createInformedAccess({ client: await clientFor(kubeconfig), scope, ...shared });
  const sides = { tenant: await access(tenant), host: await access(host, { namespace: name }) };
  const resolved = resolveConfig({});
  if (!resolved.ok) throw new Error("the empty configuration is valid");
  const syncer = await createSyncer({
    ...{ config: resolved.config, settings: { ...DEFAULT_SETTINGS, backends: mode } },
    ...{ vcluster: { name, namespace: name }, ...sides },
  });
  ends.unshift(async () => {
    await syncer.stop();
    await Promise.all(Object.values(sides).map((one) => one.stop()));
  });
  await syncer.start();
}

beforeAll(async () => {
  for (const mirrors of [true, false]) {
    const [tenant, host] = await Promise.all([side("tenant", mirrors), side("host", mirrors)]);
    tenants.set(mirrors, tenant);
    hosts.set(mirrors, host);
    await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    for (const [writer, backends] of Object.entries(BACKEND_WRITERS)) await writeBackends(tenant.client, backends, prefixOf(writer));
  }
  const ways = [...tenants].flatMap(([tenantMirrors, tenant]) =>
    [...hosts.values()].flatMap((host) => BACKEND_MODES.map((mode) => ({ tenant, host, mode, name: nameOf(tenantMirrors, mode) }))),
  );
  await Promise.all(ways.map(({ tenant, host, ...named }) => sync(tenant, host, named)));
  // All has been copied once, so that what is not seen is not only late.
  const count = Object.keys(BACKEND_WRITERS).length * Object.keys(SERVICE_TYPES).length;
  for (const { host, name } of ways)
    await eventually(`all Services in ${name}`, async () => {
      const { items } = await host.client.list(SERVICES, { namespace: name });
      return items.length === count || undefined;
    });
});

afterAll(async () => {
  for (const end of ends) await end();
});

/** What readers see of each type of Service. */
async function seenIn({ writer, tenantMirrors, hostMirrors }: Row, mode: Mode): Promise<string[][]> {
  const namespace = nameOf(tenantMirrors, mode);
  const slices = (await hosts.get(hostMirrors)!.client.list(ENDPOINT_SLICES, { namespace })).items as readonly EndpointSlice[];
  return Object.keys(SERVICE_TYPES).map((type) => readyAddresses(slices, `${prefixOf(writer)}${type}-x-shop-x-${namespace}`));
}

/** The words of a row; one for all types of Services, or what differs. */
async function wordsOf(row: Row): Promise<string[]> {
  const writer: BackendWriter = BACKEND_WRITERS[row.writer]!;
  return Promise.all(
    BACKEND_MODES.map(async (mode) => {
      const seen = await seenIn(row, mode);
      if (mode === "auto" && seen.some((one) => one.join() !== writer.ready.join())) return `not what there is: ${JSON.stringify(seen)}`;
      return [...new Set(seen.map((one) => wordFor(one, writer)))].join(" and ");
    }),
  );
}

const lineOf = async (row: Row) => rowOf(row.writer, [row.tenantMirrors, row.hostMirrors], await wordsOf(row));

test.each(ROWS)("$writer; the tenant mirrors: $tenantMirrors, the host: $hostMirrors", async (row) => {
  await expect.poll(async () => GUIDE.includes(await lineOf(row)) || (await lineOf(row))).toBe(true);
});

test("all of it together is the table of the guide", async () => {
  const lines = await Promise.all(ROWS.map(lineOf));
  expect(GUIDE).toContain(`\n${lines.join("\n")}\n`);
});
