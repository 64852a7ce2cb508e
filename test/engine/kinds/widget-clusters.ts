/**
 * Two API servers over HTTP that have Widgets beside the core kinds, with kubeconfigs to reach them.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { formatKubeconfig } from "../../../src/apiserver/access/kubeconfig.ts";
import { startApiServer } from "../../../src/apiserver/api-server.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { dnsSubdomain } from "../../../src/apiserver/types/objects/names.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { anything } from "../../../src/schema/builders.ts";
import type { ResourceDefinition } from "../../../src/apiserver/types/resource-definition.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { createCoreKinds } from "../../../src/cluster/core-kinds.ts";
import { createInProcessClient, type InProcessClient } from "../../../src/cluster/in-process-client.ts";
import { NAMESPACES } from "../../../src/kube/object/resource.ts";
import { WIDGETS } from "./widget-kind.ts";

const DEFINITION: ResourceDefinition = {
  type: WIDGETS,
  singular: "widget",
  shape: kindShape({ size: anything, colour: anything, parts: anything }),
  strategy: { nameRule: dnsSubdomain },
};

/** Both clusters, with the flags that name them. */
export interface WidgetClusters {
  readonly tenant: InProcessClient;
  readonly host: InProcessClient;
  readonly flags: readonly string[];
  stop(): Promise<void>;
}

async function serve(name: string, folder: string) {
  const parts = { clock: systemClock, chance: systemChance };
  const definitions = [...createCoreKinds(systemChance), DEFINITION];
  const registry = createRegistry({ ...parts, store: createMemoryStore(), definitions });
  const client = createInProcessClient(registry);
  for (const namespace of ["kube-system", name === "tenant" ? "shop" : "vc-blue"])
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const server = await startApiServer({
    ...{ ...parts, registry, logger: silentLogger, version: { major: "1", minor: "34", gitVersion: "v1.34.0" } },
    authenticate: async () => ({ name: "admin", groups: ["system:masters"] }),
  });
  writeFileSync(join(folder, name), formatKubeconfig({ name, url: `http://127.0.0.1:${server.port}` }));
  return { client, close: async () => void (await Promise.all([client.close(), server.close()])) };
}

/** Starts both. */
export async function startWidgetClusters(): Promise<WidgetClusters> {
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-widgets-"));
  const [tenant, host] = await Promise.all(["tenant", "host"].map((name) => serve(name, folder)));
  return {
    tenant: tenant!.client,
    host: host!.client,
    flags: [
      "--tenant-kubeconfig",
      join(folder, "tenant"),
      "--host-kubeconfig",
      join(folder, "host"),
      "--name",
      "blue",
      "--namespace",
      "vc-blue",
    ],
    async stop() {
      await Promise.all([tenant!.close(), host!.close()]);
      rmSync(folder, { recursive: true });
    },
  };
}
