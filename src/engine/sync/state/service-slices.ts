import { formatKey, parseKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { SERVICES } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { serviceOfSlice } from "../../kinds/slice-labels.ts";
import type { Translator } from "../../translate/translator.ts";

/** Index of the tenant cluster's slices by Service. All keys are tenant keys unless stated otherwise. */
export interface ServiceSlices {
  /** Records the current state of a slice. Returns the Services to which it belonged before and belongs now. */
  look(key: ObjectKey, slice: KubeObject | undefined): readonly ObjectKey[];
  readonly of: (service: ObjectKey) => readonly ObjectKey[];
  /** The slices of the Service that has this host key. */
  ofHost(hostService: ObjectKey): readonly ObjectKey[];
  serviceOf(slice: ObjectKey): ObjectKey | undefined;
}

/** Creates an empty index of slices by Service. */
export function createServiceSlices(translator: Translator): ServiceSlices {
  const services = new Map<string, ObjectKey>();
  const slices = createGroups();
  const hostSlices = createGroups();

  function hostKeyOf(service: ObjectKey): string {
    const host = translator.toHost(service, SERVICES);
    return host === undefined ? "" : formatKey(host);
  }

  return {
    look(key, slice) {
      const id = formatKey(key);
      const before = services.get(id);
      const now = slice && serviceOfSlice(slice);
      if (before !== undefined && now !== undefined && sameKey(before, now)) return [now];
      if (before !== undefined) {
        services.delete(id);
        slices.remove(formatKey(before), id);
        hostSlices.remove(hostKeyOf(before), id);
      }
      if (now !== undefined) {
        services.set(id, now);
        slices.add(formatKey(now), id);
        hostSlices.add(hostKeyOf(now), id);
      }
      return [before, now].filter((service) => service !== undefined);
    },
    of: (service) => slices.of(formatKey(service)),
    ofHost: (hostService) => hostSlices.of(formatKey(hostService)),
    serviceOf: (slice) => services.get(formatKey(slice)),
  };
}

/** Groups of keys, by name. */
function createGroups() {
  const groups = new Map<string, Set<string>>();
  return {
    add: (name: string, id: string) => void groups.set(name, (groups.get(name) ?? new Set()).add(id)),
    remove(name: string, id: string) {
      groups.get(name)?.delete(id);
      if (groups.get(name)?.size === 0) groups.delete(name);
    },
    of: (name: string): readonly ObjectKey[] => [...(groups.get(name) ?? [])].map(parseKey),
  };
}
