/** How often a start beside an empty host writes each object. */
import { expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { clock, fill, start, useRunningSyncers } from "./running-syncers.ts";
import { MIRROR, OURS, ownSlice, seen, sidesWith, SKIP } from "./backends/seen-backends.ts";

useRunningSyncers();

const NAMES = Array.from({ length: 30 }, (_, index) => `web-${index}`);
const BOTH = { backends: "both" } as const;
const ONCE = { "create services": 30, "create endpoints": 30, "create endpointslices": 30 };

/** Counts the writes of the host that succeed, by verb and kind. `before` runs before each of them. */
function counting(writes: Record<string, number>, before: (what: string, object: KubeObject) => unknown = () => undefined) {
  return (client: ClusterClient, side: string): ClusterClient =>
    new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        const verb = String(name);
        if (side !== "host" || !["create", "update", "delete"].includes(verb)) return value.bind(target) as unknown;
        return async (resource: ResourceType, ...rest: unknown[]) => {
          const what = `${verb} ${resource.plural}`;
          await before(what, rest[0] as KubeObject);
          const answer: unknown = await (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
          if (resource.plural !== "selfsubjectaccessreviews") writes[what] = (writes[what] ?? 0) + 1;
          return answer;
        };
      },
    });
}

async function labelOf(on: EmbeddedCluster, name: string): Promise<string | undefined> {
  const copy = await on.client.get(ENDPOINTS, { namespace: "vc", name: `${name}-x-shop-x-blue` });
  return copy?.metadata.labels?.[SKIP];
}

const isOf = (name: string, { metadata }: KubeObject) => metadata.labels?.["kubernetes.io/service-name"] === `${name}-x-shop-x-blue`;

test.each([
  { slices: "that the tenant's mirror made", mirrors: true },
  { slices: "that users wrote", mirrors: false },
])("writes each object once beside slices $slices", async ({ mirrors }) => {
  const sides = await sidesWith(mirrors, true);
  await fill(sides.tenant, "shop", NAMES);
  for (const name of mirrors ? [] : NAMES) {
    const slice = ownSlice(`${name}-own`, ["10.0.0.1"], { "kubernetes.io/service-name": name });
    await sides.tenant.client.create(ENDPOINT_SLICES, slice);
  }
  await sides.tenant.settled();
  const writes: Record<string, number> = {};
  await start({ ...sides, settings: BOTH, through: counting(writes) });
  await sides.on.settled();
  await clock.advance(10_000);
  expect(writes).toEqual(ONCE);
  expect(await labelOf(sides.on, "web-7")).toBe("true");
});

test("writes each object once if host Services are late", async () => {
  const sides = await sidesWith(true, true);
  await fill(sides.tenant, "shop", NAMES);
  await sides.tenant.settled();
  const writes: Record<string, number> = {};
  const late = clock.monotonic() + 8_000;
  const before = (what: string) => {
    if (what === "create services" && clock.monotonic() < late) throw new EngineError("API_UNAVAILABLE", "No answer");
  };
  await start({ ...sides, settings: BOTH, through: counting(writes, before) });
  expect(writes).toEqual({});
  await clock.advance(60_000);
  expect(writes).toEqual(ONCE);
  expect(await labelOf(sides.on, "web-7")).toBe("true");
});

test.each(["refuses", "forbids", "does not answer"])("leaves to the mirror a Service with a slice that the host %s", async (what) => {
  const sides = await sidesWith(true, true);
  await fill(sides.tenant, "shop", NAMES);
  await sides.tenant.settled();
  const writes: Record<string, number> = {};
  const createdAt: Record<string, number> = {};
  const began = clock.monotonic();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const before = (verb: string, object: KubeObject): Promise<void> | undefined => {
    if (verb === "create endpoints") createdAt[object.metadata.name!] = clock.monotonic() - began;
    if (verb !== "create endpointslices" || !isOf("web-7", object)) return undefined;
    if (what === "does not answer") return held;
    throw new EngineError(what === "refuses" ? "API_INVALID" : "API_FORBIDDEN", "Refused");
  };
  await start({ ...sides, settings: BOTH, through: counting(writes, before) });
  await sides.on.settled();
  await clock.advance(10_000);
  expect(writes).toEqual({ ...ONCE, "create endpointslices": 29 });
  expect([await labelOf(sides.on, "web-6"), await labelOf(sides.on, "web-7")]).toEqual(["true", undefined]);
  expect(await seen(sides.on)).toMatchObject({ makers: [OURS, MIRROR] });
  const waited = createdAt["web-7-x-shop-x-blue"]!;
  release();
  expect(what === "does not answer" ? waited >= 3_000 && waited < 4_000 : waited < 1_000).toBe(true);
});

test("does not wait for a slice that is paused", async () => {
  const sides = await sidesWith(false, true);
  await fill(sides.tenant, "shop", ["web"]);
  const slice = ownSlice("web-own", ["10.5.0.1"]);
  const metadata = { ...slice.metadata, annotations: { "sync.platform/pause": "true" } };
  await sides.tenant.client.create(ENDPOINT_SLICES, { ...slice, metadata });
  const writes: Record<string, number> = {};
  await start({ ...sides, settings: BOTH, through: counting(writes) });
  await sides.on.settled();
  expect(writes).toEqual({ "create services": 1, "create endpoints": 1 });
  expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
});

test("of Endpoints without a Service writes each object once", async () => {
  const sides = await sidesWith(false, true);
  await fill(sides.tenant, "shop", ["web"]);
  await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.0.0.1"]));
  await sides.tenant.client.delete(SERVICES, { namespace: "shop", name: "web" });
  const again = { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name: "web" } };
  await sides.tenant.settled();
  await sides.tenant.client.create(ENDPOINTS, again);
  const writes: Record<string, number> = {};
  await start({ ...sides, settings: BOTH, through: counting(writes) });
  expect(writes).toEqual({ "create endpoints": 1, "create endpointslices": 1 });
});

// Decision 187 says why the second write of Endpoints stays without a mirror.
test.each([
  { host: "mirrors", mirrors: true, writes: { "create services": 30, "create endpoints": 30 } },
  { host: "does not mirror", mirrors: false, writes: { ...ONCE, "update endpoints": 30 } },
])("with auto makes these writes if the host $host", async ({ mirrors, writes: expected }) => {
  const sides = await sidesWith(true, mirrors);
  await fill(sides.tenant, "shop", NAMES);
  await sides.tenant.settled();
  const writes: Record<string, number> = {};
  await start({ ...sides, settings: { backends: "auto" }, through: counting(writes) });
  await clock.advance(10_000);
  expect(writes).toEqual(expected);
  await fill(sides.tenant, "shop", ["later"]);
  await clock.advance(10_000);
  expect(writes).toEqual(
    Object.fromEntries(Object.entries(expected).map(([what, times]) => [what, times + (what === "update endpoints" ? 0 : 1)])),
  );
});
