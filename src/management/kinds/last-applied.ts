import { isRecord } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { withMetadata } from "../../apiserver/types/objects/metadata.ts";

/** The annotation in which kubectl stores the applied object, including its secrets. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Removes fields of the spec from kubectl's last-applied annotation. An annotation that is not JSON is removed.
 *
 * @example
 * withoutApplied(key, ["key"]); // the value of the key is in no annotation
 */
export function withoutApplied(object: KubeObject, hidden: readonly string[]): KubeObject {
  const { annotations = {} } = object.metadata;
  const note = annotations[LAST_APPLIED];
  if (note === undefined) return object;
  const cleaned = cleanNote(note, hidden);
  if (cleaned === note) return object;
  const { [LAST_APPLIED]: _note, ...rest } = annotations;
  return withMetadata(object, { annotations: cleaned === undefined ? rest : { ...rest, [LAST_APPLIED]: cleaned } });
}

function cleanNote(note: string, hidden: readonly string[]): string | undefined {
  try {
    const applied: unknown = JSON.parse(note);
    const spec = isRecord(applied) ? applied["spec"] : undefined;
    if (!isRecord(applied) || !isRecord(spec)) return note;
    if (!hidden.some((field) => Object.hasOwn(spec, field))) return note;
    const shown = Object.fromEntries(Object.entries(spec).filter(([field]) => !hidden.includes(field)));
    return `${JSON.stringify({ ...applied, spec: shown })}\n`;
  } catch {
    return undefined;
  }
}
