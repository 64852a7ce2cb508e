/** Shared types of the modules around patches. */
import type { Code } from "../../base/codes.ts";
import type { CheckedExpression } from "../expression/check.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { Direction } from "./patch-definition.ts";
import type { ResourceType } from "../../kube/object/resource.ts";

/** Content of `context` in an expression, with the spelling of the specification. */
export interface PatchContext {
  readonly vcluster: { readonly name: string; readonly namespace: string; readonly config: unknown };
  /** The host object, or null if there is none (yet). */
  readonly hostObject: unknown;
  /** The tenant object, or null if there is none. */
  readonly virtualObject: unknown;
  /** Concrete path of the value, for example `subsets[0].addresses[3].ip`. */
  readonly path: string;
}

/** The variables of one evaluation. An expression never runs for an absent value, so `valueExists` is always true. */
export interface PatchScope {
  readonly value: unknown;
  readonly valueExists: true;
  readonly context: PatchContext;
}

/** The engine's compiled form of an expression; opaque here. */
export type CompiledExpression = object;

/** A value with its cost. */
export interface PricedValue {
  /** JSON data. */
  readonly value: unknown;
  /** The expression's own steps. */
  readonly fuel: number;
  /** Fuel charged to the object, without the context. Default: its own steps. */
  readonly charged?: number;
  /** Fuel for loading the context, which is charged to an object once per expression. Default 0. */
  readonly contextCharged?: number;
}

/**
 * The expression engine that patches use. The sandbox implements it.
 *
 * `evaluate` throws an EngineError with an `EXPRESSION_…` code, and reports in `details` the cost of the failed run if known: `fuel`,
 * `charged` and `contextCharged`, as for a value.
 */
export interface PatchEngine {
  /** Compiles an expression. `checked` is the result of an earlier check of the text, if there is one. */
  compile(text: string, options?: { readonly checked?: CheckedExpression | undefined }): CompiledExpression;
  evaluate(expression: CompiledExpression, scope: PatchScope): PricedValue;
  /** Reports whether the expression can see any part of `context.hostObject`. Default: every expression can. */
  readsHostObject?(expression: CompiledExpression): boolean;
}

/** Handling of a value whose patch fails on the way to the host: see `ApplyPatchesOptions` in `apply.ts`. */
export type OnError = "keep-last" | "skip-patch" | "block-object";

/**
 * Outcome of one patch on one object.
 *
 * `applied`: at least one value changed. `noChange`: values matched and stayed the same. `noMatch`: the path found
 * nothing. `noExpression`: the patch has nothing for this direction. `denied`: the result touched a protected field, which was
 * restored (other values may have changed). `error`: at least one value failed (others may have changed).
 */
export type OutcomeKind = "applied" | "noChange" | "noMatch" | "noExpression" | "error" | "denied";

/** One value that a patch could not rewrite, or not as intended. */
export interface PatchFailure {
  /** Concrete path. */
  readonly place: string;
  readonly code: Code;
  readonly message: string;
}

/** The record of one patch on one object. */
export interface Outcome {
  /** Index of the patch in its list, starting at 0. */
  readonly patch: number;
  /** The patch's path in canonical form. */
  readonly path: string;
  readonly outcome: OutcomeKind;
  /** Number of values that the path found; for references, without empty ones. */
  readonly matches: number;
  /** Number of changed values. A value that failed is not counted. */
  readonly changed: number;
  /** Fuel that the evaluations used. */
  readonly fuel: number;
  /** Code of the first failure; `message` and `place` describe the same failure. */
  readonly code?: Code;
  readonly message?: string;
  readonly place?: string;
  /** All failures: first errors, then denials, each in document order. */
  readonly failures?: readonly PatchFailure[];
}

/** An object that a patched value names. */
export interface FoundReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly tenant: ObjectKey;
  readonly host: ObjectKey;
  /** Concrete path of the value that names it. */
  readonly place: string;
}

/** A kind as references name it. */
export type KindName = Pick<ResourceType, "apiVersion" | "kind">;

/** Names of referenced objects on the other side. */
export interface NameRules {
  /** Reports whether objects of this kind can be referenced. */
  knows(kind: KindName): boolean;
  /** The host key of a tenant object; undefined if its namespace is not mapped to the host. */
  toHost(kind: KindName, tenant: ObjectKey): ObjectKey | undefined;
  /** The tenant key of a host key; undefined if none is recorded. The host key is never parsed. */
  toTenant(kind: KindName, host: ObjectKey): ObjectKey | undefined;
  /** A label selector with the other side's keys. */
  labelSelector(selector: unknown, direction: Direction): unknown;
}
