import { isEngineError } from "../../../base/errors.ts";
import { compilePath } from "../../../engine/path/path.ts";
import { startOf } from "../../../schema/node.ts";
import type { Infer } from "../../../schema/schema.ts";
import type { Side } from "../../simulator/model/cluster.ts";
import { parseDuration } from "../durations.ts";
import { checkName, member, onlyOne, refuse, type At, type Reading } from "./reading.ts";
import type { SEQUENCE } from "./schema.ts";
import type { Action, AnsweredStatus, Fault, SequenceEvent } from "../sequence.ts";

type EventData = Infer<typeof SEQUENCE>["events"][number];
type FaultData = NonNullable<EventData["fault"]>;
type ActionData = NonNullable<EventData["tenant"]>;

const WHAT = ["tenant", "host", "fault", "reload"] as const;
const VERBS = ["apply", "edit", "delete", "pause", "resume"] as const;
const STATUSES: readonly number[] = [403, 409, 422, 429, 503] satisfies AnsweredStatus[];

/** Further fields of each fault; those with an exclamation mark are required. */
const FAULT_FIELDS = {
  watchExpired: [],
  watchCut: ["for!"],
  lostEvent: [],
  lateList: ["behind"],
  emptyList: ["for!"],
  down: ["for!"],
  crash: ["for", "behind"],
  stall: ["for!"],
  lostRequest: ["times"],
  lostAnswer: ["times"],
  lateWrite: ["for!", "times"],
  answered: ["on", "times"],
  rival: ["times"],
} as const satisfies Record<Fault["kind"], readonly string[]>;

const FAULTS = Object.keys(FAULT_FIELDS) as Fault["kind"][];
const MODIFIERS = ["on", "for", "times", "behind"] as const;

/** Reads one event; an invalid one is reported, and the result is undefined. */
export function readEvent(reading: Reading, at: At, data: EventData): SequenceEvent | undefined {
  const what = onlyOne(reading, at, WHAT);
  if (what === undefined) return undefined;
  const base = { atMs: parseDuration(data.at), place: startOf(at.node) };
  const inner = member(at, what);
  if (what === "reload") return { ...base, reload: data.reload! };
  if (what === "fault") {
    const fault = readFault(reading, inner, data.fault!);
    return fault && { ...base, fault };
  }
  const action = readAction(reading, { at: inner, side: what }, data[what]!);
  return action && { ...base, action };
}

function readAction(reading: Reading, { at, side }: { at: At; side: Side }, data: ActionData): Action | undefined {
  const verb = onlyOne(reading, at, VERBS);
  if (verb === undefined) return undefined;
  const object = data[verb]!;
  checkName(reading, member(at, verb), object);
  const { set } = data;
  if (verb === "edit" && set === undefined) refuse(reading, at, "An edit needs set, with the values to change");
  if (set === undefined) return { side, verb, object, set: {} };
  if (verb !== "edit" && verb !== "apply") refuse(reading, member(at, "set"), `set is allowed with apply and edit, not with ${verb}`);
  for (const path of Object.keys(set)) checkPath(reading, member(at, "set"), path);
  return { side, verb, object, set };
}

function checkPath({ report }: Reading, at: At, path: string): void {
  try {
    compilePath(path);
  } catch (error) {
    if (!isEngineError(error)) throw error;
    const { hint = "" } = error.details as { hint?: string };
    report.error({ code: error.code, message: error.message, at: startOf(member(at, path).node), field: at.field, hint });
  }
}

function readFault(reading: Reading, at: At, data: FaultData): Fault | undefined {
  const kind = onlyOne(reading, at, FAULTS);
  if (kind === undefined) return undefined;
  const fields: readonly string[] = FAULT_FIELDS[kind];
  for (const modifier of MODIFIERS) {
    const isWritten = data[modifier] !== undefined;
    if (isWritten && !fields.includes(modifier) && !fields.includes(`${modifier}!`))
      refuse(reading, member(at, modifier), `${kind} has no ${modifier}`, modifiersHint(kind));
    if (!isWritten && fields.includes(`${modifier}!`)) refuse(reading, at, `${kind} requires ${modifier}, its duration`);
  }
  const { times = 1, on = "host" } = data;
  const forMs = parseDuration(data.for ?? "0s");
  switch (kind) {
    case "watchExpired":
    case "lostEvent":
      return { kind, side: data[kind]! };
    case "lateList":
      return { kind, side: data.lateList!, behind: data.behind ?? 1 };
    case "watchCut":
    case "emptyList":
    case "down":
      return { kind, side: data[kind]!, forMs };
    case "crash":
      return { kind, forMs, behind: data.behind ?? 0 };
    case "stall":
      return { kind, forMs };
    case "lostRequest":
    case "lostAnswer":
      return { kind, side: data[kind]!, times };
    case "lateWrite":
      return { kind, side: data.lateWrite!, forMs, times };
    case "answered": {
      const status = data.answered!;
      if (!isStatus(status)) refuse(reading, member(at, kind), `Expected one of ${STATUSES.join(", ")}, found ${status}`);
      else return { kind, side: on, status, times };
      return undefined;
    }
    case "rival":
      checkName(reading, member(at, kind), data.rival!);
      return { kind, object: data.rival!, times };
  }
}

function isStatus(status: number): status is AnsweredStatus {
  return STATUSES.includes(status);
}

function modifiersHint(kind: Fault["kind"]): string {
  const known = FAULT_FIELDS[kind].map((name) => name.replace("!", ""));
  return known.length === 0 ? "It takes no other fields" : `It takes ${known.join(" and ")}`;
}
