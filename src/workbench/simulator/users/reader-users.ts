import { ENDPOINTS } from "../../../kube/object/resource.ts";
import type { EndpointSlice, EndpointSubset, KubeObject } from "../../../kube/object/types.ts";
import type { Act } from "../act.ts";
import { asIPv6, ENDPOINT_CONDITIONS, drawSliceBody, drawSubsets } from "../model/objects.ts";
import type { Random } from "../model/random.ts";
import { changeSlice, createSlice, sliceAct } from "./slice-users.ts";
import { changes, type Edit } from "./user-acts.ts";

/** Gives each endpoint of a slice new conditions. */
function withConditions(slice: KubeObject, random: Random): KubeObject | undefined {
  const { endpoints } = slice as EndpointSlice;
  if ((endpoints ?? []).length === 0) return undefined;
  return { ...slice, endpoints: endpoints!.map((endpoint) => ({ ...endpoint, conditions: random.pick(ENDPOINT_CONDITIONS) })) };
}

/** Gives Endpoints new addresses, some of them or all with IPv6. */
const setFamilies: Edit = (object, random) => {
  const subsets = drawSubsets(random) as readonly EndpointSubset[];
  const keepsBoth = random.happens(0.5);
  const addressesOf = (addresses: EndpointSubset["addresses"] = []) => {
    const others = addresses.flatMap(({ ip }) => (ip.startsWith("10.0.") ? [{ ip: ip.replace("10.0.0.", "fd00::") }] : []));
    return keepsBoth ? [...addresses, ...others] : others;
  };
  const changed = subsets.map(({ addresses, notReadyAddresses, ...ports }) => ({
    ...ports,
    addresses: addressesOf(addresses),
    ...(notReadyAddresses && { notReadyAddresses: addressesOf(notReadyAddresses) }),
  }));
  return { ...object, subsets: changed };
};

/** Actions of tenant users that only readers of slices notice: a second address family, and conditions. */
export const READER_USERS: readonly Act[] = [
  sliceAct({
    ...{ name: "tenant has an IPv6 slice", weight: 20, side: "tenant" },
    how: (world, random, place) =>
      createSlice(world, place, () => ({
        ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
        metadata: { ...place.key, labels: { "kubernetes.io/service-name": place.service.name } },
        ...asIPv6(drawSliceBody(random)),
      })),
  }),
  sliceAct({
    ...{ name: "tenant changes conditions in a slice", weight: 20, side: "tenant" },
    how: (world, random, place) => changeSlice(world, place, (slice) => withConditions(slice, random)),
  }),
  changes("tenant's Endpoints get IPv6 addresses", { side: "tenant", resource: ENDPOINTS, weight: 12 }, setFamilies),
];
