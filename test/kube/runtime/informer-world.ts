/** An informer over a cluster that a test breaks, on a clock that a test moves. */
import { afterEach, beforeEach, expect } from "vitest";
import type { Chance } from "../../../src/base/chance.ts";
import { EngineError } from "../../../src/base/errors.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { formatKey } from "../../../src/kube/object/key.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createInformer, type Informer, type InformerOptions } from "../../../src/kube/runtime/informer/informer.ts";
import { createFakeClock, settle } from "../../support/fake-clock.ts";
import { FakeCluster, stateOf } from "./fake-cluster.ts";

/** Always in the middle. */
export const chance: Chance = { fraction: () => 0.5, uuid: () => "", bytes: (length) => new Uint8Array(length) };
/** A cluster that cannot be reached. */
export const unavailable = (message = "connect ECONNREFUSED") => new EngineError("API_UNAVAILABLE", message);
export const MINUTE_MS = 60_000;

/** To be called at the top of a test file: an unhandled rejection fails the test that left it. */
export function failOnRejections(): void {
  const rejections: unknown[] = [];
  const keep = (reason: unknown) => void rejections.push(reason);
  beforeEach(() => void process.on("unhandledRejection", keep));
  afterEach(() => {
    process.off("unhandledRejection", keep);
    expect(rejections.splice(0)).toEqual([]);
  });
}

/** An informer that has not started, and what its listeners, logger and metrics hear. `streams`: whether lists are read from watches. */
export function createWorld({ streams = false, ...options }: Partial<InformerOptions> & { readonly streams?: boolean } = {}) {
  const clock = createFakeClock();
  const cluster = new FakeCluster({ clock });
  cluster.streamsLists = streams;
  const metrics = createMetrics();
  const lines: string[] = [];
  const line = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const logger: Logger = { debug() {}, info: line("info"), warn: line("warn"), error: line("error") };
  const informer = createInformer({ client: cluster, resource: ENDPOINTS, clock, chance, metrics, logger, ...options });
  const heard: string[] = [];
  informer.onChange((key) => void heard.push(formatKey(key)));
  return { clock, cluster, informer, heard, metrics, lines, sees: () => stateOf(informer.list()) };
}

/** A world that follows a cluster with two objects. */
export async function createFollowing(options: Partial<InformerOptions> = {}) {
  const world = createWorld(options);
  world.cluster.put("db");
  world.cluster.put("web");
  world.informer.start();
  await settle();
  world.heard.length = 0;
  expect({ current: world.informer.current, watches: world.cluster.openWatches }).toEqual({ current: true, watches: 1 });
  return world;
}

/** Stops the informer of a world, and expects that nothing of it is left. */
export async function stop({ informer, cluster, clock }: { informer: Informer; cluster: FakeCluster; clock: { pending: number } }) {
  await informer.stop();
  expect({ watches: cluster.openWatches, timers: clock.pending, current: informer.current }).toEqual({
    watches: 0,
    timers: 0,
    current: false,
  });
}
