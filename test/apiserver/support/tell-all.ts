import { isEngineError } from "../../../src/base/errors.ts";
import type { Store, StoreEvent } from "../../../src/apiserver/store/store.ts";
import { PREFIX } from "../../conformance/store-setting.ts";

/** Everything that can be read of a store: each state in its window, and the events from each. */
export async function tellAll(store: Store): Promise<unknown> {
  const revision = await store.revision();
  const states = [];
  for (let past = revision; past > 0; past -= 1) {
    try {
      const events: StoreEvent[] = [];
      (await store.watch({ prefix: "/", after: past, onEvent: (event) => events.push(event) })).stop();
      states.push({ events, page: await store.list({ prefix: PREFIX, revision: past }) });
    } catch (error) {
      if (!isEngineError(error, "API_EXPIRED")) throw error;
      states.push({ oldest: error.details["oldest"] });
      break;
    }
  }
  return states;
}
