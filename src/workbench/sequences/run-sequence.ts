/**
 * Runs a sequence: events and expectations in order of time, in a separate world for each seed.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import type { Planner } from "../../engine/reconcile/plan.ts";
import type { SyncEngine } from "../../engine/sync/reconciler.ts";
import { needsMatcher } from "../asserts/asserts.ts";
import type { RegexMatcher } from "../asserts/regex.ts";
import type { TestFailure, TestPlace, TestResult } from "../asserts/results.ts";
import type { Side } from "../simulator/model/cluster.ts";
import type { CreateCore } from "../simulator/model/replica.ts";
import { act, give } from "./actions.ts";
import { shownLines } from "./world/chronicle.ts";
import { checkStatement, type Checked } from "./check.ts";
import { formatSeconds } from "./durations.ts";
import { createPlaces, type ObjectPlaces } from "./places.ts";
import type { Expectation, NamedObjects, Reload, Sequence, SequenceEvent, Fault } from "./sequence.ts";
import { SequenceWorld } from "./world/world.ts";
import type { RequestFault } from "./world/broken-requests.ts";

/** Options for running a sequence. */
export interface SequenceOptions {
  /** Every object that the sequence names. They are not changed. */
  readonly objects: NamedObjects;
  /** The engine of the file's configuration. Its creator disposes of it. */
  readonly engine: SyncEngine;
  /** The engine of another configuration; called once for each `reload`, before anything happens. Its creator disposes of it. */
  readonly reload: (reload: Reload) => Promise<SyncEngine>;
  /** Matcher of `matchRegex`; called if the sequence has such an assert. */
  readonly matcher: () => Promise<RegexMatcher>;
  /** Replaces `plan`. For tests that a sequence detects a wrong planner. */
  readonly planner?: Planner;
  /** Replaces `createSyncCore`, for the same kind of test. */
  readonly createCore?: CreateCore;
}

/**
 * Runs one sequence in virtual time, once for each of its seeds until one fails. The same sequence with the same options gives the
 * same result. The explanation of a failure lists what happened since the previous failure, one line each.
 *
 * If the content of a reload is invalid, or an event is impossible, the verdict is `error`.
 *
 * @example
 * const { verdict, failures } = await runSequence(sequence, { objects, engine, reload, matcher });
 */
export async function runSequence(sequence: Sequence, options: SequenceOptions): Promise<TestResult> {
  const { name, place, skip, seed, runs } = sequence;
  const result = { kind: "sequence", name, place, failures: [], fuel: 0 } as const;
  if (skip !== undefined) return { ...result, verdict: "skipped", reason: skip };
  const isSeeded = runs > 1 || seed > 0;
  try {
    const parts = await prepare(sequence, options);
    if ("failure" in parts) return { ...result, verdict: "error", failures: [parts.failure] };
    for (let run = 0; run < runs; run += 1) {
      const { verdict, failures } = await runSeed(sequence, { ...options, ...parts, seed: seed + run });
      const tried = isSeeded && { runs: run + 1, seed: seed + run };
      if (verdict !== "passed") return { ...result, verdict, failures, ...tried };
    }
    return { ...result, verdict: "passed", ...(isSeeded && { runs, seed }) };
  } catch (error) {
    return { ...result, verdict: "error", failures: [failureOf(error, place)] };
  }
}

/** Failure from an error that users can fix; all others are rethrown. */
function failureOf(error: unknown, place: TestPlace): TestFailure {
  if (!isEngineError(error) || error.code === "INTERNAL") throw error;
  return { message: error.message, code: error.code, place };
}

interface Parts {
  readonly engines: ReadonlyMap<SequenceEvent, SyncEngine>;
  readonly matches: RegexMatcher;
}

async function prepare(
  { events, expectations }: Sequence,
  { reload, matcher }: SequenceOptions,
): Promise<Parts | { readonly failure: TestFailure }> {
  const engines = new Map<SequenceEvent, SyncEngine>();
  for (const event of events) {
    if (!("reload" in event)) continue;
    try {
      engines.set(event, await reload(event.reload));
    } catch (error) {
      return { failure: failureOf(error, event.place) };
    }
  }
  const asserts = expectations.flatMap(({ statements }) => statements.flatMap((one) => (one.kind === "asserts" ? one.asserts : [])));
  const matches = needsMatcher(asserts) ? await matcher() : () => false;
  return { engines, matches };
}

interface SeedResult {
  readonly verdict: "passed" | "failed" | "error";
  readonly failures: readonly TestFailure[];
}

async function runSeed(sequence: Sequence, options: SequenceOptions & Parts & { seed: number }): Promise<SeedResult> {
  const { engine, engines, objects, seed, planner, createCore, matches } = options;
  const world = await SequenceWorld.create({ engines: [engine, ...engines.values()], seed, planner, createCore });
  const places = createPlaces(sequence, objects, world);
  const checked: Checked = { world, places, matches };
  const failures: TestFailure[] = [];
  const errors: TestFailure[] = [];
  let shown = 0;
  const withStory = (failure: TestFailure): TestFailure => {
    const news = world.ledger.chronicle.lines.slice(shown);
    shown += news.length;
    return news.length === 0 ? failure : { ...failure, explanation: shownLines(news) };
  };
  const wrong = (message: string | undefined, place: TestPlace) => {
    if (message !== undefined) errors.push(withStory({ message, place }));
  };

  if (seed > 0) world.log("seed", `${seed} determines how long everything takes`);
  for (const side of ["tenant", "host"] satisfies Side[])
    for (const object of sequence.given[side]) wrong(await give(world, places, { side, object }), sequence.place);
  world.start();

  const pending = [...sequence.events];
  const unmet = new Map<SequenceEvent, () => boolean>();

  async function happen(event: SequenceEvent): Promise<void> {
    if ("action" in event) return wrong(await act(world, places, event.action), event.place);
    if ("fault" in event) return void unmet.set(event, inject(world, places, event.fault));
    world.log("user", "changes the configuration");
    world.reload(engines.get(event)!);
  }

  /** Runs everything up to and including this time. Returns false if the syncer never comes to rest. */
  async function proceed(untilMs: number): Promise<boolean> {
    while (pending[0] !== undefined && pending[0].atMs <= untilMs) {
      if (!(await world.advance(pending[0].atMs))) return false;
      await happen(pending.shift()!);
    }
    return untilMs === Infinity ? world.settle() : world.advance(untilMs);
  }

  for (const { atMs = Infinity, statements } of sequence.expectations) {
    if (!(await proceed(atMs))) {
      failures.push(...restless({ atMs, statements }, world).map(withStory));
      break;
    }
    for (const statement of statements) failures.push(...checkStatement(statement, checked).map(withStory));
  }
  for (const [event, isUnmet] of unmet)
    if (failures.length === 0 && isUnmet())
      wrong("The fault was still waiting for a request or an event at the end of the sequence", event.place);
  return { verdict: errors.length > 0 ? "error" : failures.length > 0 ? "failed" : "passed", failures: [...errors, ...failures] };
}

function restless({ statements }: Expectation, world: SequenceWorld): readonly TestFailure[] {
  const underWay = world.underWay() ?? "there is always something left to do";
  const message = `The syncer does not settle: at ${formatSeconds(world.now)} ${underWay}`;
  return statements.slice(0, 1).map(({ place }) => ({ message, place }));
}

/** Starts a fault. The returned function reports whether the fault is still waiting for its target. */
function inject(world: SequenceWorld, places: ObjectPlaces, fault: Fault): () => boolean {
  switch (fault.kind) {
    case "watchExpired":
      world.log("fault", `the watches of the ${fault.side} cluster expire`);
      world.relist(fault.side);
      return never;
    case "lateList":
      world.log("fault", `a list of the ${fault.side} cluster is ${fault.behind} change${fault.behind === 1 ? "" : "s"} behind`);
      world.relist(fault.side, { behind: fault.behind });
      return never;
    case "emptyList":
      world.log("fault", `lists of the ${fault.side} cluster are empty for ${formatSeconds(fault.forMs)}`);
      world.empty(fault.side, fault.forMs);
      return never;
    case "watchCut":
      world.log("fault", `the watches of the ${fault.side} cluster send nothing for ${formatSeconds(fault.forMs)}`);
      world.cut(fault.side, fault.forMs);
      return never;
    case "down":
      world.log("fault", `the ${fault.side} cluster is down for ${formatSeconds(fault.forMs)}`);
      world.down(fault.side, fault.forMs);
      return never;
    case "crash":
      world.log("fault", fault.forMs === 0 ? "the syncer crashes" : `the syncer crashes, and is down for ${formatSeconds(fault.forMs)}`);
      world.crash(fault.forMs, fault.behind);
      return never;
    case "stall":
      world.log("fault", `the syncer pauses for ${formatSeconds(fault.forMs)}`);
      world.stall(fault.forMs);
      return never;
    case "lostEvent": {
      world.lostEvents[fault.side] += 1;
      return () => world.lostEvents[fault.side] > 0;
    }
    default:
      return wait(world, places, fault);
  }
}

const never = () => false;

function wait(world: SequenceWorld, places: ObjectPlaces, fault: RequestFault): () => boolean {
  if (fault.kind === "rival") {
    const { resource, key } = places.find("host", fault.object);
    world.wire.broken.add(fault, key && { resource, key });
  } else world.wire.broken.add(fault);
  return () => world.wire.broken.unmet.includes(fault);
}
