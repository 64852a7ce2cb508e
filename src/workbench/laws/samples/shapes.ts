/**
 * Shapes of the synced kinds for drawing values to try: their fields, and the values these may
 * hold. Source: the API reference of Endpoints, EndpointSlice and Service.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import type { Segment } from "../../../engine/path/path.ts";
import { FORMATS } from "./formats.ts";
import type { TextFormat } from "./formats.ts";
import type { PatchListName } from "../report.ts";

/** Shape of a value. */
export type SampleShape =
  | { readonly type: "text"; readonly format: TextFormat }
  | { readonly type: "word"; readonly values: readonly string[] }
  /** Limits are inclusive. */
  | { readonly type: "integer"; readonly minimum: number; readonly maximum: number }
  | { readonly type: "boolean" }
  | { readonly type: "list"; readonly items: SampleShape }
  | { readonly type: "map"; readonly keys: TextFormat; readonly values: SampleShape }
  | SampleObjectShape
  /** Any of these. */
  | { readonly type: "either"; readonly shapes: readonly SampleShape[] };

/** Named fields, of which some must be there. */
export interface SampleObjectShape {
  readonly type: "object";
  readonly fields: Readonly<Record<string, SampleShape>>;
  readonly required: readonly string[];
}

const text = (format: TextFormat): SampleShape => ({ type: "text", format });
const word = (...values: readonly string[]): SampleShape => ({ type: "word", values });
const integer = (minimum: number, maximum: number): SampleShape => ({ type: "integer", minimum, maximum });
const list = (items: SampleShape): SampleShape => ({ type: "list", items });

/** An object shape; names in `fields` that end in `!` are required. */
export function objectShape(fields: Readonly<Record<string, SampleShape>>): SampleObjectShape {
  const bare = (name: string) => name.replace(/!$/, "");
  return {
    type: "object",
    fields: Object.fromEntries(Object.entries(fields).map(([name, shape]) => [bare(name), shape])),
    required: Object.keys(fields)
      .filter((name) => name.endsWith("!"))
      .map(bare),
  };
}

/** All labels of an object. */
export const LABELS_SHAPE: SampleShape = { type: "map", keys: "labelKey", values: text("label") };
const ANNOTATIONS: SampleShape = { type: "map", keys: "annotationKey", values: text("annotation") };
const METADATA = objectShape({
  "name!": text("dnsLabel"),
  "namespace!": text("namespace"),
  labels: LABELS_SHAPE,
  annotations: ANNOTATIONS,
});

const BOOLEAN: SampleShape = { type: "boolean" };
const PORT = integer(1, 65_535);
const PROTOCOL = word("TCP", "UDP", "SCTP");
const TARGET = objectShape({ "kind!": word("Pod"), "name!": text("name"), "namespace!": text("namespace"), uid: text("dnsLabel") });
const ADDRESS = objectShape({ "ip!": text("ip"), hostname: text("dnsLabel"), nodeName: text("name"), targetRef: TARGET });
const PORT_FIELDS = { name: text("portName"), "port!": PORT, protocol: PROTOCOL, appProtocol: text("protocolName") };

const ENDPOINTS = objectShape({
  "metadata!": METADATA,
  subsets: list(objectShape({ "addresses!": list(ADDRESS), notReadyAddresses: list(ADDRESS), "ports!": list(objectShape(PORT_FIELDS)) })),
});

const ENDPOINT_SLICE = objectShape({
  "metadata!": METADATA,
  "addressType!": word("IPv4", "IPv6", "FQDN"),
  "endpoints!": list(
    objectShape({
      "addresses!": list(text("ip")),
      conditions: objectShape({ ready: BOOLEAN, serving: BOOLEAN, terminating: BOOLEAN }),
      hostname: text("dnsLabel"),
      nodeName: text("name"),
      zone: text("dnsLabel"),
      targetRef: TARGET,
    }),
  ),
  "ports!": list(objectShape(PORT_FIELDS)),
});

const SERVICE = objectShape({
  "metadata!": METADATA,
  "spec!": objectShape({
    "type!": word("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
    "ports!": list(objectShape({ ...PORT_FIELDS, targetPort: { type: "either", shapes: [PORT, text("portName")] } })),
    selector: LABELS_SHAPE,
    clusterIP: text("ip"),
    sessionAffinity: word("None", "ClientIP"),
    externalName: text("name"),
    internalTrafficPolicy: word("Cluster", "Local"),
    publishNotReadyAddresses: BOOLEAN,
  }),
});

/** The shape of whole objects, by the list that patches them. */
export const SAMPLE_SHAPES: Readonly<Record<PatchListName, SampleObjectShape>> = {
  endpoints: ENDPOINTS,
  services: SERVICE,
  endpointSlices: ENDPOINT_SLICE,
};

/** The shape of the values that a path selects; undefined if the kind has no such field. */
export function sampleShapeAt(shape: SampleShape | undefined, segments: readonly Segment[]): SampleShape | undefined {
  const [segment, ...deeper] = segments;
  if (segment === undefined || shape === undefined) return shape;
  return sampleShapeAt(childShape(shape, segment), deeper);
}

function childShape(shape: SampleShape, segment: Segment): SampleShape | undefined {
  if (shape.type === "list") return segment.kind === "key" ? undefined : shape.items;
  if (shape.type === "map") return shape.values;
  if (shape.type !== "object") return undefined;
  if (segment.kind === "wildcard") return { type: "either", shapes: Object.values(shape.fields) };
  const name = segment.kind === "key" ? segment.key : String(segment.index);
  return Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
}

/** Every value of a shape that has few; undefined for all other shapes. */
export function allValues(shape: SampleShape): readonly unknown[] | undefined {
  if (shape.type === "boolean") return [true, false];
  return shape.type === "word" ? shape.values : undefined;
}

/** Tells whether the shape allows a value. */
export function accepts(shape: SampleShape, value: unknown): boolean {
  switch (shape.type) {
    case "text":
      return typeof value === "string" && FORMATS[shape.format].accepts(value);
    case "word":
      return shape.values.includes(value as string);
    case "integer":
      return Number.isInteger(value) && (value as number) >= shape.minimum && (value as number) <= shape.maximum;
    case "boolean":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value) && value.every((item) => accepts(shape.items, item));
    case "map":
      return (
        isRecord(value) && Object.entries(value).every(([key, item]) => FORMATS[shape.keys].accepts(key) && accepts(shape.values, item))
      );
    case "either":
      return shape.shapes.some((one) => accepts(one, value));
    case "object":
      return (
        isRecord(value) &&
        shape.required.every((name) => Object.hasOwn(value, name)) &&
        Object.entries(value).every(([name, item]) => Object.hasOwn(shape.fields, name) && accepts(shape.fields[name]!, item))
      );
  }
}
