/**
 * EndpointSlices with the backends of a copy of Endpoints, for a host on which nothing else makes such slices. They are made from the
 * copy, which is already translated, patched and checked by the address policy.
 *
 * Endpoints stay in their slices, so that few slices change when addresses change, and no slice changes its name.
 *
 * @module
 */
import { sha256Hex } from "../../base/digest.ts";
import { canonicalJson, jsonEqual } from "../../base/json.ts";
import { slicesOf, type SliceContent } from "../../kube/object/endpoints/slices-of-endpoints.ts";
import { repackSubsets } from "../../kube/object/endpoints/subsets.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../kube/object/resource.ts";
import type {
  Endpoints,
  EndpointSlice,
  EndpointSubset,
  KubeObject,
  OwnerReference,
  SliceEndpoint,
  StringMap,
} from "../../kube/object/types.ts";
import { TRIGGER_TIME, withoutKeys } from "../reconcile/rules/excluded-keys.ts";
import { formatKind, isMarkerKey, readMarkers, readMarkersInAnnotations, writeMarkers, type CopySource } from "../translate/markers.ts";
import { controllerOf, SERVICE_NAME, SKIP_MIRROR, SLICE_MANAGER, sliceManager } from "./slice-labels.ts";

/** Endpoints of one slice. Source: the default of kube-controller-manager. */
const ENDPOINTS_MAX = 100;
/** Hex digits that distinguish slices with different ports or address families. */
const GROUP_DIGITS = 8;
/** Maximum length of a name, including the digest and the number of the slice. */
const NAME_MAX = 253;

/** Endpoints that may share slices: those with the same address family and the same ports. */
interface Group {
  readonly addressType: string;
  readonly ports: SliceContent["ports"];
  readonly wanted: Map<string, SliceEndpoint>;
}

/**
 * Returns the slices that a copy of Endpoints requires. `present` are the slices made from the copy before, in any order; those that are
 * not in the result must be deleted. Given its own result as `present`, the function returns it unchanged. It does not use names for which
 * `isTaken` returns true.
 *
 * @example
 * slicesOfCopy("sync.platform/", copy, []).map(({ metadata }) => metadata.name); // ["db-x-shop-x-blue-0c1d9b2e-0"]
 */
export function slicesOfCopy(
  markerPrefix: string,
  copy: Endpoints,
  present: readonly EndpointSlice[],
  isTaken: (name: string) => boolean = () => false,
): readonly EndpointSlice[] {
  const contents = contentsOf(copy, present, isTaken);
  const last = lastMade.get(copy);
  if (last?.contents === contents && last.markerPrefix === markerPrefix) return last.slices;
  const head = headOf(markerPrefix, copy);
  const { apiVersion, kind } = ENDPOINT_SLICES;
  const slices = contents.map(({ name, ...content }) => ({ apiVersion, kind, metadata: { ...head, name }, ...content }));
  lastMade.set(copy, { markerPrefix, contents, slices });
  return slices;
}

/** Results by copy: they are needed again with each change of an object that belongs to the Service. */
const lastMade = new WeakMap<
  Endpoints,
  { readonly markerPrefix: string; readonly contents: readonly NamedContent[]; readonly slices: readonly EndpointSlice[] }
>();

/** The content of one slice, and its name. */
type NamedContent = SliceContent & { readonly name: string };

/** The last result of {@link contentsAsked} for a list of subsets, and the input that it depends on. */
interface Contents {
  readonly copy: string | undefined;
  readonly present: ReadonlyMap<string | undefined, Pick<EndpointSlice, "addressType" | "endpoints">>;
  readonly taken: ReadonlyMap<string, boolean>;
  readonly contents: readonly NamedContent[];
}

/** By list of subsets: a cache keeps an unchanged list for the next version of an object, and most changes of a copy do not affect it. */
const lastContents = new WeakMap<readonly EndpointSubset[], Contents>();

function contentsOf(copy: Endpoints, present: readonly EndpointSlice[], isTaken: (name: string) => boolean): readonly NamedContent[] {
  const { subsets } = copy;
  const last = subsets && lastContents.get(subsets);
  if (last !== undefined && isAsked(last, copy, present, isTaken)) return last.contents;
  const taken = new Map<string, boolean>();
  const asks = (name: string) => taken.get(name) ?? taken.set(name, isTaken(name)).get(name)!;
  const contents = contentsAsked(copy, present, asks);
  const lists = new Map(present.map(({ metadata, addressType, endpoints }) => [metadata.name, { addressType, endpoints }]));
  if (subsets !== undefined) lastContents.set(subsets, { copy: copy.metadata.name, present: lists, taken, contents });
  return contents;
}

function isAsked(last: Contents, copy: Endpoints, present: readonly EndpointSlice[], isTaken: (name: string) => boolean): boolean {
  if (last.copy !== copy.metadata.name || last.present.size !== present.length) return false;
  for (const { metadata, addressType, endpoints } of present) {
    const before = last.present.get(metadata.name);
    if (before?.endpoints !== endpoints || before?.addressType !== addressType) return false;
  }
  for (const [name, answer] of last.taken) if (isTaken(name) !== answer) return false;
  return true;
}

function contentsAsked(copy: Endpoints, present: readonly EndpointSlice[], isTaken: (name: string) => boolean): NamedContent[] {
  return groupsOf(copy).flatMap((group) => {
    const base = baseOf(copy, group);
    const isFree = (index: number) => !isTaken(`${base}-${index}`);
    const own = new Map(
      present.flatMap((slice) => {
        const index = slice.addressType === group.addressType ? indexOf(slice, base) : undefined;
        return index === undefined || !isFree(index) ? [] : [[index, slice] as const];
      }),
    );
    const { addressType, ports } = group;
    return [...placed(group, own, isFree)].map(([index, endpoints]) => ({ name: `${base}-${index}`, addressType, endpoints, ports }));
  });
}

/**
 * Returns the copy of Endpoints from which {@link slicesOfCopy} made a slice on the host, whichever virtual cluster owns the copy;
 * undefined for every other slice. Slices that the host mirrors inherit the markers of the Endpoints too, but their names and managers have
 * a different form. Edits of a slice's labels do not change the result.
 */
export function madeFrom(markerPrefix: string, slice: KubeObject): CopySource | undefined {
  if (controllerOf(slice) !== undefined || !MADE_NAME.test(slice.metadata.name ?? "")) return undefined;
  return endpointsBehind(markerPrefix, slice);
}

const MADE_NAME = /-[0-9a-f]{8}-(0|[1-9][0-9]{0,3})$/;

/**
 * Returns the name of the copy of Endpoints that a slice was made from. The function reads it from the slice's own name, which consists of
 * the copy's name, a digest of the ports and a number, because other writers may have removed all markers. Undefined for every other slice,
 * and if the copy's name was too long to fit.
 *
 * @example
 * copyNameIn(slice); // "db-x-shop-x-blue"
 */
export function copyNameIn(slice: EndpointSlice): string | undefined {
  const { name = "" } = slice.metadata;
  if (controllerOf(slice) !== undefined || !MADE_NAME.test(name)) return undefined;
  const copy = name.replace(/-[^-]*-[^-]*$/, "");
  const { addressType, ports = [] } = slice;
  const base = baseOf({ metadata: { name: copy } } as Endpoints, { addressType, ports });
  return indexOf(slice, base) === undefined ? undefined : copy;
}

/**
 * Returns the copy of Endpoints that a slice on the host was made from, by a syncer or by a mirror, whichever virtual cluster owns the
 * copy; undefined if the slice was not made from one.
 *
 * @example
 * endpointsBehind("sync.platform/", slice)?.hostName; // "db-x-shop-x-blue"
 */
export function endpointsBehind(markerPrefix: string, slice: KubeObject): CopySource | undefined {
  const source = readMarkersInAnnotations(markerPrefix, slice);
  return source?.kind === KIND_OF_COPY ? source : undefined;
}

const KIND_OF_COPY = formatKind(ENDPOINTS);

function groupsOf({ subsets = [], ...copy }: Endpoints): Group[] {
  const groups = new Map<string, Group>();
  const packed = { ...copy, subsets: repackSubsets(subsets) } as Endpoints;
  const conditions = (ready: boolean) => ({ serving: ready, terminating: false });
  for (const { addressType, endpoints, ports } of slicesOf(packed, {
    addressesMax: Infinity,
    endpointsMax: Number.MAX_SAFE_INTEGER,
    conditions,
  })) {
    const id = canonicalJson([addressType, ports]);
    const group = groups.get(id) ?? { addressType, ports, wanted: new Map<string, SliceEndpoint>() };
    groups.set(id, group);
    for (const endpoint of endpoints ?? []) {
      const key = identityOf(endpoint);
      // An endpoint can be in two subsets with the same ports, because ports with an application protocol are not merged.
      if (endpoint.conditions?.ready === true || !group.wanted.has(key)) group.wanted.set(key, endpoint);
    }
  }
  return [...groups.values()];
}

/** The name of a slice without its number. */
function baseOf({ metadata: { name = "" } }: Endpoints, { addressType, ports }: Pick<Group, "addressType" | "ports">): string {
  const digest = sha256Hex(canonicalJson([name, addressType, ports])).slice(0, GROUP_DIGITS);
  return `${name.slice(0, NAME_MAX - GROUP_DIGITS - "--0000".length).replace(/[-.]+$/, "")}-${digest}`;
}

function indexOf({ metadata: { name = "" } }: KubeObject, base: string): number | undefined {
  const rest = name.startsWith(`${base}-`) ? name.slice(base.length + 1) : "";
  return /^(0|[1-9][0-9]{0,3})$/.test(rest) ? Number(rest) : undefined;
}

/** Assigns endpoints to slices. Known endpoints stay; new ones fill the slices that change anyway, then the fullest, then new slices. */
function placed(
  { wanted }: Group,
  own: ReadonlyMap<number, EndpointSlice>,
  isFree: (index: number) => boolean,
): Map<number, readonly SliceEndpoint[]> {
  const left = new Map(wanted);
  const slices = [...own].sort(([one], [other]) => one - other).map(([index, { endpoints }]) => stay(index, endpoints ?? [], left));
  const newcomers = [...left.values()];
  for (const { kept } of [...slices].sort(byFilling)) kept.push(...newcomers.splice(0, ENDPOINTS_MAX - kept.length));
  const result = new Map(
    // An unchanged slice keeps its own list, which need not be compared with itself.
    slices
      .filter(({ kept }) => kept.length > 0)
      .map(({ index, kept, before, changes }) => [index, changes || kept.length !== before.length ? kept : before]),
  );
  for (let index = 0; newcomers.length > 0; index += 1)
    if (!result.has(index) && isFree(index)) result.set(index, newcomers.splice(0, ENDPOINTS_MAX));
  return result;
}

interface Filling {
  readonly index: number;
  readonly before: readonly SliceEndpoint[];
  readonly kept: SliceEndpoint[];
  readonly changes: boolean;
}

/** Returns the endpoints of a slice that are still wanted, in their present form, and removes them from `left`. */
function stay(index: number, endpoints: readonly SliceEndpoint[], left: Map<string, SliceEndpoint>): Filling {
  const kept: SliceEndpoint[] = [];
  let changes = false;
  for (const endpoint of endpoints) {
    const id = identityOf(endpoint);
    const now = kept.length < ENDPOINTS_MAX ? left.get(id) : undefined;
    if (now === undefined || !jsonEqual(now, endpoint)) changes = true;
    if (now === undefined) continue;
    kept.push(now);
    left.delete(id);
  }
  return { index, before: endpoints, kept, changes };
}

function byFilling(one: Filling, other: Filling): number {
  return Number(other.changes) - Number(one.changes) || other.kept.length - one.kept.length || one.index - other.index;
}

/** The identity of an endpoint, determined like that of an address in Endpoints. */
function identityOf({ addresses, targetRef }: SliceEndpoint): string {
  return `${addresses?.[0] ?? ""} ${targetRef?.uid ?? ""}`;
}

/** All metadata but the name: the labels and annotations of the copy, like those that a mirror inherits, and the copy as the owner. */
function headOf(markerPrefix: string, { metadata }: Endpoints): KubeObject["metadata"] {
  const { name = "", namespace = "", uid = "", labels = {}, annotations = {} } = metadata;
  const inherits = (map: StringMap) =>
    withoutKeys(map, (key) => isMarkerKey(markerPrefix, key) || key === SKIP_MIRROR || key === TRIGGER_TIME);
  const owner: OwnerReference = { ...TYPE_OF_COPY, name, uid, controller: true };
  const marks = marksOf(markerPrefix, metadata);
  return {
    namespace,
    labels: { ...inherits(labels), ...marks.labels, [SERVICE_NAME]: name, [SLICE_MANAGER]: sliceManager(markerPrefix) },
    annotations: { ...inherits(annotations), ...marks.annotations },
    ownerReferences: [owner],
  };
}

const TYPE_OF_COPY = { apiVersion: ENDPOINTS.apiVersion, kind: ENDPOINTS.kind };

/** The markers of the copy without those that change with every version of its source, so that a slice is written only if it changes. */
function marksOf(markerPrefix: string, metadata: KubeObject["metadata"]): ReturnType<typeof writeMarkers> {
  const source = readMarkers(markerPrefix, { ...TYPE_OF_COPY, metadata });
  if (source === undefined) return { labels: {}, annotations: {} };
  const { resourceVersion: _resourceVersion, configHash: _configHash, ...lasting } = source;
  return writeMarkers(markerPrefix, lasting);
}
