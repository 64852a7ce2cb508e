import type { Clock } from "../../../base/clock.ts";
import { EngineError } from "../../../base/errors.ts";
import type { ClusterAccess, Writer } from "./access.ts";
import { readClusterUid } from "./identity.ts";

/** Time for which a check of the tenant cluster's identity is valid, in milliseconds. */
const SAME_CLUSTER_MS = 1_000;

/** Knowledge of a guarded writer about its cluster. */
export interface SameClusterOptions {
  /** uid of `kube-system` at the start; undefined if it could not be read, and then absent objects are not verified. */
  readonly clusterUid: string | undefined;
  readonly clock: Clock;
}

/**
 * Wraps a writer so that `get` throws CLUSTER_IDENTITY for an absent object while another cluster answers in place of the right
 * one.
 */
export function sameClusterOnly(writer: Writer, { clusterUid, clock }: SameClusterOptions): Writer {
  let sameUntilMs = 0;

  async function check(): Promise<void> {
    if (clusterUid === undefined || clock.monotonic() < sameUntilMs) return;
    const uid = await readClusterUid(writer);
    if (uid !== clusterUid) {
      const found = uid ?? "one that does not identify itself";
      throw new EngineError("CLUSTER_IDENTITY", `Nothing is deleted: the tenant cluster was ${clusterUid}, and now ${found} answers`);
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
 * Wraps a writer so that no write starts while another cluster answers in place of the target or the source.
 * A source that cannot be reached does not block the write: its cached state is that of the right cluster.
 */
export function verifiedOnly(writer: Writer, { to, from }: IdentityOptions): Writer {
  const verified = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    await to.identity?.verify();
    if (from.identity?.wrong !== undefined) throw from.identity.wrong;
    return write();
  };
  return {
    get: (resource, key) => writer.get(resource, key),
    create: (resource, object) => verified(() => writer.create(resource, object)),
    update: (resource, object) => verified(() => writer.update(resource, object)),
    delete: (resource, key, preconditions) => verified(() => writer.delete(resource, key, preconditions)),
  };
}
