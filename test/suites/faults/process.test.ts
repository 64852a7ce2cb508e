import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { runCli } from "../../../src/cli/program.ts";
import { ENDPOINTS, LEASES, NAMESPACES } from "../../../src/kube/object/resource.ts";
import { createTestTerminal } from "../../cli/support.ts";
import { until } from "../../support/fake-clock.ts";
import { closeLater, DEADLINE_MS, guardRigs, startSide, temporaryFolder } from "./rig.ts";

guardRigs();

const QUIET = ["--metrics-address", "", "--health-address", ""];

/** `run` between two clusters, each behind its proxy. */
async function startRun(...flags: string[]) {
  const folder = await temporaryFolder();
  const [tenant, host] = await Promise.all([startSide("tenant", systemClock), startSide("host", systemClock)]);
  await host.cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  const files = { tenant: join(folder, "tenant"), host: join(folder, "host") };
  await writeFile(files.tenant, tenant.proxy.kubeconfig());
  await writeFile(files.host, host.proxy.kubeconfig());
  const terminal = createTestTerminal({ files: { "vcluster.yaml": "{}" } });
  const clusters = ["--tenant-kubeconfig", files.tenant, "--host-kubeconfig", files.host, "--config", "vcluster.yaml"];
  const ended = runCli(["run", ...clusters, "--name", "blue", "--namespace", "vc-blue", ...QUIET, ...flags], terminal);
  closeLater({ close: async () => (terminal.interrupt(), void (await ended)) });
  return { tenant, host, terminal, ended };
}

const endpoints = {
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { namespace: "default", name: "db" },
  subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
};

test.each([[], ["--leader-elect"]])(
  "F34 SIGTERM in the middle of a write: the write is finished, nothing new begins, and the process ends with 0 (%s)",
  async (...flags) => {
    const { tenant, host, terminal, ended } = await startRun(...flags);
    await until("it works", () => terminal.stderr.includes(flags.length > 0 ? "Leading" : "Syncing"), DEADLINE_MS);
    let answered = false;
    host.proxy.on({
      when: ({ method, body }) => method === "POST" && body.includes("db-x-default-x-blue"),
      fault: async ({ ask, response }) => {
        terminal.interrupt();
        await new Promise((resolve) => setTimeout(resolve, 100));
        const { status, text } = await ask();
        answered = true;
        response.writeHead(status, { "content-type": "application/json" }).end(text);
      },
    });
    await tenant.cluster.client.create(ENDPOINTS, endpoints);
    expect(await ended).toBe(0);
    expect(answered).toBe(true);
    expect(await host.cluster.client.get(ENDPOINTS, { namespace: "vc-blue", name: "db-x-default-x-blue" })).toBeDefined();
    const lease = await host.cluster.client.get(LEASES, { namespace: "vc-blue", name: "endpoint-sync-blue" });
    expect(lease?.["spec"]).toEqual(
      flags.length === 0 ? undefined : expect.objectContaining({ holderIdentity: "", leaseDurationSeconds: 1 }),
    );
    // Its end reaches the other side a moment later.
    await until("nothing is open", () => host.proxy.openConnections === 0, DEADLINE_MS);
  },
);
