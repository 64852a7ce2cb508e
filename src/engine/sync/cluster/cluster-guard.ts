/**
 * Detects that a different cluster answers in place of the one that was followed first, for example because of a reused address, a wrong
 * DNS entry, or a wrong target of a load balancer.
 *
 * The uid of `kube-system` is compared
 * - after each list, before it is used; a watch with initial events is a list until they end;
 * - when a watch is open after a failure or a premature end, before its first event is passed on;
 * - before the first event of any other watch, so that idle watches cause no requests;
 * - before the first call after a failure.
 *
 * Concurrent callers share one request.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { EngineError, isEngineError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import {
  endsInitialEvents,
  type ClusterClient,
  type ListOptions,
  type ObjectList,
  type WatchEvent,
  type WatchOptions,
} from "../../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { NAMESPACES, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { ClusterIdentity, ClusterAccess, Writer } from "./access.ts";
import { CLUSTER_NAMESPACE, readClusterUid } from "./identity.ts";

/** Options of a cluster guard. */
export interface ClusterGuardOptions {
  readonly client: ClusterClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Label of the metric and of log lines. */
  readonly cluster: string;
}

/** A client whose lists, watches and gets always come from the same cluster. Callers check it before writes, with {@link verify}. */
export interface ClusterGuard extends ClusterIdentity {
  readonly client: ClusterClient;
}

/** Minimum interval between checks after another cluster has answered, in milliseconds. */
const ASK_AGAIN_MS = 1_000;
/** A watch that begins within this time after a right answer needs no other check, in milliseconds. */
const JUST_NOW_MS = 1_000;
/** Time by which a watch may end early without being suspicious, in milliseconds. */
const EARLY_MS = 1_000;

/**
 * Guards a cluster. The first response determines the right cluster for the lifetime of the guard. Without permission to read
 * `kube-system`, nothing is checked again and everything passes.
 *
 * @example
 * const guard = createClusterGuard({ client, clock, logger, metrics, cluster: "tenant" });
 * await guard.client.list(ENDPOINTS); // throws CLUSTER_IDENTITY when another cluster responded
 */
export function createClusterGuard(options: ClusterGuardOptions): ClusterGuard {
  return new GuardedCluster(options);
}

type Verdict = { readonly error: unknown } | undefined;

class GuardedCluster implements ClusterGuard {
  readonly #options: ClusterGuardOptions;
  readonly client: ClusterClient;
  /** uid of the right cluster, once it is known. */
  #uid: string | undefined;
  /** True if the uid cannot be read. */
  #blind = false;
  /** Failures so far, and their number at the time of the last request with a right answer. */
  #troubles = 1;
  #troublesForgiven = 0;
  #rightMs = -Infinity;
  #askedMs = -Infinity;
  /** Never rejects. */
  #running: Promise<Verdict> = Promise.resolve(undefined);
  #next: Promise<Verdict> | undefined;
  wrong: EngineError | undefined;

  constructor(options: ClusterGuardOptions) {
    const { client } = options;
    this.#options = options;
    this.client = {
      ...(client.streamsLists === true && { streamsLists: true }),
      get: (resource, key) => this.#get(resource, key),
      list: (resource, scope) => this.#list(resource, scope),
      watch: (resource, scope) => this.#watch(resource, scope),
      create: (resource, object) => this.#counted(client.create(resource, object)),
      update: (resource, object) => this.#counted(client.update(resource, object)),
      patch: (resource, key, type, body) => this.#counted(client.patch(resource, key, type, body)),
      delete: (resource, key, preconditions) => this.#counted(client.delete(resource, key, preconditions)),
      close: () => client.close(),
    };
  }

  async verify(): Promise<void> {
    if (this.#blind) return;
    const since = this.#options.clock.monotonic() - this.#askedMs;
    if (this.wrong !== undefined && since < ASK_AGAIN_MS) throw this.wrong;
    if (this.wrong !== undefined || this.#suspicious) await this.#askAnew();
  }

  get #suspicious(): boolean {
    return this.#troubles !== this.#troublesForgiven;
  }

  /** Resolves after the answer to a request that is sent after this call. */
  async #askAnew(): Promise<void> {
    if (this.#blind) return;
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return (this.#running = this.#judge());
    });
    const verdict = await this.#next;
    if (verdict !== undefined) throw verdict.error;
  }

  async #judge(): Promise<Verdict> {
    try {
      await this.#ask();
      return undefined;
    } catch (error) {
      // The identity cannot be read now, so the previous result stays.
      if (isEngineError(error, "API_FORBIDDEN")) return this.wrong && { error: this.wrong };
      return { error };
    }
  }

  /** @throws CLUSTER_IDENTITY when another cluster answers. */
  async #ask(): Promise<KubeObject | undefined> {
    const { client, clock } = this.#options;
    const troubles = this.#troubles;
    try {
      const object = await client.get(NAMESPACES, CLUSTER_NAMESPACE);
      this.#compare(object?.metadata.uid);
      this.#troublesForgiven = troubles;
      this.#rightMs = clock.monotonic();
      return object;
    } catch (error) {
      if (isEngineError(error, "API_FORBIDDEN")) this.#blind = this.#uid === undefined;
      throw error;
    } finally {
      this.#askedMs = clock.monotonic();
    }
  }

  #compare(uid: string | undefined): void {
    if (this.#uid === undefined) {
      this.#uid = uid;
      this.#setGauge(0);
      this.#blind = uid === undefined;
    } else if (uid !== this.#uid) throw this.#notice(uid);
    else if (this.wrong !== undefined) this.#recover();
  }

  #notice(uid: string | undefined): EngineError {
    const { logger, cluster } = this.#options;
    const message = `A different cluster responds at the address of the ${cluster} cluster: expected the uid ${this.#uid}, found ${uid ?? "none"}`;
    const error = new EngineError("CLUSTER_IDENTITY", message, {
      details: { hint: "Point the address back to the right cluster, or restart the syncer if the cluster was rebuilt on purpose" },
    });
    if (this.wrong === undefined) logger.error("Nothing is synced", { cluster, code: error.code, error: message });
    this.wrong = error;
    this.#setGauge(1);
    return error;
  }

  #recover(): void {
    const { logger, cluster } = this.#options;
    this.wrong = undefined;
    this.#setGauge(0);
    logger.info("The right cluster responds again", { cluster });
  }

  #setGauge(another: 0 | 1): void {
    const { metrics, cluster } = this.#options;
    metrics.gauge("endpoint_sync_cluster_is_another", another, { cluster });
  }

  async #counted<Result>(call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      if (isEngineError(error, "API_UNAVAILABLE")) this.#troubles += 1;
      throw error;
    }
  }

  async #get(resource: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    if (resource === NAMESPACES && key.name === CLUSTER_NAMESPACE.name) return this.#counted(this.#ask());
    await this.verify();
    return this.#counted(this.#options.client.get(resource, key));
  }

  async #list(resource: ResourceType, scope?: ListOptions): Promise<ObjectList> {
    // Avoids a list from the wrong cluster for each attempt.
    if (this.wrong !== undefined) await this.verify();
    const list = await this.#counted(this.#options.client.list(resource, scope));
    if (list.continue === undefined) await this.#askAnew();
    return list;
  }

  async *#watch(resource: ResourceType, scope: WatchOptions): AsyncGenerator<WatchEvent> {
    if (this.wrong !== undefined) await this.verify();
    const { clock, client } = this.#options;
    const startedMs = clock.monotonic();
    const stream = new GuardedStream(scope, {
      ask: () => this.#askAnew(),
      known: this.#blind || (!this.#suspicious && startedMs - this.#rightMs < JUST_NOW_MS),
      suspicious: this.#suspicious && !this.#blind,
      isList: scope.initialEvents === true,
    });
    const agreedMs = (scope.timeoutSeconds ?? 0) * 1_000 - EARLY_MS;
    let ended = false;
    try {
      for await (const event of client.watch(resource, stream.options)) {
        if (!stream.passes) await stream.pass(event);
        yield event;
      }
      await stream.settle();
      ended = true;
    } finally {
      stream.close();
      const early = clock.monotonic() - startedMs < agreedMs;
      // A watch that the caller aborts early is no longer needed; one that the caller aborts late has not ended in time.
      if (scope.signal.aborted ? !early : early || !ended) this.#troubles += 1;
    }
  }
}

interface StreamChecks {
  ask(): Promise<void>;
  /** The identity of the cluster is already known. */
  readonly known: boolean;
  /** Check the identity as soon as the watch is open. */
  readonly suspicious: boolean;
  /** The watch begins with a list. The identity is checked at its end, and not before. */
  readonly isList: boolean;
}

/** One watch that passes on no change before the identity of the cluster is known. */
class GuardedStream {
  readonly #checks: StreamChecks;
  readonly #ending = new AbortController();
  readonly #outer: AbortSignal;
  readonly #end = () => this.#ending.abort();
  #known: boolean;
  #isList: boolean;
  #failure: { readonly error: unknown } | undefined;
  #asked: Promise<void> | undefined;
  readonly options: WatchOptions;

  constructor(scope: WatchOptions, checks: StreamChecks) {
    this.#checks = checks;
    this.#known = checks.known;
    this.#isList = checks.isList;
    this.#outer = scope.signal;
    if (this.#outer.aborted) this.#end();
    this.#outer.addEventListener("abort", this.#end, { once: true });
    this.options = { ...scope, signal: this.#ending.signal, onOpen: () => void this.#opened(scope.onOpen) };
  }

  async #opened(notify: WatchOptions["onOpen"]): Promise<void> {
    if (this.#checks.suspicious && !this.#isList) await this.#askOnce();
    if (this.#failure === undefined) notify?.();
  }

  /** Never rejects. */
  #askOnce(): Promise<void> {
    return (this.#asked ??= this.#checks.ask().then(
      () => void (this.#known = true),
      (error: unknown) => {
        this.#failure = { error };
        this.#end();
      },
    ));
  }

  /** True if an event can be passed on immediately, as nearly all can. */
  get passes(): boolean {
    return this.#known && !this.#isList && this.#failure === undefined;
  }

  async pass(event: WatchEvent): Promise<void> {
    if (this.#isList) return this.#passList(event);
    const { type } = event;
    // A bookmark changes nothing, and an idle watch receives only bookmarks.
    if (!this.#known && (type !== "BOOKMARK" || this.#asked !== undefined)) await this.#askOnce();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #passList(event: WatchEvent): Promise<void> {
    if (!endsInitialEvents(event)) return;
    this.#isList = false;
    await this.#askOnce();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Waits for a pending check, at the end of the stream. */
  async settle(): Promise<void> {
    await this.#asked;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  close(): void {
    this.#outer.removeEventListener("abort", this.#end);
    this.#end();
  }
}

/** Time for which a check of the tenant cluster's identity is valid, in milliseconds. */
const SAME_CLUSTER_MS = 1_000;

/** Options of {@link sameClusterOnly}. */
export interface SameClusterOptions {
  /** uid of `kube-system` at the start; undefined if it could not be read, and then absent objects are not verified. */
  readonly clusterUid: string | undefined;
  readonly clock: Clock;
}

/** Wraps a writer so that `get` throws CLUSTER_IDENTITY for an absent object while another cluster responds in place of the right one. */
export function sameClusterOnly(writer: Writer, { clusterUid, clock }: SameClusterOptions): Writer {
  let sameUntilMs = 0;

  async function check(): Promise<void> {
    if (clusterUid === undefined || clock.monotonic() < sameUntilMs) return;
    const uid = await readClusterUid(writer);
    if (uid !== clusterUid) {
      const found = uid ?? "one that does not identify itself";
      throw new EngineError("CLUSTER_IDENTITY", `Nothing is deleted: the tenant cluster was ${clusterUid}, and now ${found} responds`);
    }
    sameUntilMs = clock.monotonic() + SAME_CLUSTER_MS;
  }

  return {
    async get(resource, key) {
      const object = await writer.get(resource, key);
      if (object === undefined) await check();
      return object;
    },
    create: (resource, object) => writer.create(resource, object),
    update: (resource, object) => writer.update(resource, object),
    delete: (resource, key, preconditions) => writer.delete(resource, key, preconditions),
  };
}

/** The target and the source of writes. */
export interface IdentityOptions {
  readonly to: Pick<ClusterAccess, "identity">;
  readonly from: Pick<ClusterAccess, "identity">;
}

/**
 * Wraps a writer so that no write starts while another cluster responds in place of the target or the source. A source that cannot be
 * reached does not block the write: its cached state is that of the right cluster.
 */
export function verifiedOnly(writer: Writer, { to, from }: IdentityOptions): Writer {
  async function verify(): Promise<void> {
    await to.identity?.verify();
    if (from.identity?.wrong !== undefined) throw from.identity.wrong;
  }
  return {
    get: (resource, key) => writer.get(resource, key),
    async create(resource, object) {
      await verify();
      return writer.create(resource, object);
    },
    async update(resource, object) {
      await verify();
      return writer.update(resource, object);
    },
    async delete(resource, key, preconditions) {
      await verify();
      return writer.delete(resource, key, preconditions);
    },
  };
}
