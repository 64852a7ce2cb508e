import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { applyPatch } from "../apply/apply.ts";
import { applyConflict } from "../apply/conflict.ts";
import { checkPatchParameters, managerName } from "../apply/parameters.ts";
import { managersBehindView, managersOfView } from "../apply/shared-managers.ts";
import { checkObjectName, readBody } from "./body.ts";
import { withMetadata } from "../types/objects/metadata.ts";
import type { ResourceContext } from "./resource-context.ts";
import type { View } from "../types/resource-definition.ts";
import { seal } from "./stages.ts";
import type { ManagersFrom } from "./tracking.ts";
import { invalidObject, noSuchPath, notFound, patchRefused } from "../types/status.ts";
import { get } from "./read/get.ts";
import { compilePatch, demandShallow, PATCH_TRIES, type PatchKind, type PatchRequestOptions } from "./write/patch.ts";
import { change } from "./write/update.ts";

/** The target of a request to a view, and the write. */
export interface SubresourceRequest {
  readonly key: ObjectKey;
  /** The name of one of the kind's `views`. */
  readonly part: string;
  /** The write. Default: the view is only read. */
  readonly write?: { readonly kind: "replace" | PatchKind; readonly body: unknown };
}

/**
 * Reads or writes a view of an object. A manager that applies a configuration to the view owns the corresponding fields of the object.
 *
 * @throws API_NOT_FOUND when there is no such object or view, API_BAD_REQUEST, API_CONFLICT, API_INVALID, or an admission error.
 */
export async function writeSubresource(
  context: ResourceContext,
  { key, part, write }: SubresourceRequest,
  options: PatchRequestOptions = {},
): Promise<KubeObject> {
  const { views = {} } = context.definition;
  const found = Object.hasOwn(views, part) ? views[part] : undefined;
  if (found === undefined) throw noSuchPath();
  if (write === undefined) return seal(found.definition, found.show(await get(context, key, options)));
  if (write.kind !== "replace")
    checkPatchParameters({ apply: write.kind === "apply", fieldManager: options.fieldManager, force: options.force });
  const desired = desiredBy(context, found, { key, write, options: { ...options, subresource: part } });
  const triesMax = write.kind === "replace" ? Infinity : PATCH_TRIES;
  const { object } = await change(
    context,
    key,
    {
      view: true,
      triesMax,
      desired(current) {
        if (current === undefined) throw notFound(context.definition.type, key.name);
        const { wanted, managers } = desired(current);
        return { object: written(found, wanted, current), managers };
      },
    },
    { ...options, subresource: part },
  );
  return seal(found.definition, found.show(object));
}

interface Writing {
  readonly key: ObjectKey;
  readonly write: NonNullable<SubresourceRequest["write"]>;
  readonly options: PatchRequestOptions;
}

/** The requested state of the view, and the source of the managers of the object behind it. */
interface Wanted {
  readonly wanted: KubeObject;
  readonly managers: ManagersFrom;
}

/** Returns the function that computes the requested state from the stored object. */
function desiredBy(context: ResourceContext, found: View, { key, write, options }: Writing): (current: KubeObject) => Wanted {
  const { definition, show } = found;
  const { kind, body } = write;
  if (kind === "apply") {
    demandShallow(body);
    return (current) => applied(context, found, { key, body, current, options });
  }
  const managers = { requested: undefined };
  if (kind === "replace") {
    const wanted = readBody(definition, body, options);
    checkObjectName(wanted, key);
    return () => ({ wanted, managers });
  }
  const apply = compilePatch(kind, definition, body);
  return (current) => {
    const wanted = readBody(definition, apply(show(current)), { ...options, strictError: patchRefused });
    checkObjectName(wanted, key);
    return { wanted, managers };
  };
}

interface Applying extends Omit<Writing, "write"> {
  readonly body: unknown;
  readonly current: KubeObject;
}

/**
 * Applies a configuration.
 *
 * @throws API_BAD_REQUEST if the body is not one of the view's kind; API_CONFLICT if others own changed fields.
 */
function applied({ clock, definition: behind }: ResourceContext, found: View, { key, body, current, options }: Applying): Wanted {
  const { definition, shared, show } = found;
  const fields = { shared, viewVersion: definition.type.apiVersion, objectVersion: behind.type.apiVersion };
  const { managedFields: owners } = current.metadata;
  const result = applyPatch({
    definition,
    live: withMetadata(show(current), { managedFields: managersOfView(owners, fields) }),
    config: body,
    manager: managerName({ fieldManager: options.fieldManager }),
    force: options.force,
    subresource: options.subresource,
    now: clock.now(),
  });
  checkObjectName(readBody(definition, body, options), key);
  if ("conflicts" in result) throw applyConflict(result.conflicts);
  const settled = managersBehindView(owners, result.object.metadata.managedFields, fields);
  return { wanted: readBody(definition, result.object, { fieldValidation: "Ignore" }), managers: { settled } };
}

/** Applies the write to the object. @throws API_INVALID when the requested state of the view is not valid. */
function written({ definition, apply }: View, wanted: KubeObject, stored: KubeObject): KubeObject {
  const errors = definition.strategy.validate?.(wanted, undefined) ?? [];
  if (errors.length > 0) throw invalidObject(definition.type, stored.metadata.name ?? "", errors);
  const { uid, resourceVersion } = wanted.metadata;
  // The version that the author has seen becomes a precondition for the object itself.
  return withMetadata(apply(wanted, stored), { uid, resourceVersion });
}
