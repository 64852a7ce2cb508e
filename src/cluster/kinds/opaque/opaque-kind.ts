import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { dnsSubdomain } from "../../../apiserver/types/objects/names.ts";
import { kindShape } from "../../../kube/object/kind-shape.ts";
import { always, opaque } from "../../../schema/builders.ts";
import type { MergeTable, ObjectSchema } from "../../../schema/schema.ts";
import { replaceStatus, type ResourceDefinition, type Strategy } from "../../../apiserver/types/resource-definition.ts";

import { MERGE_KEYS } from "./merge-keys.ts";

/** A kind of which the server knows only the name, the metadata and how lists are merged. */
export interface OpaqueKind extends Omit<ResourceDefinition, "shape" | "strategy"> {
  /** Description of the kind, in one or two sentences. */
  readonly description: string;
  /** Description of its spec, in a sentence. */
  readonly spec: string;
  /** Description of its status, in a sentence. Default: the kind has no status. */
  readonly status?: string;
  /** How lists of its spec are merged, where this differs from {@link MERGE_KEYS}. */
  readonly lists?: MergeTable;
  /** Fields of its spec that are read from the binary form. Default: objects in that form are refused. */
  readonly binary?: ObjectSchema;
  /** Other parts of its strategy. By default, the names of its objects are DNS subdomains. */
  readonly strategy?: Partial<Strategy>;
}

/**
 * Creates a kind whose spec and status are stored as received: no field gets a default, and none is validated.
 *
 * @example
 * opaqueKind({ type: NODES, singular: "node", description: "A machine.", spec: "Desired state.", status: "Observed state." });
 */
export function opaqueKind({ description, spec, status, lists, binary, strategy, ...definition }: OpaqueKind): ResourceDefinition {
  const hasStatus = status !== undefined;
  const number = (of: number) => binary !== undefined && { number: of };
  const own = {
    spec: { ...always(opaque({ ...MERGE_KEYS, ...lists }, binary)), ...number(2), description: spec },
    ...(hasStatus && { status: { ...always(opaque(MERGE_KEYS)), ...number(3), description: status } }),
  };
  return {
    ...definition,
    shape: kindShape(own, description),
    strategy: { nameRule: dnsSubdomain, ...(hasStatus && { subresources: { status: replaceStatus } }), ...strategy },
  };
}

/** Clears the status of a new object, for kinds where clients do not set the status on creation. */
export function withoutStatus(object: KubeObject, old: KubeObject | undefined): KubeObject {
  return old === undefined ? { ...object, status: {} } : object;
}

/** Reports whether the spec has changed, for kinds whose generation counts changes of the spec. */
export function isOtherSpec(object: KubeObject, old: KubeObject): boolean {
  return !jsonEqual(object["spec"], old["spec"]);
}
