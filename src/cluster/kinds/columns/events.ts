import type { KubeObject, TargetReference } from "../../../kube/object/types.ts";
import { ageOf, NAME_COLUMN, textColumn, wide, type Column } from "../../../apiserver/types/columns.ts";

/** The fields of an Event that the columns read. */
interface ShownEvent extends KubeObject {
  readonly involvedObject: TargetReference;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly source: { readonly component?: string; readonly host?: string };
  readonly firstTimestamp: string | null;
  readonly lastTimestamp: string | null;
  readonly eventTime: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
}

const shown = (read: (event: ShownEvent, now: number) => string) => (object: KubeObject, now: number) => read(object as ShownEvent, now);

/** The columns that `kubectl get` shows for Events. */
export const EVENT_COLUMNS: readonly Column[] = [
  textColumn("Last Seen", "Time since the last occurrence.", shown(lastSeen)),
  textColumn(
    "Type",
    "Normal or Warning.",
    shown(({ type = "" }) => type),
  ),
  textColumn(
    "Reason",
    "Reason in one word.",
    shown(({ reason = "" }) => reason),
  ),
  textColumn(
    "Object",
    "The object that the Event is about.",
    shown(({ involvedObject: { kind = "", name = "" } }) => `${kind.toLowerCase()}/${name}`),
  ),
  wide(
    textColumn(
      "Subobject",
      "The part of the object that the Event is about.",
      shown(({ involvedObject: { fieldPath = "" } }) => fieldPath),
    ),
  ),
  wide(
    textColumn(
      "Source",
      "Reporter of the Event.",
      shown(({ source: { component, host } }) => [component, host].filter(Boolean).join(", ")),
    ),
  ),
  textColumn(
    "Message",
    "Description of what happened.",
    shown(({ message = "" }) => message.trim()),
  ),
  wide(textColumn("First Seen", "Time since the first occurrence.", shown(firstSeen))),
  wide({ name: "Count", type: "integer", description: "Number of occurrences.", cell: (object) => count(object as ShownEvent) }),
  wide({ ...NAME_COLUMN }),
];

function lastSeen({ series, lastTimestamp, eventTime, firstTimestamp }: ShownEvent, now: number): string {
  return ageOf(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp, now);
}

function firstSeen({ firstTimestamp, eventTime }: ShownEvent, now: number): string {
  return ageOf(firstTimestamp ?? eventTime, now);
}

function count({ series, count: given = 0 }: ShownEvent): number {
  return series?.count ?? (given === 0 ? 1 : given);
}
