/**
 * Reads the markers of a host object independently of the engine: an oracle that used the engine's own code would repeat its errors.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import type { World } from "../world.ts";

/** The markers of a copy. */
export interface Marks {
  readonly vcluster: string | undefined;
  /** Host namespace of the virtual cluster; missing on copies of earlier versions. */
  readonly vclusterNamespace: string | undefined;
  readonly kind: string | undefined;
  /** `namespace/name` of the tenant object. */
  readonly source: string;
  readonly uid: string | undefined;
  /** `namespace/name` of the host object that the markers were written for. */
  readonly host: string;
  readonly resourceVersion: number;
  readonly configHash: string | undefined;
}

const REQUIRED = [
  "vcluster",
  "object-kind",
  "object-namespace",
  "object-name",
  "object-uid",
  "object-host-name",
  "object-host-namespace",
] as const;

/** Cache of markers: every oracle reads those of the same few objects, which never change and belong to one world. */
const known = new WeakMap<KubeObject, Marks | "none">();

/** Reads the markers of an object; undefined if one that every copy has is missing. */
export function marksOf(world: World, object: KubeObject): Marks | undefined {
  let marks = known.get(object);
  if (marks === undefined) known.set(object, (marks = readMarks(prefixOf(world), object) ?? "none"));
  return marks === "none" ? undefined : marks;
}

function readMarks(prefix: string, { metadata: { annotations } }: KubeObject): Marks | undefined {
  if (annotations === undefined) return undefined;
  const at = (name: string) => annotations[prefix + name];
  if (REQUIRED.some((name) => at(name) === undefined)) return undefined;
  return {
    vcluster: at("vcluster"),
    vclusterNamespace: at("vcluster-namespace"),
    kind: at("object-kind"),
    source: `${at("object-namespace")}/${at("object-name")}`,
    uid: at("object-uid"),
    host: `${at("object-host-namespace")}/${at("object-host-name")}`,
    resourceVersion: Number(at("object-resource-version") ?? 0),
    configHash: at("config-hash"),
  };
}

/** Manager of slices that a mirror made from Endpoints. These contain nothing that the Endpoints do not. */
export const MIRROR_MANAGER = "endpointslicemirroring-controller.k8s.io";

/** The markers of an object if they were written for this object and by this virtual cluster. */
export function ownMarks(world: World, object: KubeObject): Marks | undefined {
  const marks = marksOf(world, object);
  const own = marks !== undefined && namesUs(world, marks) && marks.kind === `${object.apiVersion}/${object.kind}`;
  return own && marks.host === `${object.metadata.namespace}/${object.metadata.name}` ? marks : undefined;
}

/**
 * The markers of Endpoints on a slice that a syncer made from its copy of them; undefined for every other object. A mirror's slices inherit
 * the same markers, but name the mirror as their manager.
 */
export function madeOf(world: World, object: KubeObject): Marks | undefined {
  const marks = marksOf(world, object);
  if (object.kind !== "EndpointSlice" || marks === undefined || marks.kind !== "v1/Endpoints" || !namesUs(world, marks)) return undefined;
  const { labels = {}, name = "" } = object.metadata;
  const isMirrors = labels["endpointslice.kubernetes.io/managed-by"] === MIRROR_MANAGER;
  return !isMirrors && /-[0-9a-f]{8}-[0-9]+$/.test(name) ? marks : undefined;
}

/** The markers of Endpoints on a slice that a mirror made from our copy of them. */
export function mirroredFrom(world: World, object: KubeObject): Marks | undefined {
  const marks = marksOf(world, object);
  const manager = object.metadata.labels?.["endpointslice.kubernetes.io/managed-by"];
  const isMirrors = object.kind === "EndpointSlice" && manager === MIRROR_MANAGER;
  const host = `${object.metadata.namespace}/${object.metadata.labels?.["kubernetes.io/service-name"]}`;
  // Other Endpoints can have inherited our markers, and a mirror copies these.
  return isMirrors && marks?.kind === "v1/Endpoints" && namesUs(world, marks) && marks.host === host ? marks : undefined;
}

/** Reports whether the origin of slices, syncer or mirror, is decided per Service. */
export function decidesBackends(world: World): boolean {
  return world.generation.rules.some((rules) => rules.decidesBackends === true);
}

/** Reports whether markers name this virtual cluster: its name, and its namespace if they contain one. */
export function namesUs(world: World, { vcluster, vclusterNamespace }: Marks): boolean {
  const { name, namespace } = translatorOf(world).vcluster;
  return vcluster === name && (vclusterNamespace ?? namespace) === namespace;
}

/** The own markers of one of our copies. Undefined if they or the labels that identify a copy are missing. */
export function isCopy(world: World, object: KubeObject): Marks | undefined {
  return isMarked(world, object) ? ownMarks(world, object) : undefined;
}

/** Reports whether an object has markers and their labels, whether they are its own, inherited, or those of another virtual cluster. */
export function isMarked(world: World, object: KubeObject): boolean {
  const marks = marksOf(world, object);
  const labels = object.metadata.labels ?? {};
  const labelled = labels[`${prefixOf(world)}managed-by`] === marks?.vcluster;
  return marks !== undefined && labelled && marks.source.startsWith(`${labels[`${prefixOf(world)}namespace`]}/`);
}

/** The translator of a world: names and markers are the same in all its configurations. */
export function translatorOf(world: World) {
  return world.generation.rules[0]!.translator;
}

/** The prefix of all markers. */
export function prefixOf(world: World): string {
  return translatorOf(world).markerPrefix;
}

/**
 * The tenant object, with its UID, of which an object is a copy according to the markers of the syncer whose copies are adopted. Undefined
 * if no copies are adopted, or the object does not have these markers. Users write either all of these markers or none.
 */
export function adoptableSource(world: World, { metadata: { annotations = {} } }: KubeObject): { source: string; uid: string } | undefined {
  const { adopt } = world.generation.rules[0]!;
  const at = (name: string) => annotations[`${adopt}object-${name}`];
  if (adopt === undefined || at("uid") === undefined) return undefined;
  return { source: `${at("namespace")}/${at("name")}`, uid: at("uid")! };
}
