/**
 * The annotation in which `kubectl apply` without `--server-side` keeps the applied configuration. Users who switch to server-side apply
 * must not get conflicts with their own earlier applies; users who switch back need an up-to-date annotation.
 * Source: the last-applied manager and updater of the API server, which do this for the manager "kubectl" alone.
 *
 * @module
 */
import { canonicalJson, isRecord, type JsonObject } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { ANNOTATIONS_BYTES_MAX, withMetadata } from "../types/objects/metadata.ts";
import { readConfig, type ReadConfigOptions } from "./config.ts";
import { compare } from "./compare.ts";
import { difference, NO_FIELDS, type FieldSet } from "../types/fields/field-set.ts";
import { appliedFields } from "./fields-of.ts";
import { isEngineError } from "../../base/errors.ts";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
const KUBECTL = "kubectl";

/**
 * Fields that a client-side `kubectl apply` wrote and that have not changed since. `kubectl` may take ownership of these fields from any
 * manager.
 */
export function appliedByClient(definition: ReadConfigOptions["definition"], live: KubeObject, manager: string): FieldSet {
  const last = manager === KUBECTL ? parse(live.metadata.annotations?.[ANNOTATION]) : undefined;
  if (last === undefined) return NO_FIELDS;
  const config = readOrNothing(definition, last);
  if (config === undefined) return NO_FIELDS;
  const { modified } = compare(definition.shape, { metadata: {}, ...config } as KubeObject, live);
  return difference(appliedFields(definition.shape, config), modified);
}

function parse(annotation: string | undefined): unknown {
  try {
    return JSON.parse(annotation ?? "");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads the configuration in the annotation. Returns undefined if it is invalid, since any client can write the annotation. */
function readOrNothing(definition: ReadConfigOptions["definition"], body: unknown): JsonObject | undefined {
  try {
    const config = readConfig({ definition, body });
    return isRecord(config["metadata"] ?? {}) ? config : undefined;
  } catch (error) {
    if (isEngineError(error, "API_BAD_REQUEST", "API_INVALID")) return undefined;
    throw error;
  }
}

/** The object with its last-applied annotation updated, if it has the annotation and the applier is `kubectl`. */
export function withLastApplied(object: KubeObject, config: JsonObject, manager: string): KubeObject {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || !annotations?.[ANNOTATION]) return object;
  const text = `${canonicalJson(withoutAnnotation(config))}\n`;
  const fits = Buffer.byteLength(text) + 2 * ANNOTATION.length <= ANNOTATIONS_BYTES_MAX;
  return withMetadata(object, { annotations: { ...annotations, [ANNOTATION]: fits ? text : "" } });
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const { metadata } = config;
  if (!isRecord(metadata) || !isRecord(metadata["annotations"])) return config;
  const { [ANNOTATION]: _own, ...annotations } = metadata["annotations"];
  return { ...config, metadata: { ...metadata, annotations } };
}
