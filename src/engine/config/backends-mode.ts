import type { Settings } from "./settings.ts";

/** Kind of object on the host that carries the backends of a Service. */
export type BackendsMode = NonNullable<Settings["backends"]>;

/** The parts of the sections on which the mode depends. */
export interface BackendsSections {
  readonly endpoints: { readonly enabled: boolean };
  /** Whether the section is present, regardless of its contents. */
  readonly endpointSlices: { readonly configured: boolean };
}

/**
 * Returns the mode that the setting `backends` and the sections determine: the value of the setting, if it is present. A section that is
 * present has its own meaning: `endpointSlices` selects which slices are copied, and `endpoints.enabled: false` means no backends. If
 * nothing is set, the mode is chosen for each Service.
 *
 * @example
 * effectiveBackends(undefined, config); // "auto"
 */
export function effectiveBackends(asked: BackendsMode | undefined, { endpoints, endpointSlices }: BackendsSections): BackendsMode {
  return asked ?? (endpoints.enabled && !endpointSlices.configured ? "auto" : "endpoints");
}
