import { slicesOf } from "../../../kube/object/endpoints/slices-of-endpoints.ts";
import { keyOf } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../kube/object/types.ts";
import { jsonEqual } from "../../../base/json.ts";
import type { Act } from "../act.ts";
import { withMeta } from "../act.ts";
import type { Random } from "../model/random.ts";
import { drawFieldValue } from "../model/objects.ts";
import { decidesBackends, madeOf } from "../oracles/marks.ts";
import type { World } from "../world.ts";

const MANAGER = "endpointslicemirroring-controller.k8s.io";

/** The slices that the host's mirror wants for one Endpoints, under names of its own. */
function wantedOf(endpoints: Endpoints): KubeObject[] {
  const { name = "", namespace = "", labels = {}, annotations = {} } = endpoints.metadata;
  if (labels["endpointslice.kubernetes.io/skip-mirror"] === "true") return [];
  const contents = slicesOf(endpoints, { addressesMax: 1_000, endpointsMax: 1_000, conditions: () => ({}) });
  return contents.map((content, index) => ({
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
    metadata: {
      ...{ namespace, name: `${name}-m${index}` },
      labels: { ...labels, "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": MANAGER },
      annotations,
    },
    ...content,
  }));
}

function isMirrors({ metadata }: KubeObject): boolean {
  return metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === MANAGER && /-m[0-9]+$/.test(metadata.name ?? "");
}

/** Lets the host's mirror do all its pending work. Returns whether there was any. */
export async function mirror(world: World): Promise<boolean> {
  if (!decidesBackends(world)) return false;
  const { host } = world.clusters;
  const there = new Map([...host.objects(ENDPOINT_SLICES)].filter(([, slice]) => isMirrors(slice)));
  if (!world.mirroring) return collect(world, [...there.values()]);
  const wanted = [...host.objects(ENDPOINTS).values()].flatMap((endpoints) => wantedOf(endpoints as Endpoints));
  world.mirrorWrites = true;
  let did = false;
  for (const slice of wanted) {
    const id = `${slice.metadata.namespace}/${slice.metadata.name}`;
    const before = there.get(id);
    there.delete(id);
    if (before !== undefined && sameSlice(before, slice)) continue;
    const change = { ...slice, metadata: { ...before?.metadata, ...slice.metadata } };
    did =
      (await world.write("host", (writer) => (before ? writer.update(ENDPOINT_SLICES, change) : writer.create(ENDPOINT_SLICES, slice)))) ||
      did;
  }
  for (const slice of there.values()) did = (await world.write("host", (writer) => writer.delete(ENDPOINT_SLICES, keyOf(slice)))) || did;
  world.mirrorWrites = false;
  return did;
}

/** What was mirrored goes with its Endpoints, whether the mirror works or not. */
async function collect(world: World, slices: readonly KubeObject[]): Promise<boolean> {
  const { host } = world.clusters;
  const names = new Set([...host.objects(ENDPOINTS).keys()]);
  const gone = slices.filter(({ metadata: { namespace, labels } }) => !names.has(`${namespace}/${labels?.["kubernetes.io/service-name"]}`));
  for (const slice of gone) await world.write("host", (writer) => writer.delete(ENDPOINT_SLICES, keyOf(slice)));
  return gone.length > 0;
}

function sameSlice(one: KubeObject, other: KubeObject): boolean {
  const told = ({ metadata: { labels, annotations }, ...slice }: KubeObject) => [
    labels ?? {},
    annotations ?? {},
    slice["addressType"],
    slice["ports"],
  ];
  return jsonEqual(told(one), told(other)) && addressText(one) === addressText(other);
}

function addressText(slice: KubeObject): string {
  return JSON.stringify(
    (slice["endpoints"] as readonly { addresses: unknown; conditions?: { ready?: boolean } }[]).map(({ addresses, conditions }) => [
      addresses,
      conditions?.ready,
    ]),
  );
}

function act(name: string, weight: number, perform: Act["perform"]): Act {
  return { name, kind: "user", weight, isPossible: decidesBackends, perform };
}

/** The host's mirror of Endpoints, working or not, and users who edit the slices made in its place. */
export const MIRROR_USERS: readonly Act[] = [
  act("host mirrors", 30, async (world) => ((await mirror(world)) ? "the host mirrors Endpoints" : undefined)),
  act("host switches its mirror", 2, (world) => {
    world.mirroring = !world.mirroring;
    return `the host's mirror is ${world.mirroring ? "on" : "off"}`;
  }),
  {
    ...{ name: "host meddles with a slice that was made", kind: "user", weight: 60 },
    isPossible: (world) => decidesBackends(world) && madeIn(world).length > 0,
    perform: meddle,
  },
];

function madeIn(world: World): KubeObject[] {
  return [...world.clusters.host.objects(ENDPOINT_SLICES).values()].filter((slice) => madeOf(world, slice) !== undefined);
}

function meddle(world: World, random: Random): Promise<string> {
  const slice = random.pick(madeIn(world));
  const after = random.happens(0.3) ? undefined : changed(slice, random);
  const writing = world.write("host", (writer) =>
    after === undefined ? writer.delete(ENDPOINT_SLICES, keyOf(slice)) : writer.update(ENDPOINT_SLICES, after),
  );
  return writing.then(() => `host ${after === undefined ? "deletes" : "changes"} ${slice.metadata.name}`);
}

function changed(slice: KubeObject, random: Random): KubeObject {
  const { labels, annotations } = slice.metadata;
  switch (random.below(4)) {
    case 0:
      return withMeta(slice, { labels: { ...labels, "endpointslice.kubernetes.io/managed-by": "somebody" } });
    case 1:
      return withMeta(slice, { labels: { ...labels, app: drawFieldValue(random) ?? "x" } });
    case 2:
      return withMeta(slice, { annotations: { ...annotations, "example.com/tag": drawFieldValue(random) ?? "x" } });
    default:
      return { ...slice, endpoints: [] };
  }
}
