import { decode } from "../../../schema/decode.ts";
import { indexPath } from "../../../schema/field.ts";
import { startOf, valueAt, type ListNode, type Node } from "../../../schema/node.ts";
import { Report } from "../../../schema/problem.ts";
import type { Infer } from "../../../schema/schema.ts";
import { formatSeconds } from "../durations.ts";
import { readEvent } from "./read-events.ts";
import { readExpectation } from "./read-expectations.ts";
import { checkName, member, refuse, type At, type Reading } from "./reading.ts";
import { SEQUENCE } from "./schema.ts";
import type { Sequence, SequenceEvent } from "../sequence.ts";

/**
 * Reads the `sequences` of a patch test file. The file must already match its schema. Checks the rules that the schema cannot express,
 * and reports CONFIG_VALUE for problems such as an unknown object, a fault without a time, or an event that does two things;
 * PATH_SYNTAX or PATH_UNSUPPORTED for an invalid path in `set`; and CONFIG_UNKNOWN_FIELD or CONFIG_TYPE for an invalid expectation of an
 * object.
 *
 * The result is only meaningful if the report has no errors.
 *
 * @example
 * readSequences(valueAt(root, "sequences"), { report, names: Object.keys(objects) });
 */
export function readSequences(node: Node | undefined, reading: Reading): readonly Sequence[] {
  return itemsOf(node).map((item, index) => readSequence(reading, { node: item, field: indexPath("sequences", index) }));
}

function itemsOf(node: Node | undefined): ListNode["items"] {
  return node?.kind === "list" ? node.items : [];
}

function readSequence(reading: Reading, at: At): Sequence {
  // Problems of the shape are already reported.
  const data = decode(SEQUENCE, at.node, { report: new Report() })!;
  const events = itemsOf(valueAt(at.node, "events")).map((node, index) =>
    readEvent(reading, { node, field: indexPath(`${at.field}.events`, index) }, data.events[index]!),
  );
  const expectations = itemsOf(valueAt(at.node, "expect")).map((node, index) =>
    readExpectation(reading, { node, field: indexPath(`${at.field}.expect`, index) }, data.expect[index]!),
  );
  const sequence: Sequence = {
    name: data.it,
    place: startOf(at.node),
    ...(data.skip !== undefined && { skip: data.skip }),
    given: readGiven(reading, at, data.given),
    seed: data.seed ?? 0,
    runs: data.runs ?? 1,
    events: byTime(events.filter((event) => event !== undefined)),
    expectations: byTime(expectations),
  };
  checkHomes(reading, at, sequence);
  checkWatched(reading, sequence);
  return sequence;
}

function readGiven(reading: Reading, at: At, given: Infer<typeof SEQUENCE>["given"] = {}): Sequence["given"] {
  const { tenant = [], host = [] } = given;
  for (const [side, names] of Object.entries({ tenant, host })) {
    const nodes = itemsOf(valueAt(valueAt(at.node, "given"), side));
    names.forEach((name, index) => checkName(reading, { node: nodes[index]!, field: indexPath(`${at.field}.given.${side}`, index) }, name));
  }
  return { tenant, host };
}

/** Sorts by time; entries with the same time keep the order of the file. */
function byTime<Timed extends { readonly atMs?: number }>(all: readonly Timed[]): readonly Timed[] {
  return [...all].sort((left, right) => (left.atMs ?? Infinity) - (right.atMs ?? Infinity) || 0);
}

/** Reports objects that are applied to both clusters: in the host cluster, a name means either the object or its copy. */
function checkHomes(reading: Reading, at: At, { given, events }: Sequence): void {
  const applied = (side: "tenant" | "host") =>
    new Set([...given[side], ...events.flatMap((event) => (isApply(event, side) ? [event.action.object] : []))]);
  const tenant = applied("tenant");
  for (const name of applied("host")) {
    if (tenant.has(name))
      refuse(reading, member(at, "it"), `The object ${JSON.stringify(name)} is applied to both clusters`, "Use a separate object for each");
  }
}

/** Reports events after the last expectation, which have no effect on the result. */
function checkWatched({ report }: Reading, { events, expectations }: Sequence): void {
  const last = Math.max(...expectations.map(({ atMs = Infinity }) => atMs));
  for (const { atMs, place } of events) {
    if (atMs <= last) continue;
    const message = `Nothing checks the effect of this event: the last expectation is at ${formatSeconds(last)}`;
    report.error({
      code: "CONFIG_VALUE",
      message,
      at: place,
      field: "",
      hint: "Add a later expectation, or one without a time, which is checked once everything is at rest",
    });
  }
}

function isApply(event: SequenceEvent, side: string): event is Extract<SequenceEvent, { action: unknown }> {
  return "action" in event && event.action.verb === "apply" && event.action.side === side;
}
