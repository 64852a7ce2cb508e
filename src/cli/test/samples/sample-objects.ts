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

/** Values for a place that a patch addresses and no sample has: the first that the patch accepts. */
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

/** A sample as one patch was shown it. */
export interface Shown {
  /** Value put at the place; undefined if the sample has one there, or none can be put there. */
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

/** The object with an example where the path leads, if something can be put there. */
function withPlace(object: KubeObject, path: string, example: string): KubeObject {
  if (compilePath(path).find(object).length > 0) return object;
  try {
    return setValue(object, path, example) as KubeObject;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return object;
  }
}

/** The object in a namespace that has a place on the host. */
function inSyncedNamespace(object: KubeObject, { namespaces: { enabled, mappingsOnly, mappings } }: Config): KubeObject {
  const { namespace: own = "" } = object.metadata;
  const [mapped] = Object.keys(mappings.byName);
  const namespace = enabled && mappingsOnly && mapped !== undefined ? mapped.replace("*", own) : own;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
