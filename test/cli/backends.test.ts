/** `run` with slices alone: for a user without permissions on Endpoints, in either cluster. */
import { expect, test } from "vitest";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { runCli } from "../../src/cli/program.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP } from "../../src/cluster/rbac/resources.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../src/kube/object/resource.ts";
import { delay, systemClock } from "../../src/base/clock.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { CLUSTERS, folder, freshClusters, NAMED, object, sides, subsets, type Sides } from "./inspect/inspected-clusters.ts";
import { createTestTerminal, run } from "./support.ts";

freshClusters();

const RULES = [
  { apiGroups: [""], resources: ["services"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
  { apiGroups: [""], resources: ["events"], verbs: ["create"] },
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
];

async function asJane(side: keyof Sides): Promise<void> {
  const { client, tokenFor } = sides[side];
  const roleRef = { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "jane" };
  const subjects = [{ kind: "User", name: "jane" }];
  await client.create(CLUSTER_ROLES, { ...CLUSTER_ROLES, metadata: { name: "jane" }, rules: RULES });
  await client.create(CLUSTER_ROLE_BINDINGS, { ...CLUSTER_ROLE_BINDINGS, metadata: { name: "jane" }, roleRef, subjects });
  writeFileSync(join(folder, `${side}.kubeconfig`), (await tokenFor({ user: "jane" })).kubeconfig);
}

test("slices reach the host, and the configuration is valid", async () => {
  const { tenant, host } = sides;
  await tenant.client.create(SERVICES, object(SERVICES, "shop/db", { spec: { ports: [{ port: 80 }] } }));
  await tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/db", { subsets }));
  for (const side of ["tenant", "host"] as const) await asJane(side);
  const files = { "vcluster.yaml": "sync: { toHost: {} }\n", "settings.yaml": "backends: slices\n" };
  const configured = ["--config", "vcluster.yaml", "--settings", "settings.yaml"];
  const terminal = createTestTerminal({ files });
  const ended = runCli(["run", ...CLUSTERS, ...configured, ...NAMED, "--metrics-address", "", "--health-address", ""], terminal);
  const deadline = performance.now() + PATIENCE_MS;
  const copies = async () => (await host.client.list(ENDPOINT_SLICES, { namespace: "vc-blue" })).items;
  while ((await copies()).length === 0) {
    if (performance.now() > deadline) throw new Error(`It does not get there: ${terminal.stderr}`);
    await delay(systemClock, 10);
  }
  terminal.interrupt();
  expect(await ended).toBe(0);
  expect(terminal.stderr).not.toMatch(/endpoints\b.*forbidden|API_FORBIDDEN/);
  expect((await copies()).map(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"])).toEqual(["db-x-shop-x-blue"]);
  expect((await host.client.list(ENDPOINTS, { namespace: "vc-blue" })).items).toEqual([]);
  const look = async (...argv: string[]) => run([...argv, ...CLUSTERS, ...configured, ...NAMED], { files });
  expect(await look("why", "endpoints", "shop/db")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("backends: slices") as string,
  });
  expect((await look("why", "services", "shop/db")).stdout).toContain("state");
});
