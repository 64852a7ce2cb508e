import { formatKey, parseKey } from "../../../kube/object/key.ts";
import { parseSyncId } from "../../../engine/sync/state/sync-id.ts";
import type { Oracle, Write } from "../model/history.ts";
import type { World } from "../world.ts";
import { ENDPOINTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { isCopy, madeOf, ownMarks, prefixOf, translatorOf, type Marks } from "./marks.ts";

/** S2: every object that a replica writes names its true source, and has the name that this source translates to. */
export function identity(world: World): Oracle {
  /** Kind and tenant key → every uid that this object ever had. */
  const uids = new Map<string, Set<string>>();

  function wrong({ author, plural, key, after }: Write): string | undefined {
    if (author.kind !== "replica") return undefined;
    const source = formatKey(parseSyncId(author.id).key);
    const made = madeOf(world, after!);
    if (made !== undefined) return wrongMade(after!, made, author.id);
    const marks = isCopy(world, after!);
    if (marks === undefined) return isStripped(world, after!) ? undefined : `${plural} ${key} was written without its own markers`;
    if (marks.source !== source) return `${plural} ${key} was written for ${source} with the markers of ${marks.source}`;
    if (!uids.get(`${plural}|${source}`)?.has(marks.uid!)) return `${plural} ${key} names uid ${marks.uid}, which ${source} never had`;
    const target = translatorOf(world).toHost(parseKey(source), { kind: after!.kind, apiVersion: after!.apiVersion });
    return target !== undefined && formatKey(target) === key ? undefined : `${plural} ${key} does not have the host name of ${source}`;
  }

  /** Reports whether a copy is in the way of another object: its own source now maps elsewhere, and the other object maps to its place. */
  function isInTheWay({ key, before }: Write, { source }: Marks, other: string): boolean {
    const kind = { kind: before!.kind, apiVersion: before!.apiVersion };
    const [place, otherPlace] = [source, other].map((id) => translatorOf(world).toHost(parseKey(id), kind));
    return otherPlace !== undefined && formatKey(otherPlace) === key && (place === undefined || formatKey(place) !== key);
  }

  /** Checks that a slice was made from the copy of the Endpoints that it is written for, and that it belongs to their Service. */
  function wrongMade(slice: KubeObject, { source, host, uid }: Marks, id: string): string | undefined {
    const what = `endpointslices ${slice.metadata.namespace}/${slice.metadata.name}`;
    if (id !== `backends|${source}`) return `${what} was made for ${id} of ${source}`;
    const target = translatorOf(world).toHost(parseKey(source), ENDPOINTS);
    if (target === undefined || formatKey(target) !== host) return `${what} is made from ${host}, where ${source} has no copy`;
    if (!uids.get(`endpoints|${source}`)?.has(uid!)) return `${what} names uid ${uid}, which ${source} never had`;
    const service = slice.metadata.labels?.["kubernetes.io/service-name"];
    return service === target.name && slice.metadata.namespace === target.namespace
      ? undefined
      : `${what} belongs to the wrong Service, ${service}`;
  }

  return {
    name: "S2",
    saw(write) {
      const { side, plural, key, author, before, after } = write;
      if (side === "tenant") {
        const id = `${plural}|${key}`;
        if (after?.metadata.uid) uids.set(id, (uids.get(id) ?? new Set()).add(after.metadata.uid));
        return undefined;
      }
      if (after !== undefined) return wrong(write);
      const source = author.kind === "replica" ? formatKey(parseSyncId(author.id).key) : undefined;
      const marks = before && ownMarks(world, before);
      return source !== undefined && marks !== undefined && marks.source !== source && !isInTheWay(write, marks, source)
        ? `${plural} ${key} of ${marks.source} was deleted for ${source}`
        : undefined;
    },
  };
}

/** Reports whether an object has lost all markers. A translated label may keep the prefix: it belongs to the tenant and is no marker. */
function isStripped(world: World, { metadata: { labels = {}, annotations = {} } }: NonNullable<Write["after"]>): boolean {
  const prefix = prefixOf(world);
  const left = [...Object.keys(labels), ...Object.keys(annotations)].filter((key) => key.startsWith(prefix));
  return left.every((key) => key.startsWith(`${prefix}label-`));
}
