import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { EngineError } from "../../../src/base/errors.ts";
import { createLineLogger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { runCli } from "../../../src/cli/program.ts";
import { createSyncerReadiness, REVIEW_INTERVAL_MS, REVIEW_PAUSE_MS, REVIEW_SOON_MS } from "../../../src/cli/run/readiness.ts";
import { startCluster } from "../../../src/cluster/cluster.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, EVENTS, NAMESPACES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import type { InformedAccess } from "../../../src/engine/sync/cluster/informed-access.ts";
import type { Permission } from "../../../src/engine/sync/cluster/permissions.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { createTestTerminal, exampleFiles } from "../support.ts";

const UPDATE: Permission = { side: "host", verb: "update", resource: ENDPOINTS, namespace: "vc-blue", required: true };
const TELL: Permission = { side: "tenant", verb: "create", resource: EVENTS, namespace: "", required: false };
const LACKS = /^missing permission: update endpoints in namespace "vc-blue" of the host cluster: grant verb "update"/;
const REMARK = /^worth having: create events in all namespaces of the tenant cluster: grant/;

function createWorld() {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const lines: string[] = [];
  const logger = createLineLogger({ now: () => clock.now(), write: (line) => lines.push(line.slice(25)) });
  const state = {
    denied: new Set<string>(),
    prepared: true,
    unsynced: [] as string[],
    whyUnsynced: undefined as string | undefined,
    wrong: undefined as EngineError | undefined,
    reviews: 0,
    failure: undefined as Error | undefined,
    outOfSight: [] as string[],
    contradicted: [] as string[],
  };
  const side = (name: "tenant" | "host") => ({
    side: name,
    access: {
      unsynced: () => (name === "host" ? state.unsynced : []),
      failureOf: (kind: string) => (kind === "services" ? state.whyUnsynced : undefined),
      identity: {
        get wrong() {
          return name === "tenant" ? state.wrong : undefined;
        },
      },
    } as unknown as InformedAccess,
    client: {
      create(_resource: unknown, review: KubeObject) {
        if (state.failure !== undefined) return Promise.reject(state.failure);
        state.reviews += 1;
        const { verb } = (review["spec"] as { resourceAttributes: { verb: string } }).resourceAttributes;
        return Promise.resolve({ ...review, status: { allowed: !state.denied.has(verb) } });
      },
    } as unknown as ClusterClient,
  });
  const readiness = createSyncerReadiness({
    clusters: [side("tenant"), side("host")],
    permissions: () => [UPDATE, TELL],
    prepared: () => state.prepared,
    outOfSight: () => state.outOfSight,
    contradicted: () => state.contradicted,
    runtime: { clock, chance: systemChance, logger, metrics },
  });
  const says = () => {
    const answer = readiness.probe();
    if (answer === "ok") return ["ok"];
    return "reason" in answer ? answer.reason.split("\n") : ["ok", ...answer.remarks];
  };
  return { clock, metrics, lines, state, readiness, says };
}

describe("readiness", () => {
  test("asks nothing and lacks nothing before it starts", async () => {
    const { clock, state, readiness, says } = createWorld();
    readiness.askAgain();
    await clock.advance(REVIEW_INTERVAL_MS);
    expect([says(), state.reviews, clock.pending]).toEqual([["ok"], 0, 0]);
  });

  test("names the lists that it waits for", () => {
    const { state, says } = createWorld();
    Object.assign(state, { prepared: false, unsynced: ["endpoints", "services"] });
    const waits = ["endpoints", "services"].map((kind) => `waiting for the list of ${kind} of the host cluster`);
    expect(says()).toEqual(["the first lists are not complete yet", ...waits]);
    state.whyUnsynced = "connect ECONNREFUSED 127.0.0.1:8443";
    expect(says().at(-1)).toBe("waiting for the list of services of the host cluster: connect ECONNREFUSED 127.0.0.1:8443");
  });

  test("says which cluster is out of sight, until it is back", () => {
    const { state, says } = createWorld();
    state.outOfSight = ["unable to reach the tenant cluster since 2026-01-01T00:00:00.000Z: connect ECONNREFUSED"];
    expect(says()).toEqual(state.outOfSight);
    state.outOfSight = [];
    expect(says()).toEqual(["ok"]);
  });

  test("counts the objects that are not up to date, and stays ready", () => {
    const { state, says } = createWorld();
    const told = (many: string) =>
      `CACHE_CONTRADICTED: ${many} not up to date, for example endpoints|shop/a: the API server's list responses are incomplete or stale`;
    state.contradicted = ["endpoints|shop/a"];
    expect(says()).toEqual(["ok", told("1 object is")]);
    state.contradicted = ["endpoints|shop/a", "endpoints|shop/b"];
    expect(says()).toEqual(["ok", told("2 objects are")]);
  });

  test("says when another cluster answers, until the right one does", () => {
    const { state, says } = createWorld();
    state.wrong = new EngineError("CLUSTER_IDENTITY", "Another cluster answers");
    expect(says()).toEqual(["CLUSTER_IDENTITY: Another cluster answers"]);
    state.wrong = undefined;
    expect(says()).toEqual(["ok"]);
  });

  test("names a missing permission until it is granted, and tells each once", async () => {
    const { clock, metrics, lines, state, readiness, says } = createWorld();
    state.denied.add("update").add("create");
    readiness.start();
    await clock.advance(0);
    expect(says()).toEqual([expect.stringMatching(LACKS), expect.stringMatching(REMARK)]);
    expect(metrics.value("endpoint_sync_missing_permissions", { cluster: "host" })).toBe(1);
    await clock.advance(3 * REVIEW_SOON_MS);
    state.denied.delete("update");
    await clock.advance(REVIEW_SOON_MS);
    expect(says()).toEqual(["ok", expect.stringMatching(REMARK)]);
    state.denied.clear();
    await clock.advance(REVIEW_SOON_MS);
    expect(says()).toEqual(["ok"]);
    expect(metrics.value("endpoint_sync_missing_permissions", { cluster: "host" })).toBe(0);
    expect(lines).toEqual([
      "info  Optional permission missing cluster=tenant verb=create resource=events",
      "error Missing permission cluster=host verb=update resource=endpoints namespace=vc-blue",
      "info  Permission granted cluster=host verb=update resource=endpoints namespace=vc-blue",
      "info  Permission granted cluster=tenant verb=create resource=events",
    ]);
  });

  test("asks every five minutes, and soon after a refusal, but not again and again", async () => {
    const { clock, state, readiness, says } = createWorld();
    readiness.start();
    await clock.advance(REVIEW_INTERVAL_MS - 1);
    expect(state.reviews).toBe(2);
    await clock.advance(1);
    expect(state.reviews).toBe(4);
    state.denied.add("update");
    for (let refusals = 0; refusals < 10; refusals += 1) readiness.askAgain();
    await clock.advance(REVIEW_PAUSE_MS);
    expect([state.reviews, says().length]).toEqual([6, 1]);
    readiness.stop();
    readiness.askAgain();
    expect(clock.pending).toBe(0);
  });

  test("keeps what it knows while a cluster does not say", async () => {
    const { clock, state, readiness, says } = createWorld();
    state.denied.add("update");
    readiness.start();
    await clock.advance(0);
    state.denied.clear();
    state.failure = new EngineError("API_UNAVAILABLE", "Gone");
    await clock.advance(2 * REVIEW_SOON_MS);
    expect(says()).toEqual([expect.stringMatching(LACKS)]);
    state.failure = undefined;
    await clock.advance(REVIEW_SOON_MS);
    expect(says()).toEqual(["ok"]);
  });
});

describe("run", () => {
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-readiness-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("says at /readyz what a Role lacks, while it is alive", async () => {
    const [tenant, host] = await Promise.all([startCluster({ name: "tenant" }), startCluster({ name: "host" })]);
    await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    await grant(host.client, ["list", "watch", "create", "delete"]);
    const paths = { tenant: join(folder, "tenant"), host: join(folder, "host") };
    writeFileSync(paths.tenant, tenant.kubeconfig);
    writeFileSync(paths.host, (await host.tokenFor({ user: "sync" })).kubeconfig);
    const terminal = createTestTerminal({ files: exampleFiles() });
    const clusters = ["--tenant-kubeconfig", paths.tenant, "--host-kubeconfig", paths.host];
    const configured = ["--config", "vcluster.yaml", "--settings", "settings.yaml", "--name", "blue", "--namespace", "vc-blue"];
    const addresses = ["--metrics-address", "", "--health-address", "127.0.0.1:0"];
    const ended = runCli(["run", ...clusters, ...configured, ...addresses], terminal);
    await until("it syncs", () => terminal.stderr.includes("Syncing"));
    const address = /Listening address=(\S+)/.exec(terminal.stderr)![1]!;
    await until("the review is done", () => terminal.stderr.includes("Missing permission"));
    const ready = await fetch(`http://${address}/readyz`);
    expect(ready.status).toBe(503);
    const lines = (await ready.text()).trimEnd().split("\n");
    const lacks = lines.filter((line) => line.startsWith("missing")).map((line) => line.replace(/ of the.*/, ""));
    const lacking = ["update services", "update endpoints", "get services", "create secrets", "update secrets", "delete secrets"];
    expect(lacks).toEqual(lacking.map((what) => `missing permission: ${what} in namespace "vc-blue"`));
    expect((await fetch(`http://${address}/healthz`)).status).toBe(200);
    terminal.interrupt();
    expect(await ended).toBe(0);
    await Promise.all([tenant.stop(), host.stop()]);
  });
});

const ROLES = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", plural: "roles", namespaced: true };
const BINDINGS = { ...ROLES, kind: "RoleBinding", plural: "rolebindings" };
const rulesFor = (verbs: readonly string[]) => [{ apiGroups: [""], resources: ["endpoints", "services"], verbs }];

async function grant(client: ClusterClient, verbs: readonly string[]): Promise<void> {
  const { apiVersion } = ROLES;
  const metadata = { name: "sync", namespace: "vc-blue" };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "sync" };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "sync" }];
  await client.create(BINDINGS, { apiVersion, kind: "RoleBinding", metadata, roleRef, subjects });
  await client.create(ROLES, { apiVersion, kind: "Role", metadata, rules: rulesFor(verbs) });
}
