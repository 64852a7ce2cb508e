import { isEtcdStore } from "../../server/store/etcd-store.ts";
import type { Store } from "../../server/store/store.ts";

/**
 * The same store for one writer among several: no write begins while `demand` throws. A store in etcd, which repeats what brought no
 * answer, asks before each attempt.
 */
export function guardedStore(store: Store, demand: () => void): Store {
  if (isEtcdStore(store)) return store.asking(demand);
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
    oldest: () => store.oldest(),
    heldBytes: () => store.heldBytes(),
    demandWritable: () => store.demandWritable(),
    async compact() {
      demand();
      return store.compact();
    },
    close: () => store.close(),
  };
}
