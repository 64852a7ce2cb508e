/**
 * The objects of the stores' suite, and how a case waits.
 */
import { expect } from "vitest";
import { delay, systemClock } from "../../src/base/clock.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import type { Store } from "../../src/apiserver/store/store.ts";

/** One implementation. */
export interface StoreSuiteOptions {
  readonly name: string;
  /** An empty store that remembers at least `history` events and at most twice as many. */
  readonly create: (options: { history: number }) => Promise<Store>;
  /** Property runs. Default 100. */
  readonly runs?: number;
}

export const PREFIX = "/core/configmaps/";
export const key = (name: string, namespace = "shop") => `${PREFIX}${namespace}/${name}`;
export const object = (name: string, text = ""): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop" },
  data: { text },
});

/** Waits for deliveries that a store may make a little later. */
export async function settled(condition: () => boolean): Promise<void> {
  for (let round = 0; !condition() && round < 1_000; round += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  while (!condition() && systemClock.monotonic() < deadline) await delay(systemClock, 2);
  expect(condition(), "the events arrive").toBe(true);
}
