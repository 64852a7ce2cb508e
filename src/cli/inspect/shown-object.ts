import { isRecord } from "../../base/json.ts";
import { SECRETS } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { unifiedDiff } from "../output/diff.ts";
import { formatValue } from "../output/output.ts";

/** Fields that only API servers write, which are not shown. */
const ASSIGNED = ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"];
/** Annotation that contains a whole object as text, including the data of a Secret. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Maps of a Secret whose values are hidden. */
const SECRET_MAPS = ["data", "stringData"];

/** Two states of one object; undefined where there is none. */
export interface ShownChange {
  /** Names the object. */
  readonly name: string;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
  /** Reports whether a string is a resourceVersion that is not yet known. */
  readonly madeUp: (text: string) => boolean;
}

/**
 * Formats the changes of an object as a unified diff of YAML. For Secrets, it shows the keys and which values change, but not the values.
 *
 * @example
 * diffOfChange({ name: "host Endpoints vc-blue/db", before, after, madeUp: () => false });
 */
export function diffOfChange({ name, before, after, madeUp }: ShownChange): string {
  return unifiedDiff({ name, before: textOf(before, { madeUp }), after: textOf(after, { madeUp, unlike: before }) });
}

interface Shown {
  readonly madeUp: (text: string) => boolean;
  /** Object that hidden values are compared with. */
  readonly unlike?: KubeObject | undefined;
}

function textOf(object: KubeObject | undefined, { madeUp, unlike }: Shown): string {
  if (object === undefined) return "";
  const { metadata, ...rest } = object.kind === SECRETS.kind ? withoutValues(object, unlike) : object;
  const kept = Object.entries(metadata).filter(([field, value]) => !ASSIGNED.includes(field) && value !== undefined);
  const annotations = metadata.annotations && Object.entries(metadata.annotations).map(([key, value]) => [key, known(key, value, madeUp)]);
  const shown = { ...Object.fromEntries(kept), ...(annotations && { annotations: Object.fromEntries(annotations) as object }) };
  return formatValue(sorted({ ...rest, metadata: shown }), "yaml");
}

/** Replaces the version of a write that has not happened yet: a marker of the next write contains it. */
function known(key: string, value: string, madeUp: (text: string) => boolean): string {
  return key.endsWith("/object-resource-version") && madeUp(value) ? "(known after the write)" : value;
}

function withoutValues(secret: KubeObject, unlike: KubeObject | undefined): KubeObject {
  const maps = SECRET_MAPS.filter((field) => isRecord(secret[field])).map((field) => {
    const before = unlike?.[field];
    const hidden = Object.entries(secret[field] as object).map(([key, value]): [string, string] => [
      key,
      isRecord(before) && Object.hasOwn(before, key) && before[key] !== value ? "(hidden, another value)" : "(hidden)",
    ]);
    return [field, Object.fromEntries(hidden)] as const;
  });
  const annotations = Object.entries(secret.metadata.annotations ?? {}).filter(([key]) => key !== LAST_APPLIED);
  return {
    ...secret,
    ...Object.fromEntries(maps),
    metadata: { ...secret.metadata, ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }) },
  };
}

/** Sorts the keys of all objects in a value, because their order has no meaning. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return Object.fromEntries(keys.sort().map((key) => [key, sorted(value[key])]));
}
