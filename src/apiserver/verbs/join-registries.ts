import { assert } from "../../base/errors.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { Registry } from "./registry.ts";
import { noSuchPath } from "../types/status.ts";

/**
 * Several registries as one, so that one server can serve kinds from different stores. Each request goes to the
 * registry that has its kind; revisions are those of its store, and mean nothing to the others.
 *
 * @example
 * startApiServer({ registry: joinRegistries(kept, derived), ... });
 */
export function joinRegistries(...registries: readonly Registry[]): Registry {
  const definitions = registries.flatMap((registry) => registry.definitions);
  const byKind = new Map(registries.flatMap((registry) => registry.definitions.map(({ type }) => [idOf(type), registry] as const)));
  assert(byKind.size === definitions.length, "each kind is in one registry");
  const of = (type: ResourceType) => {
    const registry = byKind.get(idOf(type));
    if (registry === undefined) throw noSuchPath();
    return registry;
  };
  return {
    definitions,
    async restore() {
      for (const registry of registries) await registry.restore();
    },
    find: (apiVersion, plural) => byKind.get(idOf({ apiVersion, plural }))?.find(apiVersion, plural),
    get: async (type, key, options) => of(type).get(type, key, options),
    list: async (type, request) => of(type).list(type, request),
    watch: async (type, request) => of(type).watch(type, request),
    create: async (type, namespace, body, options) => of(type).create(type, namespace, body, options),
    update: async (type, key, body, options) => of(type).update(type, key, body, options),
    patch: async (type, key, kind, body, options) => of(type).patch(type, key, kind, body, options),
    delete: async (type, key, options) => of(type).delete(type, key, options),
    ask: async (type, request, options) => of(type).ask(type, request, options),
    view: async (type, request, options) => of(type).view(type, request, options),
    deleteCollection: async (type, request, options) => of(type).deleteCollection(type, request, options),
  };
}

function idOf({ apiVersion, plural }: Pick<ResourceType, "apiVersion" | "plural">): string {
  return `${apiVersion}/${plural}`;
}
