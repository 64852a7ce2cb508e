/** What the tests of patches have in common: one virtual cluster, its names, an engine. */
import type { Direction, PatchDefinition } from "../../src/object/patch-definition.ts";
import { CONFIG_MAPS, SECRETS } from "../../src/object/resource.ts";
import type { KubeObject } from "../../src/object/types.ts";
import type { Patched, PatchOptions } from "../../src/patch/apply.ts";
import { applyPatches } from "../../src/patch/apply.ts";
import { compilePatches } from "../../src/patch/compile.ts";
import { createNameRules } from "../../src/patch/names.ts";
import { formatKind } from "../../src/translate/markers.ts";
import { createMapping } from "../../src/translate/mapping.ts";
import { createTranslator } from "../../src/translate/translator.ts";
import { createPlainEngine } from "../support/plain-engine.ts";

export const vcluster = { name: "vcluster", namespace: "vcluster-ns" };
export const translator = createTranslator({ vcluster });
const mapping = createMapping();
const names = createNameRules({ translator, mapping, kinds: [SECRETS, CONFIG_MAPS] });
export const engine = createPlainEngine((name) => translator.dns(name));

/** Options for one direction; expressions see `object` as the object of the side it comes from. */
function optionsFor(direction: Direction, object: KubeObject): PatchOptions {
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

/** Compiles and applies, with the plain engine unless another one is given. */
export function run(definitions: readonly PatchDefinition[], object: KubeObject, options: Partial<PatchOptions> = {}): Patched {
  const all = { ...optionsFor(options.direction ?? "toHost", object), ...options };
  return applyPatches(compilePatches(definitions, { engine: all.engine }), object, all);
}

/** Records what was found, as the syncer does once it follows a reference. */
export function recordReferences({ references }: Patched): void {
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
