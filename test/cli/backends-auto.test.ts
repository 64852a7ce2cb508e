/** `run`, `plan`, `audit` and `why` with `backends: auto`, on a host that does not mirror. */
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

freshClusters({
  tenant: { controllers: ["*", "-endpointslice-mirroring-controller"] },
  host: { controllers: ["*", "-endpointslice-mirroring-controller"] },
});

const ALL = ["get", "list", "watch", "create", "update", "delete"];
const files = { "vcluster.yaml": "sync: { toHost: {} }\n", "settings.yaml": "backends: auto\n" };
const CONFIGURED = ["--config", "vcluster.yaml", "--settings", "settings.yaml"];
const COPY = { namespace: "vc-blue", name: "db-x-shop-x-blue" };

/** Makes both kubeconfigs those of a user with these verbs on slices. */
async function asJane(verbs: readonly string[]): Promise<void> {
  for (const side of ["tenant", "host"] as const satisfies readonly (keyof Sides)[]) {
    const { client, tokenFor } = sides[side];
    const rules = [
      { apiGroups: [""], resources: ["services", "endpoints"], verbs: ALL },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs },
      { apiGroups: [""], resources: ["events"], verbs: ["create"] },
      { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
    ];
    const roleRef = { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "jane" };
    await client.create(CLUSTER_ROLES, { ...CLUSTER_ROLES, metadata: { name: "jane" }, rules });
    const subjects = [{ kind: "User", name: "jane" }];
    await client.create(CLUSTER_ROLE_BINDINGS, { ...CLUSTER_ROLE_BINDINGS, metadata: { name: "jane" }, roleRef, subjects });
    writeFileSync(join(folder, `${side}.kubeconfig`), (await tokenFor({ user: "jane" })).kubeconfig);
  }
}

async function copied(done: () => Promise<boolean>): Promise<string> {
  const { tenant } = sides;
  await tenant.client.create(SERVICES, object(SERVICES, "shop/db", { spec: { ports: [{ port: 80 }] } }));
  await tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/db", { subsets }));
  const terminal = createTestTerminal({ files });
  const ended = runCli(["run", ...CLUSTERS, ...CONFIGURED, ...NAMED, "--metrics-address", "", "--health-address", ""], terminal);
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`It does not get there: ${terminal.stderr}`);
    await delay(systemClock, 20);
  }
  terminal.interrupt();
  expect(await ended).toBe(0);
  return terminal.stderr;
}

const look = async (...argv: string[]) => run([...argv, ...CLUSTERS, ...CONFIGURED, ...NAMED], { files });
const slices = async () => (await sides.host.client.list(ENDPOINT_SLICES, { namespace: "vc-blue" })).items;
const labelled = async () =>
  (await sides.host.client.get(ENDPOINTS, COPY))?.metadata.labels?.["endpointslice.kubernetes.io/skip-mirror"] === "true";

test("slices are made; nothing is left to plan, audit finds nothing, and why says who tells readers", async () => {
  await asJane(ALL);
  await copied(labelled);
  expect(await slices()).toHaveLength(1);
  const audit = await look("audit");
  expect(`${audit.code} ${audit.stdout}`).toMatch(
    /^0 No drift: 2 copies are in sync\. Readers on the host get the backends of 1 Service from slices made by this syncer from its copy of Endpoints\.\n$/,
  );
  expect(await look("plan")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("slices made by this syncer from its copy of Endpoints") as string,
  });
  const planned = JSON.parse((await look("plan", "-o", "json")).stdout) as { readers: unknown };
  expect(planned.readers).toEqual([
    {
      service: "shop/db",
      hostService: "vc-blue/db-x-shop-x-blue",
      told: [{ who: "slices made by this syncer from its copy of Endpoints", slices: 1, ready: 1 }],
    },
  ]);
  for (const kind of ["services", "endpoints"]) {
    const { stdout, stderr } = await look("why", kind, "shop/db");
    expect(stdout).toMatch(
      /Sources of the backends that readers on the host see\n +SLICES +READY +SOURCE\n +1 +1 +slices made by this syncer from its copy of Endpoints\n/,
    );
    // A syncer that had the permissions has been at work, so nothing is taken for granted.
    expect(stderr).not.toContain("permissions of these kubeconfigs");
  }
  // Edits by others are planned to be reverted.
  const [slice] = await slices();
  await sides.host.client.patch(ENDPOINT_SLICES, { ...COPY, name: slice!.metadata.name! }, "merge", { endpoints: [] });
  const plan = await look("plan");
  expect(plan.stdout).toContain(slice!.metadata.name);
  expect((await look("audit")).stdout).toContain("The slice does not match the copy of Endpoints");
});

test("without the right to write slices, Endpoints alone are copied, and what is missing is reported", async () => {
  await asJane(["list", "watch"]);
  const told = await copied(async () => (await sides.host.client.get(ENDPOINTS, COPY)) !== undefined);
  expect(told).toContain("permissions on EndpointSlices are missing");
  expect(told).toMatch(/grant verb ."create." on resource ."endpointslices."/);
  expect(await slices()).toEqual([]);
  const { stdout } = await look("audit");
  expect(stdout).toContain("BACKENDS_INVISIBLE");
  expect(stdout).toMatch(/Sources of the backends that readers on the host see\n.*\n +none +1 +0 +shop\/db\n/);
  for (const kind of ["services", "endpoints"]) {
    const why = (await look("why", kind, "shop/db")).stdout;
    expect(why).toMatch(
      /BACKENDS_INVISIBLE +The tenant has 1 ready backend in Endpoints, but readers on the host see 0: with backends: auto, a running syncer .*unless it lacks permissions on EndpointSlices/,
    );
    expect(why).toMatch(/Sources of the backends that readers on the host see\n +SLICES +READY +SOURCE\n +0 +0 +none\n/);
  }
});

test("why says which permissions it takes for granted where a syncer without them leaves slices of users out", async () => {
  await asJane(["list", "watch"]);
  const labels = { "kubernetes.io/service-name": "db" };
  const own = { metadata: { labels }, addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.9"] }], ports: [{ port: 80 }] };
  await sides.tenant.client.create(ENDPOINT_SLICES, object(ENDPOINT_SLICES, "shop/db-own", own));
  await copied(async () => (await sides.host.client.get(ENDPOINTS, COPY)) !== undefined);
  for (const [kind, name] of [
    ["endpointslices", "shop/db-own"],
    ["endpoints", "shop/db"],
  ] as const)
    expect((await look("why", kind, name)).stderr).toMatch(
      /^warning backends: auto is evaluated with the permissions of these kubeconfigs. A syncer without permissions on EndpointSlices copies only Endpoints/m,
    );
});

test("where slices may not be seen, plan, why and audit say that auto copies Endpoints alone, and why", async () => {
  await asJane(["get"]);
  await copied(async () => (await sides.host.client.get(ENDPOINTS, COPY)) !== undefined);
  for (const command of [["plan"], ["audit"], ["why", "services", "shop/db"]])
    expect((await look(...command)).stderr).toMatch(
      /^warning API_FORBIDDEN: backends: auto is treated as endpoints, because slices cannot be read: .*endpointslices/m,
    );
  const { stderr } = await look("why", "endpointslices", "shop/db");
  expect(stderr).toMatch(
    /error SYNC_DISABLED: .*\n +Grant permission to list endpointslices .* on both clusters, which backends: auto needs/,
  );
});

test("audit finds what was made and is not kept current any more, with the command that removes it", async () => {
  await asJane(ALL);
  await copied(labelled);
  const [slice] = await slices();
  const back = await run(["audit", ...CLUSTERS, "--config", "vcluster.yaml", "--settings", "back.yaml", ...NAMED, "-o", "json"], {
    files: { ...files, "back.yaml": "backends: endpoints\n" },
  });
  const name = slice!.metadata.name!;
  expect(JSON.parse(back.stdout)).toContainEqual({
    ...{ finding: "leftover", kind: "EndpointSlice", host: `vc-blue/${name}`, tenant: "shop/db" },
    message: expect.stringContaining(`remove it with \`kubectl delete endpointslice -n vc-blue ${name}\``) as string,
  });
});
