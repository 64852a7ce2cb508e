import { EngineError } from "../../base/errors.ts";
import type { PatchDefinition } from "../../engine/patch/patch-definition.ts";
import type { PatchListName } from "../laws/report.ts";
import { loadPatches, type LoadedPatches, type PatchesOptions, type PatchSource } from "./load-patches.ts";
import type { PatchUnderTest } from "./patch-under-test.ts";

/** Options of {@link loadPatch}: the patch, and how to load it. */
export type PatchOptions = PatchesOptions &
  (
    | { readonly patch: PatchDefinition }
    | (Extract<PatchSource, { config: unknown }> & {
        /** Path of the patch, as written in the configuration or in canonical form. Default: the configuration's only patch. */
        readonly path?: string;
        /** Position in its list, instead of `path`. */
        readonly index?: number;
        /** List that contains the patch. Default: the first list with such a patch, Endpoints first. */
        readonly list?: PatchListName;
      })
  );

/** A patch under test with its own sandbox. */
export interface LoadedPatch extends PatchUnderTest {
  /** Frees the sandbox; the patch cannot be used afterwards. */
  dispose(): void;
}

/**
 * Loads one patch. To load several patches of one configuration, {@link loadPatches} is cheaper.
 *
 * @throws CONFIG_FILE and CONFIG_VALUE as {@link loadPatches}; USAGE when there is no such patch, or when there are several and none is
 *   named.
 * @example
 * const patch = await loadPatch({ patch: { path: "metadata.labels.team", expression: 'context.vcluster.name + "-" + value' } });
 * patch.toHost("shop").value; // "blue-shop"
 * patch.dispose();
 */
export async function loadPatch(options: PatchOptions): Promise<LoadedPatch> {
  const patches = await loadPatches("patch" in options ? { ...options, patches: [options.patch] } : options);
  try {
    const patch = "patch" in options ? patches.all[0]! : choosePatch(patches, options);
    return { ...patch, dispose: () => patches.dispose() };
  } catch (error) {
    patches.dispose();
    throw error;
  }
}

function choosePatch(patches: LoadedPatches, { path, index, list }: Exclude<PatchOptions, { patch: unknown }>): PatchUnderTest {
  const place = path ?? index;
  if (place !== undefined) return patches.patch(place, list);
  const all = patches.all.filter((patch) => list === undefined || patch.list === list);
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  throw new EngineError("USAGE", `Expected one patch, found ${all.length}; specify its path or index`);
}
