import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";

/** Label that names the writer of a slice; only that writer changes it. */
export const MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by";
/** Label that names the Service of a slice. */
export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/** Index of the slices of one writer, by the Service to which they belong. */
export interface SliceIndex {
  /** The Service (`namespace/name`) of a slice; undefined for a slice of another writer. */
  serviceOf(slice: KubeObject): string | undefined;
  slicesOf(service: string): readonly EndpointSlice[];
  put(slice: KubeObject): void;
  remove(slice: KubeObject): void;
}

/** Creates an empty index of the slices that `managedBy` manages. */
export function createSliceIndex(managedBy: string): SliceIndex {
  const services = new Map<string, Map<string, EndpointSlice>>();
  /** Service under which each slice is indexed, by uid: its labels may have changed since. */
  const places = new Map<string, string>();
  const serviceOf = ({ metadata: { labels = {}, namespace } }: KubeObject) => {
    const name = labels[SERVICE_NAME_LABEL];
    return labels[MANAGED_BY_LABEL] === managedBy && name !== undefined ? `${namespace}/${name}` : undefined;
  };
  const remove = (slice: KubeObject) => {
    const uid = slice.metadata.uid!;
    const place = places.get(uid);
    if (place === undefined) return;
    places.delete(uid);
    const group = services.get(place)!;
    group.delete(uid);
    if (group.size === 0) services.delete(place);
  };
  return {
    serviceOf,
    remove,
    slicesOf: (service) => [...(services.get(service)?.values() ?? [])],
    put(slice) {
      remove(slice);
      const service = serviceOf(slice);
      if (service === undefined) return;
      const uid = slice.metadata.uid!;
      places.set(uid, service);
      services.set(service, (services.get(service) ?? new Map<string, EndpointSlice>()).set(uid, slice as EndpointSlice));
    },
  };
}
