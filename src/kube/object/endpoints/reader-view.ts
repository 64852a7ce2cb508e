/**
 * The view of one Service that readers of EndpointSlices have: all of its slices, merged as kube-proxy does. Endpoints are expressed in the
 * same terms, so that both can be compared.
 *
 * @module
 */
import { slicesOf } from "./slices-of-endpoints.ts";
import type { Endpoints, EndpointSlice, SliceEndpoint, SlicePort } from "../types.ts";

/** One address with one port, regardless of the slices that contain it. */
export interface Backend {
  /** The first address of an endpoint: readers use no other. */
  readonly address: string;
  readonly port: SlicePort | undefined;
  /** True if the backend accepts new connections, according to at least one slice. */
  readonly ready: boolean;
  /** True if the backend serves requests, even while it terminates, according to at least one slice. */
  readonly serving: boolean;
}

/** Backends by family, address and port. */
export type ReaderView = ReadonlyMap<string, Backend>;

/**
 * Merges the slices of one Service.
 *
 * @example
 * [...viewOfSlices([slice]).values()].filter(({ ready }) => ready).length; // 3
 */
export function viewOfSlices(slices: Iterable<Pick<EndpointSlice, "addressType" | "endpoints" | "ports">>): ReaderView {
  const view = new Map<string, Backend>();
  for (const { addressType, endpoints, ports } of slices) {
    // Readers of a slice without ports, such as DNS, see only the addresses.
    const named = ports === null || ports === undefined || ports.length === 0 ? [undefined] : ports;
    for (const endpoint of endpoints ?? []) for (const port of named) see(view, addressType, backendOf(endpoint, port));
  }
  return view;
}

/** Returns the view that a reader would have if all of these Endpoints were mirrored into slices. */
export function viewOfEndpoints(endpoints: Endpoints): ReaderView {
  return viewOfSlices(slicesOf(endpoints, { addressesMax: Infinity, endpointsMax: Number.MAX_SAFE_INTEGER, conditions: () => ({}) }));
}

function backendOf({ addresses, conditions }: SliceEndpoint, port: SlicePort | undefined): Backend | undefined {
  const [address] = addresses ?? [];
  if (address === undefined) return undefined;
  // An unknown condition counts as ready.
  const ready = conditions?.ready ?? true;
  return { address, port, ready, serving: conditions?.serving ?? ready };
}

function see(view: Map<string, Backend>, addressType: string, backend: Backend | undefined): void {
  if (backend === undefined) return;
  const { address, port } = backend;
  const id = `${addressType} ${address} ${port === undefined ? "" : `${port.name ?? ""}:${port.protocol ?? "TCP"}:${port.port ?? ""}`}`;
  const known = view.get(id);
  if (known === undefined) view.set(id, backend);
  else view.set(id, { ...known, ready: known.ready || backend.ready, serving: known.serving || backend.serving });
}
