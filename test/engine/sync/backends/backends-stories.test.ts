/** Readers get the same from slices that the syncer makes as from a host that mirrors, and an upgrade moves them from one to the other. */
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { PODS } from "../../../../src/cluster/kinds/pods.ts";
import { viewOfSlices } from "../../../../src/kube/object/endpoints/reader-view.ts";
import { ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { EndpointSubset } from "../../../../src/kube/object/types.ts";
import { clock, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import { AUTO, HTTP, MIRROR, OURS, seen, sidesWith, slicesIn, watching, write } from "./seen-backends.ts";

useRunningSyncers();

const HTTPS = { name: "https", port: 443, protocol: "TCP" };
const POD = { kind: "Pod", namespace: "shop", name: "web-0", uid: "pod-0" };

interface Story {
  readonly what: string;
  readonly spec?: object;
  readonly subsets: readonly EndpointSubset[];
}

const STORIES: readonly Story[] = [
  { what: "a named port", subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: HTTP }] },
  { what: "a port without a name", subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }] },
  {
    what: "several ports, one of them UDP",
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [...HTTP, HTTPS, { name: "dns", port: 53, protocol: "UDP" }] }],
  },
  {
    what: "other ports for other addresses",
    subsets: [
      { addresses: [{ ip: "10.0.0.1" }], ports: HTTP },
      { addresses: [{ ip: "10.0.0.2" }], ports: [HTTPS] },
    ],
  },
  {
    what: "addresses that are not ready",
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.2" }], ports: HTTP }],
  },
  { what: "none that is ready", subsets: [{ notReadyAddresses: [{ ip: "10.0.0.2" }], ports: HTTP }] },
  {
    what: "addresses that are published though they are not ready",
    spec: { publishNotReadyAddresses: true },
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.2" }], ports: HTTP }],
  },
  {
    what: "a headless Service with host names",
    spec: { clusterIP: "None" },
    subsets: [{ addresses: [{ ip: "10.0.0.1", hostname: "web-0", nodeName: "n1", targetRef: POD }], ports: HTTP }],
  },
  { what: "both families", subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], ports: HTTP }] },
];

async function writeStory({ client }: EmbeddedCluster, { spec = {}, subsets }: Story): Promise<void> {
  const metadata = { namespace: "shop", name: "web" };
  await client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ...spec, ports: [{ name: "http", port: 80 }] } });
  await client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
}

/** All that a reader tells apart, and the names and nodes behind it. */
async function readBy(on: EmbeddedCluster) {
  const slices = await slicesIn(on);
  const details = slices.flatMap(({ endpoints }) =>
    (endpoints ?? []).map(({ addresses, hostname, nodeName, targetRef }) => ({ addresses, hostname, nodeName, target: targetRef?.name })),
  );
  const text = (value: unknown) => JSON.stringify(value);
  return { backends: [...viewOfSlices(slices).values()].map(text).sort(), details: details.map(text).sort() };
}

describe("slices that are made say what a mirror says of", () => {
  test.each(STORIES)("$what", async (story) => {
    const [mirrored, made] = [await sidesWith(true, true), await sidesWith(true, false)];
    for (const { tenant } of [mirrored, made]) await writeStory(tenant, story);
    await start({ ...mirrored, settings: { backends: "endpoints" } });
    await start({ ...made, settings: AUTO });
    await clock.advance(10_000);
    expect([(await seen(mirrored.on)).makers, (await seen(made.on)).makers]).toEqual([[MIRROR], [OURS]]);
    const read = await readBy(made.on);
    expect(read).toEqual(await readBy(mirrored.on));
    expect(read.backends.length).toBeGreaterThan(0);
  });
});

describe("a Pod that is not ready", () => {
  const combinations = [true, false].flatMap((published) => [
    { published, tenantMirrors: true, hostMirrors: true },
    { published, tenantMirrors: true, hostMirrors: false },
    { published, tenantMirrors: false, hostMirrors: false },
  ]);
  test.each(combinations)(
    "takes traffic where its Service publishes it: $published, mirrors: $tenantMirrors, $hostMirrors",
    async ({ published, tenantMirrors, hostMirrors }) => {
      const sides = await sidesWith(tenantMirrors, hostMirrors);
      const { client } = sides.tenant;
      const metadata = { namespace: "shop", name: "web" };
      const spec = { publishNotReadyAddresses: published, selector: { app: "web" }, ports: [{ name: "http", port: 80 }] };
      await client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec });
      const containers = [{ name: "web", image: "web" }];
      const pod = { ...metadata, name: "web-0", labels: { app: "web" } };
      const created = await client.create(PODS, { apiVersion: "v1", kind: "Pod", metadata: pod, spec: { containers } });
      const conditions = [{ type: "Ready", status: "False" }];
      const status = { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }], conditions };
      await sides.tenant.registry.update(PODS, { namespace: "shop", name: "web-0" }, { ...created, status }, { subresource: "status" });
      await sides.tenant.settled();
      await start({ ...sides, settings: AUTO });
      await clock.advance(10_000);
      const view = [...viewOfSlices(await slicesIn(sides.on)).values()];
      expect(view.map(({ address, ready }) => [address, ready])).toEqual([["10.0.0.1", published]]);
    },
  );
});

describe("an upgrade from Endpoints alone with the permissions on slices", () => {
  test("changes nothing where the host mirrors", async () => {
    const sides = await sidesWith(true, true);
    await writeStory(sides.tenant, STORIES[0]!);
    await start({ ...sides, settings: { backends: "endpoints" } });
    await stopAll();
    const views: (readonly string[])[] = [];
    const before = await slicesIn(sides.on);
    await start({ ...sides, settings: {}, through: watching(sides.on, views) });
    await clock.advance(20_000);
    expect([views, await slicesIn(sides.on)]).toEqual([[], before]);
  });

  test("makes what is missing where it does not, and follows the tenant from then on", async () => {
    const sides = await sidesWith(true, false);
    await writeStory(sides.tenant, STORIES[0]!);
    await start({ ...sides, settings: { backends: "endpoints" } });
    expect(await seen(sides.on)).toEqual({ addresses: [], makers: [] });
    await stopAll();
    await start({ ...sides, settings: {} });
    await clock.advance(10_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.7" }], ports: HTTP }]);
    await clock.advance(5_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.7"], makers: [OURS] });
  });
});
