/** With `backends: auto`: copies of Endpoints that cannot be written, or not yet, beside copies of slices that go. */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../../src/kube/object/types.ts";
import { over } from "../run/over-client.ts";
import { clock, clusterWith, fill, start, useRunningSyncers, type Start } from "../running-syncers.ts";
import { AUTO, HTTP, MANAGER, ownSlice, seen, sidesWith, write } from "./seen-backends.ts";

useRunningSyncers();

const OWN = { namespace: "shop", name: "web-own" };
const DERIVED = { [MANAGER]: "endpointslice-controller.k8s.io" };
const LABEL = [{ path: "metadata.labels.team", expression: '"x"' }];
const REFUSED_BY_PATCH = {
  settings: { ...AUTO, onError: "block-object" },
  toHost: { endpoints: { enabled: true, patches: [{ path: "subsets[*].addresses[*].ip", expression: "missing.value" }] } },
} as const;
const NO_SLICES = { controllers: ["*", "-endpointslice-controller", "-endpointslice-mirroring-controller"] };
const endpoints = (...addresses: readonly string[]) => [{ addresses: addresses.map((ip) => ({ ip })), ports: HTTP }] as never;

/** A host that refuses some writes of one kind. */
function refusing({ plural }: ResourceType, action: "create" | "update", code: "API_UNAVAILABLE" | "API_INVALID" | "API_FORBIDDEN") {
  const state = { isOn: false };
  const through = (client: ClusterClient, side: "tenant" | "host") =>
    side === "tenant"
      ? client
      : over(client, {
          [action]: async (resource: ResourceType, object: KubeObject) => {
            if (state.isOn && resource.plural === plural) throw new EngineError(code, "it is refused");
            return client[action](resource, object);
          },
        });
  return { state, through };
}

/** How many tenths of a second of a minute readers on the host do without an address. */
async function tenthsWithout({ on }: Pick<Start, "on">, address: string): Promise<number> {
  let missing = 0;
  for (let time = 0; time < 600; time += 1) {
    await clock.advance(100);
    if (!(await seen(on)).addresses.includes(address)) missing += 1;
  }
  return missing;
}

describe("a slice that goes", () => {
  test.each([
    { mirrors: true, code: "API_UNAVAILABLE" },
    { mirrors: false, code: "API_UNAVAILABLE" },
    { mirrors: true, code: "API_INVALID" },
    { mirrors: false, code: "API_FORBIDDEN" },
  ] as const)("keeps its copy until the Endpoints that have its backend are written: $mirrors, $code", async ({ mirrors, code }) => {
    const sides = await sidesWith(true, mirrors);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, endpoints("10.0.0.1"));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
    const { state, through } = refusing(ENDPOINTS, "update", code);
    await start({ ...sides, settings: AUTO, through });
    await clock.advance(10_000);
    state.isOn = true;
    await write(sides.tenant, endpoints("10.0.0.1", "10.5.0.1"));
    await sides.tenant.client.delete(ENDPOINT_SLICES, OWN);
    expect(await tenthsWithout(sides, "10.5.0.1")).toBe(0);
    state.isOn = false;
    await clock.advance(10 * 60_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1", "10.5.0.1"]);
  });

  test("or loses a backend keeps it until the Endpoints that have it are written, for some seconds", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, endpoints("10.0.0.1"));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1", "10.5.0.2"]));
    const { state, through } = refusing(ENDPOINTS, "update", "API_UNAVAILABLE");
    await start({ ...sides, settings: AUTO, through });
    await clock.advance(10_000);
    state.isOn = true;
    await write(sides.tenant, endpoints("10.0.0.1", "10.5.0.1"));
    await sides.tenant.client.patch(ENDPOINT_SLICES, OWN, "merge", { endpoints: ownSlice("", ["10.5.0.2"]).endpoints });
    await clock.advance(3_000);
    state.isOn = false;
    expect(await tenthsWithout(sides, "10.5.0.1")).toBe(0);
  });

  test.each([{ patches: undefined }, { patches: LABEL }])(
    "takes its copy along where the host refuses Endpoints: $patches",
    async ({ patches }) => {
      const sides = await sidesWith(true, true);
      await fill(sides.tenant, "shop", ["web"]);
      await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
      const { state, through } = refusing(ENDPOINTS, "create", "API_FORBIDDEN");
      state.isOn = true;
      await start({ ...sides, settings: AUTO, through, ...(patches && { toHost: { endpoints: { enabled: true, patches } } }) });
      await clock.advance(10_000);
      expect((await seen(sides.on)).addresses).toEqual(["10.5.0.1"]);
      await sides.tenant.client.delete(ENDPOINT_SLICES, OWN);
      await clock.advance(10_000);
      expect((await seen(sides.on)).addresses).toEqual([]);
    },
  );

  test.each([
    { what: "no patch", toHost: {} },
    {
      what: "a patch of zones",
      toHost: { endpointSlices: { enabled: true, patches: [{ path: "endpoints[*].zone", expression: '"a"' }] } },
    },
  ])("takes its copy along once Endpoints that cannot be written lose its backend, too; $what", async ({ toHost }) => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, endpoints("10.0.0.1"));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
    const { state, through } = refusing(ENDPOINTS, "update", "API_INVALID");
    await start({ ...sides, settings: AUTO, through, toHost });
    await clock.advance(10_000);
    state.isOn = true;
    await write(sides.tenant, endpoints("10.0.0.1", "10.5.0.1"));
    await sides.tenant.client.delete(ENDPOINT_SLICES, OWN);
    expect(await tenthsWithout(sides, "10.5.0.1")).toBe(0);
    await write(sides.tenant, endpoints("10.0.0.1", "10.7.0.1"));
    await clock.advance(2_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
  });

  test("takes its copy along where other slices show all that the Endpoints have of it", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, endpoints("10.0.0.1", "10.5.0.1"));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1", "10.5.0.2"]));
    const { state, through } = refusing(ENDPOINTS, "update", "API_INVALID");
    await start({ ...sides, settings: AUTO, through });
    await clock.advance(10_000);
    state.isOn = true;
    await write(sides.tenant, endpoints("10.0.0.1", "10.5.0.1", "10.9.0.1"));
    await sides.tenant.client.delete(ENDPOINT_SLICES, OWN);
    await clock.advance(2_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1", "10.5.0.1"]);
  });

  test("keeps its copy where Endpoints that an address kept from being copied are to be written again", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, endpoints("10.5.0.1", "10.66.0.1"));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
    const { state, through } = refusing(ENDPOINTS, "create", "API_UNAVAILABLE");
    const addressPolicy = { allow: [], deny: ["10.66.0.0/16"], action: "reject-object" } as const;
    await start({ ...sides, settings: { ...AUTO, addressPolicy }, through });
    await clock.advance(10_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.5.0.1"]);
    state.isOn = true;
    await write(sides.tenant, endpoints("10.5.0.1"));
    await sides.tenant.client.delete(ENDPOINT_SLICES, OWN);
    expect(await tenthsWithout(sides, "10.5.0.1")).toBe(0);
    state.isOn = false;
    await clock.advance(10 * 60_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.5.0.1"]);
  });

  test("takes its copy along where a patch refuses the Endpoints", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
    await start({ ...sides, ...REFUSED_BY_PATCH });
    await clock.advance(10_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.5.0.1"]);
    await sides.tenant.client.delete(ENDPOINT_SLICES, OWN);
    await clock.advance(10_000);
    expect((await seen(sides.on)).addresses).toEqual([]);
  });
});

test.each([true, false])("slices of Pods go only once Endpoints with a patch are written; the host mirrors: %s", async (mirrors) => {
  const sides = { ...(await sidesWith(true, mirrors)), tenant: await clusterWith(NO_SLICES, "shop") };
  await fill(sides.tenant, "shop", ["web"]);
  await write(sides.tenant, []);
  await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-pods", ["10.5.0.1"], DERIVED));
  const { state, through } = refusing(ENDPOINTS, "update", "API_UNAVAILABLE");
  await start({ ...sides, settings: AUTO, through, toHost: { endpoints: { enabled: true, patches: LABEL } } });
  await clock.advance(10_000);
  expect((await seen(sides.on)).addresses).toEqual(["10.5.0.1"]);
  state.isOn = true;
  await write(sides.tenant, endpoints("10.5.0.1"));
  expect(await tenthsWithout(sides, "10.5.0.1")).toBe(0);
  state.isOn = false;
  await clock.advance(10 * 60_000);
  expect(await seen(sides.on)).toMatchObject({ addresses: ["10.5.0.1"] });
});

test("slices of Pods go where a patch refuses the Endpoints", async () => {
  const sides = { ...(await sidesWith(true, true)), tenant: await clusterWith(NO_SLICES, "shop") };
  await fill(sides.tenant, "shop", ["web"]);
  await write(sides.tenant, []);
  await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-pods", ["10.5.0.1"], DERIVED));
  await start({ ...sides, ...REFUSED_BY_PATCH });
  await clock.advance(10_000);
  expect((await seen(sides.on)).addresses).toEqual(["10.5.0.1"]);
  await write(sides.tenant, endpoints("10.5.0.1"));
  await clock.advance(15_000);
  expect((await seen(sides.on)).addresses).toEqual([]);
});

test("a copy whose edits last keeps a copied slice until what was made has its backend", async () => {
  const sides = await sidesWith(true, false);
  await fill(sides.tenant, "shop", ["web"]);
  await write(sides.tenant, endpoints("10.0.0.1"));
  await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
  const forbidden = new EngineError("API_FORBIDDEN", "host edits are not taken");
  const edit = { isRefused: false, isMade: false };
  const through = (client: ClusterClient, side: "tenant" | "host") =>
    over(client, {
      update: async (resource: ResourceType, object: KubeObject) => {
        if (side === "tenant" && resource === ENDPOINTS && edit.isRefused) throw forbidden;
        const done = await client.update(resource, object);
        if (side === "host" && resource === ENDPOINTS && edit.isRefused && !edit.isMade) {
          edit.isMade = true;
          const subsets = endpoints("10.0.0.1", "10.5.0.1", "10.6.0.1");
          await client.patch(ENDPOINTS, { namespace: "vc", name: object.metadata.name! }, "merge", { subsets });
        }
        return done;
      },
    });
  await start({ ...sides, settings: AUTO, through });
  await clock.advance(10_000);
  edit.isRefused = true;
  await write(sides.tenant, endpoints("10.0.0.1", "10.5.0.1"));
  await sides.tenant.client.delete(ENDPOINT_SLICES, OWN);
  expect(await tenthsWithout(sides, "10.5.0.1")).toBe(0);
  expect(edit.isMade).toBe(true);
});

test("while made slices are refused, a copy that loses a backend follows within seconds", async () => {
  const sides = await sidesWith(true, false);
  await fill(sides.tenant, "shop", ["web"]);
  await write(sides.tenant, endpoints("10.0.0.1", "10.5.0.1"));
  await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1", "10.5.0.2"]));
  const through = (client: ClusterClient, side: "tenant" | "host") =>
    side === "tenant"
      ? client
      : over(client, {
          create: (async (resource: ResourceType, object: EndpointSlice) => {
            const isMade = resource === ENDPOINT_SLICES && !object.metadata.name!.startsWith("web-own");
            if (isMade) throw new EngineError("API_INVALID", "slices are refused");
            return client.create(resource, object);
          }) as never,
        });
  await start({ ...sides, settings: AUTO, through });
  await clock.advance(20_000);
  const own = { endpoints: ownSlice("", ["10.5.0.2", "10.5.0.3"]).endpoints };
  await sides.tenant.client.patch(ENDPOINT_SLICES, OWN, "merge", own);
  await clock.advance(7_000);
  expect((await seen(sides.on)).addresses).toEqual(["10.5.0.2", "10.5.0.3"]);
});
