import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { applyInPieces } from "../../apply/apply.ts";
import { applyConflict } from "../../apply/conflict.ts";
import { managerName } from "../../apply/parameters.ts";
import { checkObjectName, readBody } from "../body.ts";
import { withMetadata } from "../../types/objects/metadata.ts";
import { SYSTEM_USER, type ResourceContext } from "../resource-context.ts";
import { seal } from "../stages.ts";
import { merged, type GuaranteedUpdate, type UpdateOptions } from "./update.ts";

/** Options of a server-side apply. */
export interface ApplyVerbOptions extends UpdateOptions {
  readonly force?: boolean;
}

/**
 * Compiles a server-side apply into a function that computes the object to store from the current object.
 *
 * The returned function pauses between steps if the body of the request is large. It throws API_BAD_REQUEST when the body is not a
 * configuration of this kind, and API_CONFLICT if other managers own changed fields.
 */
export function compileApply(
  context: ResourceContext,
  key: ObjectKey,
  body: unknown,
  options: ApplyVerbOptions,
): GuaranteedUpdate["desired"] {
  const { definition, clock } = context;
  const { fieldManager, force, subresource } = options;
  return async (live) => {
    const complete = live === undefined ? undefined : (object: KubeObject) => completed(context, object, live, options);
    const manager = managerName({ fieldManager });
    const { opened } = definition.strategy;
    const work = applyInPieces({
      definition,
      live,
      ...(opened && live && { opened: opened(live, options.user ?? SYSTEM_USER) }),
      config: body,
      manager,
      force,
      subresource,
      now: clock.now(),
      ...(complete && { complete }),
    });
    let step = work.next();
    for (; step.done !== true; step = work.next()) await options.pause?.();
    const applied = step.value;
    await options.pause?.();
    // The configuration was merged without decoding. Reading it like any other body reports its errors.
    checkObjectName(readBody(definition, body, options), key);
    if ("conflicts" in applied) throw applyConflict(applied.conflicts);
    const { managedFields } = applied.object.metadata;
    await options.pause?.();
    const object = readBody(definition, withMetadata(applied.object, { managedFields: undefined }), { fieldValidation: "Ignore" });
    return { object, managers: { settled: managedFields } };
  };
}

/** Completes an object as the server would, without allocations and validation. */
function completed({ definition }: ResourceContext, object: KubeObject, live: KubeObject, options: UpdateOptions): KubeObject {
  const { prepare, canonicalize } = definition.strategy;
  const desired = merged(definition, readBody(definition, object, { fieldValidation: "Ignore" }), live, options);
  const prepared = prepare?.(desired, live, options.user ?? SYSTEM_USER) ?? desired;
  return seal(definition, canonicalize?.(prepared) ?? prepared);
}
