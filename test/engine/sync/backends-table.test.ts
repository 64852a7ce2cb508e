/** What readers on the host see: by who writes in the tenant, who mirrors, the kind of Service, and the setting. The guide shows the table. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { viewOfSlices } from "../../../src/kube/object/endpoints/reader-view.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { clock, start, stopAll, useRunningSyncers } from "./running-syncers.ts";
import { sidesWith, slicesIn } from "./seen-backends.ts";

useRunningSyncers();

const GUIDE = readFileSync(join(resolve(import.meta.dirname, "../../.."), "docs/guides/sync-endpoint-slices.md"), "utf8");

const KINDS = { plain: {}, headless: { clusterIP: "None" }, port: { type: "NodePort" } } as const;
const MODES = ["endpoints", "both", "slices", "auto"] as const;

const endpointsOf = (namespace: string, name: string, annotations: Record<string, string> = {}): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Endpoints", metadata: { namespace, name, annotations } },
  subsets: [{ addresses: [{ ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.9" }], ports: [{ name: "http", port: 80 }] }],
});

const sliceOf = (namespace: string, name: string): KubeObject => ({
  ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
  metadata: { namespace, name: `${name}-own`, labels: { "kubernetes.io/service-name": name } },
  endpoints: [{ addresses: ["10.0.0.2"], conditions: { ready: true } }],
  ports: [{ name: "http", port: 80, protocol: "TCP" }],
});

/** Who writes backends in the tenant, and the addresses that are ready there. */
const WRITERS: Record<string, { readonly objects: (name: string) => readonly KubeObject[]; readonly ready: readonly string[] }> = {
  Endpoints: { objects: (name) => [endpointsOf("shop", name)], ready: ["10.0.0.1"] },
  "slices only": { objects: (name) => [sliceOf("shop", name)], ready: ["10.0.0.2"] },
  "Endpoints and slices": { objects: (name) => [endpointsOf("shop", name), sliceOf("shop", name)], ready: ["10.0.0.1", "10.0.0.2"] },
  "Endpoints of a leader election": {
    objects: (name) => [endpointsOf("shop", name, { "control-plane.alpha.kubernetes.io/leader": "{}" })],
    ready: ["10.0.0.1"],
  },
};

async function fill({ client }: EmbeddedCluster, writer: string): Promise<void> {
  for (const [name, spec] of Object.entries(KINDS)) {
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "shop", name },
      spec: { ...spec, ports: [{ name: "http", port: 80 }] },
    };
    await client.create(SERVICES, service as never);
    for (const object of WRITERS[writer]!.objects(name))
      await client.create(object.kind === "Endpoints" ? ENDPOINTS : ENDPOINT_SLICES, object);
  }
}

/** Ready addresses of each kind of Service, as readers of slices on the host see them. */
async function readyOf(on: EmbeddedCluster): Promise<string[][]> {
  const slices = await slicesIn(on);
  return Object.keys(KINDS).map((name) => {
    const own = slices.filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === `${name}-x-shop-x-blue`);
    return [...viewOfSlices(own).values()].flatMap(({ address, ready }) => (ready ? [address] : [])).sort();
  });
}

describe.each(Object.keys(WRITERS))("the tenant has %s", (writer) => {
  test.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])("its cluster mirrors: %s, the host: %s", async (tenantMirrors, hostMirrors) => {
    const { ready } = WRITERS[writer]!;
    const cells: string[] = [];
    for (const backends of MODES) {
      const sides = await sidesWith(tenantMirrors, hostMirrors);
      await fill(sides.tenant, writer);
      await sides.tenant.settled();
      await start({ ...sides, settings: { backends } });
      await clock.advance(15_000);
      const [first, ...others] = await readyOf(sides.on);
      // The kind of Service changes nothing.
      for (const other of others) expect(other).toEqual(first);
      if (backends === "auto") expect(first).toEqual(ready);
      cells.push(first!.length === ready.length ? "all" : first!.length === 0 ? "nothing" : "some");
      await stopAll();
    }
    const said = [tenantMirrors, hostMirrors].map((is) => (is ? "yes" : "no"));
    expect(GUIDE).toContain(`| ${[writer, ...said, ...cells].join(" | ")} |`);
  });
});
