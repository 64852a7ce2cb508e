/**
 * Guards the writes of patches, regardless of what an expression returns:
 *
 * - Protected fields and markers are put back, and the attempt is recorded.
 * - A value that would make the API server refuse the whole object because of its labels or annotations is a failure of that
 *   one value. A bad patch must not block the addresses of the same object.
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import { isRecord, jsonEqual, typeInWords, type JsonObject } from "../../base/json.ts";
import { formatSteps, REMOVE } from "../path/path.ts";
import { isMarkerKey } from "../translate/markers.ts";
import { PROTECTED_METADATA, type MapField, type ValueRole } from "./place.ts";
import type { PatchFailure } from "./types.ts";

/** A value that may be written (REMOVE deletes the place), and the attempts that were undone. */
export interface Guarded {
  readonly value: unknown;
  readonly denied: readonly PatchFailure[];
}

const NOTHING_DENIED: readonly PatchFailure[] = [];

/**
 * Checks the result of a patch for one place. `before` is the current value of the place; a result of null deletes it.
 *
 * @throws EXPRESSION_RESULT if the result is not allowed at that place.
 * @example
 * guardResult({ role: "field", path: "spec.x" }, { before: 1, result: null, markerPrefix: "sync.platform/" }).value; // REMOVE
 */
export function guardResult(place: ValueRole, change: { before: unknown; result: unknown; markerPrefix: string }): Guarded {
  const { before, result, markerPrefix } = change;
  switch (place.role) {
    case "metadata":
      return guardMetadata(record(before, place.path), record(result, place.path), markerPrefix);
    case "protected":
      if (jsonEqual(before, result)) return allowed(before);
      return { value: before, denied: [denial(place.path)] };
    case "map":
      // Both maps exist while an object is patched: deleting one empties it.
      return guardMap(place.field, result === null ? {} : result, markerPrefix);
    case "entry":
      if (result !== null) checkEntry(place.field, place.key, result);
      return allowed(result === null ? REMOVE : result);
    case "field":
      return allowed(result === null ? REMOVE : result);
  }
}

function allowed(value: unknown): Guarded {
  return { value, denied: NOTHING_DENIED };
}

function denial(place: string): PatchFailure {
  return { place, code: "PROTECTED_FIELD", message: `Cannot change ${place}: it is protected and was restored` };
}

function record(value: unknown, path: string): JsonObject {
  if (isRecord(value)) return value;
  throw new EngineError("EXPRESSION_RESULT", `Cannot write ${path}: expected an object, found ${typeInWords(value)}`);
}

function guardMetadata(before: JsonObject, result: JsonObject, markerPrefix: string): Guarded {
  const own = putBack(before, result);
  const labels = guardMap("labels", result["labels"] ?? {}, markerPrefix);
  const annotations = guardMap("annotations", result["annotations"] ?? {}, markerPrefix);
  return {
    value: { ...(own.value as JsonObject), labels: labels.value, annotations: annotations.value },
    denied: [...own.denied, ...labels.denied, ...annotations.denied],
  };
}

function putBack(before: JsonObject, result: JsonObject): Guarded {
  const touched = PROTECTED_METADATA.filter((field) => !jsonEqual(ownMember(before, field), ownMember(result, field)));
  if (touched.length === 0) return allowed(result);
  const value: Record<string, unknown> = { ...result };
  for (const field of touched) {
    if (Object.hasOwn(before, field)) value[field] = before[field];
    else delete value[field];
  }
  return { value, denied: touched.map((field) => denial(formatSteps(["metadata", field]))) };
}

function ownMember(object: JsonObject, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

/** The object has no markers while it is patched, so every marker in a result is an attempt to write one. */
function guardMap(field: MapField, result: unknown, markerPrefix: string): Guarded {
  const map = record(result, formatSteps(["metadata", field]));
  const keys = Object.keys(map);
  const markers = keys.filter((key) => isMarkerKey(markerPrefix, key));
  const kept = markers.length === 0 ? keys : keys.filter((key) => !isMarkerKey(markerPrefix, key));
  for (const key of kept) checkEntry(field, key, map[key]);
  if (markers.length === 0) return allowed(map);
  return {
    value: Object.fromEntries(kept.map((key) => [key, map[key]])),
    denied: markers.map((key) => denial(formatSteps(["metadata", field, key]))),
  };
}

// Source of the rules: the API server's validation of labels and annotations.
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

function asText(value: unknown): string {
  if (value === null) return "leave the key out";
  return `write ${typeof value === "object" ? "JSON.stringify" : "String"}(…) around the result`;
}

function checkEntry(field: MapField, key: string, value: unknown): void {
  const one = field === "labels" ? "label" : "annotation";
  const written = field === "labels" ? key : key.toLowerCase();
  const slash = written.indexOf("/");
  const isKey = NAME.test(written.slice(slash + 1)) && (slash < 0 || PREFIX.test(written.slice(0, slash)));
  if (!isKey) throw unwritable(field, key, `this is not a valid ${one} key`);
  if (typeof value !== "string")
    throw unwritable(field, key, `${one} values must be strings, found ${typeInWords(value)}; ${asText(value)}`);
  if (field === "labels" && value !== "" && !NAME.test(value)) {
    throw unwritable(field, key, "label values have at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends");
  }
}

function unwritable(field: MapField, key: string, why: string): EngineError {
  return new EngineError("EXPRESSION_RESULT", `Cannot write ${formatSteps(["metadata", field, key.slice(0, 317)])}: ${why}`);
}
