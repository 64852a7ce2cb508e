/**
 * `docs/guides/two-clusters.md`: its commands are run as they stand, and its Roles allow exactly what the syncer asks for.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { load, loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { noMetrics } from "../../src/base/metrics.ts";
import { createEmbeddedCluster } from "../../src/cluster/cluster.ts";
import { resolveConfig } from "../../src/engine/config/config.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createLeaderElection } from "../../src/kube/runtime/election/leader-election.ts";
import { createInformedAccess } from "../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../src/engine/syncer.ts";
import { hasKubectl, openGuideShell, stepsOf, type GuideShell } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";
import { WAIT } from "../support/patience.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/two-clusters.md"), "utf8");
const blocks = blocksOf(PAGE);

describe.runIf(hasKubectl)("the commands, in order", () => {
  const steps = stepsOf(blocks);
  let shell: GuideShell;
  beforeAll(() => {
    // Ports of the machine may be taken.
    const shim = `[ "$1" = run ] && set -- "$@" --metrics-address 127.0.0.1:0 --health-address 127.0.0.1:0\n`;
    shell = openGuideShell({ folders: ["fixtures"], shim, ready: /serves https|Syncing/ });
  });
  afterAll(() => shell.close());

  test("are six before the first result", () => {
    const numbered = PAGE.split("## See both directions")[0]!.match(/^\d\. /gm) ?? [];
    expect(numbered.length).toBeLessThanOrEqual(6);
    expect(steps.length).toBeGreaterThan(numbered.length);
  });

  test.each(steps)("line $line", async (step) => {
    await shell.run(step, (stdout) => {
      if (step.script.includes("get endpoints,services"))
        expect(stdout).toMatch(/endpoints\/web-x-shop-x-blue[\s\S]*service\/web-x-shop-x-blue/);
    });
  });
});

test("the patch that the page shows is one of the demonstration's", () => {
  const [shown] = load(blocks.find(({ language, words }) => language === "yaml" && words.length === 0)!.text) as object[];
  const { sync } = load(readFileSync(join(ROOT, "fixtures/demo/vcluster.yaml"), "utf8")) as {
    sync: { toHost: { endpoints: { patches: object[] } } };
  };
  expect(sync.toHost.endpoints.patches).toContainEqual(shown);
});

/** A request as a Role speaks of it. */
type Request = `${string} ${string}`;

interface RoleRule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

function allowedBy(word: string): Request[] {
  const text = blocks.find(({ words }) => words.includes(word))?.text ?? "";
  // An addition is only rules.
  const [role] = loadAll(text) as [{ readonly rules: readonly RoleRule[] }];
  return role.rules.flatMap(({ resources, verbs, resourceNames = [""] }) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name): Request => `${verb} ${resource}${name && `/${name}`}`)),
    ),
  );
}

/** `client`, which notes what is asked of it. */
function noting(client: ClusterClient, requests: Set<Request>): ClusterClient {
  return {
    ...client,
    get(resource, key) {
      requests.add(resource.plural === "namespaces" ? `get namespaces/${key.name}` : `get ${resource.plural}`);
      return client.get(resource, key);
    },
    list(resource, options) {
      requests.add(`list ${resource.plural}`);
      return client.list(resource, options);
    },
    watch(resource, options) {
      requests.add(`watch ${resource.plural}`);
      // A server that does not stream lists is asked for pages instead.
      if (options?.initialEvents === true) requests.add(`list ${resource.plural}`);
      return client.watch(resource, options);
    },
    create(resource, object) {
      // Every user may ask what is allowed.
      if (resource.plural !== "selfsubjectaccessreviews") requests.add(`create ${resource.plural}`);
      return client.create(resource, object);
    },
    update(resource, object) {
      requests.add(`update ${resource.plural}`);
      return client.update(resource, object);
    },
    delete(resource, key, preconditions) {
      requests.add(`delete ${resource.plural}`);
      return client.delete(resource, key, preconditions);
    },
  };
}

describe("the Roles", () => {
  test("allow what the syncer asks for in a life of copies, edits, refusals and deletions, and no more", async () => {
    const asked = { tenant: new Set<Request>(), host: new Set<Request>() };
    // Nothing mirrors Endpoints on this host: slices are made.
    const controllers = ["*", "-endpointslice-mirroring-controller"];
    const clusters = { tenant: await createEmbeddedCluster(), host: await createEmbeddedCluster({ controllers }) };
    const runtime = { clock: systemClock, chance: systemChance, logger: silentLogger, metrics: noMetrics };
    const tenant = createInformedAccess({ client: noting(clusters.tenant.client, asked.tenant), ...runtime });
    const scope = { namespace: "vc-blue" };
    const host = createInformedAccess({ client: noting(clusters.host.client, asked.host), scope, ...runtime });
    const config = resolveConfig({});
    if (!config.ok) throw new Error("An empty configuration is valid");
    await clusters.host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    await clusters.tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const syncer = await createSyncer({ config: config.config, vcluster: { name: "blue", namespace: "vc-blue" }, tenant, host });
    try {
      await syncer.start();
      await live(clusters.tenant.client, clusters.host.client);
    } finally {
      await syncer.stop();
      await Promise.all([tenant.stop(), host.stop()]);
      await Promise.all([clusters.tenant.stop(), clusters.host.stop()]);
    }
    expect([...asked.tenant].sort()).toEqual(allowedBy("tenant-permissions").sort());
    expect([...asked.host].sort()).toEqual([...allowedBy("host-permissions"), ...allowedBy("host-identity")].sort());
    const told = syncer.permissions().filter(({ side, resource }) => side === "host" && resource === EVENTS);
    expect(told.map(({ verb, resource, required }) => [`${verb} ${resource.plural}`, required])).toEqual(
      allowedBy("host-events").map((request) => [request, false]),
    );
  });

  test("allow what an election asks for, and no more", async () => {
    const asked = new Set<Request>();
    const host = await createEmbeddedCluster();
    await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    const lease = { namespace: "vc-blue", name: "endpoint-sync-blue" };
    const client = noting(host.client, asked);
    const election = createLeaderElection({ client, lease, identity: "a", clock: systemClock, chance: systemChance });
    const stopping = new AbortController();
    // Elected and stopped at once: the Lease is found missing, made, and given back.
    await election.run(async () => stopping.abort(), stopping.signal);
    await host.stop();
    expect([...asked].sort()).toEqual(allowedBy("host-election").sort());
  });

  /** A Service, its Endpoints and a slice are made, changed, edited on the host, given a refused address, and deleted. */
  async function live(tenant: ClusterClient, host: ClusterClient): Promise<void> {
    const [key, hostKey] = [
      { namespace: "shop", name: "web" },
      { namespace: "vc-blue", name: "web-x-shop-x-blue" },
    ];
    await tenant.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata: key, spec: { ports: [{ port: 80 }] } });
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "100.100.100.200" }], ports: [{ port: 80 }] }];
    await tenant.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: key, subsets });
    const labels = { "kubernetes.io/service-name": "web" };
    await tenant.create(ENDPOINT_SLICES, {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { ...key, labels } },
      ...{ addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.9"] }], ports: [{ port: 80 }] },
    });
    for (const resource of [SERVICES, ENDPOINTS, ENDPOINT_SLICES]) {
      await vi.waitFor(async () => expect(await host.get(resource, hostKey)).toBeDefined(), WAIT);
      await annotate(host, resource, hostKey, "from-host");
      await vi.waitFor(async () => expect(annotationsOf(await tenant.get(resource, key))).toHaveProperty("from-host"), WAIT);
      await vi.waitFor(async () => {
        await annotate(tenant, resource, key, "from-tenant");
        expect(annotationsOf(await host.get(resource, hostKey))).toHaveProperty("from-tenant");
      }, WAIT);
    }
    const made = async () => {
      const { items } = await host.list(ENDPOINT_SLICES, { namespace: hostKey.namespace });
      return items.filter(({ metadata }) => metadata.name !== hostKey.name);
    };
    await vi.waitFor(async () => expect(await made()).toHaveLength(1), WAIT);
    await annotate(tenant, ENDPOINTS, key, "later");
    await vi.waitFor(async () => expect(annotationsOf((await made())[0])).toHaveProperty("later"), WAIT);
    await host.delete(ENDPOINTS, hostKey);
    await vi.waitFor(async () => expect(await host.get(ENDPOINTS, hostKey)).toBeDefined(), WAIT);
    for (const resource of [ENDPOINT_SLICES, ENDPOINTS, SERVICES]) await tenant.delete(resource, key);
    for (const resource of [ENDPOINT_SLICES, ENDPOINTS, SERVICES]) {
      await vi.waitFor(async () => expect(await host.get(resource, hostKey)).toBeUndefined(), WAIT);
    }
  }
});

async function annotate(
  client: ClusterClient,
  resource: typeof ENDPOINTS,
  key: { namespace: string; name: string },
  name: string,
): Promise<void> {
  await client.patch(resource, key, "merge", { metadata: { annotations: { [name]: "x" } } });
}

function annotationsOf(object: KubeObject | undefined): Readonly<Record<string, string>> {
  return object?.metadata.annotations ?? {};
}
