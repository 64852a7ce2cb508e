import type { Chance } from "../../base/chance.ts";
import { delay, type Clock } from "../../base/clock.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import { ELECTION_TIMES } from "../../kube/runtime/election/election-step.ts";
import { createLeaderElection } from "../../kube/runtime/election/leader-election.ts";
import { isEtcdStore } from "../../apiserver/store/etcd/etcd-store.ts";
import type { Store, WriteTerms } from "../../apiserver/store/store.ts";
import { createLeaseClient } from "./lease-client.ts";
import type { Sharing } from "./sharing.ts";

/** Work that continues until it is stopped. */
export interface Work {
  /** Resolves when nothing is left to do for now. */
  settled(): Promise<void>;
  /** Starts nothing new. */
  stop(): void;
}

/** Options of {@link startLeaderTasks}. */
export interface LeaderTasksOptions {
  readonly store: Store;
  readonly sharing: Sharing;
  /** Starts the work, on a store that accepts writes only from the leading process. The functions of `sharing` check that too. */
  readonly begin: (store: Store, sharing: Sharing) => Promise<Work>;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
}

/** Work that one of several processes does. */
export interface LeaderTasks {
  /** Whether this process does it. */
  readonly leading: boolean;
  /** Resolves when nothing is left to do here; at once while another process does the work. */
  settled(): Promise<void>;
  /** Ends the work and hands it over. */
  stop(): Promise<void>;
}

/** The Lease that the processes compete for. */
const LEASE = { namespace: "platform", name: "management" };
/** Time between two attempts to start, after the first one failed. */
const RETRY_MS = 1_000;

/** Starts to compete for the background work; see `createLeaderElection` for the guarantees. */
export function startLeaderTasks({ store, sharing, begin, clock, chance, logger, metrics }: LeaderTasksOptions): LeaderTasks {
  const { identity = `management-${chance.uuid()}`, times = ELECTION_TIMES } = sharing;
  const client = createLeaseClient({ store, clock, timeoutMs: times.renewDeadlineSeconds * 500 });
  const election = createLeaderElection({ client, lease: LEASE, identity, clock, chance, logger, times, ...(metrics && { metrics }) });
  const demand = () => {
    if (!election.leading) throw new EngineError("LEADERSHIP_LOST", "Another process now does the background work; nothing was written");
  };
  const led = guardedStore(store, demand);
  const ledSharing = askingFirst(demand, sharing);
  const stop = new AbortController();
  let work: Work | undefined;

  const lead = async (lost: AbortSignal) => {
    while (work === undefined && !lost.aborted) {
      try {
        // Writes that the previous leader has sent but etcd has not received yet are void from here on.
        if (isEtcdStore(store)) await store.raiseFence();
        work = await begin(led, ledSharing);
      } catch (error) {
        logger.warn("Cannot begin the background work", { error: messageOf(error) });
        await delay(clock, RETRY_MS, lost);
      }
    }
    await aborted(lost);
    work?.stop();
    await work?.settled();
    work = undefined;
  };
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        await election.run(lead, stop.signal);
      } catch (error) {
        // The store accepts no more writes of the lost term, so this process can continue as a follower.
        logger.error("The background work did not stop in time", { error: messageOf(error) });
        await delay(clock, RETRY_MS, stop.signal);
      }
    }
  };
  const running = run();
  return {
    get leading() {
      return election.leading;
    },
    settled: async () => work?.settled(),
    async stop() {
      stop.abort();
      await running;
    },
  };
}

function askingFirst(demand: () => void, { compact, resealable, ...sharing }: Sharing): Sharing {
  return {
    ...sharing,
    ...(compact && {
      async compact(revision) {
        demand();
        await compact(revision);
      },
    }),
    ...(resealable && {
      resealable: {
        sealedBy: () => resealable.sealedBy(),
        async reseal(most) {
          demand();
          return resealable.reseal(most);
        },
      },
    }),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Guards a store that several writers share: no write happens while `demand` throws. */
function guardedStore(store: Store, demand: () => void): Store {
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
