import type { KubeObject } from "../../../kube/object/types.ts";
import type { Side } from "./cluster.ts";
import type { Generation } from "./generation.ts";
import type { SimulatedReplica } from "./replica.ts";

/** The author of a write. */
export type WriteAuthor = { readonly kind: "tenant" | "host" } | WritingReplica;

/**
 * A replica that writes, with the object, the configuration, and whether it never receives the response (`unanswered`), or no longer knows
 * of the write, because it has been started again, or has loaded another configuration (`forgotten`).
 */
export interface WritingReplica {
  readonly kind: "replica";
  readonly index: number;
  readonly id: string;
  readonly generation: Generation;
  readonly unanswered: boolean;
  readonly forgotten?: boolean;
  /** Revisions of both clusters when the reconcile began. */
  readonly since: Readonly<Record<Side, number>>;
}

/** One write that a cluster accepted. */
export interface Write {
  readonly step: number;
  /** Virtual milliseconds. */
  readonly at: number;
  readonly author: WriteAuthor;
  readonly side: Side;
  readonly plural: string;
  readonly action: "create" | "update" | "delete";
  /** `namespace/name` in its cluster. */
  readonly key: string;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** A violation of a guarantee that the simulator checks. */
export interface Violation {
  /** Short name of the oracle, `S3` for example. */
  readonly oracle: string;
  readonly message: string;
  readonly step: number;
}

/**
 * Something that is not a write. `backends`: a configuration with another value of that setting. `incomplete list`: a cache received a
 * list that lacks objects of its cluster. `emptied`: the tenant cluster has lost everything, and every list shows that.
 */
export type Happening = "restart" | "configuration" | "backends" | "incomplete list" | "emptied";

/** A reconcile of a replica, as reported to oracles. */
export interface WatchedReconcile {
  readonly replica: SimulatedReplica;
  readonly id: string;
}

/** Inspects one write after the other and reports its violation, if there is one. It knows only the writes that it has seen. */
export interface Oracle {
  readonly name: string;
  /** The kinds whose writes it inspects: synced kinds, kinds that are only referred to, or both. Default "synced". */
  readonly about?: "synced" | "referenced" | "both";
  saw(write: Write): string | undefined;
  /** Something happened that is not a write: a replica started, for example, or the configuration changed. */
  noticed?(event: Happening): void;
  /** A replica begins a reconcile, and decides from its caches as they are now. */
  began?(reconcile: WatchedReconcile): void;
  /** A request of the reconcile failed or got a false response: `lie` for a success that did not take place. */
  misled?(reconcile: WatchedReconcile, how: "failure" | "lie"): void;
  /** The reconcile has ended, and its follow-up work is in the queue of its replica. */
  ended?(reconcile: WatchedReconcile): string | undefined;
}
