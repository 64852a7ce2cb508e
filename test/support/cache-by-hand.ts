import { formatKey, keyOf, type ObjectKey } from "../../src/kube/object/key.ts";
import type { ChangeListener, ChangeSign, ObjectSource } from "../../src/kube/object/object-source.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";

/** A cache that shows what a test puts there. */
export function createCacheByHand(...given: readonly KubeObject[]) {
  const objects = new Map(given.map((object) => [formatKey(keyOf(object)), object]));
  const listeners = new Set<ChangeListener>();
  const source: ObjectSource = {
    get: (key) => objects.get(formatKey(key)),
    list: () => [...objects.values()],
    onChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
    synced: true,
    current: true,
  };
  const tell = (key: ObjectKey, sign?: ChangeSign) => listeners.forEach((listener) => listener(key, sign));
  function set(key: ObjectKey, object: KubeObject | undefined): void {
    if (object === undefined) objects.delete(formatKey(key));
    else objects.set(formatKey(key), object);
  }
  return {
    source,
    /** Tells the listeners of an object, which does not change. */
    tell,
    /** Sets an object, or removes it; the listeners hear nothing. */
    set,
    /** Sets an object, or removes it, and tells the listeners. */
    show(key: ObjectKey, object: KubeObject | undefined, sign?: ChangeSign) {
      set(key, object);
      tell(key, sign);
    },
  };
}

/** A cache that never shows anything. */
export const EMPTY_CACHE: ObjectSource = { get: () => undefined, list: () => [], onChange: () => () => {}, synced: true, current: true };
