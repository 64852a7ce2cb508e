/**
 * Combines the setting `backends` with the sections `endpoints` and `endpointSlices` of `sync.toHost`.
 *
 * @module
 */
import type { Config } from "./config.ts";
import type { Settings } from "./settings.ts";

/** Kind of object on the host that carries the backends of a Service. */
export type BackendsMode = Settings["backends"];

/** Handling of each kind. */
export interface SyncedBackends {
  /** Endpoints are copied. */
  readonly endpoints: boolean;
  /** EndpointSlices are copied. */
  readonly slices: boolean;
  /** Services can be copied: they will have backends. */
  readonly services: boolean;
  /** The API of Endpoints is used at all. */
  readonly readsEndpoints: boolean;
  /** The API of EndpointSlices is used at all. */
  readonly readsSlices: boolean;
}

type Sections = Pick<Config, "endpoints" | "endpointSlices">;

/**
 * Every combination, which `docs/guides/sync-endpoint-slices.md` shows as a table. `endpoints.enabled: false` means no backends, whatever the
 * setting says; on its own the section `endpointSlices` applies as written.
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

/** Reports that the setting requires slices and the section disables them. */
export function refusesSlices(mode: BackendsMode, { endpointSlices }: Pick<Sections, "endpointSlices">): boolean {
  return mode !== "endpoints" && endpointSlices.configured && !endpointSlices.enabled;
}
