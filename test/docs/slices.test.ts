/**
 * `docs/guides/sync-endpoint-slices.md`: its configuration is valid without a warning, its permissions are what the sync needs, and
 * its labels are those of the source. Its commands are run as they stand.
 */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { expect, test, vi } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { noMetrics } from "../../src/base/metrics.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import { parseConfig, resolveConfig } from "../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/config/settings.ts";
import { createInformedAccess } from "../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../src/engine/syncer.ts";
import { ENDPOINT_SLICES, ENDPOINTS, groupOf, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import { SERVICE_NAME, SKIP_MIRROR, SLICE_MANAGER, sliceManager } from "../../src/engine/kinds/slice-labels.ts";
import { DEFAULT_MARKER_PREFIX, MANAGED_BY } from "../../src/engine/translate/markers.ts";
import { hasKubectl, openGuideShell } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";
import { WAIT } from "../support/patience.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/guides/sync-endpoint-slices.md"), "utf8");

function block(word: string): string {
  const found = blocksOf(PAGE).find(({ words }) => words.includes(word));
  if (found === undefined) throw new Error(`No block ${word}`);
  return found.text;
}

test("the configuration syncs slices, without a warning", () => {
  const result = parseConfig(block("vcluster.yaml"));
  expect(result).toMatchObject({ ok: true, warnings: [], config: { endpointSlices: { enabled: true, configured: true } } });
});

test.each([
  { block: "tenant-rule", verbs: ["get", "list", "watch", "update"] },
  { block: "host-rule", verbs: ["list", "watch", "create", "update", "delete"] },
])("$block allows $verbs on slices and nothing else", ({ block: word, verbs }) => {
  expect(load(block(word))).toEqual({ apiGroups: [groupOf(ENDPOINT_SLICES)], resources: [ENDPOINT_SLICES.plural], verbs });
});

test("auto-rule allows to read copies of Endpoints and slices, as is asked for at the start", () => {
  expect(load(block("auto-rule"))).toEqual({
    apiGroups: ["", "discovery.k8s.io"],
    resources: [ENDPOINTS.plural, ENDPOINT_SLICES.plural],
    verbs: ["get"],
  });
});

test("labels are named as the source names them", () => {
  for (const label of [SERVICE_NAME, SKIP_MIRROR, SLICE_MANAGER]) expect(PAGE).toContain(label);
  const manager = `${SLICE_MANAGER}=${sliceManager(DEFAULT_MARKER_PREFIX)}`;
  expect(PAGE).toContain(`${DEFAULT_MARKER_PREFIX}${MANAGED_BY}=blue,${manager}`);
});

const [AUDIT, WHY, CLEANUP, DELETE, ...others] = blocksOf(PAGE).flatMap(({ language, text }) => (language === "sh" ? [text] : []));

test("there are four commands, each of which a test runs", () => {
  expect([AUDIT, WHY, CLEANUP, DELETE].map((text) => /(?:endpoint-sync|delete) \w+/.exec(text!)?.[0])).toEqual([
    "endpoint-sync audit",
    "endpoint-sync why",
    "endpoint-sync cleanup",
    "delete endpointslices",
  ]);
  expect(others).toEqual([]);
});

/** Not blocking: the clusters live in this process. */
const bash = promisify(execFile);

/** A tenant with a Service, a host that does not mirror, and a shell with the files of the guide. */
async function clusters() {
  const tenant = await startCluster({ name: "tenant" });
  const host = await startCluster({ name: "host", controllers: ["*", "-endpointslice-mirroring-controller"] });
  const shell = openGuideShell({ ready: /./ });
  const files = { "tenant.kubeconfig": tenant.kubeconfig, "host.kubeconfig": host.kubeconfig, "vcluster.yaml": "{}\n" };
  for (const [name, text] of Object.entries({ ...files, "settings.yaml": "backends: endpoints\n" }))
    writeFileSync(join(shell.folder, name), text);
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const [metadata, ports] = [{ namespace: "shop", name: "db" }, [{ port: 80 }]];
  await tenant.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports } });
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports }];
  await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  return {
    tenant,
    host,
    /** Runs a command of the guide to its end, whatever its exit code is. */
    async run(text: string) {
      const PATH = [join(shell.folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
      try {
        const { stdout, stderr } = await bash("bash", ["-e", "-c", text], { cwd: shell.folder, env: { ...process.env, PATH } });
        return { code: 0, stdout, stderr };
      } catch (error) {
        return error as { readonly code: number; readonly stdout: string; readonly stderr: string };
      }
    },
    async close() {
      await shell.close();
      await Promise.all([tenant.stop(), host.stop()]);
    },
  };
}

type Clusters = Awaited<ReturnType<typeof clusters>>;

/** Copies Endpoints alone, until the host has a copy. */
async function copyEndpoints({ tenant, host }: Clusters): Promise<void> {
  const shared = { clock: systemClock, chance: systemChance, logger: silentLogger, metrics: noMetrics };
  const access = {
    tenant: createInformedAccess({ client: tenant.client, ...shared }),
    host: createInformedAccess({ client: host.client, scope: { namespace: "vc-blue" }, ...shared }),
  };
  const resolved = resolveConfig({});
  if (!resolved.ok) throw new Error("the empty configuration is valid");
  const configured = { config: resolved.config, settings: { ...DEFAULT_SETTINGS, backends: "endpoints" as const } };
  const syncer = await createSyncer({ ...configured, vcluster: { name: "blue", namespace: "vc-blue" }, ...access });
  await syncer.start();
  await vi.waitFor(async () => expect(await host.client.get(ENDPOINTS, COPY)).toBeDefined(), WAIT);
  await syncer.stop();
  await Promise.all([access.tenant.stop(), access.host.stop()]);
}

const COPY = { namespace: "vc-blue", name: "db-x-shop-x-blue" };

test("audit and why name backends that readers do not see, and cleanup removes the copies of Endpoints alone", async () => {
  const sides = await clusters();
  try {
    await copyEndpoints(sides);
    const audit = await sides.run(AUDIT!);
    expect(audit).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/BACKENDS_INVISIBLE[\s\S]*shop\/db|shop\/db[\s\S]*BACKENDS_INVISIBLE/) as string,
    });
    const why = await sides.run(WHY!);
    expect(why.stdout).toContain("BACKENDS_INVISIBLE");
    expect(why.stdout).toMatch(/readers on the host see 0/);
    expect(await sides.run(CLEANUP!)).toMatchObject({ code: 0, stdout: expect.stringContaining("Removed") as string });
    const { client } = sides.host;
    expect([await client.get(ENDPOINTS, COPY), (await client.get(SERVICES, COPY))?.metadata.name]).toEqual([undefined, COPY.name]);
  } finally {
    await sides.close();
  }
});

test.runIf(hasKubectl)("the last command takes away the copies of slices, and nothing else", async () => {
  const sides = await clusters();
  try {
    const managers = { ours: sliceManager(DEFAULT_MARKER_PREFIX), mirrored: "endpointslicemirroring-controller.k8s.io" };
    for (const [name, manager] of Object.entries(managers)) {
      const labels = { [`${DEFAULT_MARKER_PREFIX}${MANAGED_BY}`]: "blue", [SLICE_MANAGER]: manager };
      const { apiVersion, kind } = ENDPOINT_SLICES;
      const metadata = { namespace: "vc-blue", name, labels };
      await sides.host.client.create(ENDPOINT_SLICES, { apiVersion, kind, metadata, addressType: "IPv4", endpoints: [], ports: [] });
    }
    const { stdout } = await sides.run(DELETE!);
    expect(stdout.match(/"(\w+)" deleted/g)).toEqual(['"ours" deleted']);
  } finally {
    await sides.close();
  }
});
