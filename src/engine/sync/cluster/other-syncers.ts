import { EngineError } from "../../../base/errors.ts";
import { formatKey, keyOf, sameKey } from "../../../kube/object/key.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { readCopyMarkers } from "../../translate/identity.ts";
import { readForeignMarkers } from "../../translate/foreign-markers.ts";
import type { ClusterCaches } from "./access.ts";

/** Objects named in the message. */
const EXAMPLES_MAX = 3;

/**
 * Refuses to continue alongside another syncer of the same virtual cluster: both would write the same names. An object does not show
 * whether its writer still runs, so every object counts whose markers identify it as a copy from this virtual cluster. Other markers on a
 * copy with markers of our own prefix are ignored: a tenant may have written them.
 *
 * @throws OTHER_SYNCER if there is such an object, unless its prefix is the one to adopt.
 */
export function checkOtherSyncers(host: ClusterCaches, rules: readonly Rules[]): void {
  const found = rules.filter(({ enabled }) => enabled).flatMap((rule) => claimsOf(host, rule));
  const [first] = found;
  if (first === undefined) return;
  const theirs = found.filter(({ prefix }) => prefix === first.prefix);
  const names = theirs.slice(0, EXAMPLES_MAX).map(({ name }) => name);
  const listed = `${names.join(", ")}${theirs.length > names.length ? ", …" : ""}`;
  const message = `Cannot start: ${theirs.length} objects on the host are copies of another syncer with the markers ${first.prefix}: ${listed}`;
  const hint = `Stop that syncer, then start this one with --adopt ${first.prefix}: those ${theirs.length} objects are then managed by this syncer, and deleted with their tenant objects`;
  throw new EngineError("OTHER_SYNCER", message, { details: { hint, prefix: first.prefix } });
}

function claimsOf(host: ClusterCaches, { kind, translator, adopt }: Rules): { prefix: string; name: string }[] {
  const about = { vcluster: translator.vcluster.name, resource: kind.resource, ownPrefix: translator.markerPrefix };
  return host
    .source(kind.resource)
    .list()
    .flatMap((object) => {
      if (readCopyMarkers(translator.markerPrefix, object, kind.resource) !== undefined) return [];
      const sources = readForeignMarkers(object, about);
      const [source] = sources;
      if (source === undefined || sources.some(({ prefix }) => prefix === adopt)) return [];
      const place = translator.toHost({ namespace: source.namespace, name: source.name }, kind.resource);
      const claimed = place !== undefined && sameKey(place, keyOf(object));
      return claimed ? [{ prefix: source.prefix, name: `${kind.resource.kind} ${formatKey(place)}` }] : [];
    });
}
