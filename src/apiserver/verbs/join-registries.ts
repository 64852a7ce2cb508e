import { assert } from "../../base/errors.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { Registry } from "./registry.ts";
import { oncePerObject } from "../types/objects/json-data.ts";
import { noSuchPath } from "../types/status.ts";

/**
 * Several registries as one, so that one server can serve kinds from different stores. Each request goes to the
 * registry that has its kind; revisions are those of its store, and have no meaning in the others.
 *
 * @example
 * startApiServer({ registry: joinRegistries(kept, derived), ... });
 */
export function joinRegistries(...registries: readonly Registry[]): Registry {
  const definitions = registries.flatMap((registry) => registry.definitions);
  const byKind = new Map(
    registries.flatMap((registry) => registry.definitions.map((definition) => [idOf(definition.type), { registry, definition }] as const)),
  );
  assert(byKind.size === definitions.length, "each kind is in one registry");
  const at = <To>(type: ResourceType, act: (registry: Registry) => Promise<To>): Promise<To> => {
    const served = byKind.get(idOfType(type));
    return served === undefined ? Promise.reject(noSuchPath()) : act(served.registry);
  };
  return {
    definitions,
    async restore() {
      for (const registry of registries) await registry.restore();
    },
    find: (apiVersion, plural) => byKind.get(idOf({ apiVersion, plural }))?.definition,
    get: (type, key, options) => at(type, (registry) => registry.get(type, key, options)),
    list: (type, request) => at(type, (registry) => registry.list(type, request)),
    watch: (type, request) => at(type, (registry) => registry.watch(type, request)),
    create: (type, namespace, body, options) => at(type, (registry) => registry.create(type, namespace, body, options)),
    update: (type, key, body, options) => at(type, (registry) => registry.update(type, key, body, options)),
    patch: (type, key, kind, body, options) => at(type, (registry) => registry.patch(type, key, kind, body, options)),
    delete: (type, key, options) => at(type, (registry) => registry.delete(type, key, options)),
    ask: (type, request, options) => at(type, (registry) => registry.ask(type, request, options)),
    view: (type, request, options) => at(type, (registry) => registry.view(type, request, options)),
    deleteCollection: (type, request, options) => at(type, (registry) => registry.deleteCollection(type, request, options)),
  };
}

function idOf({ apiVersion, plural }: Pick<ResourceType, "apiVersion" | "plural">): string {
  return `${apiVersion}/${plural}`;
}

const idOfType = oncePerObject((type: ResourceType) => idOf(type));
