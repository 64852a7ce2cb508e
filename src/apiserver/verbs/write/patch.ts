import { isDeeperThan, isRecord } from "../../../base/json.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { checkObjectName, readBody } from "../body.ts";
import { JSON_DEPTH_MAX } from "../../types/objects/json-data.ts";
import {
  applyJsonPatch,
  parseJsonPatch,
  PATCH_OPERATIONS_MAX,
  PatchApplyError,
  PatchGrowthError,
  PatchSyntaxError,
} from "../../patches/json-patch.ts";
import { mergePatch } from "../../patches/merge-patch.ts";
import { checkPatchParameters } from "../../apply/parameters.ts";
import { SYSTEM_USER, type ResourceContext } from "../resource-context.ts";
import type { ResourceDefinition } from "../../types/resource-definition.ts";
import { strategicMerge } from "../../patches/strategic-merge.ts";
import { badRequest, notFound, patchRefused, tooLarge } from "../../types/status.ts";
import { compileApply } from "./apply.ts";
import { change, requestedManagers, type Updated, type UpdateOptions } from "./update.ts";

/** The patch types that this server applies. */
export const PATCH_TYPES = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
} as const;

/** The type of a patch. */
export type PatchKind = (typeof PATCH_TYPES)[keyof typeof PATCH_TYPES];

/** Applies a patch to a state of the object. */
type Apply = (document: KubeObject) => unknown;

/** Maximum number of attempts when other writes intervene. Source: the API server's patch handler. */
export const PATCH_TRIES = 5;

/** Options of a patch. */
export interface PatchRequestOptions extends UpdateOptions {
  /** Take fields from their owners instead of reporting conflicts; for server-side apply only. */
  readonly force?: boolean;
}

/**
 * Applies a patch to an object. If the patch sets `metadata.resourceVersion`, the object must be at that version. A server-side apply
 * creates the object if it does not exist.
 *
 * @throws API_BAD_REQUEST when the patch cannot be read; API_INVALID when it does not apply or its result is not valid; API_NOT_FOUND;
 *   API_CONFLICT.
 */
export async function patch(
  context: ResourceContext,
  key: ObjectKey,
  kind: PatchKind,
  body: unknown,
  options: PatchRequestOptions = {},
): Promise<Updated> {
  const { definition } = context;
  checkPatchParameters({ apply: kind === "apply", fieldManager: options.fieldManager, force: options.force });
  if (kind === "apply") {
    demandShallow(body);
    return change(context, key, { desired: compileApply(context, key, body, options), creates: true, triesMax: PATCH_TRIES }, options);
  }
  const apply = compilePatch(kind, definition, body);
  const desired = (current: KubeObject | undefined) => {
    if (current === undefined) throw notFound(definition.type, key.name);
    const { opened } = definition.strategy;
    const patched = apply(opened?.(current, options.user ?? SYSTEM_USER) ?? current);
    const object = readBody(definition, patched, { ...options, strictError: patchRefused });
    checkObjectName(object, key);
    return { object, managers: { requested: requestedManagers(patched) } };
  };
  return change(context, key, { desired, triesMax: PATCH_TRIES }, options);
}

/**
 * Compiles a patch, so that it can be applied to several states of an object.
 *
 * @throws API_BAD_REQUEST when the patch cannot be read; the returned function throws API_INVALID if the patch does not apply.
 */
export function compilePatch(kind: Exclude<PatchKind, "apply">, definition: Pick<ResourceDefinition, "shape">, body: unknown): Apply {
  demandShallow(body);
  const apply = compile(kind, definition, body);
  return (document) => refusing(() => apply(document));
}

function compile(kind: Exclude<PatchKind, "apply">, { shape }: Pick<ResourceDefinition, "shape">, body: unknown): Apply {
  if (kind === "json") return compileJsonPatch(body);
  if (!isRecord(body)) throw badRequest("error decoding patch: a merge patch of an object must be an object");
  return kind === "merge" ? (document) => mergePatch(document, body) : (document) => strategicMerge(shape, document, body);
}

/** Checks the depth of a patch. @throws API_BAD_REQUEST when it is nested deeper than any document may be. */
export function demandShallow(body: unknown): void {
  if (isDeeperThan(body, JSON_DEPTH_MAX)) throw badRequest(`error decoding patch: it is nested deeper than ${JSON_DEPTH_MAX} levels`);
}

/** Converts the failures of a patch into responses. */
function refusing<T>(apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (error instanceof PatchSyntaxError) throw badRequest(`error decoding patch: ${error.message}`);
    if (error instanceof PatchApplyError) throw patchRefused(error.message);
    if (error instanceof PatchGrowthError) throw tooLarge(error.message);
    throw error;
  }
}

function compileJsonPatch(body: unknown): Apply {
  const operations = refusing(() => parseJsonPatch(body));
  if (operations.length > PATCH_OPERATIONS_MAX) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${PATCH_OPERATIONS_MAX}, got ${operations.length}`);
  }
  return (document) => applyJsonPatch(document, operations);
}
