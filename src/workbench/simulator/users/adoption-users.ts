import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import { formatKey, keyOf } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { hostKeyOf, present, lineOfAct, withMeta, type Act } from "../act.ts";
import { plainKindsOf } from "../model/generation.ts";
import { drawObject, drawPlain, drawSlice } from "../model/objects.ts";
import type { Random } from "../model/random.ts";
import type { World } from "../world.ts";

/** The copy that another syncer made of a tenant object, with any content; sometimes of an earlier object with the same name. */
function copyOf(world: World, random: Random, adopt: string, { tenant, kind }: { tenant: KubeObject; kind: SyncedKind }) {
  const { resource } = kind;
  const { namespace = "", name = "", uid = "" } = tenant.metadata;
  const key = hostKeyOf(world, resource, { namespace, name });
  if (key === undefined || present(world, "host", resource, key) !== undefined) return undefined;
  const service = tenant.metadata.labels?.["kubernetes.io/service-name"] ?? name;
  const drawOwn = () => (resource === ENDPOINT_SLICES ? drawSlice(random, key, service) : drawObject(random, resource, key));
  const body = plainKindsOf(world.options.setting).includes(kind) ? drawPlain(random, kind, key) : drawOwn();
  const { vcluster } = world.generation.rules[0]!.translator;
  const marks = {
    [`${adopt}object-kind`]: `${tenant.apiVersion}/${tenant.kind}`,
    [`${adopt}object-namespace`]: namespace,
    [`${adopt}object-name`]: name,
    [`${adopt}object-uid`]: random.happens(0.8) ? uid : `earlier-than-${uid}`,
  };
  const labels = { ...body.metadata.labels, [`${adopt}managed-by`]: vcluster.name, [`${adopt}namespace`]: namespace };
  return withMeta(body, { labels, annotations: { ...body.metadata.annotations, ...marks } });
}

function adoptOf(world: World): string | undefined {
  return world.generation.rules[0]!.adopt;
}

/** Copies that an earlier syncer left behind. */
export const ADOPTION_USERS: readonly Act[] = [
  {
    name: "another syncer makes a copy",
    kind: "user",
    weight: 20,
    isPossible: (world) => adoptOf(world) !== undefined,
    perform(world, random) {
      const { kind } = random.pick(world.generation.rules);
      const all = [...world.clusters.tenant.objects(kind.resource).values()];
      const adopt = adoptOf(world);
      if (adopt === undefined || all.length === 0) return undefined;
      const copy = copyOf(world, random, adopt, { tenant: random.pick(all), kind });
      if (copy === undefined) return undefined;
      const writing = world.write("host", (writer) => writer.create(kind.resource, copy));
      return lineOfAct(`another syncer makes ${kind.resource.plural} ${formatKey(keyOf(copy))}`, writing);
    },
  },
];
