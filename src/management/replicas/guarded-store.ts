import { EngineError } from "../../base/errors.ts";
import type { Store } from "../../server/store.ts";

/**
 * The same store for one writer among several: no write begins while `mayWrite` says no.
 *
 * @throws LEADERSHIP_LOST from a write that may not begin.
 */
export function guardedStore(store: Store, mayWrite: () => boolean): Store {
  const demand = () => {
    if (!mayWrite()) throw new EngineError("LEADERSHIP_LOST", "Another process does the background work now; nothing was written");
  };
  return {
    revision: () => store.revision(),
    get: (key) => store.get(key),
    list: (range) => store.list(range),
    watch: (options) => store.watch(options),
    async create(key, object) {
      demand();
      return store.create(key, object);
    },
    async update(key, object, expected) {
      demand();
      return store.update(key, object, expected);
    },
    async delete(key, expected) {
      demand();
      return store.delete(key, expected);
    },
    async compact() {
      demand();
      return store.compact();
    },
    close: () => store.close(),
  };
}
