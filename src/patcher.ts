import { EngineError } from "./base/errors.ts";
import { createEngine } from "./engine.ts";
import type { EngineOptions } from "./engine.ts";
import type { KubeObject } from "./object/types.ts";
import type { FoundReference, Outcome } from "./patch/types.ts";
import { backward } from "./reconcile/backward.ts";
import { forward } from "./reconcile/forward.ts";
import type { Forward } from "./reconcile/forward.ts";
import type { Rules } from "./reconcile/rules.ts";

/** What a patcher made of an object. */
export interface Patched {
  readonly object: KubeObject;
  /** One record per patch. */
  readonly outcomes: readonly Outcome[];
  /** What the object's references point at. */
  readonly references: readonly FoundReference[];
  /** Addresses that the policy left out. */
  readonly refusedAddresses: readonly { readonly ip: string; readonly reason: string }[];
  /** Why the syncer would not write the object at all. */
  readonly rejected?: string;
}

/** Translates and patches objects without any cluster: for `render`, for tests of patches, for embedders. */
export interface Patcher {
  /** Tells whether objects of this kind are synced, and so can be patched. */
  knows(object: KubeObject): boolean;
  /** The host object of a tenant object, without markers. `host` is what expressions see as `context.hostObject`. */
  toHost(tenant: KubeObject, context?: { host?: KubeObject }): Patched;
  /** The tenant's view of a host object. `tenant` is what expressions see as `context.virtualObject`, and gives the name. */
  toTenant(host: KubeObject, context?: { tenant?: KubeObject }): Patched;
  /** Frees the sandbox. */
  dispose(): void;
}

/**
 * A patcher for the kinds that the configuration syncs.
 *
 * @throws EXPRESSION_SYNTAX, PATH_SYNTAX, PATCH_MODE as {@link createEngine}.
 */
export async function createPatcher(options: EngineOptions): Promise<Patcher> {
  const engine = await createEngine(options);
  return { ...patcherOf(engine.rules), dispose: () => engine.dispose() };
}

/**
 * A patcher by rules that somebody else made, and disposes of.
 *
 * @example
 * const { object } = patcherOf(engine.rules).toHost(tenant);
 */
export function patcherOf(rules: readonly Rules[]): Omit<Patcher, "dispose"> {
  return {
    knows: (object) => findRules(rules, object) !== undefined,
    toHost(tenant, { host } = {}) {
      const { namespace = "default", name = "" } = tenant.metadata;
      const patched = forwardTo(rulesFor(rules, tenant), tenant, host);
      if (patched === undefined)
        throw new EngineError("NAME_NOT_MAPPED", `Cannot translate "${namespace}/${name}": the namespace is not mapped`);
      const { object, outcomes, references, refusedAddresses, rejected } = patched;
      return { object: withoutEmptyMaps(object), outcomes, references, refusedAddresses, ...(rejected !== undefined && { rejected }) };
    },
    toTenant(host, { tenant } = {}) {
      const own = rulesFor(rules, host);
      // Host names in references are known once the tenant's were translated, which a syncer did before anything can come back.
      if (tenant !== undefined) forwardTo(own, tenant, host);
      const { object, outcomes } = backward(own, host, tenant);
      return { object: withoutEmptyMaps(object), outcomes, references: [], refusedAddresses: [] };
    },
  };
}

/** Undefined when the object's namespace has no place on the host. */
function forwardTo(rules: Rules, tenant: KubeObject, host: KubeObject | undefined): Forward | undefined {
  const { namespace = "default", name = "" } = tenant.metadata;
  const hostKey = rules.translator.toHost({ namespace, name }, rules.kind.resource);
  return hostKey && forward(rules, { tenant: withNamespace(tenant, namespace), host, hostKey });
}

function rulesFor(rules: readonly Rules[], object: KubeObject): Rules {
  const found = findRules(rules, object);
  if (found !== undefined) return found;
  const kinds = rules.map(({ kind }) => kind.resource.kind).join(", ");
  throw new EngineError("USAGE", `Cannot patch a ${object.apiVersion} ${object.kind}: wanted one of ${kinds}`);
}

function findRules(rules: readonly Rules[], object: KubeObject): Rules | undefined {
  return rules.find(({ kind }) => kind.resource.kind === object.kind && kind.resource.apiVersion === object.apiVersion);
}

function withNamespace(object: KubeObject, namespace: string): KubeObject {
  return object.metadata.namespace === namespace ? object : { ...object, metadata: { ...object.metadata, namespace } };
}

function withoutEmptyMaps(object: KubeObject): KubeObject {
  const { labels, annotations, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(labels && Object.keys(labels).length > 0 && { labels }),
      ...(annotations && Object.keys(annotations).length > 0 && { annotations }),
    },
  };
}
