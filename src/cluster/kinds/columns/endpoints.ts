import type { Endpoints, EndpointSlice, EndpointSubset } from "../../../kube/object/types.ts";
import { AGE_COLUMN, firstThree, NAME_COLUMN, NONE, textColumn, type Column } from "../../../apiserver/types/columns.ts";

/** The columns that `kubectl get` shows for Endpoints. */
export const ENDPOINTS_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Endpoints", "The first addresses that take traffic, with their ports.", (object) =>
    firstThree(((object as Endpoints).subsets ?? []).flatMap(places), NONE),
  ),
  AGE_COLUMN,
];

function places({ addresses = [], ports = [] }: EndpointSubset): string[] {
  if (ports.length === 0) return addresses.map(({ ip }) => ip);
  return ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip.includes(":") ? `[${ip}]` : ip}:${port}`));
}

const UNSET = "<unset>";

/** The columns that `kubectl get` shows for EndpointSlices. */
export const ENDPOINT_SLICE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("AddressType", "IPv4, IPv6 or FQDN.", (object) => (object as EndpointSlice).addressType),
  textColumn("Ports", "The first ports.", (object) =>
    firstThree(
      ((object as EndpointSlice).ports ?? []).map(({ port, name }) => String(port ?? (name || "*"))),
      UNSET,
    ),
  ),
  textColumn("Endpoints", "The first addresses.", (object) =>
    firstThree(
      ((object as EndpointSlice).endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
      UNSET,
    ),
  ),
  AGE_COLUMN,
];
