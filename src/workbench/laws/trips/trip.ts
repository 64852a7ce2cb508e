import type { Code } from "../../../base/codes.ts";
import { isEngineError, messageOf } from "../../../base/errors.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { REMOVE } from "../../../engine/path/path.ts";
import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import { guardResult } from "../../../engine/patch/guard.ts";
import { roleOf } from "../../../engine/patch/place.ts";
import { rewriteReference } from "../../../engine/patch/reference.ts";
import type { NameRules } from "../../../engine/patch/types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";
import { usedParts } from "../../../engine/sandbox/context.ts";
import { formatKind } from "../../../engine/translate/markers.ts";
import { createMapping } from "../../../engine/translate/mapping.ts";
import { placeValue, type Situation } from "./situations.ts";
import type { Words } from "../samples/words.ts";

/** The parts of the rules that a round trip needs. An engine's rules have this shape. */
export type TripRules = Pick<Rules, "kind" | "engine" | "names" | "translator" | "vcluster">;

/** Result for one value in one direction. */
export type Arrival =
  | { readonly kind: "value"; readonly value: unknown; readonly fuel: number }
  /** The field was removed. */
  | { readonly kind: "gone"; readonly fuel: number }
  | { readonly kind: "failed"; readonly code: Code; readonly message: string };

/** The other side, as it was before. */
export interface Opposite {
  /** Absent if there is nothing yet. */
  readonly value?: unknown;
}

/** Takes values of one patch to the host and back, as the patcher does. Counts the cost. */
export interface Trip {
  /** True if a value can change on the way to the host, or on the way back. */
  readonly goesToHost: boolean;
  readonly comesBack: boolean;
  /** True if the result on the host depends on the existing copy. */
  readonly seesHost: boolean;
  /** True if a result depends on the object around the value. */
  readonly seesObject: boolean;
  /** Fuel spent so far. */
  readonly fuel: number;
  toHost(value: unknown, situation: Situation, host?: Opposite): Arrival;
  toTenant(value: unknown, situation: Situation, tenant?: Opposite): Arrival;
  /** Drops cached evaluations, so that the next one runs again. */
  forget(): void;
}

/** Maximum number of remembered results: consecutive laws need the same evaluations of one value. */
const REMEMBERED_MAX = 8;

interface Remembered {
  readonly direction: "toHost" | "toTenant";
  readonly value: unknown;
  readonly situation: Situation;
  readonly opposite: unknown;
  readonly arrival: Arrival;
}

/** The round trips of one patch. */
export function createTrip(rules: TripRules, patch: CompiledPatch, words: Words): Trip {
  return new PatchTrip(rules, patch, words);
}

class PatchTrip implements Trip {
  readonly #rules: TripRules;
  readonly #patch: CompiledPatch;
  readonly #uses: { readonly hostObject: boolean; readonly virtualObject: boolean };
  readonly #names: NameRules;
  #remembered: Remembered[] = [];
  fuel = 0;

  constructor(rules: TripRules, patch: CompiledPatch, words: Words) {
    this.#rules = rules;
    this.#patch = patch;
    this.#uses = usedParts(words.reads);
    this.#names = freshNames(rules);
  }

  get goesToHost(): boolean {
    return this.#patch.expression !== undefined || this.#patch.reference !== undefined;
  }

  get comesBack(): boolean {
    return this.#patch.reverseExpression !== undefined || this.#patch.reference !== undefined;
  }

  get seesHost(): boolean {
    return this.#uses.hostObject && this.#patch.expression !== undefined;
  }

  get seesObject(): boolean {
    return this.#uses.virtualObject || this.#uses.hostObject;
  }

  toHost(value: unknown, situation: Situation, host: Opposite = {}): Arrival {
    const { expression } = this.#patch;
    return this.#once({ direction: "toHost", value, situation, opposite: this.seesHost ? host.value : undefined }, () => {
      if (expression === undefined) return this.#rewrite(value, situation, "toHost");
      const hostObject = this.seesHost && host.value !== undefined ? this.#hostObject(situation, host.value) : null;
      return this.#evaluate(expression, value, situation, { hostObject, virtualObject: this.#tenantObject(situation, value) });
    });
  }

  toTenant(value: unknown, situation: Situation, tenant: Opposite = {}): Arrival {
    const { reverseExpression } = this.#patch;
    return this.#once({ direction: "toTenant", value, situation, opposite: this.seesObject ? tenant.value : undefined }, () => {
      if (reverseExpression === undefined) return this.#rewrite(value, situation, "toTenant");
      const hostObject = this.#uses.hostObject ? this.#hostObject(situation, value) : null;
      return this.#evaluate(reverseExpression, value, situation, {
        hostObject,
        virtualObject: this.#tenantObject(situation, tenant.value),
      });
    });
  }

  forget(): void {
    this.#remembered = [];
  }

  #once(asked: Omit<Remembered, "arrival">, run: () => { value: unknown; fuel: number }): Arrival {
    const { direction, value, situation, opposite } = asked;
    const known = this.#remembered.find(
      (one) => one.direction === direction && one.value === value && one.situation === situation && one.opposite === opposite,
    );
    if (known !== undefined) return known.arrival;
    const arrival = this.#attempt(value, situation, run);
    this.#remembered.unshift({ ...asked, arrival });
    if (this.#remembered.length > REMEMBERED_MAX) this.#remembered.pop();
    return arrival;
  }

  #attempt(before: unknown, { path }: Situation, run: () => { value: unknown; fuel: number }): Arrival {
    try {
      const { value: result, fuel } = run();
      this.fuel += fuel;
      const { value } = guardResult(roleOf(path), { before, result, markerPrefix: this.#rules.translator.markerPrefix });
      return value === REMOVE ? { kind: "gone", fuel } : { kind: "value", value, fuel };
    } catch (error) {
      if (!isEngineError(error)) throw error;
      const { fuel } = error.details;
      if (typeof fuel === "number") this.fuel += fuel;
      return { kind: "failed", code: error.code, message: messageOf(error) };
    }
  }

  #evaluate(
    expression: object,
    value: unknown,
    { path }: Situation,
    objects: { readonly hostObject: unknown; readonly virtualObject: unknown },
  ): { value: unknown; fuel: number } {
    const { engine, vcluster } = this.#rules;
    return engine.evaluate(expression, { value, valueExists: true, context: { vcluster, ...objects, path } });
  }

  #rewrite(value: unknown, { tenant, path }: Situation, direction: "toHost" | "toTenant"): { value: unknown; fuel: number } {
    const { reference } = this.#patch;
    if (reference === undefined) return { value, fuel: 0 };
    const tenantNamespace = tenant.metadata.namespace ?? "";
    const namespace = direction === "toHost" ? tenantNamespace : this.#hostKey(tenant).namespace;
    const rewritten = rewriteReference(reference, value, { direction, names: this.#names, namespace, tenantNamespace, place: path });
    return { value: rewritten === undefined ? value : rewritten.value, fuel: 0 };
  }

  #tenantObject({ tenant, steps }: Situation, value: unknown): unknown {
    return this.#uses.virtualObject ? placeValue(tenant, steps, value) : null;
  }

  #hostObject({ tenant, steps }: Situation, value: unknown): unknown {
    const metadata = { ...tenant.metadata, ...this.#hostKey(tenant) };
    return placeValue({ ...tenant, metadata }, steps, value);
  }

  #hostKey({ metadata: { name = "", namespace = "" } }: KubeObject): { name: string; namespace: string } {
    const { translator, kind, vcluster } = this.#rules;
    return translator.toHost({ namespace, name }, kind.resource) ?? { name, namespace: vcluster.namespace };
  }
}

/** Name rules with a separate cache, because names that are tried here must not reach a syncer. */
export function freshNames({ names, translator }: TripRules): NameRules {
  const mapping = createMapping();
  return {
    ...names,
    toHost(kind, tenant) {
      const host = translator.toHost(tenant, kind);
      if (host !== undefined) mapping.record(formatKind(kind), tenant, host);
      return host;
    },
    toTenant: (kind, host) => mapping.toTenant(formatKind(kind), host),
  };
}
