import { formatKey, parseKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, SERVICES } from "../../../kube/object/resource.ts";
import type { ObjectSource } from "../../../kube/object/object-source.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { endpointsBehind } from "../../kinds/made-slices.ts";
import { serviceOfSlice } from "../../kinds/slice-labels.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";
import type { Translator } from "../../translate/translator.ts";

/** Knows which slices of the host tell readers of which Service. */
export interface BackendsIndex {
  /** Takes note of a slice of the host as it is now. Returns the tenant Services that it told of before and tells of now. */
  look(hostKey: ObjectKey, slice: KubeObject | undefined): readonly ObjectKey[];
  /** Host keys of the slices that tell of this tenant Service, or that were made of its Endpoints, whatever they say now. */
  of(service: ObjectKey): readonly ObjectKey[];
  /** Takes note that something of this tenant Service has changed, on either side. */
  touch(service: ObjectKey): void;
  /** Another number after each change of something of this Service. */
  version(service: ObjectKey): number;
  /** Tells whether something on the host was made of its Endpoints. */
  hasMade(service: ObjectKey): boolean;
  /** The tenant Service of a host Service, as far as it is known. */
  serviceAt(hostService: ObjectKey): ObjectKey | undefined;
  /** The tenant Service of whose Endpoints what stands at this host key was made; undefined when it is something else. */
  madeFor(hostKey: ObjectKey): ObjectKey | undefined;
}

/** Slices of the host by tenant Service; nothing is known yet. One entry per slice. */
export function createBackendsIndex(rules: Rules, host: ObjectSource): BackendsIndex {
  const { translator } = rules;
  /** Per host Service, as text, the host keys of slices; and per slice the host Services. */
  const slices = new Map<string, Set<string>>();
  const placesOf = new Map<string, readonly string[]>();
  const services = new Map<string, ObjectKey>();
  const versions = new Map<string, number>();
  /** Slices that were made of Endpoints: the host Service of those. */
  const madeAt = new Map<string, string>();
  const madeCounts = new Map<string, number>();

  function count(place: string, by: number): void {
    const now = (madeCounts.get(place) ?? 0) + by;
    if (now === 0) madeCounts.delete(place);
    else madeCounts.set(place, now);
  }

  function serviceAt(place: string): ObjectKey | undefined {
    return services.get(place);
  }

  function know(service: ObjectKey): void {
    const place = placeOf(translator, service);
    if (place !== undefined && !services.has(place)) services.set(place, service);
  }

  /** The host Services that a slice tells of: the one that its label names, and the one whose Endpoints it was made of. */
  function placesIn(id: string, slice: KubeObject): readonly string[] {
    const labelled = serviceOfSlice(slice);
    const behind = endpointsBehind(translator.markerPrefix, slice);
    const made = behind !== undefined && whose(rules, behind) === "ours" ? behind : undefined;
    if (made !== undefined) know({ namespace: made.namespace, name: made.name });
    const madePlace = made && formatKey({ namespace: made.hostNamespace, name: made.hostName });
    if (madePlace !== undefined) {
      madeAt.set(id, madePlace);
      count(madePlace, 1);
    }
    const places = [...(labelled === undefined ? [] : [formatKey(labelled)]), ...(madePlace === undefined ? [] : [madePlace])];
    return [...new Set(places)];
  }

  return {
    look(hostKey, slice) {
      const id = formatKey(hostKey);
      const before = placesOf.get(id) ?? [];
      const madeBefore = madeAt.get(id);
      if (madeBefore !== undefined) count(madeBefore, -1);
      madeAt.delete(id);
      const now = slice === undefined ? [] : placesIn(id, slice);
      for (const place of before) {
        slices.get(place)?.delete(id);
        if (slices.get(place)?.size === 0) slices.delete(place);
      }
      for (const place of now) slices.set(place, (slices.get(place) ?? new Set()).add(id));
      if (now.length === 0) placesOf.delete(id);
      else placesOf.set(id, now);
      return [...new Set([...before, ...now])].flatMap((place) => serviceAt(place) ?? []);
    },
    of(service) {
      const place = placeOf(translator, service);
      return [...((place && slices.get(place)) ?? [])].map(parseKey);
    },
    touch(service) {
      know(service);
      const id = formatKey(service);
      versions.set(id, (versions.get(id) ?? 0) + 1);
    },
    version: (service) => versions.get(formatKey(service)) ?? 0,
    hasMade(service) {
      const place = placeOf(translator, service);
      return place !== undefined && madeCounts.has(place);
    },
    serviceAt: (hostService) => serviceAt(formatKey(hostService)),
    madeFor(hostKey) {
      const slice = host.get(hostKey);
      if (slice === undefined || ourMarkers(rules, slice, ENDPOINT_SLICES) !== undefined) return undefined;
      const behind = endpointsBehind(translator.markerPrefix, slice);
      return behind && { namespace: behind.namespace, name: behind.name };
    },
  };
}

function placeOf(translator: Translator, service: ObjectKey): string | undefined {
  const place = translator.toHost(service, SERVICES);
  return place && formatKey(place);
}
