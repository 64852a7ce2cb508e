import type { Clock, Timer } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import { keyOf } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import type { StoreEvent } from "../../apiserver/store/store.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "./controller.ts";
import { createKeyWorker } from "./key-worker.ts";

/**
 * Removes objects whose grace period is over, as a node removes its Pods once their containers have stopped. This cluster runs no
 * containers, so a deletion always takes the whole grace period.
 */
export async function startGracePeriodController({ registry, store, logger, clock }: ClusterControllerOptions): Promise<ClusterController> {
  const ending = new Map<string, { readonly object: KubeObject; readonly timer: Timer }>();
  const forget = (key: string) => {
    ending.get(key)?.timer.cancel();
    ending.delete(key);
  };
  const worker = createKeyWorker({
    name: "grace period",
    logger,
    async reconcile(key) {
      const object = ending.get(key)?.object;
      if (object === undefined) return;
      forget(key);
      await end(registry, object);
    },
  });
  const note = (key: string, object: KubeObject) => {
    forget(key);
    const leftMs = timeLeft(object, clock);
    if (leftMs !== undefined) ending.set(key, { object, timer: clock.schedule(leftMs, () => worker.add(key)) });
  };
  const onEvent = ({ type, key, object }: StoreEvent) => (type === "deleted" ? forget(key) : note(key, object));
  const present = await store.list({ prefix: "/" });
  for (const { key, object } of present.objects) note(key, object);
  const watch = await store.watch({ prefix: "/", after: present.revision, onEvent });
  const controller = createClusterController(worker, [watch]);
  return {
    settled: controller.settled,
    stop() {
      controller.stop();
      for (const key of [...ending.keys()]) forget(key);
    },
  };
}

async function end(registry: Registry, object: KubeObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const type = registry.definitions.map((definition) => definition.type).find((one) => one.apiVersion === apiVersion && one.kind === kind);
  if (type === undefined) return;
  try {
    await registry.delete(type, keyOf(object), { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid! } });
  } catch (error) {
    // The object is gone, or a new one has its name: nothing is left to do.
    if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) throw error;
  }
}

/** Milliseconds until an object ends; undefined while it is not being deleted, or if it has no grace period. */
function timeLeft({ metadata }: KubeObject, clock: Clock): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  if (typeof deletionTimestamp !== "string" || deletionGracePeriodSeconds === 0) return undefined;
  return Math.max(0, Date.parse(deletionTimestamp) - clock.now());
}
