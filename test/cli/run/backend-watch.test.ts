import { afterEach, describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { startProbeServer } from "../../../src/cli/process/probe-server.ts";
import { createSyncerReadiness } from "../../../src/cli/run/readiness.ts";
import { watchBackends, type WatchedConfiguration } from "../../../src/cli/run/backend-watch.ts";
import type { BackendsMode } from "../../../src/engine/config/backends-mode.ts";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/config/settings.ts";
import { slicesOfCopy } from "../../../src/engine/kinds/made-slices.ts";
import { SYNCED_KINDS } from "../../../src/engine/kinds/synced-kinds.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Note } from "../../../src/engine/reconcile/plan-types.ts";
import { ENDPOINT_SLICES, ENDPOINTS, EVENTS, SERVICES, type ResourceType } from "../../../src/kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../src/kube/object/types.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { namedService, service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const parsed = resolveConfig({});
if (!parsed.ok) throw new Error("the empty configuration is valid");
const LOADED = { config: parsed.config, settings: DEFAULT_SETTINGS, vcluster: { name: "blue", namespace: "vc" }, kinds: SYNCED_KINDS };
const AROUND = { tenantService: service("shop", "web", {}), hostService: namedService() };
const OF_HOST = "web-x-shop-x-blue";

function copyOfEndpoints(): KubeObject {
  const rules = testRules({ services: "external" });
  const [operation] = plan(rules, {
    key: { namespace: "shop", name: "web" },
    tenant: tenantEndpoints(),
    host: undefined,
    ...AROUND,
  }).operations;
  if (operation?.action !== "create") throw new Error("the first plan creates");
  return stored(operation.object, "20");
}

const MIRRORED: KubeObject = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace: "vc", name: "web-1", labels: { "kubernetes.io/service-name": OF_HOST } },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"] }],
  ports: [{ port: 80 }],
};

/** A slice of the tenant's users. */
const OWN: KubeObject = {
  ...MIRRORED,
  metadata: { namespace: "shop", name: "web", uid: "uid-own", labels: { "kubernetes.io/service-name": "web" } },
  endpoints: [{ addresses: ["10.0.0.9"] }],
};

let stop = () => Promise.resolve();
afterEach(() => stop());

const withBackends = (backends: BackendsMode): WatchedConfiguration => ({ ...LOADED, settings: { ...DEFAULT_SETTINGS, backends } });
const ALONE = withBackends("endpoints");

/** A sidecar that has copied Endpoints of one Service to a host on which nothing mirrors. */
function createWorld(refused: readonly ("tenant" | "host")[] = [], loaded: WatchedConfiguration = LOADED, copies = [copyOfEndpoints()]) {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const lines: string[] = [];
  const events: string[] = [];
  const log =
    (level: string) =>
    (message: string, fields: object = {}) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const state = {
    ready: true,
    slices: [] as KubeObject[],
    tenantSlices: [] as KubeObject[],
    lists: [] as string[],
    opened: new Set<ResourceType>(),
    changed: [] as ((key: { namespace: string; name: string }) => void)[],
    changedSlices: [] as (() => void)[],
    notes: [] as Note[],
    noted: ENDPOINTS,
  };
  const cluster = (side: "tenant" | "host", objects: ReadonlyMap<ResourceType, readonly KubeObject[]>) => {
    const slices = () => (side === "host" ? state.slices : state.tenantSlices);
    const source = (resource: ResourceType) => {
      state.opened.add(resource);
      const list = () => (resource === ENDPOINT_SLICES ? slices() : objects.get(resource)!);
      return {
        get: ({ name }: { name: string }) => list().find(({ metadata }) => metadata.name === name),
        list,
        onChange(listener: (typeof state.changed)[number]) {
          if (side === "host" && resource === ENDPOINTS) state.changed.push(listener);
          if (resource === ENDPOINT_SLICES) state.changedSlices.push(listener as () => void);
          return () => undefined;
        },
        synced: true,
        current: true,
      };
    };
    const client = {
      list: async (resource: ResourceType) => {
        expect(resource).toBe(ENDPOINT_SLICES);
        state.lists.push(side);
        if (refused.includes(side)) throw new EngineError("API_FORBIDDEN", `cannot list resource "endpointslices"`);
        return { items: slices(), resourceVersion: "1" };
      },
      create: async (resource: ResourceType, event: KubeObject) => {
        expect(resource).toBe(EVENTS);
        events.push(`${String(event["reason"])}: ${String(event["message"])}`);
        return event;
      },
    };
    return { access: { source }, client, scope: { namespace: "vc" } } as never;
  };
  const tenant = cluster(
    "tenant",
    new Map([
      [SERVICES, [AROUND.tenantService]],
      [ENDPOINTS, [tenantEndpoints()]],
    ]),
  );
  const host = cluster(
    "host",
    new Map<ResourceType, KubeObject[]>([
      [SERVICES, [AROUND.hostService]],
      [ENDPOINTS, copies],
    ]),
  );
  const runtime = { clock, metrics, logger } as never;
  const watch = watchBackends(loaded, {
    tenant,
    host,
    services: "external",
    runtime,
    ready: () => state.ready,
    objects: () => [{ resource: state.noted.plural, tenantKey: { namespace: "shop", name: "web" }, notes: state.notes }],
  });
  stop = async () => {
    const stopped = watch.stop();
    await clock.advance(0);
    await stopped;
  };
  const gauge = () => metrics.value("endpoint_sync_invisible_services");
  return { clock, state, lines, events, gauge, watch, runtime };
}

/** Longer than it takes to look, and to look once more. */
const LOOK_MS = 40_000;

test("invisible backends are reported once, in the log, as a gauge and as an Event", async () => {
  const { clock, lines, events, gauge } = createWorld();
  await clock.advance(LOOK_MS);
  expect(gauge()).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(/^warn Readers on the host do not see backends .*"code":"BACKENDS_INVISIBLE","service":"shop\/web"/),
  ]);
  expect(events).toEqual([
    expect.stringMatching(/^BackendsInvisible: The tenant has 1 ready backend in Endpoints, but readers on the host see 0: /),
  ]);
  await clock.advance(10 * LOOK_MS);
  expect([lines.length, events.length]).toEqual([1, 1]);
});

test.each(["API_FORBIDDEN", "API_INVALID", "LOOP_STOPPED"] as const)(
  "a copy that stays missing for %s is reported, and one that is about to come is not",
  async (code) => {
    const copies: KubeObject[] = [];
    const { clock, state, lines, events, gauge } = createWorld([], ALONE, copies);
    await clock.advance(LOOK_MS);
    expect([gauge(), lines]).toEqual([0, []]);
    state.notes = [{ code, message: "No" }];
    await clock.advance(LOOK_MS);
    const why = `The tenant has 1 ready backend in Endpoints, but readers on the host see 0: the copy is missing (${code})`;
    expect([gauge(), lines, events]).toEqual([1, [expect.stringContaining(why)], [expect.stringContaining(why)]]);
    const looks = state.lists.length;
    await clock.advance(LOOK_MS);
    expect(state.lists.length).toBeGreaterThan(looks);
    copies.push(copyOfEndpoints());
    [state.slices, state.notes] = [[MIRRORED], []];
    await clock.advance(LOOK_MS);
    expect(gauge()).toBe(0);
  },
);

test("what is mended is reported no more, and again when it comes back", async () => {
  const { clock, state, lines, gauge } = createWorld();
  await clock.advance(LOOK_MS);
  state.slices = [MIRRORED];
  await clock.advance(LOOK_MS);
  expect([gauge(), lines.length]).toEqual([0, 1]);
  state.slices = [];
  for (const changed of state.changed) changed({ namespace: "vc", name: OF_HOST });
  await clock.advance(LOOK_MS);
  expect([gauge(), lines.length]).toEqual([1, 2]);
});

test("at rest nothing is asked, also when others write Endpoints beside, where slices are in the caches", async () => {
  const { clock, state, lines } = createWorld();
  state.slices = [MIRRORED];
  for (const changed of state.changed) changed({ namespace: "vc", name: "leader" });
  await clock.advance(100 * LOOK_MS);
  expect([state.lists, lines]).toEqual([[], []]);
});

test("where slices are in no cache, they are listed every five minutes, and one that came late is found", async () => {
  const { clock, state, lines } = createWorld([], ALONE);
  state.slices = [MIRRORED];
  await clock.advance(LOOK_MS);
  expect(state.lists).toEqual(["tenant", "host"]);
  for (const changed of state.changed) changed({ namespace: "vc", name: "leader" });
  await clock.advance(240_000);
  expect(state.lists).toEqual(["tenant", "host"]);
  state.tenantSlices = [OWN];
  await clock.advance(60_000);
  expect(state.lists.length).toBeGreaterThan(2);
  expect(lines).toEqual([
    expect.stringContaining("2 ready backends in Endpoints and 1 slice, but readers on the host see 1: only Endpoints"),
  ]);
  const before = state.lists.length;
  await clock.advance(600_000);
  // One more look soon, and two at the usual times: each lists both sides, and the host twice if it finds something.
  expect(state.lists.length - before).toBeLessThanOrEqual(9);
  expect(lines).toHaveLength(1);
});

test("a slow mirror is waited for", async () => {
  const { clock, state, lines, gauge } = createWorld([], ALONE);
  await clock.advance(30_000);
  expect(state.lists).toEqual(["tenant", "host"]);
  // With backends: auto, slices are made only after three seconds without a mirror's.
  await clock.advance(4_000);
  state.slices = [MIRRORED];
  await clock.advance(LOOK_MS);
  expect([gauge(), lines]).toEqual([0, []]);
});

test("who may not list the slices of the host is told once what to allow, and not asked again", async () => {
  const { clock, state, lines } = createWorld(["host"], ALONE);
  await clock.advance(100 * LOOK_MS);
  expect(state.lists).toEqual(["tenant", "host"]);
  expect(lines).toEqual([
    expect.stringMatching(
      /^warn Cannot determine whether readers on the host see all backends .*"cluster":"host".*"code":"API_FORBIDDEN".*Grant permission to list endpointslices/,
    ),
  ]);
});

test("a refused list of the host's slices does not matter once they are in a cache", async () => {
  const { clock, lines, watch } = createWorld(["host"], ALONE);
  await clock.advance(2 * LOOK_MS);
  expect(lines).toHaveLength(1);
  watch.follow(withBackends("both"));
  await clock.advance(LOOK_MS);
  expect(lines.slice(1)).toEqual([expect.stringContaining("Readers on the host do not see backends")]);
});

test("without the tenant's slices the copies are still looked at, and these not asked for again", async () => {
  const { clock, state, gauge, lines } = createWorld(["tenant"], ALONE);
  await clock.advance(10 * LOOK_MS);
  expect([gauge(), lines.length]).toEqual([1, 2]);
  expect(state.lists.filter((side) => side === "tenant")).toHaveLength(1);
});

test("/readyz names them over HTTP, and answers 200 all the same", async () => {
  const { clock, state, watch, runtime } = createWorld();
  const options = { clusters: [], permissions: () => [], prepared: () => true, runtime };
  const { probe } = createSyncerReadiness({ ...options, invisible: () => watch.invisible() });
  const server = await startProbeServer({ address: "127.0.0.1:0", probes: { "/readyz": probe } });
  const ask = async () => {
    const answer = await fetch(`http://${server.address}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };
  try {
    expect(await ask()).toBe("200 ok\n");
    await clock.advance(LOOK_MS);
    expect(await ask()).toBe(
      "200 ok\nBACKENDS_INVISIBLE: readers on the host do not see all backends of 1 Service; `endpoint-sync why services shop/web` explains what to do\n",
    );
    state.slices = [MIRRORED];
    await clock.advance(LOOK_MS);
    expect(await ask()).toBe("200 ok\n");
  } finally {
    await server.stop();
  }
});

test.each(["auto", "both", "slices"] as const)(
  "with backends: %s a slice whose copy the host refuses is reported from the caches, and no more once it is copied",
  async (backends) => {
    const { clock, state, lines, events, gauge, watch } = createWorld([], withBackends(backends));
    [state.slices, state.noted] = [[MIRRORED], ENDPOINT_SLICES];
    await clock.advance(LOOK_MS);
    expect([gauge(), lines.filter((line) => line.includes("BACKENDS_INVISIBLE"))]).toEqual([0, []]);
    [state.tenantSlices, state.notes] = [[OWN], [{ code: "API_FORBIDDEN", message: "exceeded quota" }]];
    for (const changed of state.changedSlices) changed();
    await clock.advance(LOOK_MS);
    const why = /readers on the host see \d: the copy is missing \(API_FORBIDDEN\): .*a quota, an admission webhook/;
    expect([gauge(), watch.invisible()]).toEqual([1, ["shop/web"]]);
    expect(events).toEqual([expect.stringMatching(why)]);
    expect(lines.at(-1)).toMatch(why);
    state.slices = [MIRRORED, { ...OWN, metadata: { ...MIRRORED.metadata, name: "web-2" } }];
    await clock.advance(LOOK_MS);
    expect([gauge(), state.lists]).toEqual([0, []]);
    expect(state.opened.has(ENDPOINTS)).toBe(backends !== "slices");
  },
);

describe("with slices alone, the tenant's mirror", () => {
  const SAYS = "warn The tenant's mirror of Endpoints seems to be off";

  test("is reported once as off, with a remedy, where a Service without a selector has no slices", async () => {
    const { clock, state, lines } = createWorld([], withBackends("slices"));
    await clock.advance(LOOK_MS);
    const [line] = lines;
    expect(line).toMatch(
      /"services":1,"service":"shop\/web","hint":"If these Services have Endpoints, set backends: auto.*endpointslice-mirroring/,
    );
    for (const changed of state.changedSlices) changed();
    await clock.advance(10 * LOOK_MS);
    expect([lines.length, line?.startsWith(SAYS), state.lists]).toEqual([1, true, []]);
  });

  test.each([
    ["that Service has a slice", "slices", "web", "operator"],
    ["it shows another Service", "slices", "other", "endpointslicemirroring-controller.k8s.io"],
    ["Endpoints are read", "auto", "other", "operator"],
  ] as const)("is not looked for where %s", async (_why, backends, service, manager) => {
    const { clock, state, lines } = createWorld([], withBackends(backends));
    const labels = { "kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": manager };
    state.tenantSlices = [{ ...OWN, metadata: { ...OWN.metadata, labels } }];
    await clock.advance(LOOK_MS);
    expect(lines.filter((line) => line.startsWith(SAYS))).toEqual([]);
  });
});

test("a process that stands by looks at nothing", async () => {
  const { clock, state } = createWorld();
  state.ready = false;
  await clock.advance(10 * LOOK_MS);
  expect(state.lists).toEqual([]);
});

describe("slices that were made before, and are not kept current,", () => {
  const BACK: WatchedConfiguration = { ...LOADED, settings: { ...DEFAULT_SETTINGS, backends: "endpoints" } };
  const made = slicesOfCopy("sync.platform/", copyOfEndpoints() as Endpoints, []).map((slice) => stored(slice, "30"));

  test("are reported when a mirror had its time, in the log, as an Event without host names, and by /readyz", async () => {
    const { clock, state, lines, events, watch, runtime } = createWorld([], BACK);
    state.slices = [...made];
    const options = { clusters: [], permissions: () => [], prepared: () => true, runtime };
    const { probe } = createSyncerReadiness({ ...options, left: () => watch.left() });
    await clock.advance(LOOK_MS);
    expect([lines, events, probe()]).toEqual([[], [], { remarks: [] }]);
    await clock.advance(LOOK_MS);
    expect(probe()).toEqual({
      remarks: [
        "SLICES_LEFT: the host's slices of 1 Service are not kept up to date, for example shop/web; set backends: auto again, or remove what endpoint-sync audit lists",
      ],
    });
    expect(lines).toEqual([
      expect.stringMatching(
        /^warn Slices on the host are not kept up to date .*"code":"SLICES_LEFT".*set backends: auto again.*kubectl delete endpointslice/,
      ),
    ]);
    expect(events).toEqual([
      expect.stringMatching(/^SlicesLeft: Readers on the host get backends from 1 slice .*Set backends: auto again/),
    ]);
    expect(events[0]).not.toContain(OF_HOST);
    await clock.advance(10 * LOOK_MS);
    expect([lines.length, events.length]).toEqual([1, 1]);
    state.slices = [MIRRORED];
    await clock.advance(LOOK_MS);
    expect(watch.left()).toEqual([]);
  });

  test("are not looked at where it is decided who tells readers", async () => {
    const { clock, state, lines, watch } = createWorld();
    state.slices = [...made];
    await clock.advance(3 * LOOK_MS);
    expect([lines, watch.left()]).toEqual([[], []]);
  });
});

test("a syncer that lacks the permissions for what is configured says so, and not that it should be configured", async () => {
  const { clock, events } = createWorld([], {
    ...LOADED,
    settings: { ...DEFAULT_SETTINGS, backends: "endpoints" },
    lacksPermissions: true,
  });
  await clock.advance(LOOK_MS);
  expect(events).toEqual([
    expect.stringMatching(
      /^BackendsInvisible: .*the syncer lacks the permissions on EndpointSlices for backends: auto; grant those .* and restart/,
    ),
  ]);
});
