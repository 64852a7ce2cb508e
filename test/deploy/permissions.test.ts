/**
 * The permissions that `deploy/` gives are enough for a whole life of the sidecar, each is used in it, and each that is taken away is
 * named: by `/readyz`, or by the last words of a process that cannot start without it.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startCluster, type Cluster } from "../../src/clusters.ts";
import { SERVICE_ACCOUNTS } from "../../src/cluster/kinds/service-accounts.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from "../../src/cluster/rbac/resources.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { EVENTS, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { until } from "../support/fake-clock.ts";
import { lead } from "./life.ts";
import { build, kubectlPath, ofKind } from "./overlays.ts";
import { qualified, permissionsOf, permissionUsed, rolesOf, rulesWithout, textOf, type RolePermission } from "./roles.ts";
import { startSidecar, type Sidecar } from "./sidecar.ts";
import { WAIT } from "../support/patience.ts";

const OVERLAYS = [
  { overlay: "single-namespace", tenantOverlay: "basic", mapped: { shop: undefined } },
  { overlay: "references-and-slices", tenantOverlay: "references-and-slices", mapped: { shop: undefined } },
  { overlay: "multi-namespace", tenantOverlay: "basic", mapped: { shop: "blue-shop", data: "blue-data" } },
];
const GIVEN = [SERVICE_ACCOUNTS, ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS];
const COMPLAINT = /Missing permission|worth having|forbidden/i;
const REVIEWED = /Missing permission|Optional permission missing/;
const LIFE = { timeout: 180_000 };
// Brakes at once, and drops unreferenced copies at once.
const SETTINGS = "deleteBrake: { percent: 0, count: 1 }\nreferences: { retentionMinutes: 0 }";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-deploy-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function give(client: ClusterClient, objects: readonly KubeObject[]): Promise<void> {
  for (const type of GIVEN) for (const object of ofKind(objects, type.kind)) await client.create(type, object);
}

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

describe.runIf(kubectlPath !== undefined).each(OVERLAYS)("the permissions of $overlay", ({ overlay, tenantOverlay, mapped }) => {
  const objects = kubectlPath === undefined ? [] : build(`sidecar/${overlay}`);
  const tenantObjects = kubectlPath === undefined ? [] : build(`sidecar/tenant/${tenantOverlay}`);
  const place = {
    tenantKubeconfig: join(folder, `${overlay}.tenant`),
    hostKubeconfig: join(folder, `${overlay}.host`),
    settings: SETTINGS,
  };
  let tenant: Cluster;
  let host: Cluster;

  beforeAll(async () => {
    [tenant, host] = await Promise.all([
      startCluster({ name: "tenant" }),
      startCluster({ name: "host", controllers: ["*", "-endpointslice-mirroring-controller"] }),
    ]);
    for (const name of ["vc-blue", "blue-shop", "blue-data"]) await host.client.create(NAMESPACES, namespace(name));
    for (const name of Object.keys(mapped)) await tenant.client.create(NAMESPACES, namespace(name));
    await give(host.client, objects);
    await give(tenant.client, tenantObjects);
    writeFileSync(place.tenantKubeconfig, (await tenant.tokenFor({ user: "endpoint-sync" })).kubeconfig);
    writeFileSync(place.hostKubeconfig, (await host.tokenFor({ serviceAccount: "vc-blue/endpoint-sync-blue" })).kubeconfig);
  });
  afterAll(() => Promise.all([tenant?.stop(), host?.stop()]));

  test("no role is empty", () => {
    expect([...rolesOf(objects), ...rolesOf(tenantObjects)].filter(({ rules }) => rules.length === 0)).toEqual([]);
  });

  /** Runs the sidecar while `live` lasts; answers what it said. */
  async function whileItLeads(live: (sidecar: Sidecar) => Promise<unknown>): Promise<string> {
    const sidecar = startSidecar(objects, place);
    try {
      await until("it leads", () => sidecar.terminal.stderr.includes("Leading"));
      await live(sidecar);
    } finally {
      expect([await sidecar.stop(), sidecar.terminal.stderr]).toEqual([0, expect.anything()]);
    }
    return sidecar.terminal.stderr;
  }

  test("are enough for a whole life, and all of them are used", LIFE, async () => {
    const used = { tenant: new Set<string>(), host: new Set<string>() };
    const note = (message: unknown) => {
      const { request } = message as { request: { method: string; path: string; origin: string | URL } };
      const permission = permissionUsed(request.method, request.path);
      if (permission === undefined) return;
      // A ClusterRole gives the tenant's permissions in all namespaces.
      if (String(request.origin).startsWith(tenant.url)) used.tenant.add(permission.split(" in ")[0]!);
      if (String(request.origin).startsWith(host.url)) used.host.add(permission);
    };
    subscribe("undici:request:create", note);
    try {
      const first = await whileItLeads(async (sidecar) => {
        for (const [from, target] of Object.entries(mapped)) {
          const world = { tenant: tenant.client, host: host.client, namespace: from, mapped: target };
          await lead({ ...world, rich: overlay === "references-and-slices" });
        }
        expect(await sidecar.readyz()).toBe("ok\n");
        expect((await tenant.client.list(EVENTS, {})).items.map(({ reason }) => reason)).toContain("AddressRefused");
      });
      expect(first).not.toMatch(COMPLAINT);
      for (const name of ["a", "b"]) await tenant.client.delete(SERVICES, { namespace: "shop", name });
      // What was deleted unobserved engages the brake, which says so on the host.
      const events = async () => (await host.client.list(EVENTS, { namespace: "vc-blue" })).items;
      const second = await whileItLeads(async () => {
        await vi.waitFor(async () => expect((await events()).map(({ reason }) => reason)).toContain("DeleteBrake"), WAIT);
      });
      expect(second).not.toMatch(COMPLAINT);
    } finally {
      unsubscribe("undici:request:create", note);
    }
    expect([...used.tenant].sort()).toEqual([...new Set(permissionsOf(tenantObjects).map(textOf))].sort());
    // Where all slices are copied, none are made, and no copy of Endpoints is read again. A cache rarely lacks a copy.
    const isIdle = (permission: RolePermission) => isForMade(permission) || isForUnseen(permission);
    const idle = overlay === "references-and-slices" ? permissionsOf(objects).filter(isIdle).map(textOf) : [];
    expect([...new Set([...used.host, ...idle])].sort()).toEqual([...new Set(permissionsOf(objects).map(textOf))].sort());
  });

  const all = [
    ...permissionsOf(objects).map((permission) => ({ permission, side: "host" as const, what: textOf(permission) })),
    ...permissionsOf(tenantObjects).map((permission) => ({ permission, side: "tenant" as const, what: textOf(permission) })),
  ];
  test.each(all)("without $what on the $side it says so", async ({ permission, side }) => {
    const { client } = side === "host" ? host : tenant;
    const type = permission.role["kind"] === "Role" ? ROLES : CLUSTER_ROLES;
    const key = { namespace: permission.role.metadata.namespace ?? "", name: permission.role.metadata.name! };
    await client.patch(type, key, "merge", { rules: rulesWithout(permission) as never });
    try {
      const { resource, group, verb } = permission;
      const isForSlices = resource === "endpointslices" || (side === "host" && isForMade(permission));
      const worksWithout = isForSlices && (overlay !== "references-and-slices" || (side === "host" && isForMade(permission)));
      const told = await complaint(worksWithout ? /Leading/ : REVIEWED);
      if (worksWithout) {
        // Endpoints alone are copied then, or no slices are made: nothing is missing.
        expect(told).toMatchObject({ lines: [] });
        expect(told.warned).toBe(overlay !== "references-and-slices");
        return;
      }
      if (told.lastWords !== undefined) {
        const where = permission.role["kind"] === "Role" ? `in the namespace "${key.namespace}"` : "at the cluster scope";
        const what = `cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
        // Without the first list there is nothing to do; one of them is enough to end.
        expect([verb, told.lastWords]).toEqual(["list", expect.stringContaining(what)]);
        return;
      }
      const where = permission.role["kind"] === "Role" ? ` in namespace "${key.namespace}"` : "";
      const named = told.lines.filter((line) => line.includes(`: ${verb} ${qualified(resource, group)}`) && line.includes(where));
      // It names the permission that is missing, and no other.
      expect(named).toEqual(told.lines);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((line) => !line.includes(`of the ${side} cluster: grant verb "${verb}"`))).toEqual([]);
      expect(named.map((line) => line.startsWith("worth having: "))).toEqual(named.map(() => isOptional(permission)));
    } finally {
      await client.patch(type, key, "merge", { rules: permission.role.rules as never });
    }
  });

  /** What a sidecar that is started now says that it misses: in `/readyz`, or in the end. */
  async function complaint(
    reviewed: RegExp,
  ): Promise<{ readonly lines: readonly string[]; readonly warned?: boolean; readonly lastWords?: string }> {
    const sidecar = startSidecar(objects, place);
    const { terminal } = sidecar;
    try {
      await until("it complains", () => sidecar.exitCode !== undefined || reviewed.test(terminal.stderr));
      if (sidecar.exitCode !== undefined) return { lines: [], lastWords: terminal.stderr };
      const text = await sidecar.readyz();
      const warned = terminal.stderr.includes("permissions on EndpointSlices are missing");
      return { warned, lines: text!.split("\n").filter((line) => /^(missing permission|worth having): /.test(line)) };
    } finally {
      expect(await sidecar.stop()).toBe(sidecar.terminal.stderr.includes("Stopping") ? 0 : 1);
    }
  }
});

/** To read a copy of Endpoints before what was made of it changes. */
function isForMade({ resource, verb }: RolePermission): boolean {
  return ["endpoints", "endpointslices"].includes(resource) && verb === "get";
}

/** To read the copy of a referenced object that no cache shows. */
function isForUnseen({ resource, verb }: RolePermission): boolean {
  return ["secrets", "configmaps"].includes(resource) && verb === "get";
}

/** What the rest works without. Reads of referenced objects may be granted name by name, which cannot be asked for. */
function isOptional({ resource, verb }: RolePermission): boolean {
  const isReading = ["secrets", "configmaps"].includes(resource) && ["get", "list", "watch"].includes(verb);
  return resource === "events" || resource === "namespaces" || isReading;
}
