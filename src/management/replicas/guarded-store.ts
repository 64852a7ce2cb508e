import type { Store, WriteTerms } from "../../apiserver/store/store.ts";

/** Guards a store that several writers share: no write happens while `demand` throws. */
export function guardedStore(store: Store, demand: () => void): Store {
  const guarded = (terms?: WriteTerms): WriteTerms => ({
    ...terms,
    demand() {
      demand();
      terms?.demand?.();
    },
  });
  return {
    revision: () => store.revision(),
    get: (key) => store.get(key),
    list: (range) => store.list(range),
    watch: (options) => store.watch(options),
    create: (key, object, terms) => store.create(key, object, guarded(terms)),
    update: (key, object, expected, terms) => store.update(key, object, expected, guarded(terms)),
    delete: (key, expected, terms) => store.delete(key, expected, guarded(terms)),
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
