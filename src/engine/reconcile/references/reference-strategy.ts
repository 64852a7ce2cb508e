/**
 * The reconcile of a referenced object. Few host names are ambiguous: for these the tenant cluster is asked first which of the namespaces
 * exist. A source whose cache may be stale is read live, and so is every object that may prevent a delete.
 *
 * No message of an API server about such an object is passed on, not even in an error, because the message might quote a Secret.
 *
 * @module
 */
import { EngineError, isEngineError } from "../../../base/errors.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { NAMESPACES, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { GONE_RETRY_MS, operationOf, UNSEEN_RETRY_MS, type LiveRead, type ReconcileStrategy } from "../machine.ts";
import { sourceVersion, type Note, type Operation } from "../plan-types.ts";
import { planReferenceCopy, sourceSide, targetSide, type ReferencePlan } from "./reference-copy.ts";
import type { ReferenceInput, ReferenceRules } from "./reference-rules.ts";

/** A tenant object that refers, or did refer, to the planned one. */
export interface ReferenceUser {
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  /** As the cache has it; undefined if it is deleted. */
  readonly object: KubeObject | undefined;
}

/** Tenant objects that refer, or did refer, to a referenced object. */
export interface ReferenceUsers {
  /** Those that refer to it, on which notes are reported. */
  readonly users: readonly KubeObject[];
  /** The one that refers to it, or the one that did so last, if known. */
  readonly user: ReferenceUser | undefined;
}

/** The strategy for one referenced object. */
export function referenceStrategy(
  rules: ReferenceRules,
  { users, user }: ReferenceUsers,
): ReconcileStrategy<ReferenceInput, ReferencePlan> {
  return {
    *plan(input) {
      return planReferenceCopy(rules, input);
    },
    planRead({ planned, input }) {
      const [name] = planned.restsOnNamespaces ?? [];
      if (name !== undefined) return { name: "namespace", side: "tenant", key: { namespace: "", name }, resource: NAMESPACES };
      // The cache may be older than the copy: it lags, or the cluster was restored to an earlier state. Only the cluster knows.
      if (planned.state === "stale") return { name: "source", ...sourceOf(input) };
      return planned.restsOnCopy === true ? { name: "copy", ...copyOf(input) } : undefined;
    },
    learn({ asked, planned, input }, response) {
      if (asked.at(-1) === "namespace") {
        if (response.type === "absent") return { ...input, namesakes: planned.restsOnNamespaces!.slice(1) };
        // Without permission to read namespaces, each of them may exist.
        const isKnown = response.type !== "failed" || isEngineError(response.error, "API_FORBIDDEN");
        return isKnown ? { ...input, namesakes: [], namesakeExists: true } : undefined;
      }
      if (asked.at(-1) === "copy") {
        // Without permission to read the copy, it is deleted as it was last seen.
        if (response.type === "failed")
          return isEngineError(response.error, "API_FORBIDDEN") ? { ...input, copyConfirmed: false } : undefined;
        const found = response.type === "object" ? response.object : undefined;
        return { ...input, target: found, known: found, copyConfirmed: true };
      }
      // As for other objects, a deleted copy is recreated while the cluster of its source cannot be reached.
      if (response.type === "failed")
        return planned.cacheSuffices === true && isEngineError(response.error, "API_UNAVAILABLE")
          ? { ...input, sourceConfirmed: true }
          : undefined;
      return { ...input, source: response.type === "object" ? response.object : undefined, sourceConfirmed: true };
    },
    check({ planned, input, checked }, operation) {
      if (operation.action !== "delete") return undefined;
      const isAbsent = operation.confirm === "absent";
      if (isAbsent && checked === 0) return { read: sourceOf(input), isAsPlanned: (found) => found === undefined };
      if (checked > (isAbsent ? 1 : 0) || !(isAbsent || planned.confirmUnused === true) || user === undefined) return undefined;
      // The object that refers to it, or did so last, must not have changed unnoticed: if it is missing, too, the delete brake may engage.
      const { resource, key, object } = user;
      return { read: { side: "tenant", key, resource }, isAsPlanned: (found) => sourceVersion(found) === sourceVersion(object) };
    },
    fights: {
      sourceOf: ({ source }) => source,
      recreates: isRecreation,
      restorationStopped: "Another writer keeps editing the copy; the syncer leaves it alone until its source changes",
      recreationSlowed: "The copy keeps being deleted; it is recreated only rarely until its source changes",
    },
    refusal: (state, note) =>
      note === undefined ? {} : { note: refusal(state.input, operationOf(state), note), requeueAfterMs: UNSEEN_RETRY_MS },
    readers: ({ ending }) => (ending?.result === "settled" ? users : []),
    againInMs: ({ start, input, planned }) =>
      start.input.source !== undefined && input.source === undefined ? GONE_RETRY_MS : planned.againInMs,
    failure: withoutWords,
  };
}

/** Reports whether an operation brings back a copy that another client has deleted. */
export function isRecreation({ known }: Pick<ReferenceInput, "known">, { action }: Operation): boolean {
  return action === "create" && known !== undefined;
}

function sourceOf(input: ReferenceInput): LiveRead {
  const side = sourceSide(input);
  return { side, key: side === "tenant" ? input.key : input.hostKey };
}

function copyOf(input: ReferenceInput): LiveRead {
  const side = targetSide(input);
  return { side, key: side === "tenant" ? input.key : input.hostKey };
}

/** Returns the note about a refused write. It contains the code, and nothing of the API server's message. */
function refusal({ kind, key }: ReferenceInput, { side }: Operation, note: Note): Note {
  if (note.code !== "HOST_NAMESPACE_MISSING")
    return { code: note.code, message: `The ${side}'s API server refuses the copy of a ${kind.resource.kind} as invalid` };
  if (side === "host") return note;
  return { code: "REFERENCE_MISSING", message: `Namespace "${key.namespace}" does not exist in the tenant cluster` };
}

/**
 * Returns the same failure without the API server's message, which may quote the object.
 *
 * @example
 * withoutWords(new EngineError("API_FORBIDDEN", "… data: aHVudGVyMg==")).message; // "Cannot copy a referenced object: API_FORBIDDEN"
 */
export function withoutWords(error: unknown): unknown {
  if (!isEngineError(error)) return new EngineError("INTERNAL", "Cannot copy a referenced object: an unexpected failure");
  const { retryAfterSeconds } = error.details;
  const details = typeof retryAfterSeconds === "number" ? { retryAfterSeconds } : {};
  return new EngineError(error.code, `Cannot copy a referenced object: ${error.code}`, { details });
}
