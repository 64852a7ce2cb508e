/**
 * Commands that read missing flags from a running Deployment.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { DEPLOYMENTS } from "../../src/cluster/kinds/workloads.ts";
import { CONFIG_MAPS, ENDPOINTS, SECRETS, SERVICES } from "../../src/kube/object/resource.ts";
import { files, folder, freshClusters, object, sides, web } from "./inspect/inspected-clusters.ts";
import { createTestTerminal } from "./support.ts";
import { runCli } from "../../src/cli/program.ts";

freshClusters();

const HOST = join(folder, "host.kubeconfig");
const REFERENCE = "vc-blue/endpoint-sync-blue";

/** Everything that `deploy/sidecar/single-namespace` makes of it, as far as it says what the program works on. */
async function deploy(container: Record<string, unknown> = {}, volumes?: readonly object[]): Promise<void> {
  const tenant = readFileSync(join(folder, "tenant.kubeconfig")).toString("base64");
  await sides.host.client.create(SECRETS, object(SECRETS, "vc-blue/vc-blue", { data: { config: tenant } }));
  await sides.host.client.create(
    CONFIG_MAPS,
    object(CONFIG_MAPS, "vc-blue/settings", {
      data: { "vcluster.yaml": files["vcluster.yaml"], "settings.yaml": "onError: skip-patch\n" },
    }),
  );
  const args = [
    "run",
    "--tenant-kubeconfig=/etc/endpoint-sync/tenant/kubeconfig",
    "--config=/etc/endpoint-sync/config/vcluster.yaml",
    "--settings",
    "/etc/endpoint-sync/config/settings.yaml",
    "--name=$(VCLUSTER_NAME)",
    "--namespace=$(VCLUSTER_NAMESPACE)",
  ];
  const env = [
    { name: "VCLUSTER_NAME", value: "blue" },
    { name: "VCLUSTER_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
  ];
  const volumeMounts = [
    { name: "config", mountPath: "/etc/endpoint-sync/config" },
    { name: "tenant", mountPath: "/etc/endpoint-sync/tenant" },
  ];
  const spec = {
    selector: { matchLabels: { app: "a" } },
    template: {
      metadata: { labels: { app: "a" } },
      spec: {
        containers: [{ name: "sidecar", image: "endpoint-sync", args, env, volumeMounts, ...container }],
        volumes: volumes ?? [
          { name: "config", configMap: { name: "settings" } },
          { name: "tenant", secret: { secretName: "vc-blue", items: [{ key: "config", path: "kubeconfig" }] } },
        ],
      },
    },
  };
  await sides.host.client.create(DEPLOYMENTS, object(DEPLOYMENTS, REFERENCE, { spec }));
}

async function cli(argv: readonly string[], env: Record<string, string> = {}) {
  const terminal = createTestTerminal({ env, files });
  const code = await runCli(argv, terminal);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

describe("--from-deployment", () => {
  test("gives clusters, names and configuration to plan and why", async () => {
    await deploy();
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "storefront" }));
    const { code, stdout } = await cli(["plan", "--from-deployment", REFERENCE, "--host-kubeconfig", HOST]);
    expect(code).toBe(1);
    expect(stdout).toContain("name: web-x-shop-x-blue");
    expect(stdout).toContain("example.com/team: blue-storefront");
    const why = await cli(["why", "endpoints", "shop/web", "--from-deployment", REFERENCE], { KUBECONFIG: HOST });
    expect({ code: why.code, stdout: why.stdout }).toEqual({ code: 0, stdout: expect.stringContaining("shop/web") as string });
  });

  test("reads the host through all files that KUBECONFIG names", async () => {
    await deploy();
    await sides.tenant.client.create(ENDPOINTS, web());
    const { clusters, users, contexts } = load(readFileSync(HOST, "utf8")) as Record<string, unknown>;
    const parts = { "host-users.kubeconfig": { users }, "host-clusters.kubeconfig": { clusters, contexts } };
    for (const [name, part] of Object.entries(parts)) writeFileSync(join(folder, name), JSON.stringify(part));
    const KUBECONFIG = ["", ...Object.keys(parts).map((name) => join(folder, name))].join(delimiter);
    const [{ name: context }] = contexts as [{ name: string }];
    const { code, stdout } = await cli(["why", "endpoints", "shop/web", "--from-deployment", REFERENCE, "--host-context", context], {
      KUBECONFIG,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("shop/web") as string });
  });

  test("gives way to flags", async () => {
    await deploy();
    await sides.tenant.client.create(ENDPOINTS, web());
    const argv = ["plan", "--from-deployment", REFERENCE, "--host-kubeconfig", HOST, "--name", "green", "--config", "off.yaml"];
    const { code, stdout } = await cli(argv);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Nothing to do.\n" });
  });

  test("finds files in projected volumes, and variables of the container", async () => {
    const projected = {
      sources: [
        { secret: { name: "vc-blue", items: [{ key: "config", path: "tenant/kubeconfig" }] } },
        { configMap: { name: "settings" } },
      ],
    };
    const env = [
      { name: "ENDPOINT_SYNC_NAME", value: "blue" },
      { name: "ENDPOINT_SYNC_NAMESPACE", value: "vc-blue" },
      { name: "ENDPOINT_SYNC_CONFIG", value: "/in/vcluster.yaml" },
      { name: "ENDPOINT_SYNC_TENANT_KUBECONFIG", value: "/in/tenant/kubeconfig" },
    ];
    await deploy({ args: ["run"], env, volumeMounts: [{ name: "all", mountPath: "/in" }] }, [{ name: "all", projected }]);
    await sides.tenant.client.create(ENDPOINTS, web());
    const { stdout } = await cli(["plan", "--from-deployment", REFERENCE, "--host-kubeconfig", HOST]);
    expect(stdout).toContain("name: web-x-shop-x-blue");
  });

  test("knows how the syncer was started: beside another one, and what it adopts", async () => {
    const args = ["run", "--config=/in/vcluster.yaml", "--tenant-kubeconfig=/in/kubeconfig", "--name=blue", "-n", "vc-blue"];
    const volumeMounts = [
      { name: "config", mountPath: "/in/vcluster.yaml", subPath: "vcluster.yaml" },
      { name: "tenant", mountPath: "/in/kubeconfig", subPath: "config" },
    ];
    const volumes = [
      { name: "config", configMap: { name: "settings" } },
      { name: "tenant", secret: { secretName: "vc-blue" } },
    ];
    await deploy({ args: [...args, "--services=external", "--adopt", "vcluster.loft.sh/"], volumeMounts }, volumes);
    await sides.tenant.client.create(SERVICES, object(SERVICES, "shop/web", { spec: { ports: [{ port: 80 }] } }));
    await sides.tenant.client.create(ENDPOINTS, web());
    const argv = ["plan", "--from-deployment", REFERENCE, "--host-kubeconfig", HOST];
    expect((await cli(argv)).stdout).toBe("Nothing to do.\n");
    expect((await cli([...argv, "--services", "managed"])).stdout).toContain("host Service vc-blue/web-x-shop-x-blue");
  });

  test("names the Deployment where it says too little", async () => {
    await deploy({ args: ["run", "everything"] });
    const { code, stderr } = await cli(["plan", "--from-deployment", REFERENCE, "--host-kubeconfig", HOST]);
    expect(code).toBe(2);
    expect(stderr).toContain(`Deployment "${REFERENCE}" does not set --config, which endpoint-sync run needs`);
  });

  test.each([
    ["blue", /Cannot read Deployment "blue": expected namespace\/name/],
    ["vc-blue/none", /There is no Deployment "vc-blue\/none" on the host/],
  ])("refuses %s", async (reference, says) => {
    const { code, stderr } = await cli(["plan", "--from-deployment", reference, "--host-kubeconfig", HOST]);
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });

  test("refuses what runs something else, and files that are in no volume", async () => {
    await deploy({ args: ["run", "--config=/elsewhere/vcluster.yaml"] });
    const { code, stderr } = await cli(["plan", "--from-deployment", REFERENCE, "--host-kubeconfig", HOST]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'No Secret or ConfigMap that Deployment "vc-blue/endpoint-sync-blue" mounts contains /elsewhere/vcluster.yaml',
    );
  });

  test("is not needed, and then nothing may be missing", async () => {
    const { code, stderr } = await cli(["plan", "--host-kubeconfig", HOST]);
    expect(code).toBe(2);
    expect(stderr).toContain("required option '--config <file>' not specified");
  });
});
