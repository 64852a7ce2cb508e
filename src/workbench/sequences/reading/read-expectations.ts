import { decode } from "../../../schema/decode.ts";
import { keyStartOf, startOf, textOf, type MapEntry } from "../../../schema/node.ts";
import type { Infer } from "../../../schema/schema.ts";
import { readAsserts, type Assert } from "../../asserts/asserts.ts";
import type { TestPlace } from "../../asserts/results.ts";
import type { Side } from "../../simulator/model/cluster.ts";
import { parseDuration } from "../durations.ts";
import { checkName, member, refuse, type At, type Reading } from "./reading.ts";
import { OBJECT_EXPECTATION, SIDE_EXPECTATION, type SEQUENCE, type WRITES } from "./schema.ts";
import type { Expectation, Statement, WriteLimit } from "../sequence.ts";

type ExpectationData = Infer<typeof SEQUENCE>["expect"][number];
type Subject = { readonly side: Side; readonly object?: string };

const SIDES = ["tenant", "host"] as const;

const UNBORN = { code: "CONFIG_VALUE", message: "since is later than the time of the check, so no write is counted" } as const;

/** Reads the expectations at one time. Contradictions are reported. */
export function readExpectation(reading: Reading, at: At, data: ExpectationData): Expectation {
  const statements: Statement[] = [];
  const before = reading.report.problems.length;
  for (const side of SIDES)
    if (data[side] !== undefined) statements.push(...readSide(reading, member(at, side), { side, data: data[side] }));
  if (data.quiescent !== undefined)
    statements.push({ kind: "quiescent", wanted: data.quiescent, place: startOf(member(at, "quiescent").node) });
  if (statements.length === 0 && reading.report.problems.length === before)
    refuse(reading, at, "The entry contains no expectation", "Add tenant, host or quiescent");
  const atMs = data.at === undefined ? Infinity : parseDuration(data.at);
  for (const statement of statements) {
    if (statement.kind === "writes" && statement.limit.sinceMs > atMs)
      reading.report.error({ ...UNBORN, at: statement.place, field: at.field });
  }
  return { statements, ...(data.at !== undefined && { atMs }) };
}

function readSide(reading: Reading, at: At, { side, data }: { side: Side; data: Infer<typeof SIDE_EXPECTATION> }): readonly Statement[] {
  const statements = countsOf(reading, at, { subject: { side }, data });
  if (at.node.kind !== "map") return statements;
  for (const [name, entry] of at.node.entries) {
    if (Object.hasOwn(SIDE_EXPECTATION.fields, name)) continue;
    checkName(reading, at, name, "key");
    statements.push(...readObject(reading, { at: member(at, name), entry }, { side, object: name }));
  }
  return statements;
}

function readObject(reading: Reading, { at, entry }: { at: At; entry: MapEntry }, subject: Required<Subject>): readonly Statement[] {
  const word = textOf(entry.value);
  if (word === "present" || word === "absent") return [{ kind: "presence", ...subject, wanted: word, place: keyStartOf(entry) }];
  if (entry.value.kind !== "map") {
    refuse(reading, at, "Expected present, absent or a map of expectations for the object");
    return [];
  }
  const { report } = reading;
  const before = report.problems.length;
  const data = decode(OBJECT_EXPECTATION, entry.value, { report, field: at.field });
  if (data === undefined || report.problems.length > before) return [];
  const statements: Statement[] = [];
  if (data.is !== undefined) statements.push({ kind: "presence", ...subject, wanted: data.is, place: startOf(member(at, "is").node) });
  statements.push(...countsOf(reading, at, { subject, data }));
  if (data.asserts !== undefined) statements.push({ kind: "asserts", ...subject, ...assertsAt(reading, member(at, "asserts")) });
  if (data.notes !== undefined) {
    const place = startOf(member(at, "notes").node);
    if (subject.side === "host") refuse(reading, member(at, "notes"), "notes is allowed only for objects of the tenant cluster");
    statements.push({ kind: "notes", object: subject.object, codes: data.notes, place });
  }
  if (statements.length === 0) refuse(reading, at, "The object has no expectation", "Write present or absent");
  return statements;
}

function assertsAt(reading: Reading, { node, field }: At): { asserts: readonly Assert[]; place: TestPlace } {
  const asserts = readAsserts(node, { report: reading.report, field });
  for (const { name, place } of asserts) {
    if (name === "unchanged")
      reading.report.error({
        code: "CONFIG_VALUE",
        message: "unchanged is allowed only in tests: a sequence has no unpatched object to compare with",
        at: place,
        field,
      });
  }
  return { asserts, place: startOf(node) };
}

/** Counts that can be expected of a whole cluster and of one object. */
function countsOf(
  reading: Reading,
  at: At,
  { subject, data }: { subject: Subject; data: { readonly writes?: Infer<typeof WRITES>; readonly events?: readonly string[] } },
): Statement[] {
  const statements: Statement[] = [];
  if (data.writes !== undefined) {
    const inner = member(at, "writes");
    statements.push({ kind: "writes", ...subject, limit: readLimit(reading, inner, data.writes), place: startOf(inner.node) });
  }
  if (data.events !== undefined)
    statements.push({ kind: "events", ...subject, reasons: data.events, place: startOf(member(at, "events").node) });
  return statements;
}

function readLimit(reading: Reading, at: At, { since, ...limit }: Infer<typeof WRITES>): WriteLimit {
  const { exact, max, min } = limit;
  if (exact === undefined && max === undefined && min === undefined) refuse(reading, at, "Expected exact, max or min");
  if (min === 0 && max === undefined) refuse(reading, at, "min 0 holds for any number of writes", "Increase min, or add max");
  if (min !== undefined && max !== undefined && min > max) refuse(reading, at, `min ${min} is greater than max ${max}`);
  if (exact !== undefined && (max !== undefined || min !== undefined)) refuse(reading, at, "exact cannot be combined with max or min");
  return { ...limit, sinceMs: since === undefined ? 0 : parseDuration(since) };
}
