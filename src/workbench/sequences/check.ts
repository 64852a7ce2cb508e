import { formatKey } from "../../kube/object/key.ts";
import { checkAssert } from "../asserts/asserts.ts";
import type { RegexMatcher } from "../asserts/regex.ts";
import type { TestFailure } from "../asserts/results.ts";
import { formatSeconds } from "./durations.ts";
import { subjectText } from "./world/ledger.ts";
import type { ObjectPlaces } from "./places.ts";
import type { Statement, WriteLimit } from "./sequence.ts";
import type { SequenceWorld } from "./world/world.ts";

/** The world that statements are checked in, with the functions that they need. */
export interface Checked {
  readonly world: SequenceWorld;
  readonly places: ObjectPlaces;
  readonly matches: RegexMatcher;
}

/** Returns a failure for each part of a statement that does not hold now. */
export function checkStatement(statement: Statement, checked: Checked): readonly TestFailure[] {
  const { world, places } = checked;
  switch (statement.kind) {
    case "quiescent":
      return checkRest(statement, world);
    case "writes":
      return checkWrites(statement, checked);
    case "events":
      return checkEvents(statement, checked);
    case "presence":
      return checkPresence(statement, checked);
    case "notes": {
      const { resource, object } = places.written(statement.object);
      const codes = unique(world.notes(resource, object));
      return differ(statement, { what: `notes about ${statement.object}`, wanted: unique(statement.codes), found: codes, world });
    }
    case "asserts":
      return checkAsserts(statement, checked);
  }
}

type Of<Kind extends Statement["kind"]> = Extract<Statement, { kind: Kind }>;

function checkRest({ wanted, place }: Of<"quiescent">, world: SequenceWorld): readonly TestFailure[] {
  const underWay = world.underWay();
  if ((underWay === undefined) === wanted) return [];
  const when = formatSeconds(world.now);
  const message = wanted
    ? `Expected everything to be at rest at ${when}, but ${underWay}`
    : `Expected something in progress at ${when}, but everything is at rest`;
  return [{ message, place }];
}

function checkPresence({ side, object, wanted, place }: Of<"presence">, { world, places }: Checked): readonly TestFailure[] {
  const found = places.present(side, object) === undefined ? "absent" : "present";
  if (found === wanted) return [];
  const subject = `${object} (${places.find(side, object).text})`;
  const message = `Expected ${subject} to be ${wanted} in the ${side} cluster at ${formatSeconds(world.now)}, but it is ${found}`;
  return [{ message, place, expected: wanted, actual: found }];
}

function checkWrites({ side, object, limit, place }: Of<"writes">, { world, places }: Checked): readonly TestFailure[] {
  const about = object === undefined ? undefined : places.find(side, object);
  const found = world.ledger.writes.filter(
    (write) =>
      write.by === "syncer" &&
      write.side === side &&
      write.atMs >= limit.sinceMs &&
      (about === undefined || (about.key !== undefined && write.plural === about.resource.plural && write.key === formatKey(about.key))),
  ).length;
  const wrong = brokenLimit(limit, found);
  if (wrong === undefined) return [];
  const where = about === undefined ? `the ${side} cluster` : `${object} (${about.text}) in the ${side} cluster`;
  const since = limit.sinceMs === 0 ? "by" : `from ${formatSeconds(limit.sinceMs)} to`;
  const message = `Expected ${wrong.words} to ${where} ${since} ${formatSeconds(world.now)}, but there ${found === 1 ? "was" : "were"} ${found}`;
  return [{ message, place, expected: wrong.expected, actual: found }];
}

function brokenLimit({ exact, max, min }: WriteLimit, found: number): { words: string; expected: number } | undefined {
  const limit = (words: string, expected: number) => ({ words: `${words} ${expected} write${expected === 1 ? "" : "s"}`, expected });
  if (exact !== undefined && found !== exact) return limit("exactly", exact);
  if (max !== undefined && found > max) return limit("at most", max);
  return min !== undefined && found < min ? limit("at least", min) : undefined;
}

function checkEvents(statement: Of<"events">, { world, places }: Checked): readonly TestFailure[] {
  const { side, object, reasons } = statement;
  const place = object === undefined ? undefined : places.find(side, object);
  const about = place && subjectText(place.resource.kind, place.key ?? {});
  const recorded = world.ledger.recorded.filter((event) => event.side === side && (about === undefined || event.about === about));
  const what = object === undefined ? `Events in the ${side} cluster` : `Events about ${object} (${place!.text})`;
  return differ(statement, { what, wanted: unique(reasons), found: unique(recorded.map(({ reason }) => reason)), world });
}

function differ(
  { place }: Statement,
  { what, wanted, found, world }: { what: string; wanted: readonly string[]; found: readonly string[]; world: SequenceWorld },
): readonly TestFailure[] {
  const words = (list: readonly string[]) => (list.length === 0 ? "none" : list.join(", "));
  if (words(wanted) === words(found)) return [];
  const message = `Expected ${what} by ${formatSeconds(world.now)}: ${words(wanted)}; found ${words(found)}`;
  return [{ message, place, expected: wanted, actual: found }];
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

function checkAsserts({ side, object: name, asserts, place }: Of<"asserts">, { world, places, matches }: Checked): readonly TestFailure[] {
  const object = places.present(side, name);
  const subject = `${name} (${places.find(side, name).text}) in the ${side} cluster at ${formatSeconds(world.now)}`;
  if (object === undefined) return [{ message: `Expectations of ${subject} cannot be checked: it is absent`, place }];
  return asserts.flatMap((assert) => {
    const failure = checkAssert(assert, { object, matches, baseline: () => object });
    return failure === undefined ? [] : [{ ...failure, message: `${failure.message}, in ${subject}` }];
  });
}
