/**
 * Combines the setting `backends` with the sections `endpoints` and `endpointSlices` of `sync.toHost`.
 *
 * @module
 */
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../kube/object/resource.ts";
import type { ServicesMode, SyncedKind } from "../reconcile/rules/rules.ts";
import { effectiveBackends, type BackendsMode } from "./backends-mode.ts";
import { syncOf, type Config } from "./config.ts";

/** Handling of each kind. */
export interface SyncedBackends {
  /** Endpoints are copied. */
  readonly endpoints: boolean;
  /** EndpointSlices are copied. */
  readonly slices: boolean;
  /** Services can be copied, because they will have backends. */
  readonly services: boolean;
  /** The API of Endpoints is used at all. */
  readonly readsEndpoints: boolean;
  /** The API of EndpointSlices is used at all. */
  readonly readsSlices: boolean;
}

type Sections = Pick<Config, "endpoints" | "endpointSlices">;

/**
 * Returns which kinds are synced with a mode and these sections; `docs/guides/sync-endpoint-slices.md` shows every combination as a table.
 * `endpoints.enabled: false` means no backends, regardless of the setting. In mode "endpoints", the section `endpointSlices` determines
 * whether slices are copied.
 *
 * @example
 * syncedBackends("slices", config).readsEndpoints; // false
 */
export function syncedBackends(mode: BackendsMode, { endpoints, endpointSlices }: Sections): SyncedBackends {
  const services = endpoints.enabled;
  const reads = { readsEndpoints: mode !== "slices", readsSlices: mode === "slices" || endpointSlices.enabled };
  switch (mode) {
    case "slices":
      return { ...reads, endpoints: false, slices: endpoints.enabled, services };
    case "both":
    case "auto":
      return { ...reads, endpoints: endpoints.enabled, slices: endpoints.enabled, services, readsSlices: endpoints.enabled };
    case "endpoints":
      return { ...reads, endpoints: endpoints.enabled, slices: endpointSlices.enabled, services };
  }
}

/** A kind that is read on both sides. */
export interface ReadKind {
  readonly kind: SyncedKind;
  /** Its objects are copied. */
  readonly enabled: boolean;
}

/** Settings that decide which kinds are read. */
export interface ReadKindsOptions {
  readonly kinds: readonly SyncedKind[];
  /** The setting `backends`; undefined if it is not set. */
  readonly backends: BackendsMode | undefined;
  readonly config: Config;
  readonly services: ServicesMode;
}

/**
 * The kinds that are read, in the order of planning: slices come before the Endpoints whose mirror they replace. Several sections and
 * the setting together determine what happens to Services and their backends; every other kind is read if its section enables it.
 */
export function readKinds({ kinds, backends, config, services }: ReadKindsOptions): readonly ReadKind[] {
  const synced = syncedBackends(effectiveBackends(backends, config), config);
  const together = [
    { resource: SERVICES, reads: services === "managed", enabled: config.services.enabled && synced.services },
    // If slices are disabled, the syncer may lack the permission to read them.
    { resource: ENDPOINT_SLICES, reads: synced.readsSlices, enabled: synced.slices },
    { resource: ENDPOINTS, reads: synced.readsEndpoints, enabled: synced.endpoints },
  ];
  const first = together.flatMap(({ resource, reads, enabled }) => {
    const kind = kinds.find((one) => one.resource === resource);
    return kind !== undefined && reads ? [{ kind, enabled }] : [];
  });
  const others = kinds.filter((kind) => together.every(({ resource }) => resource !== kind.resource) && syncOf(config, kind).enabled);
  return [...first, ...others.map((kind) => ({ kind, enabled: true }))];
}

/** Reports whether the setting requires slices but the section disables them. */
export function refusesSlices(mode: BackendsMode, { endpointSlices }: Pick<Sections, "endpointSlices">): boolean {
  return mode !== "endpoints" && endpointSlices.configured && !endpointSlices.enabled;
}
