/**
 * Computes the result of deleting an object: its removal, or a state in which it is still kept. Source of the rules: `BeforeDelete` and the
 * registry's handling of finalizers in the API machinery.
 *
 * @module
 */
import type { KubeObject, ObjectMeta } from "../../../kube/object/types.ts";
import { timestamp, withMetadata } from "../../types/objects/metadata.ts";
import type { ResourceDefinition } from "../../types/resource-definition.ts";
import { seal } from "../stages.ts";

/** Policies for the dependents of a deleted object. */
export const PROPAGATION_POLICIES = ["Background", "Foreground", "Orphan"] as const;
/** One of {@link PROPAGATION_POLICIES}. */
export type PropagationPolicy = (typeof PROPAGATION_POLICIES)[number];

/** Keeps an object until its dependents no longer name it as their owner. */
export const ORPHAN_FINALIZER = "orphan";
/** Keeps an object until its blocking dependents are removed. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";

/** Options for the deletion of an object and its dependents. */
export interface DeletionTerms {
  /** Default: the policy of a finalizer of the object, else "Background". */
  readonly propagationPolicy?: PropagationPolicy;
  /** The deprecated form of "Orphan" (true) and "Background" (false). */
  readonly orphanDependents?: boolean;
  /** Grace period in seconds, for kinds that have one; negative means 1. Default: that of the kind. */
  readonly gracePeriodSeconds?: number;
}

/** Maximum grace period in seconds, about 68 years. It keeps timestamps in the valid range. */
const GRACE_SECONDS_MAX = 2 ** 31 - 1;

/** Returns the state of the object to store, or undefined when nothing prevents its removal. */
export function deletionStep(
  definition: ResourceDefinition,
  object: KubeObject,
  terms: DeletionTerms,
  now: number,
): KubeObject | undefined {
  const { strategy } = definition;
  if (isPending(definition, object, terms)) return object;
  const finalizers = finalizersAfter(object.metadata.finalizers ?? [], terms);
  const grace = graceOf(definition, object, terms);
  const kept = finalizers.length > 0 || (strategy.finalizers?.(object).length ?? 0) > 0;
  if (!kept && grace === 0) return undefined;
  const { deletionTimestamp, generation } = object.metadata;
  const first = typeof deletionTimestamp !== "string";
  const marked = withMetadata(object, {
    finalizers: finalizers.length > 0 ? finalizers : undefined,
    deletionTimestamp: timestamp((first ? now : beginOf(object.metadata)) + grace * 1_000),
    deletionGracePeriodSeconds: grace,
    generation: first && generation !== undefined ? generation + 1 : generation,
  });
  return seal(definition, strategy.terminate?.(marked) ?? marked);
}

/** Reports whether an object is already in a grace period that the deletion does not shorten. */
function isPending({ strategy }: ResourceDefinition, { metadata }: KubeObject, { gracePeriodSeconds }: DeletionTerms): boolean {
  if (strategy.gracePeriod === undefined || typeof metadata.deletionTimestamp !== "string") return false;
  return gracePeriodSeconds === undefined || bounded(gracePeriodSeconds) >= (metadata.deletionGracePeriodSeconds ?? 0);
}

function graceOf({ strategy }: ResourceDefinition, object: KubeObject, { gracePeriodSeconds }: DeletionTerms): number {
  return bounded(strategy.gracePeriod?.(object, gracePeriodSeconds) ?? 0);
}

function bounded(seconds: number): number {
  return seconds < 0 ? 1 : Math.min(seconds, GRACE_SECONDS_MAX);
}

function beginOf({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ObjectMeta): number {
  return Date.parse(deletionTimestamp!) - deletionGracePeriodSeconds * 1_000;
}

function finalizersAfter(finalizers: readonly string[], terms: DeletionTerms): readonly string[] {
  const others = finalizers.filter((finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_FINALIZER);
  const own = { Orphan: [ORPHAN_FINALIZER], Foreground: [FOREGROUND_FINALIZER], Background: [] }[policyOf(finalizers, terms)];
  return [...others, ...own];
}

function policyOf(finalizers: readonly string[], { orphanDependents, propagationPolicy }: DeletionTerms): PropagationPolicy {
  if (orphanDependents !== undefined) return orphanDependents ? "Orphan" : "Background";
  return propagationPolicy ?? policyOfFinalizers(finalizers);
}

/** The propagation policy that the finalizers of an object imply. */
export function policyOfFinalizers(finalizers: readonly string[]): PropagationPolicy {
  const found = finalizers.find((finalizer) => finalizer === ORPHAN_FINALIZER || finalizer === FOREGROUND_FINALIZER);
  if (found === undefined) return "Background";
  return found === ORPHAN_FINALIZER ? "Orphan" : "Foreground";
}
