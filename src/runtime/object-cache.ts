import { formatKey, keyOf, type ObjectKey } from "../object/key.ts";
import { compareResourceVersions } from "../object/resource-version.ts";
import type { KubeObject } from "../object/types.ts";
import type { WatchEvent } from "../object/cluster-client.ts";

/** Deletions remembered, so that a late event of the same life does not bring the object back. */
const GRAVES_MAX = 1_024;

/** A complete list. */
export interface Replacement {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Default "same". */
  readonly history?: "same" | "new";
}

/**
 * One kind's objects as last seen. Changes are reported as keys; what happened is for the reader to find out.
 *
 * Guarantee: within one history of the cluster no object goes back to an older resourceVersion, and a life (uid) that ended
 * does not return, whatever order events come in and however often.
 */
export class ObjectCache {
  #objects = new Map<string, KubeObject>();
  /** The state of the last list; "" before the first. */
  #listedAt = "";
  /** Key → uid and resourceVersion of the last deletion, oldest first. */
  readonly #graves = new Map<string, { readonly uid: string | undefined; readonly resourceVersion: string }>();

  get size(): number {
    return this.#objects.size;
  }

  /** Deletions remembered; bounded. */
  get remembered(): number {
    return this.#graves.size;
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#objects.get(formatKey(key));
  }

  list(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  /** Takes one change in. Returns the key that changed, or undefined when the event told nothing new. */
  apply(event: WatchEvent): ObjectKey | undefined {
    const key = keyOf(event.object);
    const changed = event.type === "DELETED" ? this.#remove(formatKey(key), event.object) : this.#put(formatKey(key), event.object);
    return changed ? key : undefined;
  }

  #put(id: string, object: KubeObject): boolean {
    // What is older than the list is in the list, or was gone by then.
    if (this.#listedAt !== "" && compareResourceVersions(versionOf(object), this.#listedAt) <= 0) return false;
    const known = this.#objects.get(id);
    if (known === undefined ? this.#isBuried(id, object) : !isNewer(object, known)) return false;
    this.#objects.set(id, object);
    return true;
  }

  #remove(id: string, object: KubeObject): boolean {
    const known = this.#objects.get(id);
    if (known === undefined) return false;
    // The body of a deletion may be older than what is known. A life that ended is over all the same; only the end of an
    // earlier life says nothing about this one.
    const sameLife = object.metadata.uid !== undefined && object.metadata.uid === known.metadata.uid;
    if (!sameLife && compareResourceVersions(versionOf(object), versionOf(known)) < 0) return false;
    this.#objects.delete(id);
    this.#bury(id, known, object);
    return true;
  }

  #bury(id: string, known: KubeObject, last: KubeObject): void {
    const later = compareResourceVersions(versionOf(last), versionOf(known)) > 0 ? last : known;
    this.#graves.delete(id);
    this.#graves.set(id, { uid: known.metadata.uid, resourceVersion: versionOf(later) });
    if (this.#graves.size > GRAVES_MAX) this.#graves.delete(this.#graves.keys().next().value!);
  }

  #isBuried(id: string, object: KubeObject): boolean {
    const grave = this.#graves.get(id);
    if (grave === undefined) return false;
    if (grave.uid !== undefined && grave.uid === object.metadata.uid) return true;
    return compareResourceVersions(versionOf(object), grave.resourceVersion) <= 0;
  }

  /**
   * Takes a complete list of state `resourceVersion` in: what it lacks is gone. Returns the keys that appeared, changed or
   * vanished. With `history: "new"` the cluster was restored from a backup, so that nothing known counts as newer.
   */
  replace({ items, resourceVersion, history = "same" }: Replacement): ObjectKey[] {
    const before = this.#objects;
    const changed: ObjectKey[] = [];
    this.#graves.clear();
    this.#objects = new Map();
    this.#listedAt = resourceVersion;
    for (const item of items) {
      const id = formatKey(keyOf(item));
      const known = before.get(id);
      const keep = known !== undefined && (history === "same" ? !isNewer(item, known) : isSame(item, known));
      this.#objects.set(id, keep ? known : item);
      if (!keep) changed.push(keyOf(item));
    }
    for (const [id, object] of before) if (!this.#objects.has(id)) changed.push(keyOf(object));
    return changed;
  }
}

function versionOf(object: KubeObject): string {
  return object.metadata.resourceVersion ?? "";
}

function isSame(left: KubeObject, right: KubeObject): boolean {
  return versionOf(left) === versionOf(right) && left.metadata.uid === right.metadata.uid;
}

function isNewer(object: KubeObject, known: KubeObject): boolean {
  return compareResourceVersions(versionOf(object), versionOf(known)) > 0;
}
