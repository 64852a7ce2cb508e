/**
 * Shapes of object fields, as data: for generating values to try.
 *
 * @module
 */

/** Format of a text field of a Kubernetes object. */
export type TextFormat =
  "annotation" | "annotationKey" | "label" | "labelKey" | "ip" | "name" | "namespace" | "dnsLabel" | "portName" | "protocolName" | "text";

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

/** A string of one format. */
export function textShape(format: TextFormat): SampleShape {
  return { type: "text", format };
}

/** One of a few words. */
export function wordShape(...values: readonly string[]): SampleShape {
  return { type: "word", values };
}

/** A list of values of one shape. */
export function listShape(items: SampleShape): SampleShape {
  return { type: "list", items };
}

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

/** True or false. */
export const BOOLEAN_SHAPE: SampleShape = { type: "boolean" };
/** All labels of an object. */
export const LABELS_SHAPE: SampleShape = { type: "map", keys: "labelKey", values: textShape("label") };
const ANNOTATIONS: SampleShape = { type: "map", keys: "annotationKey", values: textShape("annotation") };

/** The metadata of an object, as far as authors of objects write it. */
export const METADATA_SHAPE: SampleShape = objectShape({
  "name!": textShape("dnsLabel"),
  "namespace!": textShape("namespace"),
  labels: LABELS_SHAPE,
  annotations: ANNOTATIONS,
});

/** The number of a port. */
export const PORT_SHAPE: SampleShape = { type: "integer", minimum: 1, maximum: 65_535 };
/** The fields of a port that Endpoints, slices and Services share. */
export const PORT_FIELDS = {
  name: textShape("portName"),
  "port!": PORT_SHAPE,
  protocol: wordShape("TCP", "UDP", "SCTP"),
  appProtocol: textShape("protocolName"),
} as const;

/** A reference to the Pod behind an address. */
export const TARGET_SHAPE = objectShape({
  "kind!": wordShape("Pod"),
  "name!": textShape("name"),
  "namespace!": textShape("namespace"),
  uid: textShape("dnsLabel"),
});
