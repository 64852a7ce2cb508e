import { EVENTS } from "../../kube/object/resource.ts";
import type { KubeObject, TargetReference } from "../../kube/object/types.ts";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { OBJECT_REFERENCE } from "../../kube/object/kinds/parts.ts";
import { always, int32, mandatory, microTime, named, optional, text, time } from "../../schema/builders.ts";
import { EVENT_COLUMNS } from "./columns/events.ts";

const EVENT_SOURCE = named("EventSource", "Reporter of an Event.", {
  component: [1, text, "Name of the program."],
  host: [2, text, "Node on which the program runs."],
});
const EVENT_SERIES = named("EventSeries", "Repetitions of an Event.", {
  count: [1, int32, "Number of occurrences so far."],
  lastObservedTime: [2, optional(microTime), "Time of the last occurrence."],
});

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
  shape: kindShape(
    {
      involvedObject: [2, mandatory(OBJECT_REFERENCE), "The object that the Event is about."],
      reason: [3, text, "Reason in one word, for programs."],
      message: [4, text, "Description of what happened."],
      source: [5, always(EVENT_SOURCE), "Reporter of the Event."],
      firstTimestamp: [6, always(time), "Time of the first occurrence."],
      lastTimestamp: [7, always(time), "Time of the last occurrence."],
      count: [8, int32, "Number of occurrences."],
      type: [9, text, "Normal or Warning."],
      eventTime: [10, always(microTime)],
      series: [11, EVENT_SERIES],
      action: [12, text],
      related: [13, optional(OBJECT_REFERENCE)],
      reportingComponent: [14, always(text)],
      reportingInstance: [15, always(text)],
    },
    "A report of what happened to an object, for human readers. Events may be lost.",
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

/** Events about objects without a namespace must be in `default`. */
function validate(object: KubeObject): FieldError[] {
  const { namespace = "" } = (object as Event).involvedObject;
  const expected = namespace === "" ? "default" : namespace;
  if (object.metadata.namespace === expected) return [];
  return [invalid("involvedObject.namespace", namespace, "does not match event.namespace")];
}
