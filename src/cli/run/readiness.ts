/**
 * Readiness of the sidecar, and the reasons why it is not ready.
 *
 * @module
 */
import { messageOf } from "../../base/errors.ts";
import type { Timer } from "../../base/clock.ts";
import { qualifiedPlural } from "../../kube/object/resource.ts";
import { describePermission, isAllowed, type Permission } from "../../engine/sync/cluster/permissions.ts";
import type { FollowedCluster, Runtime } from "../input/followed-cluster.ts";
import type { ProbeAnswer } from "../process/probe-server.ts";

/** Interval at which permissions are checked again, in milliseconds. */
export const REVIEW_INTERVAL_MS = 5 * 60_000;
/** Interval after a check that could not be finished, or found a missing permission, which an operator may be about to grant. */
export const REVIEW_SOON_MS = 30_000;
/** A refused request leads to a check of permissions, but not more often than at this interval. */
export const REVIEW_PAUSE_MS = 5_000;

/** Dependencies of readiness. */
export interface SyncerReadinessOptions {
  readonly clusters: readonly Pick<FollowedCluster, "side" | "client" | "access">[];
  /** Permissions that the current configuration needs. */
  permissions(): readonly Permission[];
  /** Reports whether the first lists are complete. */
  prepared(): boolean;
  /**
   * Objects for which a cluster has contradicted its lists for a while. They are reported, but do not affect readiness: a restart would not
   * help.
   */
  contradicted?(): readonly string[];
  /** One line for each cluster or kind that cannot be reached or followed, with the time since when. Default: none. */
  outOfSight?(): readonly string[];
  /**
   * Services whose backends are not all visible to readers on the host. They are reported, but do not affect readiness: the copies are
   * current.
   */
  invisible?(): readonly string[];
  /** Services with slices on the host that are not kept up to date. They are reported in the same way. */
  left?(): readonly string[];
  readonly runtime: Runtime;
}

/** The response to `/readyz`. */
export interface Readiness {
  readonly probe: ProbeAnswer;
  /** Starts to check permissions; before that, none is reported as missing. */
  start(): void;
  /** Checks permissions soon, because a cluster has refused a request or different permissions are needed. */
  askAgain(): void;
  stop(): void;
}

/** Creates the readiness of a syncer. Permissions are not checked before {@link Readiness.start}. */
export function createSyncerReadiness(options: SyncerReadinessOptions): Readiness {
  return new WatchedReadiness(options);
}

class WatchedReadiness implements Readiness {
  readonly #options: SyncerReadinessOptions;
  #missing: readonly Permission[] = [];
  #timer: Timer | undefined;
  #reviewedMs = -Infinity;
  #reviewing = false;
  #started = false;
  #stopped = false;

  constructor(options: SyncerReadinessOptions) {
    this.#options = options;
  }

  readonly probe: ProbeAnswer = () => {
    const { prepared, outOfSight = () => [] } = this.#options;
    const required = this.#missing.filter((permission) => permission.required);
    const optional = this.#missing.filter((permission) => !permission.required);
    const lacks = [...required.map((one) => `missing permission: ${describePermission(one)}`)];
    const remarks = [
      ...optional.map((one) => `worth having: ${describePermission(one)}`),
      ...this.#contradictions(),
      ...this.#invisible(),
      ...this.#left(),
    ];
    const waits = prepared() ? [] : ["the first lists are not complete yet", ...this.#unsynced()];
    const reasons = [...this.#wrong(), ...outOfSight(), ...lacks, ...waits];
    return reasons.length === 0 ? { remarks } : { reason: [...reasons, ...remarks].join("\n") };
  };

  #contradictions(): readonly string[] {
    const ids = this.#options.contradicted?.() ?? [];
    if (ids.length === 0) return [];
    const many = ids.length === 1 ? "1 object is" : `${ids.length} objects are`;
    return [`CACHE_CONTRADICTED: ${many} not up to date, for example ${ids[0]}: the API server's list responses are incomplete or stale`];
  }

  #invisible(): readonly string[] {
    const services = this.#options.invisible?.() ?? [];
    if (services.length === 0) return [];
    const many = services.length === 1 ? "1 Service" : `${services.length} Services`;
    return [
      `BACKENDS_INVISIBLE: readers on the host do not see all backends of ${many}; \`endpoint-sync why services ${services[0]}\` explains what to do`,
    ];
  }

  #left(): readonly string[] {
    const services = this.#options.left?.() ?? [];
    if (services.length === 0) return [];
    const many = services.length === 1 ? "1 Service" : `${services.length} Services`;
    const remedy = "set backends: auto again, or remove what endpoint-sync audit lists";
    return [`SLICES_LEFT: the host's slices of ${many} are not kept up to date, for example ${services[0]}; ${remedy}`];
  }

  #wrong(): readonly string[] {
    return this.#options.clusters.flatMap(({ access: { identity } }) =>
      identity.wrong === undefined ? [] : [`${identity.wrong.code}: ${identity.wrong.message}`],
    );
  }

  #unsynced(): readonly string[] {
    return this.#options.clusters.flatMap(({ side, access }) =>
      access.unsynced().map((kind) => {
        const why = access.failureOf(kind);
        return `waiting for the list of ${kind} of the ${side} cluster${why === undefined ? "" : `: ${why}`}`;
      }),
    );
  }

  start(): void {
    this.#started = true;
    void this.#review();
  }

  askAgain(): void {
    if (!this.#started || this.#stopped || this.#reviewing) return;
    const { clock } = this.#options.runtime;
    this.#schedule(Math.max(0, this.#reviewedMs + REVIEW_PAUSE_MS - clock.monotonic()));
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(afterMs: number): void {
    this.#timer?.cancel();
    if (!this.#stopped) this.#timer = this.#options.runtime.clock.schedule(afterMs, () => void this.#review());
  }

  /** Never throws. */
  async #review(): Promise<void> {
    if (this.#reviewing) return;
    const { runtime, permissions } = this.#options;
    this.#reviewing = true;
    try {
      this.#found(await this.#ask(permissions()));
      this.#schedule(this.#missing.length === 0 ? REVIEW_INTERVAL_MS : REVIEW_SOON_MS);
    } catch (error) {
      // The earlier result is assumed to still hold.
      runtime.logger.debug("Cannot check permissions", { error: messageOf(error) });
      this.#schedule(REVIEW_SOON_MS);
    } finally {
      this.#reviewing = false;
      this.#reviewedMs = runtime.clock.monotonic();
    }
  }

  /** Returns the missing permissions. It sends one request at a time to each cluster, because the check is not urgent. */
  async #ask(permissions: readonly Permission[]): Promise<readonly Permission[]> {
    const missing = await Promise.all(
      this.#options.clusters.map(async ({ side, client }) => {
        const denied: Permission[] = [];
        for (const permission of permissions.filter((one) => one.side === side)) {
          if (!this.#stopped && !(await isAllowed(client, permission))) denied.push(permission);
        }
        return denied;
      }),
    );
    return missing.flat();
  }

  #found(missing: readonly Permission[]): void {
    if (this.#stopped) return;
    const { logger, metrics } = this.#options.runtime;
    const before = new Set(this.#missing.map(describePermission));
    const now = new Set(missing.map(describePermission));
    for (const one of missing) if (!before.has(describePermission(one))) this.#logMissing(one);
    for (const one of this.#missing) if (!now.has(describePermission(one))) logger.info("Permission granted", fieldsOf(one));
    for (const { side } of this.#options.clusters) {
      const count = missing.filter((one) => one.required && one.side === side).length;
      metrics.gauge("endpoint_sync_missing_permissions", count, { cluster: side });
    }
    this.#missing = missing;
  }

  #logMissing(permission: Permission): void {
    const { logger } = this.#options.runtime;
    if (permission.required) logger.error("Missing permission", fieldsOf(permission));
    else logger.info("Optional permission missing", fieldsOf(permission));
  }
}

function fieldsOf({ side, verb, resource, namespace, name }: Permission) {
  return { cluster: side, verb, resource: qualifiedPlural(resource), ...(namespace && { namespace }), name };
}
