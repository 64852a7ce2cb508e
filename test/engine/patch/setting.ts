/** Shared setting of the patch tests: one virtual cluster, its names, an engine. */
import { expect } from "vitest";
import type { Direction, PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { CONFIG_MAPS, SECRETS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { applyPatches, applyPatchesInPieces, type PatchedObject, type ApplyPatchesOptions } from "../../../src/engine/patch/apply.ts";
import { compilePatches } from "../../../src/engine/patch/compile.ts";
import { createNameRules } from "../../../src/engine/patch/names.ts";
import { formatKind } from "../../../src/engine/translate/markers.ts";
import { createMapping } from "../../../src/engine/translate/mapping.ts";
import { createTranslator } from "../../../src/engine/translate/translator.ts";
import { createPlainEngine } from "../../support/plain-engine.ts";

export const vcluster = { name: "vcluster", namespace: "vcluster-ns" };
export const translator = createTranslator({ vcluster });
const mapping = createMapping();
const names = createNameRules({ translator, mapping, kinds: [SECRETS, CONFIG_MAPS] });
export const engine = createPlainEngine((name) => translator.dns(name));

/** Options for one direction; expressions see `object` as the object of the side it comes from. */
function optionsFor(direction: Direction, object: KubeObject): ApplyPatchesOptions {
  return {
    direction,
    engine,
    names,
    markerPrefix: translator.markerPrefix,
    namespace: "default",
    context: {
      vcluster: { ...vcluster, config: {} },
      hostObject: direction === "toTenant" ? object : null,
      virtualObject: direction === "toHost" ? object : null,
    },
  };
}

/** Compiles and applies, with the plain engine unless another one is given. In pieces the same comes out. */
export function run(
  definitions: readonly PatchDefinition[],
  object: KubeObject,
  options: Partial<ApplyPatchesOptions> = {},
): PatchedObject {
  const all = { ...optionsFor(options.direction ?? "toHost", object), ...options };
  const patches = compilePatches(definitions, { engine: all.engine });
  const patched = applyPatches(patches, object, all);
  // Another engine may count what it is asked.
  if (options.engine === undefined) expect(inPieces(applyPatchesInPieces(patches, object, all))).toEqual(patched);
  return patched;
}

function inPieces(pieces: Generator<undefined, PatchedObject>): PatchedObject {
  let step = pieces.next();
  while (!step.done) step = pieces.next();
  return step.value;
}

/** Records what was found, as the syncer does once it follows a reference. */
export function recordReferences({ references }: PatchedObject): void {
  for (const { apiVersion, kind, tenant, host } of references) mapping.record(formatKind({ apiVersion, kind }), tenant, host);
}

/** An object with `rest` beside identity; `rest.metadata` is merged. */
export function objectWith(rest: Readonly<Record<string, unknown>>, namespace = "vcluster-ns"): KubeObject {
  const metadata = { name: "web-x-default-x-vcluster", namespace, ...(rest["metadata"] as object | undefined) };
  return { apiVersion: "v1", kind: "Endpoints", ...rest, metadata };
}

/** An object with these annotations. */
export function annotated(annotations: Readonly<Record<string, string>>): KubeObject {
  return objectWith({ metadata: { annotations } });
}
