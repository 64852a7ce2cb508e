/**
 * Two clusters that `plan`, `why`, `audit` and `cleanup` are asked about, fresh for each test.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { startCluster, type Cluster, type EmbeddedClusterOptions } from "../../../src/cluster/cluster.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, SECRETS, SERVICES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createTestTerminal, run } from "../support.ts";
import { runCli } from "../../../src/cli/program.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

export const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-inspect-"));
const CONFIG = `
sync:
  toHost:
    secrets: { enabled: true }
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
        - path: metadata.annotations["example.com/tier"]
          expression: value.missing.tier
        - path: metadata.annotations["example.com/secret"]
          reference: { apiVersion: v1, kind: Secret }
`;
const DRIFT = `
sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: (context.hostObject?.metadata.annotations["example.com/team"] ?? "") + "x"
`;
const OFF = "sync: { toHost: { endpoints: { enabled: false }, services: { enabled: false } } }\n";
/** One patch on Endpoints. */
const one = (path: string, expression: string) =>
  `sync: { toHost: { endpoints: { patches: [{ path: "${path}", expression: "${expression}" }] } } }\n`;
export const files = {
  "text-port.yaml": one("subsets[*].ports[*].port", "String(value)"),
  "capitals.yaml": one("subsets[*].addresses[*].hostname", "value.toUpperCase()"),
  "vcluster.yaml": CONFIG,
  "drift.yaml": DRIFT,
  "off.yaml": OFF,
  "bad.yaml": "sync: { toHost: { endpoints: { enabled: maybe } } }\n",
};

export interface Sides {
  readonly tenant: Cluster;
  readonly host: Cluster;
}

/** The clusters of the test that runs. */
export let sides: Sides;
const opened: Cluster[] = [];

async function cluster(name: string, options: EmbeddedClusterOptions = {}): Promise<Cluster> {
  const started = await startCluster({ ...options, name, tls: false });
  opened.push(started);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.kubeconfig`), started.kubeconfig);
  return started;
}

export const object = (resource: { apiVersion: string; kind: string }, name: string, rest: Record<string, unknown> = {}): KubeObject => {
  const { metadata = {}, ...body } = rest;
  const [namespace, bare] = name.split("/") as [string, string];
  return { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { namespace, name: bare, ...(metadata as object) }, ...body };
};
export const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }];
export const web = (annotations: Record<string, string> = {}): KubeObject =>
  object(ENDPOINTS, "shop/web", { metadata: { annotations }, subsets });

/** Makes {@link sides} for each test of the file, with the namespaces that syncing needs, and stops them after it. */
export function freshClusters(options: Partial<Record<"tenant" | "host", EmbeddedClusterOptions>> = {}): void {
  // A file before this one may have had the folder, and removed it.
  beforeAll(() => void mkdirSync(folder, { recursive: true }));
  beforeEach(async () => {
    sides = { tenant: await cluster("tenant", options.tenant), host: await cluster("host", options.host) };
    await sides.tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await sides.host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    return async () => void (await Promise.all(opened.splice(0).map((one) => one.stop())));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
}

export const CLUSTERS = ["--tenant-kubeconfig", join(folder, "tenant.kubeconfig"), "--host-kubeconfig", join(folder, "host.kubeconfig")];
export const NAMED = ["--name", "blue", "--namespace", "vc-blue"];

export function cli(
  command: string,
  argv: readonly string[] = [],
  { config = "vcluster.yaml", answer }: { config?: string; answer?: string } = {},
) {
  const options = { files, ...(answer !== undefined && { answer }) };
  return run([command, ...argv, ...CLUSTERS, "--config", config, ...NAMED], options);
}

/** Everything in both clusters, as text. */
export async function stateOf({ tenant, host }: Sides): Promise<string> {
  const kinds = [SERVICES, ENDPOINTS, ENDPOINT_SLICES, SECRETS];
  const lists = await Promise.all([tenant, host].flatMap(({ client }) => kinds.map((kind) => client.list(kind))));
  return JSON.stringify(lists.map(({ items }) => items));
}

/** Lets `run` work until `done`. */
export async function sync(done: () => Promise<boolean>, config = "vcluster.yaml"): Promise<void> {
  const terminal = createTestTerminal({ files });
  const quiet = ["--metrics-address", "", "--health-address", ""];
  const ended = runCli(["run", ...CLUSTERS, "--config", config, ...NAMED, ...quiet], terminal);
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`It does not get there: ${terminal.stderr}`);
    await delay(systemClock, 10);
  }
  terminal.interrupt();
  expect(await ended).toBe(0);
}

export const has = (client: ClusterClient, kind: typeof ENDPOINTS, name: string) => async () =>
  (await client.get(kind, { namespace: "vc-blue", name })) !== undefined;

/** `web` is copied, and everything that it refers to. */
export async function synced(annotations: Record<string, string> = {}): Promise<void> {
  await sides.tenant.client.create(ENDPOINTS, web(annotations));
  await sync(has(sides.host.client, ENDPOINTS, "web-x-shop-x-blue"));
}
