/** From `backends: auto` to Endpoints alone, by choice or for want of permissions, and what it costs. */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import { clock, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import {
  AUTO,
  copyIn,
  ips,
  MANAGER,
  MIRROR,
  NAME,
  OURS,
  ownSlice,
  seen,
  sidesWith,
  SKIP,
  slicesIn,
  watching,
  write,
} from "./seen-backends.ts";

useRunningSyncers();

const ENDPOINTS_ALONE = { backends: "endpoints" } as const;

describe("the way from both kinds", () => {
  test.each([true, false])("takes nothing away that paused Endpoints say; the host mirrors: %s", async (hostMirrors) => {
    const sides = await sidesWith(false, hostMirrors);
    const { client } = sides.tenant;
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: { backends: "both" } });
    const pause = (value: "true" | null) =>
      client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", { metadata: { annotations: { "sync.platform/pause": value } } });
    await pause("true");
    // The copy of the Endpoints, which is paused, sends no mirror away from now on.
    await client.create(ENDPOINT_SLICES, ownSlice("web-mirrored", ["10.0.0.1"], { [MANAGER]: MIRROR }));
    await clock.advance(10_000);
    expect(await slicesIn(sides.on)).toHaveLength(hostMirrors ? 2 : 1);
    await stopAll();
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    await clock.advance(60_000);
    expect(await slicesIn(sides.on)).toHaveLength(1);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
    await pause(null);
    await clock.advance(60_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [hostMirrors ? MIRROR : OURS] });
    for (const view of views) expect(new Set(view)).toEqual(new Set(["10.0.0.1"]));
  });
});

describe("the way back to Endpoints alone", () => {
  test("is without a gap where the host mirrors, and leaves nothing", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    // More than a mirror takes, so that slices are made.
    await write(sides.tenant, [{ addresses: ips(1_001), ports: [{ port: 80 }] }]);
    await start({ ...sides, settings: AUTO });
    expect((await seen(sides.on)).makers).toEqual([OURS]);
    await write(sides.tenant, [{ addresses: ips(10), ports: [{ port: 80 }] }]);
    await clock.advance(5_000);
    await stopAll();
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: ENDPOINTS_ALONE, through: watching(sides.on, views) });
    await clock.advance(20_000);
    expect((await seen(sides.on)).makers).toEqual([MIRROR]);
    await clock.advance(70_000);
    expect((await seen(sides.on)).makers).toEqual([MIRROR]);
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBeUndefined();
    expect(views.length).toBeGreaterThan(0);
    for (const view of views) expect(view).toHaveLength(10);
  });

  test("keeps what was made where the host does not mirror", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    await stopAll();
    await start({ ...sides, settings: ENDPOINTS_ALONE });
    await clock.advance(120_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBe("false");
    // And forward again.
    await stopAll();
    await start({ ...sides, settings: AUTO });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBe("true");
  });

  test.each(["endpoints", "both"] as const)("removes what was made of Endpoints that go meanwhile, with backends: %s", async (mode) => {
    const sides = await sidesWith(false, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    await stopAll();
    await start({ ...sides, settings: { backends: mode } });
    await clock.advance(10_000);
    expect((await seen(sides.on)).makers).toEqual([OURS]);
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
    await clock.advance(180_000);
    expect(await copyIn(sides.on)).toBeUndefined();
    expect(await slicesIn(sides.on)).toEqual([]);
  });

  test("keeps what the host's mirror would cut, and says so with the remedy", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, [{ addresses: ips(1_001), ports: [{ port: 80 }] }]);
    await start({ ...sides, settings: AUTO });
    await stopAll();
    const told: string[] = [];
    const logger = { ...silentLogger, warn: (message: string, fields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`) };
    await start({ ...sides, settings: ENDPOINTS_ALONE, logger });
    await clock.advance(120_000);
    expect((await seen(sides.on)).addresses).toHaveLength(1_001);
    expect(told).toEqual([
      expect.stringMatching(
        /mirror lacks backends that are in slices .*"code":"SLICES_LEFT".*Set backends: auto again.*addresses of a subset after the first 1,000/,
      ),
    ]);
  });

  test("lists the slices at the start and once more, where none were ever made", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    const asked: string[] = [];
    const noting = (client: ClusterClient): ClusterClient =>
      new Proxy(client, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          return (resource: { plural: string }, ...rest: unknown[]) => {
            asked.push(`${String(name)} ${resource.plural}`);
            return (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
          };
        },
      });
    await start({ ...sides, settings: ENDPOINTS_ALONE, through: noting });
    await clock.advance(300_000);
    expect(asked.filter((one) => one.endsWith("endpointslices"))).toEqual(["list endpointslices", "list endpointslices"]);
  });
});

describe("the way back without the permissions that were there", () => {
  const refusing = (verb: string) => (client: ClusterClient, side: string) =>
    side === "tenant"
      ? client
      : new Proxy(client, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name);
            if (typeof value !== "function") return value;
            return async (resource: { plural: string }, ...rest: unknown[]) => {
              if (resource.plural === "endpointslices" && name === verb) throw new EngineError("API_FORBIDDEN", `cannot ${verb} them`);
              return (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
            };
          },
        });

  test.each(["list", "delete"])("to %s slices, what is left is reported once with the command that removes it", async (verb) => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    await stopAll();
    await sides.on.controllers.start("endpointslice-mirroring-controller");
    const told: { message: string; fields: Record<string, unknown> }[] = [];
    const logger = { ...silentLogger, warn: (message: string, fields = {}) => void told.push({ message, fields }) };
    const begin = async () => start({ ...sides, settings: ENDPOINTS_ALONE, through: refusing(verb), logger });
    await begin();
    await clock.advance(120_000);
    // The host's mirror tells readers again, beside what is left.
    expect((await seen(sides.on)).makers).toEqual([OURS, MIRROR]);
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBe("false");
    const selector = "sync.platform/managed-by=blue";
    expect(told).toEqual([
      {
        message:
          "Slices that were made from Endpoints are left on the host, because the permission to remove them is missing; they are not kept up to date",
        fields: {
          copies: 1,
          first: "vc/web-x-shop-x-blue",
          hint:
            "Wait until the host's mirror has made slices from the Endpoints, then run: " +
            `kubectl delete endpointslices -n vc -l ${selector},${MANAGER}=${OURS} && kubectl label endpoints -n vc -l ${selector} ${SKIP}-`,
        },
      },
    ]);
    await stopAll();
    // What the command does.
    const own = (await slicesIn(sides.on)).filter(({ metadata }) => metadata.labels?.[MANAGER] === OURS);
    for (const { metadata } of own) {
      expect(metadata.labels).toMatchObject({ "sync.platform/managed-by": "blue" });
      await sides.on.client.delete(ENDPOINT_SLICES, { namespace: "vc", name: metadata.name! });
    }
    const copy = await copyIn(sides.on);
    expect(copy?.metadata.labels).toMatchObject({ "sync.platform/managed-by": "blue" });
    await sides.on.client.patch(ENDPOINTS, { namespace: "vc", name: NAME }, "merge", { metadata: { labels: { [SKIP]: null } } });
    told.length = 0;
    await begin();
    await clock.advance(60_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("the way to copies of the tenant's slices", () => {
  for (const [tenantMirrors, hostMirrors] of [
    [true, true],
    [true, false],
    [false, true],
  ] as const)
    test(`is without a gap and leaves nothing, with mirrors ${tenantMirrors} and ${hostMirrors}`, async () => {
      const sides = await sidesWith(tenantMirrors, hostMirrors);
      await fill(sides.tenant, "shop", ["web"]);
      await write(sides.tenant, [{ addresses: ips(1_001), ports: [{ port: 80 }] }]);
      await start({ ...sides, settings: AUTO });
      await write(sides.tenant, [{ addresses: ips(3), ports: [{ port: 80 }] }]);
      await clock.advance(10_000);
      expect(await seen(sides.on)).toEqual({ addresses: ips(3).map(({ ip }) => ip), makers: [OURS] });
      await stopAll();
      const views: (readonly string[])[] = [];
      await start({ ...sides, settings: { backends: "both" }, through: watching(sides.on, views) });
      await clock.advance(20_000);
      for (const view of views) expect(view).toEqual(ips(3).map(({ ip }) => ip));
      await write(sides.tenant, [{ addresses: ips(2, 7), ports: [{ port: 80 }] }]);
      await clock.advance(10_000);
      expect(await seen(sides.on)).toEqual({ addresses: ips(2, 7).map(({ ip }) => ip), makers: [tenantMirrors ? OURS : MIRROR] });
      expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBe(tenantMirrors ? "true" : undefined);
    });

  test.each([
    ["both", 10_000],
    ["endpoints", 60_000],
  ] as const)("removes a slice whose write reaches the host late, with backends: %s", async (backends, ms) => {
    const sides = await sidesWith(false, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    const [late] = await slicesIn(sides.on);
    await stopAll();
    await sides.on.client.delete(ENDPOINT_SLICES, { namespace: "vc", name: late!.metadata.name! });
    await sides.on.controllers.start("endpointslice-mirroring-controller");
    await start({ ...sides, settings: { backends } });
    await clock.advance(10_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _at, ...metadata } = late!.metadata;
    await sides.on.client.create(ENDPOINT_SLICES, { ...late!, metadata });
    await clock.advance(ms);
    expect((await seen(sides.on)).makers).toEqual([MIRROR]);
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBeUndefined();
  });

  test("keeps what was made where nothing takes its place, and slices alone are refused", async () => {
    const sides = await sidesWith(false, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    await stopAll();
    await start({ ...sides, settings: { backends: "both" } });
    await clock.advance(20_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    await stopAll();
    await expect(start({ ...sides, settings: { backends: "slices" } })).rejects.toMatchObject({
      code: "CONFIG_VALUE",
      message: "Cannot write slices only: the host still has slices made from 1 copy of Endpoints: vc/web-x-shop-x-blue",
    });
  });
});

describe("permissions", () => {
  /** A host that allows all but these verbs on slices. */
  function without(verbs: readonly string[], asked: string[] = []) {
    return (client: ClusterClient, side: string): ClusterClient =>
      side === "tenant"
        ? client
        : new Proxy(client, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name);
              if (typeof value !== "function") return value;
              return async (resource: { plural: string }, ...rest: unknown[]) => {
                asked.push(`${String(name)} ${resource.plural}`);
                const call = () => (value as (...args: unknown[]) => Promise<unknown>).call(target, resource, ...rest);
                if (resource.plural !== "selfsubjectaccessreviews") return call();
                const review = rest[0] as { spec: { resourceAttributes: { verb: string; resource: string } } };
                const { verb, resource: plural } = review.spec.resourceAttributes;
                return { ...review, status: { allowed: plural !== "endpointslices" || !verbs.includes(verb) } };
              };
            },
          });
  }

  test.each([[["list", "watch", "create", "update", "delete"]], [["create", "delete"]], [["update"]]])(
    "without %j on slices, Endpoints alone are copied, and slices are only looked for",
    async (verbs) => {
      const sides = await sidesWith(true, true);
      await fill(sides.tenant, "shop", ["web"]);
      const asked: string[] = [];
      const syncer = await start({ ...sides, settings: AUTO, through: without(verbs, asked) });
      expect(syncer.backends).toBe("endpoints");
      expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
      expect(asked.filter((one) => one.endsWith("endpointslices"))).toEqual(["list endpointslices"]);
      expect(syncer.permissions().some(({ resource }) => resource === ENDPOINT_SLICES)).toBe(false);
    },
  );

  test("with all of them, they are asked for once", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    const asked: string[] = [];
    const syncer = await start({ ...sides, settings: AUTO, through: without([], asked) });
    await clock.advance(20_000);
    expect(syncer.backends).toBe("auto");
    // list, watch, create, update, delete and get of slices, and get of Endpoints.
    expect(asked.filter((one) => one.includes("selfsubjectaccessreviews"))).toHaveLength(7);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
  });
});

test("a slice that the host refuses is reported once, with what the host says, and tried again", async () => {
  const sides = await sidesWith(true, false);
  await fill(sides.tenant, "shop", ["web"]);
  let refuses = true;
  let tried = 0;
  const through = (client: ClusterClient, side: string): ClusterClient =>
    side === "tenant"
      ? client
      : new Proxy(client, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name);
            if (typeof value !== "function") return value;
            return async (resource: { plural: string }, ...rest: unknown[]) => {
              if (name === "create" && resource.plural === "endpointslices") {
                tried += 1;
                if (refuses) throw new EngineError("API_INVALID", "No such slices here", { details: { status: INVALID } });
              }
              return (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
            };
          },
        });
  const told: unknown[] = [];
  const logger = { ...silentLogger, warn: (message: string, fields?: unknown) => void told.push([message, fields]) };
  await start({ ...sides, settings: AUTO, through, logger });
  await clock.advance(150_000);
  expect(tried).toBeGreaterThan(2);
  const refusals = told.filter((line) => JSON.stringify(line).includes("refuses a slice"));
  expect(refusals).toHaveLength(1);
  expect(JSON.stringify(refusals)).toContain("ports: not here");
  refuses = false;
  await clock.advance(70_000);
  expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
});

const INVALID = { details: { causes: [{ field: "ports", message: "not here" }] } };

test("a Service with hundreds of slices costs as many steps as slices", async () => {
  const steps = async (count: number) => {
    const sides = await sidesWith(false, false);
    await sides.tenant.client.create(SERVICES, {
      ...{ apiVersion: "v1", kind: "Service", metadata: { namespace: "shop", name: "web" } },
      spec: { ports: [{ port: 80 }] },
    } as never);
    for (let index = 0; index < count; index += 1)
      await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice(`web-${index}`, [`10.5.${index >> 8}.${index & 255}`]));
    let looks = 0;
    const counted = (client: ClusterClient): ClusterClient =>
      new Proxy(client, {
        get(target, name) {
          looks += 1;
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        },
      });
    await start({ ...sides, settings: AUTO, through: counted });
    await clock.advance(5_000);
    expect(await slicesIn(sides.on)).toHaveLength(count);
    await stopAll();
    return looks;
  };
  const [few, many] = [await steps(50), await steps(200)];
  expect(many).toBeLessThan(4.4 * few);
});
