import { formatKey, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { copyNameIn, endpointsBehind } from "../../kinds/made-slices.ts";
import { serviceOfSlice } from "../../kinds/slice-labels.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";
import type { ClusterCaches } from "../cluster/access.ts";

/** Index of the host's slices by the tenant Service whose backends they show to readers. */
export interface BackendsIndex {
  /** Records the current state of a host slice. Returns the tenant Services to which it belonged before and belongs now. */
  look(hostKey: ObjectKey, slice: KubeObject | undefined): readonly ObjectKey[];
  /** Returns the host key of a tenant Service and of its Endpoints; undefined if their namespace is not mapped. */
  readonly hostKeyOf: (service: ObjectKey) => ObjectKey | undefined;
  /** Returns the host keys of slices that name this tenant Service, or that were made from its Endpoints, whatever they contain now. */
  of(service: ObjectKey): readonly ObjectKey[];
  /** Records that a slice was written for this Service; caches may never show it. */
  expect(hostKey: ObjectKey, service: ObjectKey): void;
  /**
   * Records a change of an object of this tenant Service, on either side. Returns whether to decide again: while the Service rests, a
   * `copied` change is ignored, because the copy of Endpoints will show it.
   */
  touch(service: ObjectKey, change?: "copied"): boolean;
  /** Records that the backends of this Service depend only on its copy of Endpoints, until something else changes. */
  rests(service: ObjectKey): void;
  /** Returns a number that differs after each change of an object of this Service. */
  version(service: ObjectKey): number;
  /** Reports whether something on the host was made from its Endpoints. */
  hasMade(service: ObjectKey): boolean;
  /** Returns the known tenant Services that have this host key: usually one, two when names collide. */
  servicesAt(hostService: ObjectKey): readonly ObjectKey[];
  /** Returns the tenant Service that the copy of a slice belongs to; undefined if no cache has anything of it. */
  serviceOf(copy: KubeObject): ObjectKey | undefined;
  /** Forgets a tenant Service of which neither cluster has anything left. */
  forget(service: ObjectKey): void;
  /** Returns the tenant Service from whose Endpoints the object at this host key was made; undefined for other objects. */
  madeFor(hostKey: ObjectKey): ObjectKey | undefined;
}

/** Creates an empty index of the host's slices by tenant Service, with one entry per slice. */
export function createBackendsIndex(rules: Rules, host: ClusterCaches): BackendsIndex {
  const { translator } = rules;
  const hostSlices = host.source(ENDPOINT_SLICES);
  /** Per host Service: the host keys of its slices. Per slice: its host Services. All keys are text. */
  const slices = new Map<string, Set<string>>();
  const placesOf = new Map<string, readonly string[]>();
  const services = new Map<string, Set<string>>();
  /** Per known tenant Service: its host key, which every decision about it needs several times. */
  const known = new Map<string, ObjectKey | undefined>();
  const versions = new Map<string, number>();
  const resting = new Set<string>();
  /** Index of slices made from copied Endpoints, by tenant Service and the other way round. */
  const madeFor = new Map<string, string>();
  const madeOf = new Map<string, Set<string>>();

  /** Per slice that was written but not seen yet: its tenant Service. */
  const expected = new Map<string, string>();

  function noteMade(id: string, service: string | undefined): void {
    const before = madeFor.get(id);
    if (before === service) return;
    if (before !== undefined) forgetIn(madeOf, before, id);
    madeFor.delete(id);
    if (service === undefined) return;
    madeFor.set(id, service);
    madeOf.set(service, (madeOf.get(service) ?? new Set()).add(id));
  }

  /** Adds a tenant Service to those of its host key. Called on each change of an object of the Service. */
  function know(id: string, service: ObjectKey): void {
    if (known.has(id)) return;
    const hostKey = translator.toHost(service, SERVICES);
    known.set(id, hostKey);
    const place = hostKey && formatKey(hostKey);
    if (place !== undefined) services.set(place, (services.get(place) ?? new Set()).add(id));
  }

  function hostKeyOf(service: ObjectKey): ObjectKey | undefined {
    const id = formatKey(service);
    return known.has(id) ? known.get(id) : translator.toHost(service, SERVICES);
  }

  function servicesAt(hostService: ObjectKey): readonly ObjectKey[] {
    return Array.from(services.get(formatKey(hostService)) ?? [], parseKey);
  }

  /** Returns the tenant Service that copies at this host key name: the caches of the tenant may have nothing of it, as at a start. */
  function markedAt(hostKey: ObjectKey): readonly ObjectKey[] {
    return [SERVICES, ENDPOINTS].flatMap((resource) => {
      const copy = host.source(resource).get(hostKey);
      const source = copy && ourMarkers(rules, copy, resource);
      if (source === undefined) return [];
      const service = { namespace: source.namespace, name: source.name };
      know(formatKey(service), service);
      return [service];
    });
  }

  /** Returns the host Services of a slice, from its label and from the Endpoints that it was made from, or from its name without these. */
  function placesIn(id: string, slice: KubeObject): readonly string[] {
    const labelled = serviceOfSlice(slice);
    const behind = endpointsBehind(translator.markerPrefix, slice);
    const made = behind !== undefined && whose(rules, behind) === "ours" ? behind : undefined;
    const service = made && formatKey(made);
    if (made !== undefined) know(service!, { namespace: made.namespace, name: made.name });
    noteMade(id, service);
    const stripped = labelled === undefined && behind === undefined ? copyNameIn(slice as EndpointSlice) : undefined;
    const places = new Set<string>();
    if (stripped !== undefined) places.add(formatKey({ namespace: slice.metadata.namespace ?? "", name: stripped }));
    if (labelled !== undefined) places.add(formatKey(labelled));
    if (made !== undefined) places.add(formatKey({ namespace: made.hostNamespace, name: made.hostName }));
    return [...places];
  }

  return {
    look(hostKey, slice) {
      const id = formatKey(hostKey);
      const before = placesOf.get(id) ?? [];
      const [madeBefore, written] = [madeFor.get(id), expected.get(id)];
      if (slice === undefined) noteMade(id, undefined);
      const now = slice === undefined ? [] : placesIn(id, slice);
      expected.delete(id);
      if (!sameTexts(before, now)) {
        for (const place of before) forgetIn(slices, place, id);
        for (const place of now) slices.set(place, (slices.get(place) ?? new Set()).add(id));
        if (now.length === 0) placesOf.delete(id);
        else placesOf.set(id, now);
      }
      // A Service for which the slice was made may have another host key now, or share its host key with another Service.
      const affected = new Set([written, madeBefore, madeFor.get(id)]);
      for (const places of [before, now])
        for (const place of places) for (const service of services.get(place) ?? []) affected.add(service);
      return [...affected].flatMap((text) => (text === undefined ? [] : [parseKey(text)]));
    },
    hostKeyOf,
    of(service) {
      const hostKey = hostKeyOf(service);
      const ids = new Set(hostKey && slices.get(formatKey(hostKey)));
      for (const id of madeOf.get(formatKey(service)) ?? []) ids.add(id);
      return Array.from(ids, parseKey);
    },
    expect(hostKey, service) {
      // The event of the write may come before its answer.
      if (hostSlices.get(hostKey) === undefined) expected.set(formatKey(hostKey), formatKey(service));
    },
    touch(service, change) {
      const id = formatKey(service);
      know(id, service);
      versions.set(id, (versions.get(id) ?? 0) + 1);
      if (change === "copied" && resting.has(id)) return false;
      resting.delete(id);
      return true;
    },
    rests: (service) => void resting.add(formatKey(service)),
    version: (service) => versions.get(formatKey(service)) ?? 0,
    hasMade: (service) => madeOf.has(formatKey(service)),
    servicesAt,
    serviceOf(copy) {
      const hostService = serviceOfSlice(copy);
      const namespace = ourMarkers(rules, copy, ENDPOINT_SLICES)?.namespace;
      if (hostService === undefined) return undefined;
      const isIts = (service: ObjectKey) => service.namespace === namespace;
      return servicesAt(hostService).find(isIts) ?? markedAt(hostService).find(isIts);
    },
    forget(service) {
      const id = formatKey(service);
      const hostKey = known.get(id);
      if (hostKey !== undefined) forgetIn(services, formatKey(hostKey), id);
      known.delete(id);
      versions.delete(id);
      resting.delete(id);
    },
    madeFor(hostKey) {
      const slice = hostSlices.get(hostKey);
      if (slice === undefined || ourMarkers(rules, slice, ENDPOINT_SLICES) !== undefined) return undefined;
      const behind = endpointsBehind(translator.markerPrefix, slice);
      return behind && { namespace: behind.namespace, name: behind.name };
    },
  };
}

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}

function forgetIn(groups: Map<string, Set<string>>, group: string, id: string): void {
  groups.get(group)?.delete(id);
  if (groups.get(group)?.size === 0) groups.delete(group);
}
