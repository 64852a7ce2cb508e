/**
 * A store of its own for each case of the stores' suite.
 */
import type { Store } from "../../src/apiserver/store/store.ts";
import type { StoreSuiteOptions } from "./store-setting.ts";

/** The body of a test that is given a store, which is closed afterwards; `history` in events, default 1,000. */
export type WithStore = (act: (store: Store) => Promise<void>, history?: number) => () => Promise<void>;

/** Bodies of tests over stores that `create` makes. */
export function storesOf(create: StoreSuiteOptions["create"]): WithStore {
  return (act, history = 1_000) =>
    async () => {
      const store = await create({ history });
      try {
        await act(store);
      } finally {
        await store.close();
      }
    };
}
