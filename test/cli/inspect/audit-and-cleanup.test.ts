/**
 * `audit` compares what stands on the host with what should; `cleanup` takes all of it away.
 */
import { describe, expect, test } from "vitest";
import { ENDPOINTS, NAMESPACES, SECRETS, SERVICES } from "../../../src/kube/object/resource.ts";
import { freshClusters, cli, has, object, sides, stateOf, subsets, sync, synced, web } from "./inspected-clusters.ts";

freshClusters();

describe("audit", () => {
  const findings = async (config?: string) => {
    const { code, stdout } = await cli("audit", ["-o", "json"], { ...(config !== undefined && { config }) });
    const found = JSON.parse(stdout) as { finding: string; kind: string; host?: string; tenant: string }[];
    expect(code).toBe(found.length > 0 ? 1 : 0);
    return found.map(({ finding, kind, host, tenant }) => [finding, kind, host ?? "", tenant].join(" "));
  };
  const COPY = { namespace: "vc-blue", name: "web-x-shop-x-blue" };

  test("is clean after a run, and changes nothing", async () => {
    await synced();
    const before = await stateOf(sides);
    expect(await cli("audit")).toEqual({ code: 0, stdout: "No drift: 1 copy is in sync.\n", stderr: "" });
    expect(await stateOf(sides)).toBe(before);
  });

  test("finds copies whose source is gone, and copies that differ", async () => {
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/db", { subsets }));
    await synced();
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "db" });
    await sides.host.client.patch(ENDPOINTS, COPY, "merge", { metadata: { labels: { "example.com/x": "y" } } });
    expect(await findings()).toEqual([
      "orphan Endpoints vc-blue/db-x-shop-x-blue shop/db",
      "stale Endpoints vc-blue/web-x-shop-x-blue shop/web",
    ]);
    expect((await cli("audit")).stdout).toMatch(
      /^FINDING +KIND +HOST +TENANT +WHY\norphan +Endpoints +\S+ +shop\/db +The tenant object is gone\n/,
    );
  });

  test("finds copies that are missing, and objects of others in their place", async () => {
    await sides.tenant.client.create(ENDPOINTS, web());
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/db", { subsets }));
    await sides.host.client.create(ENDPOINTS, object(ENDPOINTS, "vc-blue/db-x-shop-x-blue"));
    expect(await findings()).toEqual([
      "foreign Endpoints vc-blue/db-x-shop-x-blue shop/db",
      "missing Endpoints vc-blue/web-x-shop-x-blue shop/web",
    ]);
  });

  test("finds two tenant objects with one host name", async () => {
    await sides.tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "b-x-shop" } });
    for (const name of ["shop/a-x-b", "b-x-shop/a"]) await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, name, { subsets }));
    await sync(has(sides.host.client, ENDPOINTS, "a-x-b-x-shop-x-blue"));
    const found = await findings();
    expect(found).toEqual([expect.stringMatching(/^collision Endpoints vc-blue\/a-x-b-x-shop-x-blue /)]);
  });

  test("finds copies of what is not synced any more", async () => {
    await synced();
    expect(await findings("off.yaml")).toEqual(["leftover Endpoints vc-blue/web-x-shop-x-blue shop/web"]);
  });

  test("finds orphans that the delete brake keeps", async () => {
    const names = Array.from({ length: 25 }, (_, index) => `web${index}`);
    for (const name of names) await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, `shop/${name}`, { subsets }));
    await sync(async () => (await sides.host.client.list(ENDPOINTS, { namespace: "vc-blue" })).items.length === 25);
    for (const name of names) await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name });
    const found = await findings();
    expect(found).toHaveLength(25);
    for (const one of found) expect(one).toMatch(/^orphan /);
  });
});

describe("cleanup", () => {
  /** Copies of every kind, beside objects of others. */
  async function settle(): Promise<void> {
    await sides.tenant.client.create(SECRETS, object(SECRETS, "shop/db", { stringData: { password: "x" } }));
    await sides.tenant.client.create(SERVICES, object(SERVICES, "shop/web", { spec: { ports: [{ port: 80 }] } }));
    await sides.host.client.create(ENDPOINTS, object(ENDPOINTS, "vc-blue/other", { subsets }));
    await sides.host.client.create(
      SECRETS,
      object(SECRETS, "vc-blue/theirs", {
        metadata: { labels: { "sync.platform/managed-by": "blue", "sync.platform/namespace": "shop" } },
      }),
    );
    await synced({ "example.com/secret": "db" });
    await sync(has(sides.host.client, SECRETS, "db-x-shop-x-blue"));
  }

  const names = async (kind: typeof ENDPOINTS) =>
    (await sides.host.client.list(kind, { namespace: "vc-blue" })).items.map(({ metadata }) => metadata.name);

  test("removes all copies and nothing else, also when the tenant is gone", async () => {
    await settle();
    await sides.tenant.stop();
    const { code, stdout, stderr } = await cli("cleanup", ["--yes"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^3 objects of virtual cluster "blue" in namespace vc-blue, from tenant cluster \S+:\nKIND +HOST +COPY OF\nEndpoints +vc-blue\/web-x-shop-x-blue +shop\/web\n/,
    );
    expect(stdout).toMatch(/\nRemoved 3 objects\.\n$/);
    expect([await names(ENDPOINTS), await names(SERVICES), await names(SECRETS)]).toEqual([["other"], [], ["theirs"]]);
    expect(await cli("cleanup", ["--yes"])).toEqual({ code: 0, stdout: "Nothing to remove.\n", stderr: "" });
  });

  test("removes only the kinds that it is told", async () => {
    await settle();
    const { stdout } = await cli("cleanup", ["--kind", "secrets", "--kind", "ep", "--yes"]);
    expect(stdout).toMatch(/\nRemoved 2 objects\.\n$/);
    expect([await names(ENDPOINTS), await names(SERVICES), await names(SECRETS)]).toEqual([["other"], ["web-x-shop-x-blue"], ["theirs"]]);
  });

  test("counts one object as one", async () => {
    await settle();
    const { stderr } = await cli("cleanup", ["--kind", "secrets"]);
    expect(stderr).toContain("Nothing was removed: 1 object needs confirmation");
    const { stdout } = await cli("cleanup", ["--kind", "secrets", "--yes"]);
    expect(stdout).toMatch(/^1 object of virtual cluster [^]*\nRemoved 1 object\.\n$/);
  });

  test.each([
    { why: "the session is not interactive", answer: undefined },
    { why: "the user says no", answer: "y" },
  ])("removes nothing when $why", async ({ answer }) => {
    await settle();
    const before = await stateOf(sides);
    const { code, stderr } = await cli("cleanup", [], { ...(answer !== undefined && { answer }) });
    expect(code).toBe(2);
    expect(stderr).toContain("error USAGE: Nothing was removed: 3 objects need confirmation\n  Pass --yes");
    expect(await stateOf(sides)).toBe(before);
  });

  test("asks a person and takes yes for an answer", async () => {
    await settle();
    const { code, stderr } = await cli("cleanup", [], { answer: "yes" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "Remove 3 objects from the host? Type yes: " });
    expect(await names(ENDPOINTS)).toEqual(["other"]);
  });

  test("shows what it asks about beside JSON too", async () => {
    await settle();
    const before = await stateOf(sides);
    const { code, stdout, stderr } = await cli("cleanup", ["-o", "json"], { answer: "no" });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^3 objects of virtual cluster "blue" in namespace vc-blue, from tenant cluster \S+:\nKIND +HOST +COPY OF\nEndpoints +vc-blue\/web-x-shop-x-blue +shop\/web\n[^]*\nRemove 3 objects from the host\? Type yes: /,
    );
    expect(await stateOf(sides)).toBe(before);
  });

  test("tells of objects that finalizers hold", async () => {
    await settle();
    const key = { namespace: "vc-blue", name: "web-x-shop-x-blue" };
    await sides.host.client.patch(ENDPOINTS, key, "merge", { metadata: { finalizers: ["example.com/hold"] } });
    for (let times = 0; times < 2; times += 1) {
      const { code, stdout, stderr } = await cli("cleanup", ["--kind", "endpoints", "--yes"]);
      expect(code).toBe(0);
      expect(stderr).toBe("warning Endpoints vc-blue/web-x-shop-x-blue remains until its finalizers are removed: example.com/hold\n");
      expect(stdout).toMatch(/\nRemoved 0 objects\.\n$/);
    }
    expect(await cli("audit", ["-o", "json"])).toMatchObject({ code: 1, stdout: expect.stringContaining("example.com/hold") as string });
  });
});
