import { keyOf } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { withMeta, type Act } from "../act.ts";
import type { Side } from "../model/cluster.ts";
import type { Random } from "../model/random.ts";
import { hasReaders } from "../model/generation.ts";
import { drawFieldValue } from "../model/objects.ts";
import { decidesBackends, madeOf } from "../oracles/marks.ts";
import type { World } from "../world.ts";
import { isMirrors, mirrorChanges, performChange } from "../model/mirror.ts";

/** Lets the mirror of a cluster do all its pending work. Returns whether there was any. */
export async function mirror(world: World, side: Side): Promise<boolean> {
  if (!hasReaders(world.options.setting)) return false;
  const cluster = world.clusters[side];
  if (!(side === "host" ? world.mirroring : world.tenantMirrors)) return collect(world, side);
  world.mirrorWrites = true;
  let did = false;
  for (const change of mirrorChanges(cluster)) did = (await world.write(side, (writer) => performChange(writer, change))) || did;
  world.mirrorWrites = false;
  return did;
}

/** Deletes mirrored slices whose Endpoints are gone, whether or not the mirror works. */
async function collect(world: World, side: Side): Promise<boolean> {
  const { objects } = world.clusters[side];
  const names = objects(ENDPOINTS);
  const gone = [...objects(ENDPOINT_SLICES).values()].filter(
    (slice) => isMirrors(slice) && !names.has(`${slice.metadata.namespace}/${slice.metadata.labels?.["kubernetes.io/service-name"]}`),
  );
  for (const slice of gone) await world.write(side, (writer) => writer.delete(ENDPOINT_SLICES, keyOf(slice)));
  return gone.length > 0;
}

function act(name: string, weight: number, perform: Act["perform"]): Act {
  return { name, kind: "user", weight, isPossible: ({ options }) => hasReaders(options.setting), perform };
}

/** The host's mirror of Endpoints, working or not, and users who edit the slices made in its place. */
export const MIRROR_USERS: readonly Act[] = [
  act("host mirrors", 30, async (world) => ((await mirror(world, "host")) ? "the host mirrors Endpoints" : undefined)),
  act("host switches its mirror", 2, (world) => {
    world.mirroring = !world.mirroring;
    return `the host's mirror is ${world.mirroring ? "on" : "off"}`;
  }),
  {
    ...{ name: "host changes a slice that was made", kind: "user", weight: 60 },
    isPossible: (world) => decidesBackends(world) && madeIn(world).length > 0,
    perform: meddle,
  },
];

/** The tenant's mirror of Endpoints, working or not. */
export const TENANT_MIRROR_USERS: readonly Act[] = [
  act("tenant mirrors", 60, async (world) => ((await mirror(world, "tenant")) ? "the tenant mirrors Endpoints" : undefined)),
  act("tenant switches its mirror", 24, (world) => {
    world.tenantMirrors = !world.tenantMirrors;
    return `the tenant's mirror is ${world.tenantMirrors ? "on" : "off"}`;
  }),
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
