/**
 * Cache of the latest patched objects. Every write is planned a second time to verify that nothing is left
 * to do; evaluating all expressions again for that would double the cost of a change.
 *
 * @module
 */
import { sameKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { PatchedObject } from "../../patch/apply.ts";
import { remembered } from "../rules/remembered.ts";
import type { AllowedBody, Rules } from "../rules/rules.ts";

/** All that patches of one object can depend on, beside the rules. The objects must not change. */
export interface PatchedFrom {
  readonly tenant: KubeObject;
  readonly host: KubeObject | undefined;
  readonly hostKey: ObjectKey;
}

/** A patched object, and what of it may be written. */
export interface PatchedBody {
  readonly patched: PatchedObject;
  readonly admission: AllowedBody;
}

/** Patches one object. */
export type PatchObject = (rules: Rules, from: PatchedFrom) => PatchedBody;

/** The two ways to patch an object. */
export interface PatchWays {
  readonly patch: PatchObject;
  /** The same in steps: it pauses after each value. */
  patchInPieces(rules: Rules, from: PatchedFrom): Generator<undefined, PatchedBody>;
}

/** Objects per kind whose result is cached: those of all workers, and some more whose own write has not been seen yet. */
export const REMEMBERED_MAX = 64;

interface Remembered extends PatchedBody {
  readonly from: PatchedFrom;
  /** False while the result holds for one host object only. */
  readonly forAnyHost: boolean;
}

/** Cached results under one set of rules, oldest first. */
type Memory = Map<KubeObject, Remembered>;

/** Reports whether an expression on the way to the host can read anything in the host object. */
export const seesHostObject = remembered(({ engine, patches }: Rules): boolean =>
  patches.some(({ expression }) => expression !== undefined && (engine.readsHostObject?.(expression) ?? true)),
);

/**
 * The same functions with a memory for results: each reuses what either has just computed from the same tenant object, rules and name, and
 * from the same host object if an expression can read that object or a failed patch may keep its current value.
 */
export function rememberPatched({ patch, patchInPieces }: PatchWays): PatchWays {
  const memoryOf = remembered((_rules: Rules): Memory => new Map());

  /** Looking a reference up is noted for the way back, and that must not be left out. */
  function mayRemember({ patches }: Rules): boolean {
    return patches.every(({ reference }) => reference === undefined);
  }

  function find(rules: Rules, from: PatchedFrom): Remembered | undefined {
    const known = memoryOf(rules).get(from.tenant);
    return known !== undefined && holdsFor(known, from) ? known : undefined;
  }

  function remember(rules: Rules, { tenant, host, hostKey }: PatchedFrom, made: PatchedBody): void {
    const recent = memoryOf(rules);
    recent.delete(tenant);
    const hasFailed = made.patched.outcomes.some(({ failures = [] }) => failures.length > 0);
    recent.set(tenant, { ...made, from: { tenant, host, hostKey }, forAnyHost: !seesHostObject(rules) && !hasFailed });
    if (recent.size > REMEMBERED_MAX) recent.delete(recent.keys().next().value!);
  }

  return {
    patch(rules, from) {
      if (!mayRemember(rules)) return patch(rules, from);
      const known = find(rules, from);
      if (known !== undefined) return known;
      const made = patch(rules, from);
      remember(rules, from, made);
      return made;
    },
    *patchInPieces(rules, from) {
      if (!mayRemember(rules)) return yield* patchInPieces(rules, from);
      const known = find(rules, from);
      if (known !== undefined) return known;
      const made = yield* patchInPieces(rules, from);
      remember(rules, from, made);
      return made;
    },
  };
}

function holdsFor({ from, forAnyHost }: Remembered, { host, hostKey }: PatchedFrom): boolean {
  return (forAnyHost || host === from.host) && sameKey(hostKey, from.hostKey);
}
