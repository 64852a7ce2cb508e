/**
 * `plan`, `why`, `audit` and `cleanup` over HTTP, between two embedded clusters in the states that people ask about.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { delay, systemClock } from "../../src/base/clock.ts";
import { startCluster } from "../../src/clusters/cluster.ts";
import type { Cluster } from "../../src/clusters/cluster.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP } from "../../src/clusters/rbac/resources.ts";
import type { ClusterClient } from "../../src/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, SECRETS, SERVICES } from "../../src/object/resource.ts";
import type { KubeObject } from "../../src/object/types.ts";
import { createTestTerminal, run } from "./support.ts";
import { runCli } from "../../src/cli/program.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-inspect-"));
const CONFIG = `
sync:
  toHost:
    secrets: { enabled: true }
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
        - path: metadata.annotations["example.com/tier"]
          expression: value.missing.tier
        - path: metadata.annotations["example.com/secret"]
          reference: { apiVersion: v1, kind: Secret }
`;
const DRIFT = `
sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: (context.hostObject?.metadata.annotations["example.com/team"] ?? "") + "x"
`;
const OFF = "sync: { toHost: { endpoints: { enabled: false }, services: { enabled: false } } }\n";
const files = {
  "vcluster.yaml": CONFIG,
  "drift.yaml": DRIFT,
  "off.yaml": OFF,
  "bad.yaml": "sync: { toHost: { endpoints: { enabled: maybe } } }\n",
};

interface Sides {
  readonly tenant: Cluster;
  readonly host: Cluster;
}

let sides: Sides;
const opened: Cluster[] = [];

async function cluster(name: string): Promise<Cluster> {
  const started = await startCluster({ name, tls: false });
  opened.push(started);
  writeFileSync(join(folder, `${name}.kubeconfig`), started.kubeconfig);
  return started;
}

const object = (resource: { apiVersion: string; kind: string }, name: string, rest: Record<string, unknown> = {}): KubeObject => {
  const { metadata = {}, ...body } = rest;
  const [namespace, bare] = name.split("/") as [string, string];
  return { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { namespace, name: bare, ...(metadata as object) }, ...body };
};
const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }];
const web = (annotations: Record<string, string> = {}): KubeObject => object(ENDPOINTS, "shop/web", { metadata: { annotations }, subsets });

beforeEach(async () => {
  sides = { tenant: await cluster("tenant"), host: await cluster("host") };
  await sides.tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await sides.host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  return async () => void (await Promise.all(opened.splice(0).map((one) => one.stop())));
});
afterAll(() => rmSync(folder, { recursive: true }));

const CLUSTERS = ["--tenant-kubeconfig", join(folder, "tenant.kubeconfig"), "--host-kubeconfig", join(folder, "host.kubeconfig")];
const NAMED = ["--name", "blue", "--namespace", "vc-blue"];

function cli(
  command: string,
  argv: readonly string[] = [],
  { config = "vcluster.yaml", answer }: { config?: string; answer?: string } = {},
) {
  const options = { files, ...(answer !== undefined && { answer }) };
  return run([command, ...argv, ...CLUSTERS, "--config", config, ...NAMED], options);
}

/** Everything in both clusters, as text. */
async function stateOf({ tenant, host }: Sides): Promise<string> {
  const kinds = [SERVICES, ENDPOINTS, ENDPOINT_SLICES, SECRETS];
  const lists = await Promise.all([tenant, host].flatMap(({ client }) => kinds.map((kind) => client.list(kind))));
  return JSON.stringify(lists.map(({ items }) => items));
}

/** Lets `run` work until `done`. */
async function sync(done: () => Promise<boolean>): Promise<void> {
  const terminal = createTestTerminal({ files });
  const quiet = ["--metrics-address", "", "--health-address", ""];
  const ended = runCli(["run", ...CLUSTERS, "--config", "vcluster.yaml", ...NAMED, ...quiet], terminal);
  const deadline = performance.now() + 30_000;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`It does not get there: ${terminal.stderr}`);
    await delay(systemClock, 10);
  }
  terminal.interrupt();
  expect(await ended).toBe(0);
}

const has = (client: ClusterClient, kind: typeof ENDPOINTS, name: string) => async () =>
  (await client.get(kind, { namespace: "vc-blue", name })) !== undefined;

/** `web` is copied, and everything that it refers to. */
async function synced(annotations: Record<string, string> = {}): Promise<void> {
  await sides.tenant.client.create(ENDPOINTS, web(annotations));
  await sync(has(sides.host.client, ENDPOINTS, "web-x-shop-x-blue"));
}

describe("plan", () => {
  test("shows each object as a diff, counts, changes nothing, and ends with 1", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    const before = await stateOf(sides);
    const { code, stdout } = await cli("plan");
    expect(stdout).toMatch(/^--- \/dev\/null\n\+\+\+ host Endpoints vc-blue\/web-x-shop-x-blue\n@@ -0,0 \+1,\d+ @@\n\+apiVersion: v1\n/);
    expect(stdout).toContain("+    example.com/team: blue-ops\n");
    expect(stdout).toMatch(/\n1 write, to objects: 1 on the host\. After it nothing is left to do\.\n$/);
    expect(code).toBe(1);
    expect(await stateOf(sides)).toBe(before);
  });

  test("ends with 0 once a run has done it", async () => {
    await synced({ "example.com/team": "ops" });
    expect(await cli("plan")).toEqual({ code: 0, stdout: "Nothing to do.\n", stderr: "" });
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
    expect(stdout).toMatch(/\n2 writes, to objects: 1 on the host and 1 in the tenant\. After them nothing is left to do\.\n$/);
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
    expect(stdout).toContain("After them these would still be written, again and again:\n  endpoints shop/web: ");
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
        { object: "endpoints shop/web", code: "EXPRESSION_ERROR", message: expect.stringContaining("example.com/tier") as string },
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
    expect(held.stderr).toBe("warning DELETE_BRAKE: 25 copies are kept, though their tenant objects are missing\n");
    expect((await cli("plan", ["--confirm-deletes", "25"])).stdout).toMatch(/\n25 writes, to objects: 25 on the host\./);
  });
});

describe("why", () => {
  const lines = async (argv: readonly string[], config?: string) => {
    const { code, stdout, stderr } = await cli("why", argv, { ...(config !== undefined && { config }) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };

  test("tells what stands where, and what became of each patch", async () => {
    await synced({ "example.com/team": "ops", "example.com/tier": "a" });
    const before = await stateOf(sides);
    const text = await lines(["ep", "shop/web"]);
    expect(text).toMatch(
      /^Endpoints shop\/web\n {2}tenant {4}version \d+, uid \S+\n {2}host {6}vc-blue\/web-x-shop-x-blue, version \d+, our copy, /,
    );
    expect(text).toContain("  decision  copy\n");
    expect(text).toMatch(/0 {2}metadata\.annotations\["example\.com\/team"\] +applied +1 +1 +\d+\n/);
    expect(text).toMatch(/1 {2}metadata\.annotations\["example\.com\/tier"\] +error +1 +0 +\d+\n/);
    expect(text).toMatch(/Failures of patches\n.*\n {2}metadata\.annotations\["example\.com\/tier"\] +EXPRESSION_ERROR /);
    expect(text).not.toContain("Writes to come");
    expect(await stateOf(sides)).toBe(before);
  });

  test("tells which side has changed, and the writes that come of it", async () => {
    await synced({ "example.com/team": "ops" });
    const key = { namespace: "vc-blue", name: "web-x-shop-x-blue" };
    await sides.host.client.patch(ENDPOINTS, key, "merge", { metadata: { annotations: { "example.com/team": "red" } } });
    // What is written for others is no answer.
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/other", { subsets }));
    const text = await lines(["Endpoints", "shop/web"]);
    expect(text).toMatch(/REVERSE_NOT_INVERSE +The host edit of annotations\/example\.com\/team does not come back equal/);
    expect(text).toMatch(/annotations\/example\.com\/team +host +no\n/);
    expect(text).toMatch(/Writes to come\n.*\n {2}host +update +Host edits are undone\n$/);
  });

  test("names the other party of a collision", async () => {
    await sides.tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "b-x-shop" } });
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/a-x-b", { subsets }));
    await sync(has(sides.host.client, ENDPOINTS, "a-x-b-x-shop-x-blue"));
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "b-x-shop/a", { subsets }));
    const text = await lines(["endpoints", "b-x-shop/a"]);
    expect(text).toContain(", our copy of shop/a-x-b\n");
    expect(text).toMatch(/state +refused: /);
    expect(text).toMatch(/NAME_COLLISION +"b-x-shop\/a" and "shop\/a-x-b" have the same host name/);
  });

  test("tells what is left out, and why, of addresses", async () => {
    await sides.tenant.client.create(
      ENDPOINTS,
      object(ENDPOINTS, "shop/web", { subsets: [{ addresses: [{ ip: "100.100.100.200" }, { ip: "10.0.0.1" }], ports: [{ port: 80 }] }] }),
    );
    expect(await lines(["ep", "shop/web"])).toMatch(/ADDRESS_REFUSED +Address "100\.100\.100\.200" was left out: /);
  });

  test("tells why an object is not copied", async () => {
    await sides.tenant.client.create(
      ENDPOINTS,
      object(ENDPOINTS, "shop/web", { metadata: { annotations: { "sync.platform/pause": "true" } } }),
    );
    const text = await lines(["ep", "shop/web"]);
    expect(text).toContain("  decision  leave: EXCLUDED\n");
    expect(text).toContain(", nothing there\n");
    expect(text).toMatch(/EXCLUDED +The object carries the pause annotation/);
  });

  test("tells what stands on the host when there is no tenant object", async () => {
    expect(await lines(["ep", "shop/none"])).toBe(
      "Endpoints shop/none\n  tenant  does not exist\n  host    vc-blue/none-x-shop-x-blue, nothing there\n  state   absent: there is no copy, and there should be none\n",
    );
    await sides.host.client.create(ENDPOINTS, object(ENDPOINTS, "vc-blue/none-x-shop-x-blue"));
    expect(await lines(["ep", "shop/none"])).toMatch(/host {4}vc-blue\/none-x-shop-x-blue, version \d+, not ours\n/);
  });

  test("prints a reference with what is missing for it, as JSON", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/secret": "db" }));
    expect(JSON.parse(await lines(["ep", "shop/web", "-o", "json"]))).toMatchObject({
      kind: "Endpoints",
      key: { namespace: "shop", name: "web" },
      hostKey: { namespace: "vc-blue", name: "web-x-shop-x-blue" },
      decision: { action: "copy" },
      state: "copied",
      settles: true,
      references: [{ kind: "Secret", host: { name: "db-x-shop-x-blue" }, notes: [{ code: "REFERENCE_MISSING" }] }],
      writes: [{ cluster: "host", action: "create" }],
    });
  });

  test.each([
    {
      why: "a kind that is not synced",
      argv: ["pods", "shop/web"],
      err: 'There is no kind "pods" here; there are endpoints, services, endpointslices',
    },
    { why: "a name without namespace", argv: ["ep", "web"], err: 'Cannot look for "web": wanted namespace/name' },
  ])("refuses $why", async ({ argv, err }) => {
    const { code, stderr } = await cli("why", argv);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`error USAGE: ${err}`) as string });
  });

  test("says that slices are not configured", async () => {
    const { code, stderr } = await cli("why", ["endpointslices", "shop/web"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("error SYNC_DISABLED: ") as string });
  });
});

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
    expect(await cli("audit")).toEqual({ code: 0, stdout: "Clean: 1 copies are as they should be.\n", stderr: "" });
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
    expect(stdout).toMatch(/^KIND +HOST +COPY OF\nEndpoints +vc-blue\/web-x-shop-x-blue +shop\/web\n/);
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

  test.each([
    { why: "nobody is there to confirm it", answer: undefined },
    { why: "somebody says no", answer: "y" },
  ])("removes nothing when $why", async ({ answer }) => {
    await settle();
    const before = await stateOf(sides);
    const { code, stderr } = await cli("cleanup", [], { ...(answer !== undefined && { answer }) });
    expect(code).toBe(2);
    expect(stderr).toContain("error USAGE: Nothing was removed: 3 objects wait for a confirmation\n  Say --yes");
    expect(await stateOf(sides)).toBe(before);
  });

  test("asks a person and takes yes for an answer", async () => {
    await settle();
    const { code, stderr } = await cli("cleanup", [], { answer: "yes" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "Remove 3 objects from the host? Type yes: " });
    expect(await names(ENDPOINTS)).toEqual(["other"]);
  });

  test("tells of objects that finalizers hold", async () => {
    await settle();
    const key = { namespace: "vc-blue", name: "web-x-shop-x-blue" };
    await sides.host.client.patch(ENDPOINTS, key, "merge", { metadata: { finalizers: ["example.com/hold"] } });
    for (let times = 0; times < 2; times += 1) {
      const { code, stdout, stderr } = await cli("cleanup", ["--kind", "endpoints", "--yes"]);
      expect(code).toBe(0);
      expect(stderr).toBe("warning Endpoints vc-blue/web-x-shop-x-blue goes when its finalizers let it: example.com/hold\n");
      expect(stdout).toMatch(/\nRemoved 0 objects\.\n$/);
    }
    expect(await cli("audit", ["-o", "json"])).toMatchObject({ code: 1, stdout: expect.stringContaining("example.com/hold") as string });
  });
});

describe("permissions", () => {
  /** jane, who may do this and nothing else, takes the administrator's place. */
  async function asJane(side: keyof Sides, rules: readonly object[]): Promise<void> {
    const { client, tokenFor } = sides[side];
    const roleRef = { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "jane" };
    const subjects = [{ kind: "User", name: "jane" }];
    await client.create(CLUSTER_ROLES, { ...CLUSTER_ROLES, metadata: { name: "jane" }, rules });
    await client.create(CLUSTER_ROLE_BINDINGS, { ...CLUSTER_ROLE_BINDINGS, metadata: { name: "jane" }, roleRef, subjects });
    writeFileSync(join(folder, `${side}.kubeconfig`), (await tokenFor({ user: "jane" })).kubeconfig);
  }
  const LISTS = [{ apiGroups: [""], resources: ["services", "endpoints"], verbs: ["list"] }];

  test("to list are all that plan, why and audit need", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    for (const side of ["tenant", "host"] as const) await asJane(side, LISTS);
    expect((await cli("plan")).stdout).toMatch(/\n1 write, to objects: 1 on the host\./);
    expect(await cli("why", ["ep", "shop/web"])).toMatchObject({ code: 0, stderr: "" });
    const { code, stderr } = await cli("audit");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^warning API_FORBIDDEN: EndpointSlice objects were not looked at: .* cannot list resource "endpointslices"/);
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
        `^error API_FORBIDDEN: Cannot work with the ${side} cluster ${sides[side].url}: .*cannot ${verb} resource "(services|endpoints)".*\n  Grant the verb and resource`,
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
  ])("$command tells of a cluster that can not be reached, with $code", async ({ command, code }) => {
    const { url } = sides.host;
    await sides.host.stop();
    const answer = await cli(command);
    expect({ code: answer.code, stdout: answer.stdout }).toEqual({ code, stdout: "" });
    expect(answer.stderr).toMatch(new RegExp(`^error API_UNAVAILABLE: Cannot work with the host cluster ${url}: .*\n  Check `));
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
