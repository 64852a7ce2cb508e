import { EVENTS } from "../../kube/object/resource.ts";
import type { KubeObject, TargetReference } from "../../kube/object/types.ts";
import { invalid } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import {
  always,
  described,
  fields,
  int32,
  kindShape,
  mandatory,
  microTime,
  numbered,
  optional,
  text,
  time,
} from "../../apiserver/types/objects/shape.ts";
import { EVENT_COLUMNS } from "./columns/events.ts";

/** A reference to an object, as Events and addresses hold it. */
export const OBJECT_REFERENCE = described(
  numbered(
    fields({
      kind: text,
      namespace: text,
      name: text,
      uid: text,
      apiVersion: text,
      resourceVersion: text,
      fieldPath: text,
    }),
    { kind: 1, namespace: 2, name: 3, uid: 4, apiVersion: 5, resourceVersion: 6, fieldPath: 7 },
  ),
  {
    name: "ObjectReference",
    description: "Refers to an object, or to a part of it.",
    fields: {
      kind: "Kind of the object.",
      namespace: "Namespace of the object.",
      name: "Name of the object.",
      uid: "UID of the object.",
      apiVersion: "API version of the object.",
      resourceVersion: "resourceVersion of the object, if a particular one is meant.",
      fieldPath: "Part of the object, such as spec.containers{web}.",
    },
  },
);

const EVENT_SOURCE = described(numbered(fields({ component: text, host: text }), { component: 1, host: 2 }), {
  name: "EventSource",
  description: "Who reports an Event.",
  fields: { component: "Name of the program.", host: "Node on which it runs." },
});
const EVENT_SERIES = described(
  numbered(fields({ count: int32, lastObservedTime: optional(microTime) }), { count: 1, lastObservedTime: 2 }),
  {
    name: "EventSeries",
    description: "Repetitions of an Event.",
    fields: { count: "Number of occurrences so far.", lastObservedTime: "Time of the last occurrence." },
  },
);
const EVENT_NUMBERS = {
  metadata: 1,
  involvedObject: 2,
  reason: 3,
  message: 4,
  source: 5,
  firstTimestamp: 6,
  lastTimestamp: 7,
  count: 8,
  type: 9,
  eventTime: 10,
  series: 11,
  action: 12,
  related: 13,
  reportingComponent: 14,
  reportingInstance: 15,
};

interface Event extends KubeObject {
  readonly involvedObject: TargetReference;
  readonly reason?: string;
  readonly type?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

const involved = (field: keyof TargetReference) => (object: KubeObject) => (object as Event).involvedObject[field] ?? "";

/** `v1` Events. */
export const events: ResourceDefinition = {
  type: EVENTS,
  singular: "event",
  shortNames: ["ev"],
  shape: numbered(
    kindShape(
      {
        involvedObject: mandatory(OBJECT_REFERENCE),
        reason: text,
        message: text,
        source: always(EVENT_SOURCE),
        firstTimestamp: always(time),
        lastTimestamp: always(time),
        count: int32,
        type: text,
        eventTime: always(microTime),
        series: EVENT_SERIES,
        action: text,
        related: optional(OBJECT_REFERENCE),
        reportingComponent: always(text),
        reportingInstance: always(text),
      },
      {
        description: "Something that happened to an object, for people to read. Events may be lost.",
        fields: {
          involvedObject: "The object that the Event is about.",
          reason: "Reason in one word, for programs.",
          message: "Description of what happened.",
          type: "Normal or Warning.",
          count: "Number of occurrences.",
          firstTimestamp: "Time of the first occurrence.",
          lastTimestamp: "Time of the last occurrence.",
          source: "Who reports it.",
        },
      },
    ),
    EVENT_NUMBERS,
  ),
  selectableFields: {
    "involvedObject.kind": involved("kind"),
    "involvedObject.namespace": involved("namespace"),
    "involvedObject.name": involved("name"),
    "involvedObject.uid": involved("uid"),
    "involvedObject.apiVersion": involved("apiVersion"),
    "involvedObject.resourceVersion": involved("resourceVersion"),
    "involvedObject.fieldPath": involved("fieldPath"),
    reason: (object) => (object as Event).reason ?? "",
    reportingComponent: (object) => (object as Event).reportingComponent ?? "",
    source: (object) => (object as Event).source?.component ?? (object as Event).reportingComponent ?? "",
    type: (object) => (object as Event).type ?? "",
  },
  columns: EVENT_COLUMNS,
  strategy: { nameRule: dnsSubdomain, createOnUpdate: true, validate },
};

/** Events about objects without a namespace are kept in `default`. */
function validate(object: KubeObject): FieldError[] {
  const { namespace = "" } = (object as Event).involvedObject;
  const expected = namespace === "" ? "default" : namespace;
  if (object.metadata.namespace === expected) return [];
  return [invalid("involvedObject.namespace", namespace, "does not match event.namespace")];
}
