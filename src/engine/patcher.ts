import { EngineError } from "../base/errors.ts";
import { createEngine, type EngineOptions } from "./engine.ts";
import type { KubeObject, StringMap } from "../kube/object/types.ts";
import type { FoundReference, Outcome } from "./patch/types.ts";
import { parseConcrete } from "./path/path.ts";
import { splitId } from "./reconcile/convert/host-edits.ts";
import { toTenant } from "./reconcile/convert/to-tenant.ts";
import { roomNotes, surelyFits, type FieldsWithoutRoom } from "./reconcile/copy/plan-difference.ts";
import type { Note } from "./reconcile/plan-types.ts";
import { fittedToNewCopy } from "./reconcile/plan.ts";
import { decideAlone } from "./reconcile/predicate/should-copy.ts";
import { toHost, type HostBody } from "./reconcile/convert/to-host.ts";
import type { Rules } from "./reconcile/rules/rules.ts";
import { isRecord } from "../base/json.ts";

/** Result of a patcher for an object. */
export interface Patched {
  readonly object: KubeObject;
  /** One record per patch. */
  readonly outcomes: readonly Outcome[];
  /** Targets of the object's references. */
  readonly references: readonly FoundReference[];
  /** Addresses that the address policy refused. */
  readonly refusedAddresses: readonly { readonly ip: string; readonly reason: string }[];
  /** Places of fields and annotations that the host's API server would refuse, and that were therefore left out. */
  readonly leftOut: readonly string[];
  /** The reason why the syncer would not write the object at all. The tenant's view then has the tenant's own body. */
  readonly rejected?: string;
  /** Why the syncer would make no copy, based on the object alone: the patcher does not see its Services and slices. */
  readonly excluded?: Note;
  /** Notes on labels and annotations for which a new copy has no room. `object` omits these labels and annotations. */
  readonly noRoom: readonly Note[];
}

/**
 * Translates and patches objects without any cluster: for `render`, tests of patches, and embedders. Its results share no data with its
 * input, so you may change either.
 */
export interface Patcher {
  /** Reports whether objects of this kind are synced, and so can be patched. */
  knows(object: KubeObject): boolean;
  /** The host object of a tenant object, without markers. `host` is what expressions see as `context.hostObject`. */
  toHost(tenant: KubeObject, context?: { host?: KubeObject }): Patched;
  /**
   * The tenant's view of a host object. `tenant` is what expressions see as `context.virtualObject`, and provides the name. Parts that did
   * not reach the host, because a patch failed, an address was refused or an annotation was left out, keep the tenant's values; without
   * `tenant`, these values are unknown.
   */
  toTenant(host: KubeObject, context?: { tenant?: KubeObject }): Patched;
  /** Frees the sandbox. Later calls throw USAGE. */
  dispose(): void;
}

/**
 * Creates a patcher for the kinds that the configuration syncs. It patches objects as the syncer does, without any cluster.
 *
 * `toHost` translates names and references, applies the patches and the address policy, and leaves out what the host's API server would
 * refuse. `toTenant` applies the reverse expressions to a host object, edited or not. Both run expressions in the patcher's own sandbox,
 * within the limits of the settings.
 *
 * A patch that fails does not throw: the result's outcomes record it, and the `onError` setting determines the value in the object. A
 * patcher sees only the object, not the Services and slices that belong to it. If the object is copied only when these exist, the result
 * is the copy that there would be then.
 *
 * @throws EXPRESSION_SYNTAX, PATH_SYNTAX, PATCH_MODE as {@link createEngine}. Its methods throw USAGE for a kind that is not synced, and
 *   NAME_NOT_MAPPED for a namespace that is not mapped to the host.
 * @example
 * const patches = [{ path: "metadata.labels.team", expression: '"blue-" + value', reverseExpression: "value.slice(5)" }];
 * const { config } = resolveConfig({ sync: { toHost: { endpoints: { patches } } } });
 * const patcher = await createPatcher({ config, vcluster: { name: "blue", namespace: "vc-blue" } });
 * const metadata = { name: "web", namespace: "shop", labels: { team: "ops" } };
 * const { object } = patcher.toHost({ apiVersion: "v1", kind: "Endpoints", metadata });
 * object.metadata.name; // "web-x-shop-x-blue"
 * object.metadata.labels.team; // "blue-ops"
 * patcher.dispose();
 */
export async function createPatcher(options: EngineOptions): Promise<Patcher> {
  const engine = await createEngine(options);
  const patcher = patcherOf(engine.rules);
  let disposed = false;
  const live = () => {
    if (disposed)
      throw new EngineError("USAGE", "Cannot patch: the patcher was disposed of. Dispose of it only after it has patched its last object");
    return patcher;
  };
  return {
    knows: (object) => live().knows(object),
    toHost: (tenant, context) => live().toHost(tenant, context),
    toTenant: (host, context) => live().toTenant(host, context),
    dispose() {
      disposed = true;
      engine.dispose();
    },
  };
}

/**
 * Creates a patcher with rules that the caller created and will dispose of.
 *
 * @example
 * const { object } = patcherOf(engine.rules).toHost(tenant);
 */
export function patcherOf(rules: readonly Rules[]): Omit<Patcher, "dispose"> {
  return {
    knows: (object) => findRules(rules, object) !== undefined,
    toHost(given, { host: givenHost } = {}) {
      // Results are cached by the identity of their input, so the input is copied: the caller cannot change the copy later.
      const [tenant, host] = [copyOf(given), copyOf(givenHost)];
      const { namespace = "default", name = "" } = tenant.metadata;
      const own = rulesFor(rules, tenant);
      const patched = forwardTo(own, tenant, host);
      if (patched === undefined)
        throw new EngineError("NAME_NOT_MAPPED", `Cannot translate "${namespace}/${name}": the namespace is not mapped`);
      const { object, outcomes, references, refusedAddresses, leftOut, rejected, left } = patched;
      const decision = decideAlone(own, { namespace, name }, tenant);
      return {
        object: withoutEmptyMaps(object),
        outcomes,
        references,
        refusedAddresses,
        leftOut,
        ...(rejected !== undefined && { rejected }),
        ...(decision.action !== "copy" && { excluded: { code: decision.code, message: decision.message } }),
        noRoom: roomNotes(left),
      };
    },
    toTenant(givenHost, { tenant: given } = {}) {
      const [host, tenant] = [copyOf(givenHost), copyOf(given)];
      const own = rulesFor(rules, host);
      // Host names in references can be translated back only after the tenant's names were translated; a syncer has always done that.
      const there = tenant && forwardTo(own, tenant, host);
      const { object, outcomes } = toTenant(own, host, tenant);
      const { kept, rejected } = tenant && there ? keepLost(own, { object, tenant, there }) : { kept: object, rejected: undefined };
      return {
        object: withoutEmptyMaps(kept),
        outcomes,
        references: [],
        refusedAddresses: [],
        leftOut: [],
        ...(rejected !== undefined && { rejected }),
        noRoom: [],
      };
    },
  };
}

const NOT_THERE = "part of the tenant's body did not reach the host: a patch failed or an address was refused";

/**
 * Returns `object`, the tenant's view of a host object, with the parts of the tenant object that did not reach the host (`there`). On the
 * host, these parts are missing or old; if that counted as a host edit, the tenant object would lose them too.
 */
function keepLost(
  rules: Rules,
  { object, tenant, there }: { object: KubeObject; tenant: KubeObject; there: Forwarded },
): { readonly kept: KubeObject; readonly rejected: string | undefined } {
  const failures = rules.settings.onError === "keep-last" ? there.outcomes.flatMap(({ failures = [] }) => failures) : [];
  const places = failures.map(({ place }) => parseConcrete(place));
  const fieldsLost = [...there.left.keys()].map((id) => ["metadata", ...splitId(id)]);
  const keysLost = [...places, ...there.leftOut.map(parseConcrete), ...fieldsLost];
  const bodyLost = there.refusedAddresses.length > 0 || places.some(([first]) => first !== "metadata");
  const { apiVersion, kind } = object;
  return {
    kept: {
      ...(bodyLost ? { ...tenant, apiVersion, kind } : object),
      metadata: {
        ...object.metadata,
        labels: withLost(object.metadata.labels, tenant.metadata.labels, lostKeys(keysLost, "labels")),
        annotations: withLost(object.metadata.annotations, tenant.metadata.annotations, lostKeys(keysLost, "annotations")),
      },
    },
    rejected: bodyLost ? NOT_THERE : undefined,
  };
}

/** Returns the keys of a map that did not reach the host; "all" if the map itself failed. */
function lostKeys(places: readonly (readonly (string | number)[])[], map: "labels" | "annotations"): ReadonlySet<string> | "all" {
  const below = places.filter(([first, second]) => first === "metadata" && (second === map || second === undefined));
  return below.some(([, , key]) => key === undefined) ? "all" : new Set(below.map(([, , key]) => String(key)));
}

function withLost(there: StringMap = {}, tenant: StringMap = {}, lost: ReadonlySet<string> | "all"): StringMap {
  const entries = Object.entries(tenant).filter(([key]) => lost === "all" || lost.has(key));
  return entries.length === 0 ? there : Object.fromEntries([...Object.entries(there), ...entries]);
}

/** A deep copy of JSON data. */
function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) if (typeof copy[key] === "object") copy[key] = copyOf(copy[key]);
  return copy as T;
}

/** The host form of a tenant object, as far as a new copy has room for it. */
interface Forwarded extends HostBody {
  readonly left: FieldsWithoutRoom;
}

/**
 * Returns undefined if the object's namespace is not mapped to the host. Only expressions see `host`: the limits are those of a new copy,
 * whatever is at its place.
 */
function forwardTo(rules: Rules, given: KubeObject, host: KubeObject | undefined): Forwarded | undefined {
  const { namespace = "default", name = "" } = given.metadata;
  const key = { namespace, name };
  const hostKey = rules.translator.toHost(key, rules.kind.resource);
  if (hostKey === undefined) return undefined;
  const tenant = withNamespace(given, namespace);
  const body = toHost(rules, { tenant, host, hostKey });
  if (body.rejected !== undefined || surelyFits(body.object)) return { ...body, left: new Map() };
  const { object, left } = fittedToNewCopy(rules, { key, tenant, host: undefined, hostKey }, body.object);
  return { ...body, object, left };
}

function rulesFor(rules: readonly Rules[], object: KubeObject): Rules {
  const found = findRules(rules, object);
  if (found !== undefined) return found;
  const kinds = rules.map(({ kind }) => kind.resource.kind).join(", ");
  throw new EngineError("USAGE", `Cannot patch a ${object.apiVersion} ${object.kind}: expected one of ${kinds}`);
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
