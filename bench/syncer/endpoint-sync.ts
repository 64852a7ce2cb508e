/** The syncer alone in its process, from the built package, as users run it. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Package from "../../src/index.ts";
import { giveBack } from "../../src/cli/process/lean-start.ts";
import { answer, usage } from "./child.ts";

const [folder, dist, patched] = process.argv.slice(2) as [string, string, "patched"?];
const { createHttpClient, createInformedAccess, createMetrics, createSyncer, loadKubeConfig, resolveConfig, systemChance, systemClock } =
  (await import(pathToFileURL(join(dist, "index.js")).href)) as typeof Package;

/** Changes nothing, so that the copies are those of the others: its cost is the sandbox. */
const patches = patched === undefined ? [] : [{ path: "subsets[*].addresses[*].ip", expression: "value" }];
const resolved = resolveConfig({ sync: { toHost: { endpoints: { enabled: true, patches } } } });
if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
const silent = () => {};
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const runtime = { clock: systemClock, chance: systemChance, logger, metrics: createMetrics() };
const vcluster = { name: "blue", namespace: "vc-blue" };

async function follow(side: "tenant" | "host", namespace?: string) {
  const kubeConfig = await loadKubeConfig({ path: join(folder, `${side}.kubeconfig`) });
  const client = createHttpClient({ kubeConfig, ...runtime });
  return { client, access: createInformedAccess({ client, ...runtime, ...(namespace !== undefined && { scope: { namespace } }) }) };
}

const [tenant, host] = [await follow("tenant"), await follow("host", vcluster.namespace)];
const syncer = await createSyncer({ config: resolved.config, vcluster, tenant: tenant.access, host: host.access, ...runtime });
await syncer.start();
const startedMs = performance.now();
// As `run` does, with its options.
giveBack();

answer({
  usage,
  /** Milliseconds from the start of the process until the workers ran. */
  started: () => ({ startedMs }),
  idle: async () => {
    while (syncer.status().waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return { idleMs: performance.now() };
  },
});
