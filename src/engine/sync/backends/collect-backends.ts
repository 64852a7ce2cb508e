import { viewOfEndpoints, viewOfSlices, type ReaderView } from "../../../kube/object/endpoints/reader-view.ts";
import { keyOf, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES } from "../../../kube/object/resource.ts";
import type { Endpoints, EndpointSlice, EndpointSubset, KubeObject, Service } from "../../../kube/object/types.ts";
import { copyNameIn, endpointsBehind, madeFrom, slicesOfCopy } from "../../kinds/made-slices.ts";
import { controllerOf, MIRROR, serviceOfSlice, SKIP_MIRROR, SLICE_MANAGER } from "../../kinds/slice-labels.ts";
import { bodyChanges, bodyIsAsWritten, markersOfCopy } from "../../reconcile/copy/ownership.ts";
import { decideCopy, isPaused } from "../../reconcile/predicate/should-copy.ts";
import type { Rules, Surroundings } from "../../reconcile/rules/rules.ts";
import { remembered } from "../../reconcile/rules/remembered.ts";
import { isMarkedAsOther, isMarkedBySyncer } from "../../translate/foreign-markers.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";
import type { CopySource } from "../../translate/markers.ts";
import type { Tracked } from "../run/reconcile.ts";
import type { BackendsSeen, Completeness } from "./decide-backends.ts";
import { isAsMade } from "./plan-made-slices.ts";

/** The known state of one Service on both sides. */
export interface KnownBackends {
  readonly service: ObjectKey;
  /** Host key of the copy of Endpoints; undefined when the namespace is not mapped. */
  readonly hostKey: ObjectKey | undefined;
  readonly hostService: ObjectKey | undefined;
  readonly endpoints: { readonly rules: Rules; readonly tenant: Endpoints | undefined; readonly host: KubeObject | undefined };
  readonly slices: Tracked;
  readonly tenantSlices: readonly ObjectKey[];
  readonly hostSlices: readonly ObjectKey[];
  /** Returns a slice as the host's cache has it, regardless of the answers to later writes. */
  shown(hostKey: ObjectKey): KubeObject | undefined;
  /** Reports whether a tenant slice translates to this host key. */
  isClaimed(hostKey: ObjectKey): boolean;
  readonly services: {
    readonly tenant: KubeObject | undefined;
    readonly host: KubeObject | undefined;
    readonly ownsHost: boolean | undefined;
  };
}

/** The state that a decision is based on, and the objects behind it. */
export interface CollectedBackends {
  readonly service: ObjectKey;
  readonly seen: Omit<BackendsSeen, "mirrorWaited" | "copyWaited" | "othersWaited">;
  readonly hostKey: ObjectKey | undefined;
  readonly hostService: ObjectKey | undefined;
  /** The tenant's Endpoints. */
  readonly endpoints: Endpoints | undefined;
  /** Our copy of Endpoints. */
  readonly copy: Endpoints | undefined;
  /** Returns what readers would see of the tenant's Endpoints without patches. */
  readonly inEndpoints: () => ReaderView;
  /** No patch changes addresses, ports or readiness, so that Endpoints, slices and their copies can be compared. */
  readonly isComparable: boolean;
  /** True if Endpoints that are not our copy are in its place. */
  readonly isTaken: boolean;
  /** The copies of the tenant's slices that are counted, as the host shows them; those of its mirror only if the place is taken. */
  readonly copies: readonly EndpointSlice[];
  /** Slices of another syncer for the host Service, or of any other writer if the place is taken. */
  readonly others: readonly EndpointSlice[];
  /** Slices that we made from Endpoints of this Service, in any order. */
  readonly made: readonly EndpointSlice[];
  /** Slices that the host's mirror made from our copy. */
  readonly mirrored: readonly EndpointSlice[];
  /** Reports whether other writers have changed the copy: it is about to change again, because the edit is undone or synced back. */
  readonly isEdited: () => boolean;
  /** Returns the slices that should be made from the copy. */
  readonly desired: () => readonly EndpointSlice[];
  /** Returns the made slices without ready endpoints that the tenant no longer has: no copy shows its changes while the place is taken. */
  readonly lasting: () => readonly EndpointSlice[];
}

/** Maximum number of addresses of a subset in a mirror. Source: `--mirroring-max-endpoints-per-subset` of kube-controller-manager. */
const MIRRORED_MAX = 1_000;

/** Maximum length of the name of a Service, and of the value of the label with which a slice names its Service. */
const SERVICE_NAME_MAX = 63;

/** Collects the known state that a decision is based on, in time linear in the slices of the Service. */
export function collectBackends(known: KnownBackends): CollectedBackends {
  const { service, hostKey, endpoints, slices, hostSlices } = known;
  const { rules } = endpoints;
  const prefix = rules.translator.markerPrefix;
  const markers = endpoints.host && markersOfCopy(rules, endpoints.host, service);
  const copy = markers && (endpoints.host as Endpoints);
  const standing = hostSlices.flatMap((key) => (slices.host.get(key) as EndpointSlice | undefined) ?? []);
  const made = standing.filter((slice) => isMade(known, slice, copy));
  const mirrored = standing.filter((slice) => isMirrored(known, slice));
  const taken = copy === undefined && endpoints.host !== undefined;
  const { copies, ofControllers, own, derived, mirrored: ofMirror } = countTenant(known, taken);
  const isOther = (slice: EndpointSlice) => (taken ? isAlien(known, slice) && !made.includes(slice) : isAnothers(known, slice));
  const others = standing.filter(isOther);
  let slicesOf: readonly EndpointSlice[] | undefined;
  const isServed = copy !== undefined && (copy.metadata.name ?? "").length <= SERVICE_NAME_MAX;
  const desired = () => (slicesOf ??= !isServed ? [] : slicesOfCopy(prefix, copy, made, (name) => isTaken(known, name, copy)));
  const wanted = seenEndpoints(known);
  const isEdited = () => copy !== undefined && wanted?.wanted === true && !bodyIsAsWritten(rules, copy, endpoints.tenant!);
  return {
    service,
    seen: {
      endpoints: wanted,
      served: known.services.host !== undefined,
      patched: rules.patches.length > 0,
      own,
      derived,
      mirrored: ofMirror,
      taken,
      copy: copy && {
        skipsMirror: copy.metadata.labels?.[SKIP_MIRROR] === "true",
        filled: viewOf(copy.subsets ?? NO_SUBSETS).size > 0,
        large: (copy.subsets ?? []).some(
          ({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length > MIRRORED_MAX,
        ),
        behind: wanted?.wanted === true && isBehind(rules, copy, markers!, endpoints.tenant!),
      },
      mirror: mirrored.length === 0 ? "none" : copy !== undefined && isMirroredFully(copy, mirrored) ? "equal" : "behind",
      made: copy === undefined || made.length === 0 ? (made.length === 0 ? "none" : "behind") : comparedWith(slices.rules, made, desired()),
      madeShown: made.length > 0 && desired().every((slice) => isShown(known, slice)),
      others: shownByOthers(taken ? viewOfSlices([...ofControllers, ...made]) : copy && viewOf(copy.subsets ?? NO_SUBSETS), others),
    },
    hostKey,
    hostService: known.hostService,
    endpoints: endpoints.tenant,
    inEndpoints: () => viewInTenant(endpoints.tenant),
    copy,
    isComparable: [...rules.patches, ...slices.rules.patches].every(keepsBackends),
    isTaken: taken,
    copies,
    others,
    made,
    mirrored,
    isEdited,
    desired,
    lasting: () =>
      wanted?.wanted === true && rules.patches.every(keepsBackends) ? made.map((slice) => without(slice, endpoints.tenant!)) : made,
  };
}

/** Reports whether a copy does not have the current addresses and ports of its Endpoints. */
function isBehind(rules: Rules, copy: Endpoints, { resourceVersion }: CopySource, tenant: Endpoints): boolean {
  return resourceVersion !== tenant.metadata.resourceVersion && bodyChanges(rules, copy, tenant).tenant;
}

/** Reports whether a tenant slice has the name, or a host slice that was not made from this copy. */
function isTaken(known: KnownBackends, name: string, copy: Endpoints): boolean {
  const { hostKey, slices, isClaimed } = known;
  const place = { namespace: hostKey?.namespace ?? "", name };
  if (isClaimed(place)) return true;
  const there = slices.host.get(place);
  return there !== undefined && !isMade(known, there as EndpointSlice, copy);
}

/** Reports whether we made the slice for this Service: by its markers, or by its name if other writers have removed all markers. */
function isMade(known: KnownBackends, slice: EndpointSlice, copy: Endpoints | undefined): boolean {
  if (madeFor(known, slice) !== undefined) return true;
  const { rules } = known.slices;
  const { namespace = "", name = "" } = slice.metadata;
  if (copy === undefined || namespace !== copy.metadata.namespace || known.isClaimed({ namespace, name })) return false;
  return endpointsBehind(rules.translator.markerPrefix, slice) === undefined && copyNameIn(slice) === copy.metadata.name;
}

/** Returns the markers of a slice that we made for this Service, wherever it is; undefined for other slices. */
function madeFor({ service, slices: { rules } }: KnownBackends, slice: KubeObject): CopySource | undefined {
  const source = madeFrom(rules.translator.markerPrefix, slice);
  return source !== undefined && sameKey(source, service) && whose(rules, source) === "ours" ? source : undefined;
}

const NO_SUBSETS: readonly EndpointSubset[] = [];

/** Remembered, because a cache keeps an unchanged list from one version to the next. */
const viewOf = remembered((subsets: readonly EndpointSubset[]) => viewOfEndpoints({ subsets } as unknown as Endpoints));

function seenEndpoints({ service, endpoints: { rules, tenant }, services }: KnownBackends): BackendsSeen["endpoints"] {
  if (tenant === undefined || tenant.metadata.deletionTimestamp) return undefined;
  const decision = decideCopy(rules, service, tenant, aroundOf(services));
  // Endpoints that only wait for their host Service are the source as soon as there is one.
  const waits = decision.action === "leave" && decision.code === "HOST_SERVICE_MISSING";
  return {
    ...endpointsContents(tenant),
    wanted: decision.action === "copy" || waits,
    paused: isPaused(rules.translator.markerPrefix, tenant),
  };
}

/** Returns what Endpoints contain: whether there are any addresses, their families, and whether some are left out. */
export function endpointsContents({
  metadata,
  subsets,
}: Endpoints): Pick<NonNullable<BackendsSeen["endpoints"]>, "filled" | "families" | "overCapacity"> {
  const overCapacity = metadata.annotations?.["endpoints.kubernetes.io/over-capacity"] === "truncated";
  return { ...summaryOf(Array.isArray(subsets) ? subsets : NO_SUBSETS), overCapacity };
}

/** The Services of both sides that a decision about a copy depends on. */
export function aroundOf({ tenant, host, ownsHost }: KnownBackends["services"]): Surroundings {
  return {
    tenantService: tenant as Service | undefined,
    hostService: host as Service | undefined,
    ...(ownsHost === true && { ownsHostService: true }),
  };
}

/** Summary of the addresses: whether there are any, and their families. Remembered, because every decision needs it. */
const summaryOf = remembered((subsets: readonly EndpointSubset[]) => {
  const addresses = subsets.flatMap(({ addresses: ready, notReadyAddresses }) => [...(ready ?? []), ...(notReadyAddresses ?? [])]);
  const families = new Set(addresses.map(({ ip }) => (typeof ip === "string" && ip.includes(":") ? "IPv6" : "IPv4")));
  return { filled: addresses.length > 0, families };
});

function isShown({ slices: { rules }, shown }: KnownBackends, slice: EndpointSlice): boolean {
  const there = shown(keyOf(slice)) as EndpointSlice | undefined;
  return there !== undefined && isAsMade(rules, there, slice);
}

function countTenant(
  known: KnownBackends,
  taken: boolean,
): Pick<BackendsSeen, "own" | "derived" | "mirrored"> & Record<"copies" | "ofControllers", readonly EndpointSlice[]> {
  const { slices, tenantSlices, services } = known;
  const around = aroundOf(services);
  const own = { count: 0, copied: 0, standing: 0 };
  const derived = { count: 0, copied: 0, standing: 0, filled: false, families: new Set<string>() };
  const mirrored = { count: 0, copied: 0, standing: 0 };
  const [copies, ofControllers]: [EndpointSlice[], EndpointSlice[]] = [[], []];
  for (const key of tenantSlices) {
    const slice = slices.tenant.get(key) as EndpointSlice | undefined;
    const controller = slice && controllerOf(slice);
    if (slice === undefined || slice.metadata.deletionTimestamp) continue;
    // A slice that gets no copy, for example a paused one, is not counted, so that nothing waits for it.
    if (controller === undefined && decideCopy(slices.rules, key, slice, around).action !== "copy") continue;
    const counted = controller === undefined ? own : controller === MIRROR ? mirrored : derived;
    counted.count += 1;
    const place = slices.rules.translator.toHost(key, ENDPOINT_SLICES);
    const copy = place && copyOf(known, slice, known.shown(place));
    // A copy that this process has just made stands, even if the cache does not show it yet.
    if ((copy ?? (place && copyOf(known, slice, slices.host.get(place)))) !== undefined) counted.standing += 1;
    if (copy !== undefined && controller !== undefined) ofControllers.push(copy.object);
    if (copy?.isOfThisLife === true) counted.copied += 1;
    // Slices that a mirror made from Endpoints contain nothing of their own.
    if (copy?.isOfThisLife === true && (controller !== MIRROR || taken)) copies.push(copy.object);
    if (controller === undefined || controller === MIRROR || (slice.endpoints ?? []).length === 0) continue;
    derived.filled = true;
    derived.families.add(slice.addressType);
  }
  return { own, derived, mirrored, copies, ofControllers };
}

/** Returns `copy` if it is that of the slice, or of an earlier slice with its name, is not being deleted, and belongs to the same Service. */
function copyOf(
  { slices: { rules }, hostService }: KnownBackends,
  slice: EndpointSlice,
  copy: KubeObject | undefined,
): { readonly object: EndpointSlice; readonly isOfThisLife: boolean } | undefined {
  if (copy === undefined || hostService === undefined) return undefined;
  const source = copy.metadata.deletionTimestamp ? undefined : ourMarkers(rules, copy, ENDPOINT_SLICES);
  const service = serviceOfSlice(copy);
  if (source === undefined || service === undefined || !sameKey(service, hostService)) return undefined;
  return { object: copy as EndpointSlice, isOfThisLife: source.uid === (slice.metadata.uid ?? "") };
}

function comparedWith(rules: Rules, made: readonly EndpointSlice[], desired: readonly EndpointSlice[]): Completeness {
  const byName = new Map(made.map((slice) => [slice.metadata.name, slice]));
  const isThere = (slice: EndpointSlice) => {
    const there = byName.get(slice.metadata.name);
    return there !== undefined && isAsMade(rules, there, slice);
  };
  return desired.length === made.length && desired.every(isThere) ? "equal" : "behind";
}

/** Reports whether a mirror made the slice from the copy of this Service's Endpoints, and not from other Endpoints in the same place. */
function isMirrored({ service, hostKey, slices: { rules } }: KnownBackends, slice: EndpointSlice): boolean {
  if (slice.metadata.labels?.[SLICE_MANAGER] !== MIRROR || slice.metadata.deletionTimestamp) return false;
  const source = endpointsBehind(rules.translator.markerPrefix, slice);
  if (source === undefined || !sameKey(source, service) || whose(rules, source) !== "ours") return false;
  // Other Endpoints can have inherited our markers, or claim to be the copy, and a mirror passes that on.
  const named = serviceOfSlice(slice);
  const isPlace = (key: ObjectKey) => hostKey !== undefined && sameKey(key, hostKey);
  return named !== undefined && isPlace(named) && isPlace({ namespace: source.hostNamespace, name: source.hostName });
}

/** Reports whether another syncer on this host wrote the slice. One with markers of another kind, such as Endpoints, does not count. */
function isAnothers(known: KnownBackends, slice: EndpointSlice): boolean {
  if (controllerOf(slice) !== undefined || !isMarkedBySyncer(slice)) return false;
  return isAlien(known, slice) && !isMarkedAsOther(ENDPOINT_SLICES, slice);
}

/** Reports whether a slice shows readers of the host Service backends, and is not a copy of ours. */
function isAlien({ slices, hostService }: KnownBackends, slice: EndpointSlice): boolean {
  const service = serviceOfSlice(slice);
  if (hostService === undefined || service === undefined || !sameKey(service, hostService)) return false;
  return ourMarkers(slices.rules, slice, ENDPOINT_SLICES) === undefined;
}

/** Compares the slices of others with what readers should see. They need not show endpoints that take no traffic. */
function shownByOthers(wanted: ReaderView | undefined, theirs: readonly EndpointSlice[]): Completeness {
  if (theirs.length === 0) return "none";
  const seen = viewOfSlices(theirs);
  return wanted !== undefined && [...wanted].every(([id, { ready }]) => !ready || seen.get(id)?.ready === true) ? "equal" : "behind";
}

/** Fields of an endpoint that are no part of what readers compare, in Endpoints and in slices. */
const BESIDE_BACKENDS: ReadonlySet<string> = new Set(["zone", "hints", "nodeName", "hostname", "targetRef", "deprecatedTopology"]);

/** Reports whether a patch changes neither addresses nor ports nor readiness. */
function keepsBackends({ path: { segments } }: Rules["patches"][number]): boolean {
  const keys = segments.flatMap((segment) => (segment.kind === "key" ? [segment.key] : []));
  return keys[0] === "metadata" || keys.some((key) => BESIDE_BACKENDS.has(key));
}

function viewInTenant(tenant: Endpoints | undefined): ReaderView {
  return viewOf(Array.isArray(tenant?.subsets) ? tenant.subsets : NO_SUBSETS);
}

/** Returns a slice without the endpoints that these Endpoints no longer have with any of its ports; the others get their readiness. */
function without(slice: EndpointSlice, tenant: Endpoints): EndpointSlice {
  const wanted = viewInTenant(tenant);
  const all = slice.endpoints ?? [];
  const endpoints = all.flatMap((endpoint) => {
    const backends = [...viewOfSlices([{ ...slice, endpoints: [endpoint] }]).keys()].flatMap((id) => wanted.get(id) ?? []);
    if (backends.length === 0) return [];
    const ready = backends.some((backend) => backend.ready);
    return ready === (endpoint.conditions?.ready !== false)
      ? [endpoint]
      : [{ ...endpoint, conditions: { ...endpoint.conditions, ready, serving: ready } }];
  });
  return endpoints.length === all.length && endpoints.every((one, at) => one === all[at]) ? slice : { ...slice, endpoints };
}

/** Reports whether the slices of a mirror show all of the copy. Remembered, because every change asks, even one of annotations alone. */
function isMirroredFully({ subsets = NO_SUBSETS }: Endpoints, mirrored: readonly EndpointSlice[]): boolean {
  const lists = mirrored.flatMap(({ addressType, endpoints, ports }) => [addressType, endpoints, ports]);
  const known = lastMirrored.get(subsets);
  if (known?.lists.length === lists.length && lists.every((list, at) => list === known.lists[at])) return known.isFull;
  const isFull = sameView(viewOf(subsets), viewOfSlices(mirrored));
  lastMirrored.set(subsets, { lists, isFull });
  return isFull;
}

const lastMirrored = new WeakMap<readonly EndpointSubset[], { readonly lists: readonly unknown[]; readonly isFull: boolean }>();

function sameView(one: ReaderView, other: ReaderView): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([id, { ready }]) => other.get(id)?.ready === ready);
}
