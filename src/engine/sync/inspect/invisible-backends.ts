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
import { controllerOf, serviceOfSlice } from "../../kinds/slice-labels.ts";
import type { Note } from "../../reconcile/plan-types.ts";
import { isCopyOf } from "../../reconcile/copy/ownership.ts";
import { hostServiceOwner } from "../../reconcile/predicate/host-service.ts";
import { decideCopy } from "../../reconcile/predicate/should-copy.ts";
import type { Rules, Surroundings } from "../../reconcile/rules/rules.ts";

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
  /** Explains why a running syncer cannot make or keep the copies of a Service. Default: missing copies are about to be made. */
  readonly withheld?: Withheld | undefined;
}

/** Returns the code of the note that prevents copies of a Service or of its Endpoints, by tenant key; undefined if nothing does. */
export type Withheld = (key: ObjectKey) => Code | undefined;

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
 * not selected or refused by the address policy do not count as missing, and addresses that are not ready need not be visible.
 *
 * @example
 * invisibleBackends({ rules, services, tenant, host }).map(({ note }) => note.code); // ["BACKENDS_INVISIBLE"]
 */
export function invisibleBackends(options: VisibilityOptions): InvisibleBackends[] {
  const rules = options.rules.find(({ kind }) => kind.resource === ENDPOINTS);
  // If Endpoints are not read at all, readers see only copies of slices.
  if (rules === undefined) return [];
  const seen = { rules, tenant: byService(options.tenant.slices ?? []), host: byService(options.host.slices) };
  return options.services.flatMap((key) => lookAt(options, seen, key) ?? []);
}

interface Seen {
  readonly rules: Rules;
  readonly tenant: ReadonlyMap<string, readonly EndpointSlice[]>;
  readonly host: ReadonlyMap<string, readonly EndpointSlice[]>;
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
  const { rules } = seen;
  const tenantService = options.tenant.get(SERVICES, key) as Service | undefined;
  const hostKey = rules.translator.toHost(key, SERVICES);
  const hostService = hostKey && (options.host.get(SERVICES, hostKey) as Service | undefined);
  if (tenantService === undefined || hostKey === undefined) return undefined;
  if (hostService === undefined && options.withheld?.(key) === undefined) return undefined;
  if (hostService !== undefined && hostServiceOwner(rules, key, { hostService }).whose !== "this") return undefined;
  const around = { tenantService, hostService };
  const backends = backendsOf(options, seen, { key, hostKey, around });
  const visible = addressesOf(viewOfSlices(seen.host.get(formatKey(hostKey)) ?? []));
  const wanted = addressesOf(backends.view);
  const missing = [...wanted].filter((address) => !visible.has(address)).length;
  if (missing === 0) return undefined;
  const numbers = { ready: wanted.size, seen: wanted.size - missing };
  return {
    tenant: key,
    host: hostKey,
    ...numbers,
    note: { code: "BACKENDS_INVISIBLE", message: messageOf(numbers, backends, options.auto) },
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
  readonly isTaken?: true;
}

interface About {
  readonly key: ObjectKey;
  readonly hostKey: ObjectKey;
  readonly around: Surroundings;
}

const NONE: Backends = { view: new Map(), source: "", remedy: "" };

/** Backends that readers on the host should see, without those of copied slices, which they do see. */
function backendsOf(options: VisibilityOptions, seen: Seen, { key, hostKey, around }: About): Backends {
  const { rules } = seen;
  const synced = options.rules.some(({ kind }) => kind.resource === ENDPOINT_SLICES);
  const slices = seen.tenant.get(formatKey(key)) ?? [];
  const endpoints = options.tenant.get(ENDPOINTS, key) as Endpoints | undefined;
  const own = slices.filter((slice) => endpoints === undefined || controllerOf(slice) === undefined);
  const alone = synced ? NONE : ofSlices(rules, own, around);
  if (endpoints === undefined) return alone;
  const copy = options.host.get(ENDPOINTS, hostKey) as Endpoints | undefined;
  const withheld = copy === undefined ? options.withheld?.(key) : undefined;
  const decision = decideCopy(rules, key, endpoints, around);
  const isWanted = decision.action === "copy" || (withheld !== undefined && decision.code === "HOST_SERVICE_MISSING");
  if (!isWanted) return alone;
  if (withheld !== undefined) return ofEndpointsWithout(rules, endpoints, withheldBy(withheld));
  if (copy === undefined) return alone;
  if (!isCopyOf(rules, copy, key)) return ofEndpointsWithout(rules, endpoints, takenBy(hostKey));
  const remedy = slices.length > 0 && !synced ? SYNC_SLICES : MIRROR;
  const copied = { view: viewOfEndpoints(copy), source: "Endpoints", remedy };
  if (alone.view.size === 0) return copied;
  return { view: new Map([...copied.view, ...alone.view]), source: `Endpoints and ${alone.source}`, remedy: alone.remedy };
}

const SYNC_SLICES =
  "nothing on the host makes slices from the copied Endpoints; let the syncer copy or make them (backends: auto in the settings)";
const MIRROR =
  "nothing on the host makes slices from the copied Endpoints; let the syncer make them (backends: auto in the settings), or the host's kube-controller-manager (endpointslice-mirroring-controller)";
const ONLY_SLICES = "only Endpoints are copied; let the syncer copy slices too (backends: auto in the settings)";

const WITH_AUTO: Readonly<Record<AutoHolds, string>> = {
  configured:
    "with backends: auto a running syncer copies or makes the missing slices, unless its own permissions on EndpointSlices are missing or the host refuses them; see its log",
  "without permissions":
    "permissions on EndpointSlices that backends: auto needs are missing; grant those that the syncer's log names and restart the syncer",
};

function takenBy({ namespace, name }: ObjectKey): string {
  return `Endpoints of another owner exist in place of the copy, ${namespace}/${name} (HOST_OBJECT_FOREIGN); remove or rename them`;
}

function withheldBy(code: Code): string {
  return `the copy is missing (${code}); see the Events of the Service and of its Endpoints`;
}

/** Backends of Endpoints that get no copy. */
function ofEndpointsWithout(rules: Rules, endpoints: Endpoints, remedy: string): Backends {
  const { object, rejected } = rules.kind.admitBody(endpoints, rules);
  if (rejected !== undefined) return NONE;
  return { view: viewOfEndpoints(object as Endpoints), source: "Endpoints", remedy, isTaken: true };
}

/** Backends that slices would bring to the host if they were synced. */
function ofSlices(rules: Rules, slices: readonly EndpointSlice[], around: Surroundings): Backends {
  const asSlices = { ...rules, kind: ENDPOINT_SLICES_KIND };
  const admitted = slices.flatMap((slice) => {
    if (decideCopy(asSlices, keyOf(slice), slice, around).action !== "copy") return [];
    const { object, rejected } = ENDPOINT_SLICES_KIND.admitBody(slice, asSlices);
    return rejected === undefined ? [object as EndpointSlice] : [];
  });
  return { view: viewOfSlices(admitted), source: numbered(admitted.length, "slice"), remedy: ONLY_SLICES };
}

function messageOf(
  { ready, seen }: { ready: number; seen: number },
  { source, remedy, isTaken }: Backends,
  auto: AutoHolds | undefined,
): string {
  const what = auto === undefined || isTaken === true ? remedy : WITH_AUTO[auto];
  return `The tenant has ${numbered(ready, "ready backend")} in ${source}, but readers on the host see ${seen}: ${what}`;
}

function numbered(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
