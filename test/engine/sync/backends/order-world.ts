/** A core of a syncer with `backends: auto`, between clusters and caches that do only what they are told. */
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { noMetrics } from "../../../../src/base/metrics.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../../src/engine/config/settings.ts";
import { createEngine } from "../../../../src/engine/engine.ts";
import { slicesOfCopy } from "../../../../src/engine/kinds/made-slices.ts";
import { MIRROR, SERVICE_NAME, SLICE_MANAGER } from "../../../../src/engine/kinds/slice-labels.ts";
import { digestPair } from "../../../../src/engine/reconcile/agreement/base.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import type { Response } from "../../../../src/engine/reconcile/machine.ts";
import { createSyncCore } from "../../../../src/engine/sync/core.ts";
import type { ReconcileRun } from "../../../../src/engine/sync/run/reconcile.ts";
import { formatKey, keyOf, type ObjectKey } from "../../../../src/kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../../src/kube/object/types.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { stored } from "../../../support/rules.ts";
import { ips, ownSlice, SKIP } from "./seen-backends.ts";

export const SERVICE = "services|shop/web";
export const COPY = "endpoints|shop/web";
export const UNIT = "backends|shop/web";
export const SLICE = "endpointslices|shop/web-b";
export const PORTS = [{ port: 80 }];

function caches() {
  const all = new Map([SERVICES, ENDPOINTS, ENDPOINT_SLICES].map(({ plural }) => [plural, createCacheByHand()]));
  return { of: ({ plural }: ResourceType) => all.get(plural)!, source: ({ plural }: ResourceType) => all.get(plural)!.source };
}

/** A syncer's core between caches that show only what they are told, and a host that answers only when it is told. */
export async function between() {
  const vcluster = { name: "blue", namespace: "vc" };
  const settings = resolveSettings({ backends: "auto" });
  const config = settings.ok ? resolveConfig({}, { settings: settings.settings, vcluster }) : undefined;
  if (!settings.ok || config?.ok !== true) throw new Error("The configuration is refused");
  const engine = await createEngine({ config: config.config, settings: settings.settings, vcluster, services: "managed" });
  const [tenant, host, clock] = [caches(), caches(), createFakeClock()];
  const enqueued: string[] = [];
  const core = createSyncCore({
    ...{ tenant, host, rules: engine.rules, loopGuard: engine.settings.loopGuard, clock, logger: silentLogger, metrics: noMetrics },
    enqueue: (id) => void enqueued.push(id),
  });
  const standing = new Map<string, KubeObject>();
  const writes: Operation[] = [];
  let version = 100;
  const placeOf = (resource: ResourceType, key: ObjectKey) => `${resource.plural} ${formatKey(key)}`;

  function put(resource: ResourceType, object: KubeObject): KubeObject {
    const now = stored(object, String((version += 1)));
    standing.set(placeOf(resource, keyOf(object)), now);
    return now;
  }
  const found = (object: KubeObject | undefined): Response => (object === undefined ? { type: "absent" } : { type: "object", object });

  /** The response of a cluster to the pending request, after it has done that. Tenants have what their caches show. */
  function answerTo({ request, resource }: ReconcileRun): Response {
    if (request.type === "get") {
      const asked = request.resource ?? resource;
      return found(request.side === "tenant" ? tenant.source(asked).get(request.key) : standing.get(placeOf(asked, request.key)));
    }
    if (request.type !== "write") return { type: "absent" };
    writes.push(request.operation);
    if (request.operation.action === "delete") {
      standing.delete(placeOf(resource, request.operation.key));
      return { type: "absent" };
    }
    return found(put(resource, request.operation.object));
  }
  return {
    ...{ clock, enqueued, writes },
    begin: (id: string) => finish(core.begin(id)),
    /** The cluster answers one request. */
    step: (run: ReconcileRun) => finish(run.answer(answerTo(run))),
    goOn: (run: ReconcileRun) => {
      while (run.request.type !== "done") finish(run.answer(answerTo(run)));
    },
    reconcile(id: string) {
      const run = this.begin(id);
      this.goOn(run);
      return run;
    },
    /** Tenants have this object, and the cache shows it. */
    has: (resource: ResourceType, object: KubeObject) => tenant.of(resource).show(keyOf(object), stored(object, String((version += 1)))),
    /** The host no longer has the object, and the cache shows that. */
    hostLacks(resource: ResourceType, key: ObjectKey) {
      standing.delete(placeOf(resource, key));
      host.of(resource).show(key, undefined);
    },
    lacks: (resource: ResourceType, key: ObjectKey) => tenant.of(resource).show(key, undefined),
    /** The cache shows all of this kind that the host has, of one Service or of all. */
    shows(resource: ResourceType, name = "") {
      const isAsked = (place: string) => place.startsWith(`${resource.plural} vc/${name}`);
      for (const [place, object] of standing) if (isAsked(place)) host.of(resource).show(keyOf(object), object);
    },
    /** Another process, which decides nothing, is about to hand the copy back, and a user of the host edits what was made; the caches show both. */
    handedBack() {
      for (const [place, object] of standing) {
        const { labels, annotations } = object.metadata;
        const [base, own] = ["sync.platform/base", { ...labels, [SKIP]: "false" }];
        const digest = (value: string) => digestPair(`labels/${SKIP}`, undefined, value);
        const noted = { ...annotations, [base]: annotations?.[base]?.replace(digest("true"), digest("false")) ?? "" };
        if (place.startsWith(`${ENDPOINTS.plural} vc/web`))
          put(ENDPOINTS, { ...object, metadata: { ...object.metadata, labels: own, annotations: noted } });
        if (place.startsWith(`${ENDPOINT_SLICES.plural} vc/web`)) put(ENDPOINT_SLICES, { ...object, endpoints: [] } as KubeObject);
      }
      for (const kind of [ENDPOINTS, ENDPOINT_SLICES]) this.shows(kind, "web");
    },
    /** Endpoints of others say that they are the copy, at another place, and the host's mirror has made a slice of them. */
    claims(name: string) {
      const copy = [...standing.values()].find(({ kind }) => kind === "Endpoints")!;
      const labels = { [SERVICE_NAME]: name, [SLICE_MANAGER]: MIRROR };
      const annotations = { ...copy.metadata.annotations, "sync.platform/object-host-name": name };
      put(ENDPOINT_SLICES, {
        ...ownSlice(`${name}-m0`, ["10.9.0.1"]),
        metadata: { namespace: "vc", name: `${name}-m0`, labels, annotations },
      });
      this.shows(ENDPOINT_SLICES, name);
    },
    /** The host's mirror has made what the copy says now. */
    mirrors() {
      const copy = standing.get("endpoints vc/web-x-shop-x-blue") as Endpoints;
      for (const slice of slicesOfCopy(engine.rules[0]!.translator.markerPrefix, copy, [])) {
        const labels = { ...slice.metadata.labels, [SLICE_MANAGER]: MIRROR };
        put(ENDPOINT_SLICES, { ...slice, metadata: { ...slice.metadata, name: "web-x-shop-x-blue-m0", labels } } as KubeObject);
      }
      this.shows(ENDPOINT_SLICES, "web");
    },
    service(name: string) {
      const metadata = { namespace: "shop", name };
      this.has(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports: PORTS } } as KubeObject);
      this.endpoints(1, name);
    },
    endpoints(count: number, name = "web", annotations = {}) {
      const subsets = [{ addresses: ips(count), ports: PORTS }];
      const metadata = { namespace: "shop", name, annotations };
      this.has(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets } as KubeObject);
    },
    /** Another process is the first to write what this one is about to make, and makes slices of it. */
    rival(run: ReconcileRun) {
      if (run.request.type !== "write" || run.request.operation.action !== "create") throw new Error("Nothing is to be made");
      const copy = put(ENDPOINTS, run.request.operation.object);
      for (const slice of slicesOfCopy(engine.rules[0]!.translator.markerPrefix, copy as Endpoints, [])) put(ENDPOINT_SLICES, slice);
      finish(run.answer({ type: "outdated", reason: "it is there already" }));
    },
    close() {
      core.close();
      engine.dispose();
    },
  };
}

/** The host's mirror does not work, so that a slice is made of the copy, which the cache does not show yet. */
export async function madeUnseen(known?: Awaited<ReturnType<typeof between>>) {
  const world = copied(known ?? (await between()));
  world.reconcile(UNIT);
  await world.clock.advance(3_000);
  world.reconcile(UNIT);
  world.enqueued.length = 0;
  world.writes.length = 0;
  return world;
}

/** Copies of Endpoints and of a slice of the Service, which the caches show. */
export function copied(world: Awaited<ReturnType<typeof between>>) {
  world.service("web");
  world.has(ENDPOINT_SLICES, ownSlice("web-b", ["10.9.0.1"]));
  world.reconcile(SERVICE);
  world.shows(SERVICES);
  for (const [id, kind] of [
    [COPY, ENDPOINTS],
    [SLICE, ENDPOINT_SLICES],
  ] as const) {
    world.reconcile(id);
    world.shows(kind, "web");
  }
  return world;
}

/** Labels that keep the mirror away, of each write of the copy. */
export const labels = (writes: readonly Operation[]) =>
  writes.flatMap((operation) =>
    "object" in operation && operation.object.kind === "Endpoints" ? [operation.object.metadata.labels?.[SKIP]] : [],
  );

export const deleted = (writes: readonly Operation[]) =>
  writes.flatMap((operation) => (operation.action === "delete" ? [operation.key.name] : []));
