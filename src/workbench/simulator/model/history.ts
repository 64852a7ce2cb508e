import type { KubeObject } from "../../../kube/object/types.ts";
import type { Side } from "./cluster.ts";
import type { Generation } from "./generation.ts";
import type { SimulatedReplica } from "./replica.ts";

/** The author of a write. */
export type WriteAuthor = { readonly kind: "tenant" | "host" } | WritingReplica;

/** A replica that writes: for which object and by which configuration, and whether it will ever hear that it happened. */
export interface WritingReplica {
  readonly kind: "replica";
  readonly index: number;
  readonly id: string;
  readonly generation: Generation;
  readonly unheard: boolean;
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
  /** `namespace/name` on its own side. */
  readonly key: string;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** A violated promise. */
export interface Violation {
  /** Short name of the oracle, `S3` for example. */
  readonly oracle: string;
  readonly message: string;
  readonly step: number;
}

/**
 * Something that is not a write. `backends`: a configuration with another value of that setting. `incomplete list`: a cache was given a list
 * that lacks what its cluster has. `emptied`: the tenant cluster has lost everything, and every list says so.
 */
export type Happening = "restart" | "configuration" | "backends" | "incomplete list" | "emptied";

/** A reconcile of a replica, as oracles hear of it. */
export interface WatchedReconcile {
  readonly replica: SimulatedReplica;
  readonly id: string;
}

/** Inspects one write after the other and reports its violation, if there is one. It knows only the writes that it has seen. */
export interface Oracle {
  readonly name: string;
  /** Of which kinds it wants to see writes: of those that are synced, only referred to, or both. Default "synced". */
  readonly about?: "synced" | "referenced" | "both";
  saw(write: Write): string | undefined;
  /** Something happened that is not a write: a replica started, for example, or the configuration changed. */
  noticed?(event: Happening): void;
  /** A replica begins a reconcile, and decides from its caches as they are now. */
  began?(reconcile: WatchedReconcile): void;
  /** A request of it got no answer, or one that is not true: `lie` for a success that did not take place. */
  misled?(reconcile: WatchedReconcile, how: "failure" | "lie"): void;
  /** It has ended, and what follows from it waits in the queue of its replica. */
  ended?(reconcile: WatchedReconcile): string | undefined;
}
