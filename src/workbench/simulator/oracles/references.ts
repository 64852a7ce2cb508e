import { jsonEqual } from "../../../base/json.ts";
import { formatKey } from "../../../kube/object/key.ts";
import { ENDPOINTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { sourceSide, targetSide } from "../../../engine/reconcile/references/reference-copy.ts";
import type { ReferenceKind } from "../../../engine/reconcile/references/reference-rules.ts";
import type { Side } from "../model/cluster.ts";
import type { Oracle, Write } from "../model/history.ts";
import { CONFIG_ANNOTATION, REFERENCED_NAMES, SECRET_ANNOTATION } from "../model/objects.ts";
import type { World } from "../world.ts";
import { isCopy, marksOf, namesUs, translatorOf, type Marks } from "./marks.ts";

/** The markers of a copy of a referenced object, which can be in either cluster. */
function copyMarks(world: World, side: Side, object: KubeObject): Marks | undefined {
  const marks = marksOf(world, object);
  if (marks === undefined || !namesUs(world, marks) || marks.kind !== `${object.apiVersion}/${object.kind}`) return undefined;
  const place = `${object.metadata.namespace}/${object.metadata.name}`;
  return (side === "host" ? marks.host : marks.source) === place ? marks : undefined;
}

/** Reports whether an object belongs to another virtual cluster, according to its markers. */
function isTheirs(world: World, object: KubeObject): boolean {
  const marks = marksOf(world, object);
  return marks !== undefined && !namesUs(world, marks);
}

/**
 * S1 and S4 for objects that are referred to: only our own copies are overwritten or deleted; every copy has exactly the content of
 * the version of its source that it names, and never goes back to an older one.
 */
export function references(world: World): Oracle {
  function saw({ author, side, plural, action, key, before, after }: Write): string | undefined {
    if (author.kind !== "replica") return undefined;
    const what = `${side} ${plural} ${key}`;
    const kind = author.generation.references?.kinds.find(({ resource }) => resource.plural === plural);
    if (kind === undefined) return `${what} was written although nothing refers to it`;
    const was = before && copyMarks(world, side, before);
    if (before !== undefined && was === undefined) return `${action} of ${what}, which the syncer does not manage`;
    if (after === undefined) return undefined;
    const is = copyMarks(world, side, after);
    if (side !== targetSide({ kind }) || is === undefined) return `${what} was written where no copy belongs, or without its markers`;
    if (action === "create") world.forgottenCopies[author.forgotten === true ? "add" : "delete"](what);
    if (was !== undefined && was.uid === is.uid && is.resourceVersion < was.resourceVersion)
      return `${what} was overwritten with an older version of its source`;
    const source = world.clusters[sourceSide({ kind })]
      .changes(kind.resource)
      .find(({ object: { metadata } }) => metadata.uid === is.uid && metadata.resourceVersion === String(is.resourceVersion));
    if (source !== undefined && isTheirs(world, source.object))
      return `${what} is the copy of an object that belongs to another virtual cluster`;
    return jsonEqual(source?.object["data"], after["data"]) ? undefined : `${what} has content that its source never had`;
  }
  return { name: "S1", about: "referenced", saw };
}

/** Problems of copies of referenced objects once everything is at rest. */
export function checkReferences(world: World): { oracle: string; message: string } | undefined {
  for (const kind of world.generation.references?.kinds ?? []) {
    const { sure, maybe } = referredTo(world, kind);
    for (const id of sure) {
      const message = checkReferred(world, kind, id);
      if (message !== undefined) return { oracle: "L1", message };
    }
    const side = targetSide({ kind });
    for (const [id, object] of world.clusters[side].objects(kind.resource)) {
      const marks = copyMarks(world, side, object);
      if (world.forgottenCopies.has(`${side} ${kind.resource.plural} ${id}`)) continue;
      if (marks !== undefined && !sure.has(marks.source) && !maybe.has(marks.source))
        return { oracle: "L2", message: `${side} ${kind.resource.plural} ${id} still exists, although nothing refers to it` };
    }
  }
  return undefined;
}

/** Tenant keys that copies certainly refer to, and those that they may refer to. */
function referredTo(world: World, { resource }: ReferenceKind): { sure: ReadonlySet<string>; maybe: ReadonlySet<string> } {
  const [sure, maybe] = [new Set<string>(), new Set<string>()];
  const field = resource.kind === "Secret" ? SECRET_ANNOTATION : CONFIG_ANNOTATION;
  const translator = translatorOf(world);
  for (const tenant of world.clusters.tenant.objects(ENDPOINTS).values()) {
    const { namespace = "", name = "", annotations = {} } = tenant.metadata;
    const hostKey = translator.toHost({ namespace, name }, ENDPOINTS);
    const host = hostKey && world.clusters.host.objects(ENDPOINTS).get(formatKey(hostKey));
    const shown = host?.metadata.annotations?.[field];
    for (const referenced of REFERENCED_NAMES) {
      const key = { namespace, name: referenced };
      const isShown = shown !== undefined && translator.toHost(key, resource)?.name === shown;
      const isNamed = annotations[field] === referenced;
      if (isNamed && isShown && isCopy(world, host!)?.source === `${namespace}/${name}`) sure.add(formatKey(key));
      else if (isNamed || isShown) maybe.add(formatKey(key));
    }
  }
  return { sure, maybe };
}

function checkReferred(world: World, kind: ReferenceKind, id: string): string | undefined {
  const { resource } = kind;
  const [namespace = "", name = ""] = id.split("/");
  const key = { namespace, name };
  const hostKey = translatorOf(world).toHost(key, resource);
  if (hostKey === undefined) return undefined;
  const at = (side: Side) => world.clusters[side].objects(resource).get(formatKey(side === "tenant" ? key : hostKey));
  const to = targetSide({ kind });
  const [source, target] = [at(sourceSide({ kind })), at(to)];
  const marks = target && copyMarks(world, to, target);
  if (source === undefined) return marks && `${resource.plural} ${id} still exists, although its source does not`;
  const says = (code: string) => world.replicas.every((replica) => replica.notes(resource.plural, key).includes(code));
  if (says("LOOP_STOPPED")) return undefined;
  if (isTheirs(world, source))
    return says("REFERENCE_REFUSED") ? undefined : `${resource.plural} ${id} is not imported, and no note reports this`;
  if (target === undefined) return `${resource.plural} ${id} has no copy`;
  const isEqual = jsonEqual(source["data"], target["data"]);
  if (marks === undefined)
    return isEqual || says("REFERENCE_FOREIGN") ? undefined : `${resource.plural} ${id} blocks a copy, and no note reports this`;
  return isEqual && marks.uid === source.metadata.uid ? undefined : `the copy of ${resource.plural} ${id} has unexpected content`;
}
