/**
 * `docs/guides/run-beside-vcluster.md`, played on a host that looks as vCluster's own syncer leaves one: its copies are adopted where
 * they stand, `plan` says so before, nothing is left behind, and the way back is as the page says.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { noMetrics } from "../../src/base/metrics.ts";
import { createHttpClient } from "../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../src/kube/client/kube-config.ts";
import { createEmbeddedCluster } from "../../src/cluster/cluster.ts";
import { resolveConfig } from "../../src/engine/config/config.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, ENDPOINT_SLICES, NAMESPACES, SERVICES, type ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createInformedAccess } from "../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../src/engine/syncer.ts";
import { run, shellWords } from "../cli/support.ts";
import { hasKubectl, openGuideShell, stepsOf, type GuideShell } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";
import { WAIT } from "../support/patience.ts";

const PAGE = readFileSync(resolve(import.meta.dirname, "../../docs/guides/run-beside-vcluster.md"), "utf8");
const blocks = blocksOf(PAGE);
const steps = stepsOf(blocks).map((step) => ({
  ...step,
  inspects: blocks.find(({ line }) => line === step.line)!.words.includes("inspect"),
}));
const files = Object.fromEntries(blocks.flatMap(({ words, text }) => (words[0]?.endsWith(".yaml") ? [[words[0], text]] : [])));

const PREFIX = "vcluster.loft.sh/";
const LONG = { namespace: "customer-facing-shop", name: "orders-database-primary-read-write" };
const WEB = { namespace: "shop", name: "web" };
/** Where the copies are; the long name is cut, with a digest behind it. */
const WEB_COPY = { namespace: "vc-blue", name: "web-x-shop-x-blue" };
const LONG_COPY = { namespace: "vc-blue", name: "orders-database-primary-read-write-x-customer-facing-a43e924b25" };

const SUBSETS = [{ addresses: [{ ip: "10.1.0.11" }], ports: [{ name: "http", port: 8080 }] }];

/** A host object as vCluster's syncer writes it: the facts of `source` in annotations, two labels, the owner. */
function vclusterCopy(resource: ResourceType, source: KubeObject, name: string, rest: Partial<KubeObject>, owner: KubeObject): KubeObject {
  const group = resource.apiVersion.includes("/") ? resource.apiVersion : `/${resource.apiVersion}`;
  const { labels: { release, ...labels } = {}, annotations = {} } = source.metadata;
  const facts = {
    "object-name": source.metadata.name!,
    "object-namespace": source.metadata.namespace!,
    "object-uid": source.metadata.uid!,
    "object-kind": `${group}, Kind=${resource.kind}`,
    "object-host-name": name,
    "object-host-namespace": "vc-blue",
    ...(Object.keys(annotations).length > 0 && { "managed-annotations": Object.keys(annotations).sort().join("\n") }),
  };
  return {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: {
      namespace: "vc-blue",
      name,
      labels: {
        ...labels,
        ...(release !== undefined && { [`${PREFIX}label-blue-x-a4d451ec23`]: release }),
        [`${PREFIX}managed-by`]: "blue",
        [`${PREFIX}namespace`]: source.metadata.namespace!,
      },
      annotations: { ...annotations, ...Object.fromEntries(Object.entries(facts).map(([key, value]) => [PREFIX + key, value])) },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "blue", uid: owner.metadata.uid!, controller: false }],
    },
    ...rest,
  };
}

/** What the tenant has: two Services without a selector and their Endpoints, and one that selects Pods. */
async function fillTenant(tenant: ClusterClient): Promise<void> {
  for (const key of [WEB, LONG]) {
    await tenant.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: key.namespace } });
    await tenant.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata: key, spec: { ports: [{ name: "http", port: 80 }] } });
    const about = { labels: { app: key.name, release: "r1" }, annotations: { "example.com/team": "storefront" } };
    await tenant.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { ...key, ...about }, subsets: SUBSETS });
  }
  const selecting = { selector: { app: "api" }, ports: [{ port: 80 }] };
  await tenant.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata: { namespace: "shop", name: "api" }, spec: selecting });
}

/** What vCluster has made of it on the host: Services, Endpoints, and a slice beside the one that the host mirrors itself. */
async function fillHost(tenant: ClusterClient, host: ClusterClient): Promise<void> {
  await host.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  const metadata = { namespace: "vc-blue", name: "blue" };
  const own = await host.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 443 }] } });
  const copies: readonly (readonly [typeof WEB, string, object])[] = [
    [WEB, WEB_COPY.name, {}],
    [LONG, LONG_COPY.name, {}],
    [{ namespace: "shop", name: "api" }, "api-x-shop-x-blue", { selector: { app: "api", [`${PREFIX}managed-by`]: "blue" } }],
  ];
  for (const [key, name, selector] of copies) {
    const service = (await tenant.get(SERVICES, key))!;
    await host.create(SERVICES, vclusterCopy(SERVICES, service, name, { spec: { ports: [{ name: "http", port: 80 }], ...selector } }, own));
  }
  for (const [key, { name }] of [
    [WEB, WEB_COPY],
    [LONG, LONG_COPY],
  ] as const) {
    await host.create(ENDPOINTS, vclusterCopy(ENDPOINTS, (await tenant.get(ENDPOINTS, key))!, name, { subsets: SUBSETS }, own));
  }
  const slice = await sliceOf(tenant, WEB);
  const { name, labels } = slice.metadata;
  const service = { ...labels, "kubernetes.io/service-name": WEB_COPY.name };
  const body = { addressType: "IPv4", endpoints: slice["endpoints"], ports: slice["ports"] };
  const renamed = { ...slice, metadata: { ...slice.metadata, labels: service } };
  await host.create(ENDPOINT_SLICES, vclusterCopy(ENDPOINT_SLICES, renamed, `${name}-x-shop-x-blue`, body, own));
}

/** The slice that the tenant's own controller mirrors from Endpoints. */
async function sliceOf(tenant: ClusterClient, { namespace, name }: typeof WEB): Promise<KubeObject> {
  return vi.waitFor(async () => {
    const { items } = await tenant.list(ENDPOINT_SLICES, { namespace });
    const found = items.find(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === name);
    expect(found).toBeDefined();
    return found!;
  }, WAIT);
}

describe.runIf(hasKubectl)("moving over", () => {
  let shell: GuideShell;
  let tenant: ClusterClient;
  let host: ClusterClient;
  /** The copies before anything happened. */
  const before = new Map<string, KubeObject>();

  beforeAll(async () => {
    const shim = `[ "$1" = run ] && set -- "$@" --metrics-address 127.0.0.1:0 --health-address 127.0.0.1:0\n`;
    shell = openGuideShell({ shim, ready: /serves https|Syncing/ });
    // In processes of their own: the commands of the page block this one.
    const open = async (name: string) => {
      await shell.run({ line: 0, script: `npx endpoint-sync cluster --name ${name} &`, prints: "" });
      const kubeConfig = await loadKubeConfig({ path: join(shell.folder, `${name}.kubeconfig`) });
      return createHttpClient({ kubeConfig, clock: systemClock });
    };
    [tenant, host] = await Promise.all([open("tenant"), open("host")]);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(shell.folder, name), text);
    await fillTenant(tenant);
    await fillHost(tenant, host);
    for (const key of [WEB_COPY, LONG_COPY]) before.set(key.name, (await host.get(ENDPOINTS, key))!);
  });
  afterAll(async () => {
    await Promise.all([tenant?.close(), host?.close()]);
    await shell.close();
  });

  const withFiles = (argv: readonly string[]) => argv.map((word) => (word.endsWith(".kubeconfig") ? join(shell.folder, word) : word));

  test("is refused without --adopt, and names it", async () => {
    const plan = steps.find(({ script }) => script.includes("sync plan"))!;
    const argv = withFiles(shellWords(plan.script.trim()).slice(2));
    const { code, stderr } = await run(argv.slice(0, argv.indexOf("--adopt")), { files });
    expect(code).toBe(2);
    expect(stderr).toContain(`--adopt ${PREFIX}`);
  });

  test("has the steps of the page", () => {
    expect(steps.map(({ script }) => /sync (\w+)|kubectl \S+ \S+ (\w+)/.exec(script)?.slice(1).join(""))).toEqual([
      ...["get", "validate", "plan", "run", "get", "audit", "cleanup"],
    ]);
  });

  test.each(steps.filter(({ script }) => !script.includes("sync cleanup")))("line $line", async (step) => {
    if (!step.inspects) return shell.run(step);
    const { code, stdout } = await run(withFiles(shellWords(step.script.trim()).slice(2)), { files });
    expect(stdout.trim().split("\n").at(-1)).toContain(step.prints);
    expect(code).toBe(step.script.includes("sync plan") ? 1 : 0);
    // What plan shows is the same objects changed, none made and none deleted.
    if (step.script.includes("sync plan")) expect(stdout).not.toMatch(/^(---|\+\+\+) \/dev\/null/m);
  });

  test.each([WEB_COPY, LONG_COPY])("$name is the same object, with our markers alone", async (key) => {
    const { metadata, ...body } = (await host.get(ENDPOINTS, key))!;
    const old = before.get(key.name)!;
    expect(metadata.uid).toBe(old.metadata.uid);
    expect(metadata.ownerReferences).toEqual(old.metadata.ownerReferences);
    expect(body["subsets"]).toEqual(old["subsets"]);
    expect(JSON.stringify(metadata.annotations)).not.toContain(PREFIX);
    expect(Object.keys(metadata.labels!).filter((label) => label.startsWith(PREFIX))).toEqual([]);
    expect(metadata.annotations).toMatchObject({ "example.com/team": "blue-storefront" });
    expect(metadata.labels).toMatchObject({ "sync.platform/managed-by": "blue", ["sync.platform/label-blue-x-a4d451ec23"]: "r1" });
  });

  test("Services stay vCluster's, as they were", async () => {
    const { items } = await host.list(SERVICES, { namespace: "vc-blue" });
    const copies = items.filter(({ metadata }) => metadata.name !== "blue");
    expect(copies.map(({ metadata }) => metadata.labels?.[`${PREFIX}managed-by`])).toEqual(["blue", "blue", "blue"]);
    expect(copies.filter(({ metadata }) => JSON.stringify(metadata).includes("sync.platform/"))).toEqual([]);
  });

  test("no slice is left without an owner, and each Service has its backends once", async () => {
    await vi.waitFor(async () => {
      const { items } = await host.list(ENDPOINT_SLICES, { namespace: "vc-blue" });
      expect(items.filter(({ metadata }) => metadata.labels?.[`${PREFIX}managed-by`] !== undefined)).toEqual([]);
      for (const { name } of [WEB_COPY, LONG_COPY])
        expect(items.filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === name)).toHaveLength(1);
    }, WAIT);
  });

  test("a change of the tenant arrives", async () => {
    await tenant.patch(ENDPOINTS, WEB, "merge", { metadata: { annotations: { "example.com/team": "sales" } } });
    await vi.waitFor(async () => {
      const copy = await host.get(ENDPOINTS, WEB_COPY);
      expect(copy!.metadata.annotations).toMatchObject({ "example.com/team": "blue-sales" });
    }, WAIT);
  });

  test("and back: vCluster deletes and writes again, nothing of ours is left, and a start by mistake is refused", async () => {
    await shell.run({ line: 0, script: "kill -- -$syncer", prints: "" });
    const own = (await host.get(SERVICES, { namespace: "vc-blue", name: "blue" }))!;
    for (const [key, copyKey] of [
      [WEB, WEB_COPY],
      [LONG, LONG_COPY],
    ] as const) {
      await host.delete(ENDPOINTS, copyKey);
      const source = (await tenant.get(ENDPOINTS, key))!;
      await host.create(ENDPOINTS, vclusterCopy(ENDPOINTS, source, copyKey.name, { subsets: SUBSETS }, own));
    }
    const cleanup = steps.find(({ script }) => script.includes("sync cleanup"))!;
    const { code, stdout } = await run(withFiles(shellWords(cleanup.script.trim()).slice(2)), { files });
    expect([code, stdout.trim()]).toEqual([0, cleanup.prints]);
    const start = steps.find(({ script }) => script.includes("sync run"))!;
    const argv = withFiles(shellWords(start.script.replace(/--adopt \S+ &\nsyncer=.*/, "").trim()).slice(2));
    const refused = await run([...argv, "--metrics-address", "", "--health-address", ""], { files });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("OTHER_SYNCER") as string });
  });
});

test("slices that a tenant writes itself are adopted too, where the configuration asks for slices", async () => {
  const [tenant, host] = await Promise.all([createEmbeddedCluster(), createEmbeddedCluster()]);
  const runtime = { clock: systemClock, chance: systemChance, logger: silentLogger, metrics: noMetrics };
  await fillTenant(tenant.client);
  await fillHost(tenant.client, host.client);
  const labels = { "kubernetes.io/service-name": "web" };
  const body = { addressType: "IPv4", endpoints: [{ addresses: ["10.1.0.12"] }], ports: [{ name: "http", port: 8080 }] };
  const metadata = { namespace: "shop", name: "own", labels };
  const { apiVersion, kind } = ENDPOINT_SLICES;
  const own = await tenant.client.create(ENDPOINT_SLICES, { apiVersion, kind, metadata, ...body });
  const onHost = { ...own, metadata: { ...own.metadata, labels: { "kubernetes.io/service-name": WEB_COPY.name } } };
  const key = { namespace: "vc-blue", name: "own-x-shop-x-blue" };
  const owner = (await host.client.get(SERVICES, { namespace: "vc-blue", name: "blue" }))!;
  const copy = await host.client.create(ENDPOINT_SLICES, vclusterCopy(ENDPOINT_SLICES, onHost, key.name, body, owner));
  const config = resolveConfig({ sync: { toHost: { endpointSlices: { enabled: true } } } });
  if (!config.ok) throw new Error("The configuration is valid");
  const [tenantAccess, hostAccess] = [tenant, host].map(({ client }) => createInformedAccess({ client, ...runtime }));
  const sides = { tenant: tenantAccess!, host: hostAccess! };
  const vcluster = { name: "blue", namespace: "vc-blue" };
  const syncer = await createSyncer({ config: config.config, vcluster, ...sides, ...runtime, services: "external", adopt: PREFIX });
  try {
    await syncer.start();
    await vi.waitFor(async () => {
      const found = (await host.client.get(ENDPOINT_SLICES, key))!.metadata;
      expect([found.uid, found.labels?.["sync.platform/managed-by"]]).toEqual([copy.metadata.uid, "blue"]);
      expect(JSON.stringify([found.labels, found.annotations])).not.toContain(PREFIX);
    }, WAIT);
  } finally {
    await syncer.stop();
    await Promise.all([sides.tenant.stop(), sides.host.stop()]);
    await Promise.all([tenant.stop(), host.stop()]);
  }
});
