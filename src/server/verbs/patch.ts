import { isRecord } from "../../base/json.ts";
import type { ObjectKey } from "../../object/key.ts";
import type { KubeObject } from "../../object/types.ts";
import { checkIdentity, readBody } from "../body.ts";
import { DEPTH_MAX, isDeeperThan } from "../json-data.ts";
import {
  applyJsonPatch,
  parseJsonPatch,
  PATCH_OPERATIONS_MAX,
  PatchApplyError,
  PatchGrowthError,
  PatchSyntaxError,
} from "../json-patch.ts";
import { mergePatch } from "../merge-patch.ts";
import type { ResourceContext } from "../resource-context.ts";
import { badRequest, notFound, patchRefused, tooLarge } from "../status.ts";
import { change } from "./update.ts";
import type { Updated, UpdateOptions } from "./update.ts";

/** The patch types that this server applies. */
export const PATCH_TYPES = { "application/json-patch+json": "json", "application/merge-patch+json": "merge" } as const;

/** How a patch is written. */
export type PatchKind = (typeof PATCH_TYPES)[keyof typeof PATCH_TYPES];

/** A patch made ready, so that it can be tried on several states. */
type Apply = (document: KubeObject) => unknown;

/** How often a patch is made anew because another writer got in between. Source: the API server's patch handler. */
const PATCH_TRIES = 5;

/**
 * Applies a patch to an object. A patch that sets `metadata.resourceVersion` demands that state.
 *
 * @throws API_BAD_REQUEST when the patch can not be read, API_INVALID when it does not apply or breaks the object,
 *   API_NOT_FOUND, API_CONFLICT.
 */
export async function patch(
  context: ResourceContext,
  key: ObjectKey,
  kind: PatchKind,
  body: unknown,
  options: UpdateOptions = {},
): Promise<Updated> {
  const { definition } = context;
  if (isDeeperThan(body, DEPTH_MAX)) throw badRequest(`error decoding patch: it is nested deeper than ${DEPTH_MAX}`);
  const apply = kind === "json" ? compileJsonPatch(body) : compileMergePatch(body);
  const desired = (current: KubeObject | undefined) => {
    if (current === undefined) throw notFound(definition.type, key.name);
    const object = readBody(definition, apply(current), { ...options, strictError: patchRefused });
    checkIdentity(object, key);
    return object;
  };
  return change(context, key, { desired, triesMax: PATCH_TRIES }, options);
}

function compileMergePatch(body: unknown): Apply {
  if (!isRecord(body)) throw badRequest("error decoding patch: a merge patch of an object is an object");
  return (document) => mergePatch(document, body);
}

function compileJsonPatch(body: unknown): Apply {
  const operations = readOperations(body);
  if (operations.length > PATCH_OPERATIONS_MAX) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${PATCH_OPERATIONS_MAX}, got ${operations.length}`);
  }
  return (document) => {
    try {
      return applyJsonPatch(document, operations);
    } catch (error) {
      if (error instanceof PatchApplyError) throw patchRefused(error.message);
      if (error instanceof PatchGrowthError) throw tooLarge(error.message);
      throw error;
    }
  };
}

function readOperations(body: unknown): ReturnType<typeof parseJsonPatch> {
  try {
    return parseJsonPatch(body);
  } catch (error) {
    if (error instanceof PatchSyntaxError) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}
