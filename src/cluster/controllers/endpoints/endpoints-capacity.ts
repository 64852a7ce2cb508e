import type { EndpointSubset } from "../../../kube/object/types.ts";

/** Maximum number of addresses in Endpoints. Source: `maxCapacity` of the endpoints controller. */
const ADDRESSES_MAX = 1_000;

/**
 * Returns the subsets without the addresses that exceed the capacity; undefined if all of them fit. Ready addresses take precedence. Each
 * subset keeps its share of those that must be cut, rounded up, so that the last ones can have fewer. Source: `truncateEndpoints`.
 */
export function truncatedSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const count = (list: "addresses" | "notReadyAddresses") => subsets.reduce((sum, subset) => sum + (subset[list] ?? []).length, 0);
  const [ready, notReady] = [count("addresses"), count("notReadyAddresses")];
  if (ready + notReady <= ADDRESSES_MAX) return undefined;
  const cutsReady = ready > ADDRESSES_MAX;
  const [cut, total, room] = cutsReady
    ? (["addresses", ready, ADDRESSES_MAX] as const)
    : (["notReadyAddresses", notReady, ADDRESSES_MAX - ready] as const);
  let left = room;
  return subsets.map((subset) => {
    const addresses = subset[cut] ?? [];
    const kept = addresses.slice(0, Math.min(left, Math.ceil((addresses.length / total) * room)));
    left -= kept.length;
    const { addresses: readyOnes, notReadyAddresses: _none, ...rest } = subset;
    if (cutsReady) return { ...(kept.length > 0 && { addresses: kept }), ...rest };
    return { ...(readyOnes && { addresses: readyOnes }), ...(kept.length > 0 && { notReadyAddresses: kept }), ...rest };
  });
}
