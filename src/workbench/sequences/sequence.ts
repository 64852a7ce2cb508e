/**
 * A sequence that is ready to run: the result of `read-sequences.ts`.
 *
 * @module
 */
import type { KubeObject } from "../../kube/object/types.ts";
import type { Side } from "../simulator/model/cluster.ts";
import type { Assert } from "../asserts/asserts.ts";
import type { TestPlace } from "../asserts/results.ts";

/** Change of an object in one cluster. */
export interface Action {
  readonly side: Side;
  readonly verb: "apply" | "edit" | "delete" | "pause" | "resume";
  readonly object: string;
  /** Values by path; null removes the field. */
  readonly set: Readonly<Record<string, unknown>>;
}

/** The statuses of responses that a fault can give in place of a cluster. */
export type AnsweredStatus = 403 | 409 | 422 | 429 | 503;

/** A fault. Times are in milliseconds. */
export type Fault =
  | { readonly kind: "watchExpired" | "lostEvent"; readonly side: Side }
  | { readonly kind: "lateList"; readonly side: Side; readonly behind: number }
  | { readonly kind: "watchCut" | "down" | "emptyList"; readonly side: Side; readonly forMs: number }
  | { readonly kind: "crash"; readonly forMs: number; readonly behind: number }
  | { readonly kind: "stall"; readonly forMs: number }
  | { readonly kind: "lostRequest" | "lostAnswer"; readonly side: Side; readonly times: number }
  | { readonly kind: "lateWrite"; readonly side: Side; readonly forMs: number; readonly times: number }
  | { readonly kind: "answered"; readonly side: Side; readonly status: AnsweredStatus; readonly times: number }
  | { readonly kind: "rival"; readonly object: string; readonly times: number };

/** A configuration that replaces the running one, as written in the file; omitted parts do not change. */
export interface Reload {
  readonly config?: unknown;
  readonly patches?: unknown;
  readonly settings?: unknown;
}

/** One event of a sequence. */
export type SequenceEvent = { readonly atMs: number; readonly place: TestPlace } & (
  { readonly action: Action } | { readonly fault: Fault } | { readonly reload: Reload }
);

/** Limits for the number of writes by the syncer. */
export interface WriteLimit {
  readonly exact?: number;
  readonly max?: number;
  readonly min?: number;
  /** Time from which writes count; 0 for all. */
  readonly sinceMs: number;
}

/** One statement, with its place. */
export type Statement = { readonly place: TestPlace } & (
  | { readonly kind: "quiescent"; readonly wanted: boolean }
  | { readonly kind: "writes"; readonly side: Side; readonly object?: string; readonly limit: WriteLimit }
  | { readonly kind: "events"; readonly side: Side; readonly object?: string; readonly reasons: readonly string[] }
  | { readonly kind: "presence"; readonly side: Side; readonly object: string; readonly wanted: "present" | "absent" }
  | { readonly kind: "notes"; readonly object: string; readonly codes: readonly string[] }
  | { readonly kind: "asserts"; readonly side: Side; readonly object: string; readonly asserts: readonly Assert[] }
);

/** Expectations at one time, or, without a time, once everything is at rest. */
export interface Expectation {
  readonly atMs?: number;
  readonly statements: readonly Statement[];
}

/** One sequence of a patch test file. */
export interface Sequence {
  readonly name: string;
  readonly place: TestPlace;
  /** Reason for skipping the sequence. */
  readonly skip?: string;
  readonly given: Readonly<Record<Side, readonly string[]>>;
  readonly seed: number;
  readonly runs: number;
  /** In order of time. */
  readonly events: readonly SequenceEvent[];
  /** In order of time; those without a time come last. */
  readonly expectations: readonly Expectation[];
}

/** The objects of a patch test file, by name. */
export type NamedObjects = Readonly<Record<string, KubeObject>>;
