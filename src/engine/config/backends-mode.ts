import type { Settings } from "./settings.ts";

/** Kind of object on the host that carries the backends of a Service. */
export type BackendsMode = NonNullable<Settings["backends"]>;

/** The sections that the mode depends on, as far as it does. */
export interface BackendsSections {
  readonly endpoints: { readonly enabled: boolean };
  /** Whether the section is written, whatever it says. */
  readonly endpointSlices: { readonly configured: boolean };
}

/**
 * The mode that the setting `backends` and the sections mean together: the setting, if it is written. A section that is present means what it
 * says: `endpointSlices` which slices are copied, `endpoints.enabled: false` that there are no backends. Where nothing is written, it is decided
 * Service by Service.
 *
 * @example
 * effectiveBackends(undefined, config); // "auto"
 */
export function effectiveBackends(asked: BackendsMode | undefined, { endpoints, endpointSlices }: BackendsSections): BackendsMode {
  return asked ?? (endpoints.enabled && !endpointSlices.configured ? "auto" : "endpoints");
}
