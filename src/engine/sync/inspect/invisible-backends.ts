/**
 * Backends that the tenant has and that readers on the host do not see. Readers there (kube-proxy, Gateways, most DNS) read EndpointSlices:
 * they do not see a copy of Endpoints, unless slices are made from it on the host.
 *
 * @module
 */
import type { Code } from "../../../base/codes.ts";
import { viewOfEndpoints, viewOfSlices, type ReaderView } from "../../../kube/object/endpoints/reader-view.ts";
import { formatKey, keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject, Service } from "../../../kube/object/types.ts";
import { ENDPOINT_SLICES_KIND } from "../../kinds/endpoint-slices.ts";
import { controllerOf, MIRROR, serviceOfSlice } from "../../kinds/slice-labels.ts";
import type { Note } from "../../reconcile/plan-types.ts";
import { isCopyOf } from "../../reconcile/copy/ownership.ts";
import { hostServiceOwner } from "../../reconcile/predicate/host-service.ts";
import { decideCopy, type CopyDecision } from "../../reconcile/predicate/should-copy.ts";
import type { Rules, Surroundings } from "../../reconcile/rules/rules.ts";
import { endpointsContents } from "../backends/collect-backends.ts";

/** One cluster as it is, whatever a run would change. */
export interface ComparedCluster {
  /** Services and Endpoints. */
  get(resource: ResourceType, key: ObjectKey): KubeObject | undefined;
  /** All slices; undefined if listing them is not allowed. */
  readonly slices: readonly KubeObject[] | undefined;
}

/** Input of the comparison. */
export interface VisibilityOptions {
  readonly rules: readonly Rules[];
  /** Tenant keys of the Services to look at. */
  readonly services: readonly ObjectKey[];
  readonly tenant: ComparedCluster;
  readonly host: ComparedCluster & { readonly slices: readonly KubeObject[] };
  /** Default: `backends: auto` does not apply yet, and messages recommend it. */
  readonly auto?: AutoHolds | undefined;
  /** Explains why copies are missing. Default: they are about to be made. */
  readonly withheld?: Withheld | undefined;
  /** Patches of Endpoints are configured. Default: the rules have some. */
  readonly patched?: boolean | undefined;
}

/**
 * Returns why there is no copy of a Service, of Endpoints or of a slice, by tenant key: the code of the note that prevents it, or "unknown".
 * Undefined if it is about to be made.
 */
export type Withheld = (resource: ResourceType, key: ObjectKey) => Code | "unknown" | undefined;

/** State of a `backends: auto` that applies: configured (the syncer's permissions are unknown), or this syncer lacks permissions for it. */
export type AutoHolds = "configured" | "without permissions";

/** One tenant Service whose backends readers on the host do not all see. */
export interface InvisibleBackends {
  readonly tenant: ObjectKey;
  readonly host: ObjectKey;
  /** Addresses that should take traffic on the host. */
  readonly ready: number;
  /** Number of these addresses that readers on the host see. */
  readonly seen: number;
  /** Describes this finding, with a remedy. */
  readonly note: Note;
}

/**
 * Checks Services whose host Service was created by this syncer or by the one that it works alongside. Objects that are paused, not mapped,
 * not selected or refused by the address policy do not count as missing, and addresses that are not ready need not be visible. What a copy
 * contains is compared, and not its source: patches may have changed it, and a copy that is not up to date is reported otherwise.
 *
 * @example
 * invisibleBackends({ rules, services, tenant, host }).map(({ note }) => note.code); // ["BACKENDS_INVISIBLE"]
 */
export function invisibleBackends(options: VisibilityOptions): InvisibleBackends[] {
  const rulesOf = (resource: ResourceType) => options.rules.find(({ kind }) => kind.resource === resource);
  const [services, endpoints, slices] = [SERVICES, ENDPOINTS, ENDPOINT_SLICES].map(rulesOf);
  const rules = endpoints ?? slices;
  if (rules === undefined) return [];
  const copies = new Map(slices === undefined ? [] : options.host.slices.map((slice) => [formatKey(keyOf(slice)), slice]));
  const views = { tenant: byService(options.tenant.slices ?? []), host: byService(options.host.slices), copies };
  const seen: Seen = { rules, services, endpoints, slices, ...views };
  return options.services.flatMap((key) => lookAt(options, seen, key) ?? []);
}

interface Seen {
  /** Those of Endpoints, or those of slices if Endpoints are not read. */
  readonly rules: Rules;
  readonly services: Rules | undefined;
  readonly endpoints: Rules | undefined;
  /** Undefined if slices are not synced. */
  readonly slices: Rules | undefined;
  readonly tenant: ReadonlyMap<string, readonly EndpointSlice[]>;
  readonly host: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** Slices on the host by key, if slices are synced. */
  readonly copies: ReadonlyMap<string, KubeObject>;
}

function byService(slices: readonly KubeObject[]): Map<string, EndpointSlice[]> {
  const groups = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    const service = serviceOfSlice(slice);
    if (service === undefined) continue;
    const group = groups.get(formatKey(service));
    if (group === undefined) groups.set(formatKey(service), [slice as EndpointSlice]);
    else group.push(slice as EndpointSlice);
  }
  return groups;
}

function lookAt(options: VisibilityOptions, seen: Seen, key: ObjectKey): InvisibleBackends | undefined {
  const { rules, services } = seen;
  const tenantService = options.tenant.get(SERVICES, key) as Service | undefined;
  const hostKey = rules.translator.toHost(key, SERVICES);
  const hostService = hostKey && (options.host.get(SERVICES, hostKey) as Service | undefined);
  if (tenantService === undefined || hostKey === undefined) return undefined;
  const unserved = hostService === undefined ? options.withheld?.(SERVICES, key) : undefined;
  if (hostService === undefined && unserved === undefined) return undefined;
  if (unserved !== undefined && services !== undefined && decideCopy(services, key, tenantService, {}).action !== "copy") return undefined;
  if (hostService !== undefined && hostServiceOwner(rules, key, { hostService }).whose !== "this") return undefined;
  const visible = addressesOf(viewOfSlices(seen.host.get(formatKey(hostKey)) ?? []));
  const parts = backendsOf(options, seen, { key, hostKey, unserved, around: { tenantService, hostService } });
  const wanted = new Set(parts.flatMap(({ view }) => [...addressesOf(view)]));
  const isMissing = (address: string) => !visible.has(address);
  const missing = [...wanted].filter(isMissing).length;
  if (missing === 0) return undefined;
  const numbers = { ready: wanted.size, seen: wanted.size - missing };
  const lacking = parts.filter(({ view }) => [...addressesOf(view)].some(isMissing));
  // What the host refuses stays hidden whatever `backends` is set to.
  const { remedy, isFixed } = (lacking.find((part) => part.isFixed === true) ?? lacking.at(-1))!;
  const source = parts.map((part) => part.source).join(" and ");
  return {
    tenant: key,
    host: hostKey,
    ...numbers,
    note: { code: "BACKENDS_INVISIBLE", message: messageOf(numbers, { source, remedy, isFixed }, options.auto) },
  };
}

/** Returns the ready addresses. Ports do not matter: a mirror takes all ports of an address, or none. */
function addressesOf(view: ReaderView): Set<string> {
  return new Set([...view.values()].flatMap(({ ready, address }) => (ready ? [address] : [])));
}

interface Backends {
  readonly view: ReaderView;
  /** Source in the tenant, in words. */
  readonly source: string;
  readonly remedy: string;
  /** The remedy is the same whatever `backends` is set to. */
  readonly isFixed?: true | undefined;
}

interface About {
  readonly key: ObjectKey;
  readonly hostKey: ObjectKey;
  readonly around: Surroundings;
  /** Why there is no host Service; undefined if there is one. */
  readonly unserved: ReturnType<Withheld>;
}

/** Backends that readers on the host should see, by their source. */
function backendsOf(options: VisibilityOptions, seen: Seen, about: About): Backends[] {
  const endpoints = seen.endpoints && (options.tenant.get(ENDPOINTS, about.key) as Endpoints | undefined);
  const ofEndpoints = endpoints && ofCopiedEndpoints(options, seen, about, endpoints);
  const beside = endpoints && { endpoints, isCopied: ofEndpoints !== undefined, contents: endpointsContents(endpoints) };
  const slices = ofSlices(options, seen, about, beside);
  return [...(ofEndpoints ? [ofEndpoints] : []), slices].filter(({ view }) => addressesOf(view).size > 0);
}

/** Reports whether an object is copied, or would be if there were a host Service. */
function isWanted({ unserved }: About, decision: CopyDecision): boolean {
  return decision.action === "copy" || (unserved !== undefined && decision.code === "HOST_SERVICE_MISSING");
}

/** Returns the backends of Endpoints; undefined if these are not copied. */
function ofCopiedEndpoints(options: VisibilityOptions, seen: Seen, about: About, endpoints: Endpoints): Backends | undefined {
  const { key, hostKey, around, unserved } = about;
  const { rules } = seen;
  if (!isWanted(about, decideCopy(rules, key, endpoints, around))) return undefined;
  const copy = options.host.get(ENDPOINTS, hostKey) as Endpoints | undefined;
  const source = "Endpoints";
  if (copy !== undefined && isCopyOf(rules, copy, key)) {
    const isInSlices = seen.tenant.has(formatKey(key)) && seen.slices === undefined;
    return { view: viewOfEndpoints(copy), source, remedy: isInSlices ? SYNC_SLICES : LET_MIRROR };
  }
  const withheld = unserved ?? options.withheld?.(ENDPOINTS, key);
  const { object, rejected } = rules.kind.admitBody(endpoints, rules);
  const isMissing = rejected === undefined && (copy !== undefined || withheld !== undefined);
  const remedy = copy === undefined ? withheldBy(withheld) : TAKEN_ENDPOINTS;
  return { view: isMissing ? viewOfEndpoints(object as Endpoints) : NOTHING, source, remedy, isFixed: true };
}

const NOTHING: ReaderView = new Map();

/** The tenant's Endpoints beside slices. */
interface Beside {
  readonly endpoints: Endpoints;
  readonly isCopied: boolean;
  readonly contents: ReturnType<typeof endpointsContents>;
}

/** Backends that slices bring to readers on the host, or would bring if they were synced. */
function ofSlices(options: VisibilityOptions, seen: Seen, about: About, beside: Beside | undefined): Backends {
  const { slices: synced, copies } = seen;
  const rules = synced ?? { ...seen.rules, kind: ENDPOINT_SLICES_KIND };
  const adds = addedBy(beside, about.around.hostService);
  let remedy: string | undefined;
  const views = (seen.tenant.get(formatKey(about.key)) ?? []).flatMap((slice) => {
    const key = keyOf(slice);
    const source = adds(slice);
    if (source === undefined || !isWanted(about, decideCopy(rules, key, slice, about.around))) return [];
    const place = rules.translator.toHost(key, ENDPOINT_SLICES);
    const there = place && copies.get(formatKey(place));
    if (there !== undefined && isCopyOf(rules, there, key)) return [there as EndpointSlice];
    const { object, rejected } = rules.kind.admitBody(source, rules);
    if (rejected !== undefined) return [];
    if (synced === undefined) return [object as EndpointSlice];
    const why = there === undefined ? whyWithoutCopy(options, seen, about, { slice, beside }) : TAKEN_SLICE;
    remedy ??= why;
    return why === undefined ? [] : [object as EndpointSlice];
  });
  const result = synced === undefined ? { remedy: ONLY_SLICES } : { remedy: remedy ?? MISPLACED, isFixed: true as const };
  return { view: viewOfSlices(views), source: numbered(views.length, "slice"), ...result };
}

/**
 * Returns a function that reduces a slice to what readers do not get from the Endpoints beside it; undefined if that is nothing. A
 * controller's slices contain more only if the Endpoints are empty, are over capacity, or lack an address family.
 */
function addedBy(beside: Beside | undefined, hostService: Service | undefined): (slice: EndpointSlice) => EndpointSlice | undefined {
  if (beside === undefined) return (slice) => slice;
  const { endpoints, isCopied, contents } = beside;
  const { clusterIP, ipFamilies } = hostService?.spec ?? {};
  // Readers of a Service with an address use its families only, and those of a headless one all.
  const isRead = (family: string) => clusterIP === "None" || !Array.isArray(ipFamilies) || ipFamilies.includes(family);
  let known: Set<string> | undefined;
  return (slice) => {
    const controller = controllerOf(slice);
    if (controller === undefined) return slice;
    const isMore = !contents.filled || contents.overCapacity || !contents.families.has(slice.addressType);
    if (!isCopied || controller === MIRROR || !isMore || !isRead(slice.addressType)) return undefined;
    const inEndpoints = (known ??= new Set([...viewOfEndpoints(endpoints).values()].map(({ address }) => address)));
    return { ...slice, endpoints: (slice.endpoints ?? []).filter(({ addresses }) => !inEndpoints.has(addresses?.[0] ?? "")) };
  };
}

/** Returns the remedy for a slice without a copy although slices are synced; undefined if the copy is about to be made. */
function whyWithoutCopy(
  options: VisibilityOptions,
  { endpoints, slices }: Seen,
  { unserved }: About,
  { slice, beside }: { readonly slice: EndpointSlice; readonly beside: Beside | undefined },
): string | undefined {
  const { patched = (endpoints?.patches.length ?? 0) > 0 } = options;
  const lacksFamily = beside !== undefined && controllerOf(slice) !== undefined && beside.contents.filled && !beside.contents.overCapacity;
  if (lacksFamily && patched && slices?.decidesBackends === true) return PATCH_SLICES;
  const withheld = unserved ?? options.withheld?.(ENDPOINT_SLICES, keyOf(slice));
  return withheld === undefined ? undefined : withheldBy(withheld);
}

const SYNC_SLICES =
  "nothing on the host makes slices from the copied Endpoints; let the syncer copy or make them (backends: auto in the settings)";
const LET_MIRROR =
  "nothing on the host makes slices from the copied Endpoints; let the syncer make them (backends: auto in the settings), or the host's kube-controller-manager (endpointslice-mirroring-controller)";
const ONLY_SLICES = "only Endpoints are copied; let the syncer copy slices too (backends: auto in the settings)";
const PATCH_SLICES =
  "the Endpoints lack an address family; because of the patches of endpoints, backends: auto does not copy the slices that have it; write the patches for endpointSlices too, and set backends: both";
/** The names of the host's objects are left out, because Events are the tenant's. */
const TAKEN_ENDPOINTS =
  "Endpoints of another owner exist in place of the copy (HOST_OBJECT_FOREIGN); remove or rename those that endpoint-sync audit names";
const TAKEN_SLICE =
  "a slice of another owner exists in place of a copy (HOST_OBJECT_FOREIGN); remove or rename the one that endpoint-sync audit names";

const MISPLACED =
  "a copied slice does not name the host Service: another writer has changed its labels, or the syncer cannot update it; see the Events of the slice, and the syncer's log";

const WITH_AUTO: Readonly<Record<AutoHolds, string>> = {
  configured:
    "with backends: auto, a running syncer copies or creates the missing slices, unless it lacks permissions on EndpointSlices or the host refuses the slices; see the syncer's log",
  "without permissions":
    "the syncer lacks the permissions on EndpointSlices for backends: auto; grant those that the syncer's log names and restart the syncer",
};

function withheldBy(code: ReturnType<Withheld>): string {
  if (code === "API_FORBIDDEN")
    return `the copy is missing (${code}): the host's API server refuses it, because of a quota, an admission webhook or a missing permission; the syncer's log quotes the response`;
  if (code === "unknown")
    return "the copy is missing; if a running syncer does not make it within seconds, run audit and why for the copy, or see the syncer's log: the host's API server may refuse the copy, for example because of a quota or an admission webhook";
  return `the copy is missing (${code}); see the Events of the Service, of its Endpoints and of its slices`;
}

function messageOf(
  { ready, seen }: { ready: number; seen: number },
  { source, remedy, isFixed }: Pick<Backends, "source" | "remedy" | "isFixed">,
  auto: AutoHolds | undefined,
): string {
  const what = auto === undefined || isFixed === true ? remedy : WITH_AUTO[auto];
  return `The tenant has ${numbered(ready, "ready backend")} in ${source}, but readers on the host see ${seen}: ${what}`;
}

function numbered(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
