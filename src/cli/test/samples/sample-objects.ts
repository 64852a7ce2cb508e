import { isEngineError } from "../../../base/errors.ts";
import { readKinds } from "../../../engine/config/backends.ts";
import { syncOf } from "../../../engine/config/config.ts";
import type { Config } from "../../../engine/config/config.ts";
import type { PatchDefinition } from "../../../engine/patch/patch-definition.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import type { Patched, Patcher } from "../../../engine/patcher.ts";
import { compilePath } from "../../../engine/path/path.ts";
import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import { setValue } from "../../../workbench/asserts/set-value.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { LoadedConfiguration } from "../../input/configuration.ts";

/** Values to try, in this order, at a path that a patch addresses and the sample does not have. */
const EXAMPLES = ["example", "web.shop.svc", "10.1.0.11", "8080", '["example"]', '[{"name": "example"}]', '{"name": "example"}'] as const;

/** The sample of a kind, and the list that patches it. */
export interface SampleObject {
  readonly kind: SyncedKind;
  readonly list: string;
  readonly patches: readonly PatchDefinition[];
  readonly object: KubeObject;
}

/** Returns the synced lists that have patches, each with the sample object of its kind. */
export function samplesFor({
  config,
  kinds,
  settings,
}: Pick<LoadedConfiguration, "config" | "kinds" | "settings">): readonly SampleObject[] {
  const read = readKinds({ kinds, backends: settings.backends, config, services: "managed" });
  return kinds.flatMap((kind) => {
    // Patches of a kind that the setting leaves out have no effect.
    if (read.every((one) => one.kind !== kind)) return [];
    const { enabled, patches } = syncOf(config, kind);
    if (!enabled || patches.length === 0) return [];
    return [{ kind, list: kind.section, patches, object: inSyncedNamespace(kind.sample, config) }];
  });
}

/** The result of one patch on a sample. */
export interface Shown {
  /** Value that was set at the path; undefined if the sample has a value there, or none can be set. */
  readonly example: string | undefined;
  readonly object: KubeObject;
  readonly patched: Patched;
  readonly outcome: Outcome;
}

/** Returns the result of the patch of a path for the first example value that it accepts, or for the first example if it fails for all. */
export function shownWith(sample: KubeObject, path: string, patcher: Patcher): Shown {
  let first: Shown | undefined;
  for (const example of EXAMPLES) {
    const object = withPlace(sample, path, example);
    const patched = patcher.toHost(object);
    const outcome = patched.outcomes.find((one) => one.path === path)!;
    const shown = { example: object === sample ? undefined : example, object, patched, outcome };
    if (outcome.outcome !== "error" || object === sample) return shown;
    first ??= shown;
  }
  return first!;
}

/** Returns the object with an example at the path if it has no value there and one can be set. */
function withPlace(object: KubeObject, path: string, example: string): KubeObject {
  if (compilePath(path).find(object).length > 0) return object;
  try {
    return setValue(object, path, example) as KubeObject;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return object;
  }
}

/** Returns the object in a namespace that is mapped to the host. */
function inSyncedNamespace(object: KubeObject, { namespaces: { enabled, mappingsOnly, mappings } }: Config): KubeObject {
  const { namespace: own = "" } = object.metadata;
  const [mapped] = Object.keys(mappings.byName);
  const namespace = enabled && mappingsOnly && mapped !== undefined ? mapped.replace("*", own) : own;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
