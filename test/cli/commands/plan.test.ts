/**
 * `plan` shows every write that a run would make, and makes none; the permissions that it needs.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP } from "../../../src/cluster/rbac/resources.ts";
import { ENDPOINTS, NAMESPACES, SECRETS, SERVICES } from "../../../src/kube/object/resource.ts";
import { run } from "../support.ts";
import {
  freshClusters,
  NAMED,
  cli,
  files,
  folder,
  has,
  object,
  sides,
  stateOf,
  subsets,
  sync,
  synced,
  web,
  type Sides,
} from "../inspect/inspected-clusters.ts";

freshClusters();

describe("plan", () => {
  test("shows each object as a diff, counts, changes nothing, and ends with 1", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    const before = await stateOf(sides);
    const { code, stdout } = await cli("plan");
    expect(stdout).toMatch(/^--- \/dev\/null\n\+\+\+ host Endpoints vc-blue\/web-x-shop-x-blue\n@@ -0,0 \+1,\d+ @@\n\+apiVersion: v1\n/);
    expect(stdout).toContain("+    example.com/team: blue-ops\n");
    expect(stdout).toMatch(/\nPlan: 1 to create, 0 to update, 0 to delete\. Converges\.\n$/);
    expect(code).toBe(1);
    expect(await stateOf(sides)).toBe(before);
  });

  test("ends with 0 once a run has done it", async () => {
    await synced({ "example.com/team": "ops" });
    expect(await cli("plan")).toEqual({ code: 0, stdout: "Nothing to do.\n", stderr: "" });
  });

  test("is blocked by a host namespace that is missing, names it once and what waits for it, and ends with 2", async () => {
    await sides.tenant.client.create(SERVICES, object(SERVICES, "shop/web", { spec: { ports: [{ port: 80 }] } }));
    await sides.tenant.client.create(ENDPOINTS, web());
    await sides.host.client.delete(NAMESPACES, { namespace: "", name: "vc-blue" });
    expect(await cli("plan")).toEqual({
      code: 2,
      stdout: 'Blocked: host namespace "vc-blue" does not exist. Create it, or check --namespace and the namespace mappings.\n',
      stderr: 'warning HOST_NAMESPACE_MISSING: 2 copies wait for host namespace "vc-blue", which endpoint-sync never creates\n',
    });
  });

  test.each([
    { what: "a port as text", config: "text-port.yaml", why: "subsets.ports.port: Invalid type: found string, expected int32" },
    { what: "a hostname in capitals", config: "capitals.yaml", why: 'subsets[0].addresses[0].hostname: Invalid value: "DB-0": ' },
  ])("is blocked by a result that the host would refuse: $what", async ({ config, why }) => {
    const addresses = [{ ip: "10.0.0.1", hostname: "db-0" }];
    await sides.tenant.client.create(ENDPOINTS, { ...web(), subsets: [{ addresses, ports: [{ port: 80 }] }] });
    const { code, stdout, stderr } = await cli("plan", [], { config });
    expect({ code, stdout }).toEqual({
      code: 2,
      stdout: "Blocked: endpoints shop/web would be refused; see the warning API_INVALID.\n",
    });
    expect(stderr).toContain(`warning API_INVALID: endpoints shop/web: The host's API server refuses the object as invalid: ${why}`);
  });

  test("shows both writes of a host edit, and that the version of the first is not known", async () => {
    await synced({ "example.com/team": "ops" });
    await sides.host.client.patch(ENDPOINTS, { namespace: "vc-blue", name: "web-x-shop-x-blue" }, "merge", {
      metadata: { annotations: { "example.com/team": "blue-dev" } },
    });
    const { stdout } = await cli("plan");
    expect(stdout).toContain("--- tenant Endpoints shop/web\n");
    expect(stdout).toMatch(/-\s+example.com\/team: ops\n\+\s+example.com\/team: dev\n/);
    expect(stdout).toContain("(known after the write)");
    expect(stdout).toMatch(/\nPlan: 0 to create, 2 to update, 0 to delete \(1 in the tenant\)\. Converges\.\n$/);
  });

  test("hides the values of a Secret, and shows which of them change", async () => {
    await sides.tenant.client.create(SECRETS, object(SECRETS, "shop/db", { stringData: { user: "me", password: "hunter2" } }));
    await synced({ "example.com/secret": "db" });
    await sync(has(sides.host.client, SECRETS, "db-x-shop-x-blue"));
    const secret = Buffer.from("swordfish").toString("base64");
    await sides.tenant.client.patch(SECRETS, { namespace: "shop", name: "db" }, "merge", { data: { password: secret } });
    const { code, stdout } = await cli("plan");
    expect(stdout).toContain("--- host Secret vc-blue/db-x-shop-x-blue\n");
    expect(stdout).toMatch(/-\s+password: \(hidden\)\n\+\s+password: \(hidden, another value\)\n/);
    for (const text of [secret, Buffer.from("hunter2").toString("base64")]) expect(stdout).not.toContain(text);
    expect(code).toBe(1);
  });

  test("names an object that never comes to rest", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    const { code, stdout } = await cli("plan", [], { config: "drift.yaml" });
    expect(stdout).toContain(" Does not converge. These objects would be written repeatedly:\n  endpoints shop/web: ");
    expect(code).toBe(1);
    const report = JSON.parse((await cli("plan", ["-o", "json"], { config: "drift.yaml" })).stdout) as { settled: boolean };
    expect(report.settled).toBe(false);
  });

  test("prints everything as JSON", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/tier": "a" }));
    const { code, stdout } = await cli("plan", ["-o", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      writes: 1,
      settled: true,
      unsettled: [],
      changes: [{ cluster: "host", action: "create", kind: "Endpoints", namespace: "vc-blue", name: "web-x-shop-x-blue" }],
      notes: expect.arrayContaining([
        {
          ...{ object: "endpoints shop/web", code: "EXPRESSION_ERROR", hostNamespace: "vc-blue" },
          message: expect.stringContaining("example.com/tier") as string,
        },
      ]) as unknown,
    });
  });

  test("tells what a run would warn of", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/tier": "a" }));
    const { stderr } = await cli("plan");
    expect(stderr).toMatch(/^warning EXPRESSION_ERROR: endpoints shop\/web: metadata\.annotations\["example\.com\/tier"\]: /);
  });

  test("counts what the delete brake keeps, and lets it go when it is confirmed", async () => {
    const names = Array.from({ length: 25 }, (_, index) => `web${index}`);
    for (const name of names) await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, `shop/${name}`, { subsets }));
    await sync(async () => (await sides.host.client.list(ENDPOINTS, { namespace: "vc-blue" })).items.length === 25);
    for (const name of names) await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name });
    const held = await cli("plan");
    expect(held).toMatchObject({ code: 0, stdout: "Nothing to do.\n" });
    expect(held.stderr).toBe("warning DELETE_BRAKE: 25 copies are kept, although their tenant objects are missing\n");
    expect((await cli("plan", ["--confirm-deletes", "25"])).stdout).toMatch(/\nPlan: 0 to create, 0 to update, 25 to delete\./);
  });
});

describe("permissions", () => {
  /** Replaces the administrator by jane, who has only these permissions. */
  async function asJane(side: keyof Sides, rules: readonly object[]): Promise<void> {
    const { client, tokenFor } = sides[side];
    const roleRef = { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "jane" };
    const subjects = [{ kind: "User", name: "jane" }];
    await client.create(CLUSTER_ROLES, { ...CLUSTER_ROLES, metadata: { name: "jane" }, rules });
    await client.create(CLUSTER_ROLE_BINDINGS, { ...CLUSTER_ROLE_BINDINGS, metadata: { name: "jane" }, roleRef, subjects });
    writeFileSync(join(folder, `${side}.kubeconfig`), (await tokenFor({ user: "jane" })).kubeconfig);
  }
  const LISTS = [{ apiGroups: [""], resources: ["services", "endpoints"], verbs: ["list"] }];
  const SLICES = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list"] };

  test("to list are all that plan, why and audit need", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    for (const side of ["tenant", "host"] as const) await asJane(side, [...LISTS, SLICES]);
    expect((await cli("plan")).stdout).toMatch(/\nPlan: 1 to create, /);
    expect(await cli("why", ["ep", "shop/web"])).toMatchObject({ code: 0, stderr: "" });
    const { code, stderr } = await cli("audit");
    expect(code).toBe(1);
    expect(stderr).not.toContain("EndpointSlice");
  });

  test("to list slices are not needed: Endpoints alone are looked at then, as they are copied, and a warning says so", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    for (const side of ["tenant", "host"] as const) await asJane(side, LISTS);
    const fallback =
      /^warning API_FORBIDDEN: backends: auto is treated as endpoints, because slices cannot be read: .* cannot list resource "endpointslices"/m;
    const [plan, why, audit] = [await cli("plan"), await cli("why", ["ep", "shop/web"]), await cli("audit")];
    expect(plan.stdout).toMatch(/\nPlan: 1 to create, /);
    expect([plan.code, why.code, audit.code]).toEqual([1, 0, 1]);
    for (const { stderr } of [plan, why, audit]) expect(stderr).toMatch(fallback);
    expect(audit.stderr).toMatch(
      /^warning API_FORBIDDEN: EndpointSlice objects were not checked: .* cannot list resource "endpointslices"/m,
    );
  });

  test.each([
    { command: "plan", argv: [], side: "tenant", code: 2, verb: "list" },
    { command: "audit", argv: [], side: "host", code: 2, verb: "list" },
    { command: "cleanup", argv: ["--yes"], side: "host", code: 1, verb: "delete" },
  ] as const)("that $command lacks are named with verb and resource", async ({ command, argv, side, code, verb }) => {
    await synced();
    await asJane(side, verb === "list" ? [] : LISTS);
    const answer = await cli(command, argv);
    expect(answer.code).toBe(code);
    expect(answer.stderr).toMatch(
      new RegExp(
        `^error API_FORBIDDEN: Cannot use the ${side} cluster ${sides[side].url}: .*cannot ${verb} resource "(services|endpoints)".*\n  Grant the user the verb and resource`,
        "m",
      ),
    );
  });
});

describe("failures", () => {
  test.each([
    { command: "plan", code: 2 },
    { command: "audit", code: 2 },
    { command: "cleanup", code: 1 },
  ])("$command tells of a cluster that cannot be reached, with $code", async ({ command, code }) => {
    const { url } = sides.host;
    await sides.host.stop();
    const answer = await cli(command);
    expect({ code: answer.code, stdout: answer.stdout }).toEqual({ code, stdout: "" });
    expect(answer.stderr).toMatch(new RegExp(`^error API_UNAVAILABLE: Cannot use the host cluster ${url}: .*\n  Check `));
  });

  test("plan ends with 2 for a configuration with an error", async () => {
    const { code, stdout, stderr } = await cli("plan", [], { config: "bad.yaml" });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("bad.yaml:1:41: error CONFIG_TYPE ");
  });

  test("plan refuses one cluster on both sides", async () => {
    const path = join(folder, "tenant.kubeconfig");
    const argv = ["plan", "--tenant-kubeconfig", path, "--host-kubeconfig", path, "--config", "vcluster.yaml", ...NAMED];
    const { code, stderr } = await run(argv, { files });
    expect(code).toBe(2);
    expect(stderr).toContain("tenant and host are the same cluster\n");
  });
});
