/** A host and a syncer that hands back to its mirror what was made of copies of Endpoints. */
import { EngineError } from "../../../../src/base/errors.ts";
import { silentLogger, type Logger } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { slicesOfCopy } from "../../../../src/engine/kinds/made-slices.ts";
import { MIRROR, SKIP_MIRROR, SLICE_MANAGER } from "../../../../src/engine/kinds/slice-labels.ts";
import { plan } from "../../../../src/engine/reconcile/plan.ts";
import type { SliceCount } from "../../../../src/engine/reconcile/rules/rules.ts";
import { createHandBack } from "../../../../src/engine/sync/backends/hand-back.ts";
import type { ClusterAccess } from "../../../../src/engine/sync/cluster/access.ts";
import type { SyncHooks } from "../../../../src/engine/sync/run/reconcile.ts";
import { ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject } from "../../../../src/kube/object/types.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { namedService, service, stored, tenantEndpoints, testRules } from "../../../support/rules.ts";

export const RULES = testRules({ services: "external" });
export const KEY = { namespace: "shop", name: "web" };
export const AROUND = { tenantService: service("shop", "web", {}), hostService: namedService() };

/** The copy as it stands there with this label. */
export function copyOf(label: string | undefined, version: string, key = KEY): Endpoints {
  const { metadata: meta, ...content } = tenantEndpoints();
  const tenant = { ...content, metadata: { ...meta, ...key } };
  const hostService = {
    ...AROUND.hostService,
    metadata: { ...AROUND.hostService.metadata, annotations: { "sync.platform/stands-for": `shop/${key.name}` } },
  };
  const [operation] = plan(RULES, { key, tenant, host: undefined, ...AROUND, hostService }).operations;
  if (operation?.action !== "create") throw new Error("the first plan creates");
  const { metadata, ...rest } = stored(operation.object, version);
  return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...(label && { [SKIP_MIRROR]: label }) } } } as Endpoints;
}

/** What the syncer makes of a copy. */
export const made = (copy: Endpoints) => slicesOfCopy("sync.platform/", copy, []).map((slice) => stored(slice, "30") as EndpointSlice);

/** What the host's mirror makes of it. */
export function mirrored(copy: Endpoints): EndpointSlice[] {
  return made(copy).map((slice, index) => {
    const labels = { ...slice.metadata.labels, [SLICE_MANAGER]: MIRROR };
    return { ...slice, metadata: { ...slice.metadata, name: `web-m${index}`, labels } };
  });
}

/** No write of a process before this one reaches the host after so long, in milliseconds. */
export const LATE_MS = 70_000;

/** A host, and a syncer between its reconciles. */
export function createWorld(bothKinds = false, { hooks = {}, logger = silentLogger }: { hooks?: SyncHooks; logger?: Logger } = {}) {
  const state = {
    copies: [] as KubeObject[],
    slices: [] as KubeObject[],
    service: undefined as KubeObject | undefined,
    standing: undefined as KubeObject[] | undefined,
    asked: [] as string[],
    lists: 0,
    isForbidden: false,
    isReadOnly: false,
    isDown: false,
  };
  const source = { get: () => undefined, list: () => state.copies, onChange: () => () => undefined, synced: true, current: true };
  const access = {
    source: (resource: unknown) => (resource === SERVICES ? { ...source, get: () => state.service } : source),
    list: async (resource: unknown) => {
      if (resource === ENDPOINTS) return state.standing ?? state.copies;
      state.lists += 1;
      if (state.isForbidden) throw new EngineError("API_FORBIDDEN", "cannot list them");
      return state.slices;
    },
    writer: {
      delete: async (_resource: unknown, { name }: { name: string }) => {
        if (state.isReadOnly) throw new EngineError("API_FORBIDDEN", "cannot delete them");
        if (state.isDown) throw new EngineError("API_UNAVAILABLE", "the host is down");
        state.slices = state.slices.filter(({ metadata }) => metadata.name !== name);
        return "deleted";
      },
    },
  } as unknown as ClusterAccess;
  const clock = createFakeClock();
  const metrics = createMetrics();
  const handBack = createHandBack({
    ...{ rules: RULES, hooks, logger, metrics, clock, enqueue: (id: string) => void state.asked.push(id) },
    ...(bothKinds && { slices: () => state.slices }),
  });
  const around = (host: KubeObject | undefined, slices?: SliceCount, key = KEY) =>
    handBack.around(`endpoints|${key.namespace}/${key.name}`, RULES, { key, tenant: tenantEndpoints(), host, slices });
  return {
    state,
    around,
    clock,
    metrics,
    run: () => handBack.run(access),
    saw: (slice: KubeObject) => handBack.saw(slice),
    standBy: () => handBack.standBy(),
  };
}

/** Runs whenever it asks for it, for so many milliseconds. */
export async function pass({ clock, run }: Pick<ReturnType<typeof createWorld>, "clock" | "run">, ms: number): Promise<void> {
  const end = clock.monotonic() + ms;
  for (let next: number | undefined = 0; next !== undefined && clock.monotonic() + next <= end;) {
    await clock.advance(next);
    next = (await run()).requeueAfterMs;
  }
  if (clock.monotonic() < end) await clock.advance(end - clock.monotonic());
}
