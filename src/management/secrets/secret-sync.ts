import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { formatKey, sameKey, type ObjectKey } from "../../kube/object/key.ts";
import type { ClusterClient } from "../../kube/object/cluster-client.ts";
import { SECRETS, type ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { createController } from "../../kube/runtime/controller.ts";
import { createInformer } from "../../kube/runtime/informer/informer.ts";
import { createWorkQueue } from "../../kube/runtime/queue/work-queue.ts";
import { specOf } from "../kinds/common.ts";
import { SHARED_SECRETS } from "../kinds/types.ts";
import { planSecretSync, type SecretSyncPlan } from "./plan-secret.ts";

/** Options of {@link createSecretSync}. */
export interface SecretSyncOptions {
  /** The management API, with a key that has permission to read the SharedSecret. */
  readonly platform: ClusterClient;
  /** The connected cluster. */
  readonly cluster: ClusterClient;
  readonly source: ObjectKey;
  readonly target: ObjectKey;
  /** If true, takes over an existing Secret that is not linked to a SharedSecret. Default false. */
  readonly adopt?: boolean;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
}

/** A sync of one Secret. */
export interface SecretSync {
  /** Resolves when both sides have been read. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A conflicting Secret may be removed by hand; it is checked again after this time, in milliseconds. */
const REFUSED_RETRY_MS = 60_000;

/**
 * Keeps a Secret of a connected cluster equal to a SharedSecret: creates, updates and deletes it with its source, and reverts manual edits.
 * A Secret that is not linked to the SharedSecret stays unchanged, unless `adopt` is true. Values never appear in the log.
 *
 * @example
 * const sync = createSecretSync({ platform, cluster, source, target, clock, chance, logger });
 * await sync.start();
 */
export function createSecretSync(options: SecretSyncOptions): SecretSync {
  const { platform, cluster, source, target, clock, chance, logger } = options;
  const deletions = noteDeletions(platform);
  const follow = (client: Followed, resource: ResourceType, { namespace, name }: ObjectKey, side: string) => {
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    return createInformer({ client, resource, scope, clock, chance, logger, cluster: side });
  };
  const shared = follow(deletions.client, SHARED_SECRETS, source, "platform");
  const secrets = follow(cluster, SECRETS, target, "connected");
  const queue = createWorkQueue({ name: "secret-sync", clock });
  const id = formatKey(target);
  shared.onChange((key) => void (sameKey(key, source) && shared.synced && queue.add(id)));
  secrets.onChange(() => void (secrets.synced && queue.add(id)));
  const controller = createController({
    ...{ name: "secret-sync", queue, clock, chance, logger, workers: 1 },
    async reconcile() {
      // With only one side known, the other would look deleted.
      if (!shared.synced || !secrets.synced) return;
      const plan = planSecretSync({
        source,
        target,
        shared: shared.get(source),
        secret: secrets.get(target),
        adopt: options.adopt === true,
      });
      return carryOut(plan, { ...options, wasDeleted: deletions.seen });
    },
  });
  return {
    async start() {
      shared.start();
      secrets.start();
      controller.start();
      await Promise.all([shared.whenSynced(), secrets.whenSynced()]);
      queue.add(id);
    },
    async stop() {
      await controller.stop();
      await Promise.all([shared.stop(), secrets.stop()]);
    },
  };
}

type Followed = Pick<ClusterClient, "list" | "watch">;

interface Noted {
  readonly client: Followed;
  /** Whether the last event reports a real deletion of the object. */
  seen(): boolean;
}

/**
 * Records deletions. A caller who may no longer read an object gets a deletion event with metadata only; that of a real deletion has the
 * contents. The API does not reveal to other callers which objects exist, so a key without further permissions cannot find out more.
 */
function noteDeletions(client: ClusterClient): Noted {
  let deleted = false;
  return {
    seen: () => deleted,
    client: {
      async list(resource, options) {
        const list = await client.list(resource, options);
        if (list.items.length > 0) deleted = false;
        return list;
      },
      async *watch(resource, options) {
        for await (const event of client.watch(resource, options)) {
          if (event.type !== "BOOKMARK") deleted = event.type === "DELETED" && !isHidden(event.object);
          // An informer drops a deleted object permanently, but this object can become readable again.
          if (event.type === "DELETED" && !deleted)
            throw new EngineError("API_EXPIRED", "The key is no longer allowed to read the SharedSecret");
          yield event;
        }
      },
    },
  };
}

function isHidden(object: KubeObject): boolean {
  return Object.keys(specOf<object>(object)).length === 0;
}

interface Carried extends SecretSyncOptions {
  readonly wasDeleted: () => boolean;
}

async function carryOut(plan: SecretSyncPlan, options: Carried) {
  const { cluster, target, logger } = options;
  const place = formatKey(target);
  // Check when there is nothing to do, too: the key may lack the permission to list.
  if (plan.action === "delete" || (plan.action === "none" && plan.why === "absent")) await demandGone(options);
  if (plan.action === "none") return;
  if (plan.action === "refuse") {
    logger.warn("The Secret is not changed", { secret: place, reason: plan.why });
    return { requeueAfterMs: REFUSED_RETRY_MS };
  }
  if (plan.action === "delete") {
    const { uid, resourceVersion } = plan.object.metadata;
    await cluster.delete(SECRETS, target, { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) });
  } else await cluster[plan.action](SECRETS, plan.object);
  logger.info("The Secret follows its SharedSecret", { secret: place, action: plan.action });
  return undefined;
}

/**
 * Checks that the SharedSecret is gone. A key that may no longer read it does not see it either, which must not delete the Secret.
 *
 * @throws API_CONFLICT when it exists; the API's error when it is unknown whether it exists.
 */
async function demandGone({ platform, source, wasDeleted }: Carried): Promise<void> {
  if (wasDeleted()) return;
  const found = await platform.get(SHARED_SECRETS, source);
  if (found === undefined || typeof found.metadata.deletionTimestamp === "string") return;
  const hint = "Grant the key the verb list on the SharedSecret as well: the verb get alone does not permit a watch";
  throw new EngineError("API_CONFLICT", `SharedSecret ${formatKey(source)} exists, but the key cannot list it`, { details: { hint } });
}
