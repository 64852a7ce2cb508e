import { formatKey, keyOf, parseKey } from "../../../kube/object/key.ts";
import { SERVICES } from "../../../kube/object/resource.ts";
import { parseSyncId } from "../../../engine/sync/state/sync-id.ts";
import type { Oracle } from "../model/history.ts";
import type { World } from "../world.ts";
import { isCopy, prefixOf } from "./marks.ts";

/**
 * S13: if another syncer creates the Services, no foreign Service gets a tenant's addresses. Endpoints are written only for host Services
 * that have named exactly this tenant Service at some time.
 */
export function backends(world: World): Oracle {
  return {
    name: "S13",
    saw({ author, side, plural, key, after }) {
      if (author.kind !== "replica" || side !== "host" || plural !== "endpoints" || after === undefined) return undefined;
      if (author.generation.rules[0]!.services !== "external" || isCopy(world, after) === undefined) return undefined;
      const source = formatKey(parseSyncId(author.id).key);
      const services = world.clusters.host.changes(SERVICES).filter(({ object }) => formatKey(keyOf(object)) === formatKey(parseKey(key)));
      const standsFor = services.some(
        ({ object }) =>
          isCopy(world, object)?.source === source || object.metadata.annotations?.[`${prefixOf(world)}stands-for`] === source,
      );
      return standsFor ? undefined : `${plural} ${key} gives addresses of ${source} to a Service that never belonged to it`;
    },
  };
}
