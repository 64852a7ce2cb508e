import type { JsonObject } from "../../../src/base/json.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { applyPatch, type ApplyOptions } from "../../../src/apiserver/apply/apply.ts";
import { applyConflict } from "../../../src/apiserver/apply/conflict.ts";
import { pathsOf, type FieldSet } from "../../../src/apiserver/types/fields/field-set.ts";
import { formatPath } from "../../../src/apiserver/types/fields/step.ts";
import { applyUpdate, withoutIdleTimes } from "../../../src/apiserver/apply/update.ts";
import { dnsSubdomain } from "../../../src/apiserver/types/objects/names.ts";
import { replaceStatus, type ResourceDefinition } from "../../../src/apiserver/types/resource-definition.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import {
  always,
  anything,
  bool,
  bytes,
  int32,
  listOf,
  mapOf,
  objectOf,
  optional,
  text,
  textMap,
  time,
} from "../../../src/schema/builders.ts";
import { seal } from "../../../src/apiserver/verbs/stages.ts";

const RULE = objectOf({ host: text, weight: int32 });
const PORT = objectOf({
  name: text,
  port: always(int32),
  protocol: text,
  rules: listOf(RULE, { as: "map", keys: ["host"] }),
});

/** A kind with everything that a shape can have. */
export const widgets: ResourceDefinition = {
  type: { apiVersion: "test/v1", kind: "Widget", plural: "widgets", namespaced: true },
  singular: "widget",
  shape: kindShape({
    data: textMap,
    secret: mapOf(bytes),
    spec: optional(
      objectOf({
        size: int32,
        title: optional(text),
        paused: bool,
        since: optional(time),
        ports: listOf(PORT, { as: "map", keys: ["port", "protocol"], defaults: { protocol: "TCP" } }),
        tags: listOf(text, { as: "set" }),
        rows: listOf(objectOf({ a: text, b: text })),
        nested: optional(objectOf({ x: text, y: text })),
        byName: mapOf(objectOf({ x: text, y: text })),
        free: optional(anything),
      }),
    ),
    status: optional(objectOf({ phase: text })),
  }),
  strategy: { nameRule: dnsSubdomain, subresources: { status: replaceStatus } },
};

/** The first second of 2026, and the seconds after it. */
export function second(count: number): { readonly ms: number; readonly text: string } {
  const ms = Date.UTC(2026, 0, 1) + count * 1_000;
  return { ms, text: new Date(ms).toISOString().replace(".000", "") };
}

/** A widget as a client writes it. */
export function widget(content: JsonObject = {}): JsonObject {
  const { metadata, ...rest } = content;
  return { apiVersion: "test/v1", kind: "Widget", metadata: { name: "w", namespace: "shop", ...(metadata as object) }, ...rest };
}

/** The object as the server would store it. */
export function sealed(object: JsonObject): KubeObject {
  return seal(widgets, structuredClone(object) as unknown as KubeObject);
}

/** The owners of fields: `Apply a` or `Update b` to the paths, sorted. */
export type Owners = Record<string, string[]>;

/** The owners that an object names. */
export function ownersOf(object: KubeObject): Owners {
  const entries = (object.metadata.managedFields ?? []) as {
    operation: string;
    manager: string;
    subresource?: string;
    fieldsV1: FieldSet;
  }[];
  return Object.fromEntries(
    entries.map(({ operation, manager, subresource, fieldsV1 }) => [
      `${operation} ${manager}${subresource === undefined ? "" : `/${subresource}`}`,
      pathsOf(fieldsV1).map(formatPath).sort(),
    ]),
  );
}

/** Each owner's time. */
export function timesOf(object: KubeObject): Record<string, string> {
  const entries = (object.metadata.managedFields ?? []) as { operation: string; manager: string; time: string }[];
  return Object.fromEntries(entries.map(({ operation, manager, time: at }) => [`${operation} ${manager}`, at]));
}

/** The content of an object, without its owners. */
export function contentOf({ metadata: { managedFields: _owners, ...metadata }, ...rest }: KubeObject): JsonObject {
  return { ...rest, metadata };
}

/** One object of a server, one second after the other. */
export class Tracked {
  object: KubeObject | undefined;
  seconds = 0;

  get live(): KubeObject {
    if (this.object === undefined) throw new Error("Nothing was created yet");
    return this.object;
  }

  /** A PUT of this content, or the creation. */
  write(manager: string, content: JsonObject, more: { subresource?: string; requested?: unknown } = {}): this {
    const after = sealed(widget(content));
    const now = second((this.seconds += 1)).ms;
    this.object = applyUpdate({ definition: widgets, before: this.object, after, manager, now, ...more });
    return this;
  }

  /** An apply; throws the answer when there are conflicts. */
  apply(manager: string, config: JsonObject, more: Partial<ApplyOptions> = {}): this {
    const now = second((this.seconds += 1)).ms;
    const complete = (merged: KubeObject) => sealed(merged);
    const result = applyPatch({ definition: widgets, live: this.object, config: widget(config), manager, now, complete, ...more });
    if ("conflicts" in result) throw applyConflict(result.conflicts);
    const after = sealed(result.object);
    this.object = this.object === undefined ? after : withoutIdleTimes(this.object, after);
    return this;
  }
}
