/**
 * What readers in the tenant cluster see, compared with what readers on the host see. Unlike the other oracles of readers, this one does not
 * rely on copies.
 *
 * @module
 */
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import type { World } from "../world.ts";
import { expectationOf } from "./expectation.ts";
import { decidesBackends, isCopy, MIRROR_MANAGER, prefixOf, translatorOf } from "./marks.ts";
import { isAnothers, isServed } from "./host-service.ts";
import { isExcused, readOnHost } from "./readers.ts";
import { inBoth } from "./producers.ts";
import { backendsOf, readBy, slicesFrom } from "./view.ts";

/** An address that the policy refuses. */
const REFUSED = "168.63.129.16";

/** The sources of a Service's backends in the tenant. */
interface Sources {
  /** Slices that users have written. */
  readonly own: readonly KubeObject[];
  /** Slices that a controller has written from Pods. */
  readonly ofPods: readonly KubeObject[];
  /** Endpoints in the form of slices; undefined if there are none that have a copy. A working mirror shows its readers exactly these. */
  readonly endpoints: readonly KubeObject[] | undefined;
  /** The tenant's mirror shows its readers the Endpoints in addition to slices of Pods. */
  readonly isMirrored: boolean;
  /** Backends whose readiness is open. */
  readonly disputed: ReadonlySet<string>;
  /** Addresses without ports that a copy does not keep. */
  readonly absorbed: ReadonlySet<string>;
}

/** Collects the sources. Undefined if the contract leaves open whether one of them has a copy. */
function sourcesOf(world: World, service: ObjectKey): Sources | undefined {
  const { tenant } = world.clusters;
  const expected = (object: KubeObject, resource: typeof ENDPOINTS) => {
    const rules = world.generation.rules.find(({ kind }) => kind.resource === resource)!;
    return expectationOf(world, rules, object, rules.translator.toHost(keyOf(object), resource)).kind;
  };
  const slices = [...tenant.objects(ENDPOINT_SLICES).values()].filter(
    ({ metadata }) => metadata.namespace === service.namespace && metadata.labels?.["kubernetes.io/service-name"] === service.name,
  );
  const managerOf = ({ metadata }: KubeObject) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"];
  const sources = slices.filter((slice) => managerOf(slice) !== MIRROR_MANAGER);
  const endpoints = tenant.objects(ENDPOINTS).get(formatKey(service)) as Endpoints | undefined;
  const kinds = [...sources.map((slice) => expected(slice, ENDPOINT_SLICES)), ...(endpoints ? [expected(endpoints, ENDPOINTS)] : [])];
  if (!kinds.every((kind) => kind.startsWith("copy"))) return undefined;
  return {
    own: sources.filter((slice) => managerOf(slice) === undefined),
    ofPods: sources.filter((slice) => managerOf(slice) !== undefined),
    endpoints: endpoints && slicesFrom(endpoints),
    isMirrored: sources.length < slices.length,
    disputed: endpoints === undefined ? new Set() : disputedIn(endpoints),
    absorbed: endpoints === undefined ? new Set() : absorbedIn(endpoints),
  };
}

/**
 * Backends that Endpoints contain as ready and as not ready, for Pods with the same address. A copy does not name the Pods, and an API server
 * then keeps only one of the two.
 */
function disputedIn({ subsets = [] }: Endpoints): ReadonlySet<string> {
  const only = (field: "addresses" | "notReadyAddresses") =>
    backendsOf({ subsets: subsets.map(({ ports, [field]: addresses }) => ({ ports, addresses })) } as unknown as Endpoints);
  return new Set(inBoth(only("addresses"), only("notReadyAddresses")));
}

/**
 * Addresses that Endpoints contain with ports and without, for different Pods. A copy does not name the Pods, and an API server then keeps
 * only the ports.
 */
function absorbedIn(endpoints: Endpoints): ReadonlySet<string> {
  const all = [...backendsOf(endpoints).keys()];
  return new Set(all.filter((id) => !id.includes("/") && all.some((other) => other.includes("/") && other.startsWith(`${id}:`))));
}

/** All views that the contract allows: Endpoints are the source wherever they exist, unless slices of Pods contain more families. */
function viewsOf({ own, ofPods, endpoints = [], isMirrored }: Sources): readonly ReadonlySet<string>[] {
  const [byEndpoints, byPods] = [
    [...own, ...endpoints],
    [...own, ...ofPods],
  ];
  const view = (slices: readonly KubeObject[]) => new Set([...readBy(slices)].filter((text) => !text.includes(REFUSED)));
  const families = (slices: readonly KubeObject[]) =>
    new Set((slices as readonly EndpointSlice[]).flatMap((slice) => ((slice.endpoints ?? []).length > 0 ? [slice.addressType] : [])));
  if (ofPods.length === 0) return [view(byEndpoints)];
  const isMore = [...families(ofPods)].some((family) => !families(endpoints).has(family));
  const both = isMirrored ? [view([...byEndpoints, ...ofPods])] : [];
  if (families(endpoints).size === 0) return [view(byPods)];
  // Slices of Pods that are copied stay the source, although Endpoints have the same families by now, or more.
  return isMore ? [view(byPods), ...both] : [view(byEndpoints), view(byPods), ...both];
}

/** Reports whether the source of a copy belongs to another Service by now, for which it waits: until then, the copy stays as it is. */
function hasMoved(world: World, copy: KubeObject, service: ObjectKey): boolean {
  const source = world.clusters.tenant.objects(ENDPOINT_SLICES).get(isCopy(world, copy)!.source);
  const name = source?.metadata.labels?.["kubernetes.io/service-name"];
  return name !== undefined && name !== service.name && isExcused(world, { namespace: source!.metadata.namespace!, name });
}

/** Reports whether the delete brake keeps the copy of a slice that the tenant does not have any more. */
function isBraked(world: World, copy: KubeObject): boolean {
  const source = parseKey(isCopy(world, copy)!.source);
  return world.replicas.every((replica) => replica.notes(ENDPOINT_SLICES.plural, source).includes("DELETE_BRAKE"));
}

/** Reports whether the source of a copy is paused: until it no longer is, the copy stays as it is. */
function isPaused(world: World, copy: KubeObject): boolean {
  const source = world.clusters.tenant.objects(ENDPOINT_SLICES).get(isCopy(world, copy)!.source);
  return source?.metadata.annotations?.[`${prefixOf(world)}pause`] === "true";
}

/** L8: at rest, with `backends: auto` and without patches, readers of slices on the host see exactly what readers in the tenant see. */
export function checkTenantView(world: World): { readonly oracle: string; readonly message: string } | undefined {
  if (!decidesBackends(world) || world.generation.rules.some(({ patches }) => patches.length > 0)) return undefined;
  for (const service of world.options.names) {
    const place = translatorOf(world).toHost(service, SERVICES);
    if (place === undefined || !isServed(world, place) || isExcused(world, service) || isAnothers(world, place, formatKey(service)))
      continue;
    const sources = sourcesOf(world, service);
    if (sources === undefined) continue;
    const { copies, seen, read } = readOnHost(world, service, place);
    if (copies.some((copy) => hasMoved(world, copy, service) || isBraked(world, copy) || isPaused(world, copy))) continue;
    const idOf = (text: string) => text.replace(/[~!]$/, "");
    const isDisputed = (text: string) => sources.disputed.has(idOf(text));
    // Another slice can say more of a disputed backend than that it takes no traffic.
    const isThere = (id: string) => ["", "~", "!"].some((mark) => read.has(id + mark));
    const isRead = (text: string) =>
      read.has(text) || read.has(idOf(text)) || (isDisputed(text) && isThere(idOf(text))) || sources.absorbed.has(idOf(text));
    const wrong = viewsOf(sources).map((wanted) => ({
      missing: [...wanted].filter((text) => !isRead(text)),
      surplus: [...seen].filter((text) => !wanted.has(text) && !isDisputed(text)),
    }));
    if (wrong.some(({ missing, surplus }) => missing.length + surplus.length === 0)) continue;
    const { missing, surplus } = wrong[0]!;
    const texts = [...missing.map((text) => `miss ${text}`), ...surplus.map((text) => `see ${text}`)];
    return { oracle: "L8", message: `readers of ${formatKey(service)} on the host ${texts.join(", ")}, unlike those in the tenant` };
  }
  return undefined;
}
