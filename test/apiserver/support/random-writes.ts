/** Writes to a few keys of a store, beside others who write to the same ones. */
import type { Store } from "../../../src/apiserver/store/store.ts";
import { textOf } from "./store-follower.ts";
import type { Acknowledged } from "./watch-checker.ts";

/** Number of writes and their writers. */
export interface RandomWritesOptions {
  readonly store: Store;
  /** Writes that are acknowledged. */
  readonly count: number;
  /** Unlike that of others. */
  readonly name: string;
  readonly fraction: () => number;
  readonly onAcknowledged: (one: Acknowledged) => void;
}

/** Below it is all that is written. */
export const WRITTEN = "/core/configmaps/";
/** A part of it. */
export const WRITTEN_PART = "/core/configmaps/n1/";
const NAMESPACES = 3;
const KEYS = 24;
const AT_ONCE = 16;
/** Writes of a store in memory wait for nothing; others get a turn after so many. */
const TURN = 4;

/** Resolves when `count` writes have been acknowledged. */
export async function writeAtRandom({ store, count, name, fraction, onAcknowledged }: RandomWritesOptions): Promise<void> {
  const upTo = (limit: number) => Math.floor(fraction() * limit);
  let left = count;
  let tried = 0;
  const writeOnce = async () => {
    const key = `${WRITTEN}n${upTo(NAMESPACES)}/k${upTo(KEYS)}`;
    const text = `${name}-${(tried += 1)}`;
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "n" }, data: { text } };
    const present = await store.get(key);
    const previous = present?.revision ?? 0;
    const type = present === undefined ? "created" : upTo(4) === 0 ? "deleted" : "updated";
    const stored = await {
      created: () => store.create(key, object),
      updated: () => store.update(key, object, previous),
      deleted: () => store.delete(key, previous),
    }[type]();
    if (stored === undefined) return;
    left -= 1;
    onAcknowledged({ type, key, revision: stored.revision, text: textOf(stored.object), previous });
  };
  const writeOn = async () => {
    for (let written = 0; left > 0; written += 1) {
      await writeOnce();
      if (written % TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writeOn));
}
