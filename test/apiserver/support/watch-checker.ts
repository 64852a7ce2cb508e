/**
 * Compares delivered events with the writes: every write once, in order, to every watch; none missing where a watch was resumed or
 * where a bookmark claims completeness; and one winner for each resourceVersion.
 *
 * @module
 */

/** One write, as a watch tells of it. */
export interface Change {
  readonly type: "created" | "updated" | "deleted";
  readonly key: string;
  readonly revision: number;
  /** Tells the states of a key apart; that of a deletion is the last state's. */
  readonly text: string;
}

/** One write, as its author saw it. */
export interface Acknowledged extends Omit<Change, "revision"> {
  /** Left out where the answer does not tell it, as that to a deletion over HTTP. */
  readonly revision?: number;
  /** The revision of the object that the write counted on; 0 for a creation. */
  readonly previous: number;
}

/** An object in a list. */
export type Listed = Omit<Change, "type">;

/** Actions of a watching client and events that it gets, in order. */
export type WatchStep =
  /** The client reads the whole state, and continues from there. */
  | { readonly did: "list"; readonly revision: number; readonly objects: readonly Listed[] }
  /** A watch begins after a revision: at first anywhere, later where the client has got to. */
  | { readonly did: "begin"; readonly after: number }
  | { readonly did: "hear"; readonly change: Change }
  /** A bookmark: the client knows everything up to a revision. */
  | { readonly did: "bookmark"; readonly revision: number };

/** Events that one of them has seen of the keys with a prefix. */
export interface WatchRecord {
  readonly name: string;
  readonly prefix: string;
  readonly steps: readonly WatchStep[];
}

/** All that is known of a time in which things were written and watched. There was no key before. */
export interface WatchHistory {
  readonly acknowledged: readonly Acknowledged[];
  readonly watches: readonly WatchRecord[];
  /** Every watch must have reached it. */
  readonly end: number;
  /** Writes whose outcome is unknown. Default 0. */
  readonly doubtful?: number;
}

/** A write in the order in which all happened, with the revision of the state before; 0 for a creation. */
interface Fact extends Change {
  readonly previous: number;
}

/** Violations, in words; empty if there are none. */
export function checkWatches({ acknowledged, watches, end, doubtful = 0 }: WatchHistory): string[] {
  const problems: string[] = [];
  const facts = collectFacts({ acknowledged, watches, end }, problems);
  checkAuthors(facts, { acknowledged, doubtful }, problems);
  const byPrefix = new Map<string, Fact[]>();
  for (const { prefix } of watches) {
    if (!byPrefix.has(prefix)) byPrefix.set(prefix, prefix === "" ? facts : facts.filter(({ key }) => key.startsWith(prefix)));
  }
  for (const watch of watches) problems.push(...checkOne(watch, byPrefix.get(watch.prefix)!, end).map((what) => `${watch.name}: ${what}`));
  return problems;
}

const show = ({ type, key, text, revision }: Omit<Change, "revision"> & { revision?: number }) =>
  `${revision ?? "?"} ${type} ${key} "${text}"`;

/** All known facts, in order, each with the state before it. */
function collectFacts({ acknowledged, watches }: WatchHistory, problems: string[]): Fact[] {
  const known = new Map<number, Change>();
  const note = (change: Change) => {
    const other = known.get(change.revision);
    if (other === undefined) known.set(change.revision, change);
    else if (show(other) !== show(change)) problems.push(`one revision, two writes: ${show(other)} and ${show(change)}`);
  };
  for (const { type, key, text, revision } of acknowledged) if (revision !== undefined) note({ type, key, text, revision });
  for (const { steps } of watches) for (const step of steps) if (step.did === "hear") note(step.change);
  const present = new Map<string, number>();
  return [...known.values()]
    .sort((left, right) => left.revision - right.revision)
    .map((change) => {
      const previous = present.get(change.key) ?? 0;
      if ((change.type === "created") !== (previous === 0)) problems.push(`impossible after revision ${previous}: ${show(change)}`);
      if (change.type === "deleted") present.delete(change.key);
      else present.set(change.key, change.revision);
      return { ...change, previous };
    });
}

/** Every answer is true, no two are of one write, and nothing happens that no writer wanted. */
function checkAuthors(
  facts: readonly Fact[],
  { acknowledged, doubtful }: Pick<WatchHistory, "acknowledged" | "doubtful">,
  problems: string[],
) {
  const byRevision = new Map(facts.map((fact) => [fact.revision, fact]));
  const deletions = new Map(facts.filter(({ type }) => type === "deleted").map((fact) => [`${fact.previous} ${fact.key}`, fact]));
  const claimed = new Set<Fact>();
  for (const one of acknowledged) {
    const fact = one.revision === undefined ? deletions.get(`${one.previous} ${one.key}`) : byRevision.get(one.revision);
    if (fact === undefined) problems.push(`acknowledged, and not observed: ${show(one)}`);
    else if (claimed.has(fact)) problems.push(`acknowledged to two: ${show(fact)}`);
    else if (fact.previous !== one.previous) problems.push(`counted on revision ${one.previous}, and met ${fact.previous}: ${show(fact)}`);
    if (fact !== undefined) claimed.add(fact);
  }
  const unclaimed = facts.filter((fact) => !claimed.has(fact));
  if (unclaimed.length > (doubtful ?? 0)) {
    problems.push(
      `${unclaimed.length} writes without an author, where ${doubtful ?? 0} may be: ${unclaimed.slice(0, 3).map(show).join(", ")}`,
    );
  }
}

function checkOne({ prefix, steps }: WatchRecord, facts: readonly Fact[], end: number): string[] {
  const problems: string[] = [];
  let position: number | undefined;
  let next = 0;
  /** Advances to a revision; events in between were missed. */
  const goTo = (revision: number, why: string) => {
    for (; next < facts.length && facts[next]!.revision <= revision; next += 1) {
      const fact = facts[next]!;
      if (position !== undefined && fact.revision > position) problems.push(`${why} without ${show(fact)}`);
    }
    position = Math.max(position ?? 0, revision);
  };
  const startAt = (revision: number) => {
    position = revision;
    next = lowerBound(facts, revision + 1);
  };
  for (const step of steps) {
    if (step.did === "list") {
      if (position !== undefined && step.revision < position) problems.push(`a list of ${step.revision} after ${position}`);
      problems.push(...compareState(step, stateAt(facts, step.revision)));
      startAt(step.revision);
    } else if (step.did === "begin") {
      if (position !== undefined && step.after !== position) problems.push(`resumed after ${step.after}, and had got to ${position}`);
      startAt(step.after);
    } else if (step.did === "bookmark") {
      if (position === undefined || step.revision < position) problems.push(`a bookmark of ${step.revision} after ${position}`);
      else goTo(step.revision, `a bookmark of ${step.revision}`);
    } else {
      const { change } = step;
      if (!change.key.startsWith(prefix)) problems.push(`heard of a key that it does not watch: ${show(change)}`);
      else if (position === undefined) problems.push(`heard before its watch began: ${show(change)}`);
      else if (change.revision <= position) problems.push(`twice, or too late at ${position}: ${show(change)}`);
      else {
        goTo(change.revision - 1, `got to ${change.revision}`);
        startAt(change.revision);
      }
    }
  }
  goTo(end, "ended");
  return problems;
}

/** Index of the first fact at or after a revision. */
function lowerBound(facts: readonly Fact[], revision: number): number {
  let [low, high] = [0, facts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (facts[middle]!.revision < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

function stateAt(facts: readonly Fact[], revision: number): Map<string, Listed> {
  const state = new Map<string, Listed>();
  for (const fact of facts) {
    if (fact.revision > revision) break;
    if (fact.type === "deleted") state.delete(fact.key);
    else state.set(fact.key, fact);
  }
  return state;
}

function compareState({ revision, objects }: { revision: number; objects: readonly Listed[] }, state: Map<string, Listed>): string[] {
  const problems: string[] = [];
  const say = ({ key, revision: at, text }: Listed) => `${key} at ${at} "${text}"`;
  for (const listed of objects) {
    const there = state.get(listed.key);
    if (there === undefined) problems.push(`the list of ${revision} has ${say(listed)}, which is not there`);
    else if (say(there) !== say(listed)) problems.push(`the list of ${revision} has ${say(listed)}, which is ${say(there)}`);
    state.delete(listed.key);
  }
  for (const missing of state.values()) problems.push(`the list of ${revision} lacks ${say(missing)}`);
  return problems;
}
