import { isRecord } from "../../../base/json.ts";
import { isEngineError } from "../../../base/errors.ts";
import type { Direction } from "../../../engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { applyPatches } from "../../../engine/patch/apply.ts";
import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import { parseConcrete, REMOVE } from "../../../engine/path/path.ts";
import { usedParts } from "../../../engine/sandbox/context.ts";
import { placeValue } from "./situations.ts";
import { freshNames, type Arrival, type Opposite, type Trip, type TripRules } from "./trip.ts";
import type { Words } from "../samples/words.ts";

const TENANT = { name: "web", namespace: "shop" };

/**
 * Creates round trips of whole objects through patches of one list, in the order in which the patcher runs them. The values are objects
 * without their identity. As in the syncer, the result of a patch without a reverse expression never comes back: the tenant keeps its
 * value.
 */
export function createListTrip(rules: TripRules, patches: readonly CompiledPatch[], words: Words): Trip {
  return new ListTrip(rules, patches, words);
}

class ListTrip implements Trip {
  readonly goesToHost = true;
  readonly comesBack: boolean;
  readonly seesHost: boolean;
  readonly seesObject = false;
  fuel = 0;
  readonly #rules: TripRules;
  readonly #patches: readonly CompiledPatch[];
  readonly #oneWay: readonly CompiledPatch[];
  readonly #names: ReturnType<typeof freshNames>;

  constructor(rules: TripRules, patches: readonly CompiledPatch[], words: Words) {
    this.#rules = rules;
    this.#patches = patches;
    this.#oneWay = patches.filter(({ expression, reverseExpression }) => expression !== undefined && reverseExpression === undefined);
    this.#names = freshNames(rules);
    this.comesBack = this.#oneWay.length < patches.length;
    this.seesHost = usedParts(words.reads).hostObject;
  }

  toHost(value: unknown, _situation: unknown, { value: host }: Opposite = {}): Arrival {
    const tenant = this.#objectOf(value, TENANT);
    const hostObject = host === undefined ? null : this.#objectOf(host, this.#hostKey());
    return this.#apply("toHost", this.#objectOf(value, this.#hostKey()), { hostObject, virtualObject: tenant });
  }

  toTenant(value: unknown, _situation: unknown, { value: tenant }: Opposite = {}): Arrival {
    const hostObject = this.#objectOf(value, this.#hostKey());
    const virtualObject = tenant === undefined ? null : this.#objectOf(tenant, TENANT);
    const arrival = this.#apply("toTenant", hostObject, { hostObject, virtualObject });
    return arrival.kind === "value" ? { ...arrival, value: this.#withKept(arrival.value, tenant) } : arrival;
  }

  forget(): void {
    // Nothing is remembered.
  }

  #apply(direction: Direction, object: KubeObject, seen: { readonly hostObject: unknown; readonly virtualObject: unknown }): Arrival {
    const { engine, vcluster, translator } = this.#rules;
    try {
      const { object: patched, outcomes } = applyPatches(this.#patches, object, {
        direction,
        engine,
        context: { vcluster, ...seen },
        names: this.#names,
        markerPrefix: translator.markerPrefix,
        namespace: TENANT.namespace,
        onError: "skip-patch",
      });
      const fuel = outcomes.reduce((sum, outcome) => sum + outcome.fuel, 0);
      this.fuel += fuel;
      const failed = outcomes.flatMap(({ failures = [], outcome }) => (outcome === "error" ? failures : []))[0];
      if (failed !== undefined) return { kind: "failed", code: failed.code, message: failed.message };
      return { kind: "value", value: bareObject(patched), fuel };
    } catch (error) {
      if (!isEngineError(error)) throw error;
      return { kind: "failed", code: error.code, message: error.message };
    }
  }

  /** Returns the object with the tenant's own values where a patch has no reverse expression. */
  #withKept(back: unknown, tenant: unknown): unknown {
    if (tenant === undefined) return back;
    const kept = this.#oneWay.reduce((object, { path }) => {
      const own = new Map(path.find(tenant).map((match) => [match.path, match.value]));
      const without = path.update(object, (_value, place) => (own.has(place) ? own.get(place) : REMOVE));
      return [...own].reduce((rest, [place, value]) => placeValue(rest, parseConcrete(place), value), without);
    }, back);
    return bareObject(kept);
  }

  #objectOf(value: unknown, key: { readonly name: string; readonly namespace: string }): KubeObject {
    const { apiVersion, kind } = this.#rules.kind.resource;
    const { metadata, ...body } = isRecord(value) ? value : {};
    return { apiVersion, kind, metadata: { ...(isRecord(metadata) && metadata), ...key }, ...body };
  }

  #hostKey(): { name: string; namespace: string } {
    const { translator, kind, vcluster } = this.#rules;
    return translator.toHost(TENANT, kind.resource) ?? { ...TENANT, namespace: vcluster.namespace };
  }
}

/** An object without its identity, as it comes back from a round trip: an empty map in metadata means the same as none. */
export function bareObject(value: unknown): Record<string, unknown> {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...body } = isRecord(value) ? value : {};
  const { name: _name, namespace: _namespace, labels, annotations, ...others } = isRecord(metadata) ? metadata : {};
  const kept = { ...others, ...filled("labels", labels), ...filled("annotations", annotations) };
  return { ...(Object.keys(kept).length > 0 && { metadata: kept }), ...body };
}

function filled(name: string, map: unknown): Record<string, unknown> {
  return map === undefined || (isRecord(map) && Object.keys(map).length === 0) ? {} : { [name]: map };
}
