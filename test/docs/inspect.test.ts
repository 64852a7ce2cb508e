/**
 * `docs/guides/operate.md`: the commands that look at two clusters, and the one that cleans up, are run as they stand.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEngine } from "../../src/engine/engine.ts";
import { startCluster, type Cluster } from "../../src/cluster/cluster.ts";
import { parseConfig } from "../../src/engine/config/config.ts";
import { ENDPOINTS, NAMESPACES } from "../../src/kube/object/resource.ts";
import { plan } from "../../src/engine/reconcile/plan.ts";
import { run, shellWords } from "../cli/support.ts";
import { hasKubectl } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/operate.md"), "utf8");
const blocks = blocksOf(PAGE);
const steps = blocks.flatMap(({ words, text, line }, index) => {
  if (!words.includes("inspect")) return [];
  const [, , ...argv] = shellWords(text.trim());
  return [{ line, argv, name: argv[0]!, prints: blocks[index + 1]!.text.trim() }];
});

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-inspect-guide-"));
const demo = (name: string) => readFileSync(join(ROOT, "fixtures/demo", name), "utf8");
const files = { "vcluster.yaml": demo("vcluster.yaml"), "settings.yaml": demo("settings.yaml") };
const clusters: Cluster[] = [];

/** One tenant object without a copy, and one copy. */
beforeAll(async () => {
  const [tenant, host] = (await Promise.all([startCluster({ name: "tenant" }), startCluster({ name: "host" })])) as [Cluster, Cluster];
  clusters.push(tenant, host);
  writeFileSync(join(folder, "tenant.kubeconfig"), tenant.kubeconfig);
  writeFileSync(join(folder, "host.kubeconfig"), host.kubeconfig);
  for (const [{ client }, name] of [
    [tenant, "shop"],
    [host, "vc-blue"],
  ] as const) {
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  for (const name of ["web", "db"]) {
    const metadata = { namespace: "shop", name, annotations: { "example.com/team": "storefront" } };
    await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [] });
  }
  await copy(tenant, host);
});
afterAll(async () => {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  rmSync(folder, { recursive: true });
});

/** As a syncer would. */
async function copy(tenant: Cluster, host: Cluster): Promise<void> {
  const key = { namespace: "shop", name: "db" };
  const config = parseConfig(files["vcluster.yaml"]);
  if (!config.ok) throw new Error("The configuration of the demonstration is valid");
  const engine = await createEngine({ config: config.config, vcluster: { name: "blue", namespace: "vc-blue" } });
  const rules = engine.rules.find(({ kind }) => kind.resource === ENDPOINTS)!;
  const { operations } = plan(rules, { key, tenant: await tenant.client.get(ENDPOINTS, key), host: undefined });
  for (const operation of operations) if (operation.action === "create") await host.client.create(ENDPOINTS, operation.object);
  engine.dispose();
}

/** Not blocking: the clusters live in this process. */
const bash = promisify(execFile);

test.runIf(hasKubectl)("copies are found by their label, and an object is paused, before anything else happens", async () => {
  const script = blocks.find(({ language, words, text }) => language === "sh" && words.length === 0 && text.includes("kubectl"))!.text;
  const { stdout } = await bash("bash", ["-e", "-c", script], { cwd: folder });
  expect(stdout).toMatch(/endpoints\/db-x-shop-x-blue|db-x-shop-x-blue/);
  const tenant = clusters[0]!.client;
  const annotations = async () => (await tenant.get(ENDPOINTS, { namespace: "shop", name: "web" }))!.metadata.annotations;
  expect(await annotations()).toMatchObject({ "sync.platform/pause": "true" });
  await tenant.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", {
    metadata: { annotations: { "sync.platform/pause": null } },
  });
  expect(await annotations()).not.toHaveProperty("sync.platform/pause");
});

test("are these", () => {
  expect(steps.map(({ name }) => name)).toEqual(["plan", "why", "audit", "cleanup"]);
});

test.each(steps)("$name, line $line", async ({ name, argv, prints }) => {
  const { code, stdout } = await run(
    argv.map((word) => (word.endsWith(".kubeconfig") ? join(folder, word) : word)),
    { files },
  );
  expect(stdout).toContain(prints);
  expect(code).toBe(["plan", "audit"].includes(name) ? 1 : 0);
});
