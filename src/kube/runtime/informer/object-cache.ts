import { jsonEqual } from "../../../base/json.ts";
import { formatKey, keyOf, type ObjectKey } from "../../object/key.ts";
import type { Written } from "../../object/object-source.ts";
import { compareResourceVersions, compareVersions } from "../../object/resource-version.ts";
import type { KubeObject } from "../../object/types.ts";
import type { WatchEvent } from "../../object/cluster-client.ts";

/**
 * Values by key. Both parts of a key are looked up one after the other: a combined key would have to be copied and hashed for each
 * look-up.
 *
 * @example
 * const objects = new KeyMap<KubeObject>();
 * objects.set({ namespace: "shop", name: "db" }, endpoints);
 * objects.get({ namespace: "shop", name: "db" }); // endpoints
 */
export class KeyMap<Value> {
  readonly #byNamespace = new Map<string, Map<string, Value>>();
  #size = 0;

  /** Number of keys that have a value. */
  get size(): number {
    return this.#size;
  }

  get(key: ObjectKey): Value | undefined {
    return this.#byNamespace.get(key.namespace)?.get(key.name);
  }

  has(key: ObjectKey): boolean {
    return this.#byNamespace.get(key.namespace)?.has(key.name) === true;
  }

  set(key: ObjectKey, value: Value): void {
    let names = this.#byNamespace.get(key.namespace);
    if (names === undefined) this.#byNamespace.set(key.namespace, (names = new Map()));
    const before = names.size;
    names.set(key.name, value);
    this.#size += names.size - before;
  }

  /** Removes a key, and reports whether it had a value. A namespace without values is removed as well. */
  delete(key: ObjectKey): boolean {
    const names = this.#byNamespace.get(key.namespace);
    if (names?.delete(key.name) !== true) return false;
    if (names.size === 0) this.#byNamespace.delete(key.namespace);
    this.#size -= 1;
    return true;
  }

  /** Yields all values, namespace by namespace, in the order in which the keys were first set. */
  *values(): Generator<Value, void, undefined> {
    for (const names of this.#byNamespace.values()) yield* names.values();
  }
}

/** Maximum number of remembered deletions, which prevent a late event from bringing a deleted object back. */
const GRAVES_MAX = 1_024;

/** State reported by the response to a write. */
interface Expectation {
  readonly object: KubeObject;
  readonly written: Written;
  /** How often {@link ObjectCache.passed} was called since. */
  passed: number;
  /** True if the object was removed before the cache showed it. If it never appears, an earlier response that it was stored is false. */
  isToCome: boolean;
}

/** A complete list. */
export interface Replacement {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Default "same". */
  readonly history?: "same" | "new";
}

/**
 * The last observed objects of one kind. Changes are reported as keys; readers look up the new state.
 *
 * Guarantee: within one history of the cluster, no object goes back to an older resourceVersion, and a deleted object (uid) does not
 * return, regardless of the order and repetition of events.
 */
export class ObjectCache {
  #objects = new KeyMap<KubeObject>();
  /** The state of the last list; "" before the first. */
  #listedAt = "";
  /** Key → uid and resourceVersion of the last deletion, oldest first. */
  readonly #graves = new Map<string, { readonly uid: string | undefined; readonly resourceVersion: string }>();

  /** Responses to writes that the cache does not show yet, by id. An entry is kept until its object appears or disappears. */
  readonly #expected = new Map<string, Expectation>();

  get size(): number {
    return this.#objects.size;
  }

  /** Number of remembered deletions; bounded. */
  get remembered(): number {
    return this.#graves.size;
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#objects.get(key);
  }

  list(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  /**
   * Records the response to a write: `object` is stored as given, or was removed. Returns its key if this is known to be false or outdated.
   */
  expect(object: KubeObject, written: Written): ObjectKey | undefined {
    const key = keyOf(object);
    // An object that was removed before it appeared here may still appear, and stay: the response can be false.
    const isToCome = written === "removed" && !this.#objects.has(key) && !this.#isBuried(key, object) && !this.#isMissing(object);
    const expectation = { object, written, passed: 0, isToCome };
    if (!isToCome && !this.#isOpen(expectation)) return undefined;
    const isOver = this.#isMissing(object) || (!this.#objects.has(key) && this.#isBuried(key, object));
    if (isOver && written === "stored") return key;
    this.#expected.set(formatKey(key), expectation);
    return undefined;
  }

  /**
   * Records that everything up to `resourceVersion` has been delivered. Returns the keys of the objects that are not as expected, once
   * each. Responses do not contain the version of a removal, so a removal is checked only at the second call.
   */
  passed(resourceVersion: string, history: "same" | "new" = "same"): ObjectKey[] {
    const missed: ObjectKey[] = [];
    for (const [id, expectation] of this.#expected) {
      const { object, written } = expectation;
      expectation.passed += 1;
      const isDue = written === "removed" ? expectation.passed > 1 : compareResourceVersions(versionOf(object), resourceVersion) <= 0;
      // A new history meets no expectation of the previous one.
      if (!isDue && history === "same") continue;
      this.#expected.delete(id);
      if (expectation.isToCome || this.#isOpen(expectation)) missed.push(keyOf(object));
    }
    return missed;
  }

  /** Reports whether the cache shows neither the expected write nor a later state. */
  #isOpen({ object, written }: Expectation): boolean {
    const known = this.#objects.get(keyOf(object));
    if (written === "stored") return known === undefined || compareVersions(object, known) > 0;
    return known !== undefined && known.metadata.uid === object.metadata.uid && compareVersions(known, object) <= 0;
  }

  /** Reports whether the last list is at least as new as the object, so that it would contain the object. */
  #isMissing(object: KubeObject): boolean {
    return this.#listedAt !== "" && compareResourceVersions(versionOf(object), this.#listedAt) <= 0;
  }

  /** Applies one change. Returns the key that changed, or undefined if the event was not new. */
  apply(event: WatchEvent): ObjectKey | undefined {
    const key = keyOf(event.object);
    const changed = event.type === "DELETED" ? this.#remove(key, event.object) : this.#put(key, event.object);
    return changed ? key : undefined;
  }

  #put(key: ObjectKey, object: KubeObject): boolean {
    // An object older than the list is in the list, or was already deleted.
    if (this.#listedAt !== "" && compareResourceVersions(versionOf(object), this.#listedAt) <= 0) return false;
    const known = this.#objects.get(key);
    if (known === undefined ? this.#isBuried(key, object) : compareVersions(object, known) <= 0) return false;
    this.#objects.set(key, known === undefined ? object : withPartsOf(known, object));
    if (this.#expected.size === 0) return true;
    const expectation = this.#expected.get(formatKey(key));
    if (expectation === undefined) return true;
    expectation.isToCome = false;
    if (!this.#isOpen(expectation)) this.#expected.delete(formatKey(key));
    return true;
  }

  #remove(key: ObjectKey, object: KubeObject): boolean {
    const id = formatKey(key);
    const known = this.#objects.get(key) ?? this.#expected.get(id)?.object;
    if (known === undefined) return false;
    // The body of a deletion may be older than the known object. The deletion is still certain, unless it is that of an earlier object with
    // the same name.
    const sameLife = object.metadata.uid !== undefined && object.metadata.uid === known.metadata.uid;
    if (!sameLife && compareVersions(object, known) < 0) return false;
    this.#objects.delete(key);
    this.#expected.delete(id);
    this.#bury(id, known, object);
    return true;
  }

  #bury(id: string, known: KubeObject, last: KubeObject): void {
    const later = compareVersions(last, known) > 0 ? last : known;
    this.#graves.delete(id);
    this.#graves.set(id, { uid: known.metadata.uid, resourceVersion: versionOf(later) });
    if (this.#graves.size > GRAVES_MAX) this.#graves.delete(this.#graves.keys().next().value!);
  }

  #isBuried(key: ObjectKey, object: KubeObject): boolean {
    const grave = this.#graves.size === 0 ? undefined : this.#graves.get(formatKey(key));
    if (grave === undefined) return false;
    if (grave.uid !== undefined && grave.uid === object.metadata.uid) return true;
    return compareResourceVersions(versionOf(object), grave.resourceVersion) <= 0;
  }

  /**
   * Replaces all objects with a complete list of state `resourceVersion`. Returns the keys that appeared, changed or disappeared. With
   * `history: "new"`, the cluster was restored from a backup, so no known object counts as newer.
   */
  replace({ items, resourceVersion, history = "same" }: Replacement): ObjectKey[] {
    const before = this.#objects;
    const changed: ObjectKey[] = [];
    this.#graves.clear();
    this.#objects = new KeyMap();
    this.#listedAt = resourceVersion;
    for (const item of items) {
      const key = keyOf(item);
      const known = before.get(key);
      const keep = known !== undefined && (history === "same" ? compareVersions(item, known) <= 0 : isSame(item, known));
      this.#objects.set(key, keep ? known : item);
      if (!keep) changed.push(key);
    }
    for (const object of before.values()) if (!this.#objects.has(keyOf(object))) changed.push(keyOf(object));
    return changed;
  }
}

/**
 * A copy of `object` that shares its unchanged parts with `known`, except metadata. Most changes affect only a few labels and annotations,
 * so consumers that cache results by the identity of a part can keep them.
 */
export function withPartsOf(known: KubeObject, object: KubeObject): KubeObject {
  let shared = object;
  for (const name of Object.keys(object)) {
    const [part, before] = [object[name], known[name]];
    const isKept = name !== "metadata" && typeof part === "object" && part !== before && jsonEqual(part, before);
    if (isKept) shared = { ...shared, [name]: before };
  }
  return shared;
}

function versionOf(object: KubeObject): string {
  return object.metadata.resourceVersion ?? "";
}

function isSame(left: KubeObject, right: KubeObject): boolean {
  return versionOf(left) === versionOf(right) && left.metadata.uid === right.metadata.uid;
}
