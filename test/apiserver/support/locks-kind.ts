/** A kind with a secret: its code is shown once, to the user who sets it, and kept as an opaque mark. */
import { sha256Hex } from "../../../src/base/digest.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { dnsSubdomain } from "../../../src/apiserver/types/objects/names.ts";
import type { PendingAllocation, ResourceDefinition } from "../../../src/apiserver/types/resource-definition.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { mandatory, objectOf, text } from "../../../src/schema/builders.ts";
import { forbiddenRequest } from "../../../src/apiserver/types/status.ts";

/** `example.com/v1` Locks. */
export const LOCKS: ResourceType = { apiVersion: "example.com/v1", kind: "Lock", plural: "locks", namespaced: true };

interface LockSpec {
  readonly door?: string;
  readonly code?: string;
  readonly mark?: string;
}

/** The spec of a lock. */
export function specOf(object: KubeObject): LockSpec {
  return object["spec"] as LockSpec;
}

/** The stored form of a code. */
export function markOf(code: string): string {
  return sha256Hex(code).slice(0, 12);
}

/** The code that a lock is given when its author names none. */
export const MADE_CODE = "made-0000";

/** Outcomes of the allocations of locks. */
export interface Tally {
  committed: number;
  rolledBack: number;
}

function withSpec(object: KubeObject, spec: LockSpec): KubeObject {
  return { ...object, spec };
}

/**
 * Locks. A user in the group `nosy` sees the mark; `mallory` may write none.
 *
 * @param tally Told what becomes of the allocations.
 */
export function createLocks(tally: Tally = { committed: 0, rolledBack: 0 }): ResourceDefinition {
  return {
    type: LOCKS,
    singular: "lock",
    shape: kindShape({ spec: mandatory(objectOf({ door: text, code: text, mark: text })) }),
    columns: [
      { name: "Name", type: "string", description: "Name.", cell: ({ metadata }) => metadata.name ?? "" },
      { name: "Mark", type: "string", description: "Mark.", cell: (object) => specOf(object).mark ?? "" },
    ],
    shown(object, { groups }) {
      if (groups.includes("nosy") || specOf(object).mark === undefined) return object;
      const { mark: _hidden, ...spec } = specOf(object);
      return withSpec(object, spec);
    },
    strategy: {
      nameRule: dnsSubdomain,
      opened(object) {
        const { mark: _hidden, ...spec } = specOf(object);
        return withSpec(object, { ...spec, code: "" });
      },
      allocate: (object, old) => allocated(object, old, tally),
      admit({ user, object }) {
        if (user.name === "mallory") throw forbiddenRequest(LOCKS, object.metadata.name ?? "", "not you");
      },
    },
  };
}

function allocated(object: KubeObject, old: KubeObject | undefined, tally: Tally): PendingAllocation {
  const { code: given = "", ...spec } = specOf(object);
  const code = given === "" && old === undefined ? MADE_CODE : given;
  const mark = code === "" ? specOf(old!).mark! : markOf(code);
  return {
    object: withSpec(object, { ...spec, mark }),
    ...(code !== "" && { answer: (stored) => withSpec(stored, { ...specOf(stored), code }) }),
    commit: () => void (tally.committed += 1),
    rollback: () => void (tally.rolledBack += 1),
  };
}
