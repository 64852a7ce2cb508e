import { whose } from "../../translate/identity.ts";
import type { Translator } from "../../translate/translator.ts";
import type { MarkedCopy } from "./marked-copies.ts";

/** One virtual cluster with our name, as its copies describe it. */
export interface CopyOwner {
  /** Host namespace of the virtual cluster; undefined if no copy names it and the places of the copies do not determine it. */
  readonly namespace: string | undefined;
  /** uid of its tenant cluster; undefined for copies that do not name it. */
  readonly clusterUid: string | undefined;
  /** True if it is our virtual cluster, by its namespace. If it has had several tenant clusters, at most one of them is the current one. */
  readonly isOurs: boolean;
  readonly copies: readonly MarkedCopy[];
}

/**
 * Groups copies by their virtual cluster, without contacting any tenant cluster. Copies of earlier versions do not name the namespace of
 * their virtual cluster. All copies of one tenant cluster belong together, so the namespace is the one that another copy names, or the one
 * that the copies are in.
 *
 * @example
 * groupByOwner(translator, copies).map(({ namespace, clusterUid }) => [namespace, clusterUid]); // [["vc-blue", "4f0c"]]
 */
export function groupByOwner(translator: Translator, copies: readonly MarkedCopy[]): readonly CopyOwner[] {
  const clusters = groupBy(copies, ({ source }) => source.clusterUid);
  return [...clusters].flatMap(([clusterUid, ofCluster]) => {
    const namespaces = groupBy(ofCluster, ({ source }) => source.vclusterNamespace);
    const unnamed = namespaces.get(undefined) ?? [];
    namespaces.delete(undefined);
    if (clusterUid === undefined) return ownersWithoutCluster(translator, namespaces, unnamed);
    const [first, ...others] = namespaces.keys();
    const only = others.length === 0 ? (first ?? ownNamespaceOf(translator, unnamed)) : undefined;
    if (unnamed.length > 0) namespaces.set(only, [...(namespaces.get(only) ?? []), ...unnamed]);
    return [...namespaces].map(([namespace, theirs]) => ownerOf(translator, { namespace, clusterUid, copies: theirs }));
  });
}

function ownersWithoutCluster(
  translator: Translator,
  namespaces: ReadonlyMap<string | undefined, readonly MarkedCopy[]>,
  unnamed: readonly MarkedCopy[],
): CopyOwner[] {
  const byPlace = groupBy(unnamed, (copy) => ownNamespaceOf(translator, [copy]));
  const all = [...new Set([...namespaces.keys(), ...byPlace.keys()])];
  return all.map((namespace) => {
    const theirs = [...(namespaces.get(namespace) ?? []), ...(byPlace.get(namespace) ?? [])];
    return ownerOf(translator, { namespace, clusterUid: undefined, copies: theirs });
  });
}

/** Returns our namespace if one of these copies, which name none, is in it, or if all of them are where our copies can be. */
function ownNamespaceOf(translator: Translator, unnamed: readonly MarkedCopy[]): string | undefined {
  const { namespace } = translator.vcluster;
  const isThere = unnamed.some(({ source }) => source.hostNamespace === namespace);
  return isThere || unnamed.every(({ source }) => whose({ translator }, source) === "ours") ? namespace : undefined;
}

function ownerOf({ vcluster }: Translator, owner: Omit<CopyOwner, "isOurs">): CopyOwner {
  return { ...owner, isOurs: owner.namespace === vcluster.namespace };
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
