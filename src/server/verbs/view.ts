import type { ObjectKey } from "../../object/key.ts";
import type { KubeObject } from "../../object/types.ts";
import { checkIdentity, readBody } from "../http/body.ts";
import { withMetadata } from "../objects/metadata.ts";
import type { ResourceContext } from "../resource-context.ts";
import type { View } from "../resource-definition.ts";
import { seal } from "../objects/stages.ts";
import { invalidObject, noSuchPath, notFound, patchRefused, unsupportedMediaType } from "../status.ts";
import { get } from "./get.ts";
import { compilePatch, PATCH_TRIES, PATCH_TYPES } from "./patch.ts";
import type { PatchKind } from "./patch.ts";
import { change } from "./update.ts";
import type { UpdateOptions } from "./update.ts";

/** Which view of which object, and what is to become of it. */
export interface ViewRequest {
  readonly key: ObjectKey;
  /** One of the kind's `views`. */
  readonly part: string;
  /** What is written; it is only read when left out. */
  readonly write?: { readonly kind: "replace" | PatchKind; readonly body: unknown };
}

/**
 * Reads a view of an object, or writes it.
 *
 * @throws API_NOT_FOUND when there is no such object or view, API_BAD_REQUEST, API_CONFLICT, API_INVALID, or whatever admission answers;
 *   API_ERROR (415) for applied configurations, which say nothing about who owns the fields of the object behind the view.
 */
export async function view(context: ResourceContext, { key, part, write }: ViewRequest, options: UpdateOptions = {}): Promise<KubeObject> {
  const { views = {} } = context.definition;
  const found = Object.hasOwn(views, part) ? views[part] : undefined;
  if (found === undefined) throw noSuchPath();
  if (write === undefined) return seal(found.definition, found.show(await get(context, key)));
  const desired = desiredBy(found, key, { write, options });
  const triesMax = write.kind === "replace" ? Infinity : PATCH_TRIES;
  const { object } = await change(
    context,
    key,
    {
      view: true,
      triesMax,
      desired(current) {
        if (current === undefined) throw notFound(context.definition.type, key.name);
        return { object: written(found, desired(found.show(current)), current), managers: { requested: undefined } };
      },
    },
    { ...options, subresource: part },
  );
  return seal(found.definition, found.show(object));
}

interface Writing {
  readonly write: NonNullable<ViewRequest["write"]>;
  readonly options: UpdateOptions;
}

/** What the author wants to see, given what is shown now. */
function desiredBy({ definition }: View, key: ObjectKey, { write: { kind, body }, options }: Writing): (shown: KubeObject) => KubeObject {
  if (kind === "apply") throw unsupportedMediaType(Object.keys(PATCH_TYPES).filter((type) => !type.includes("apply")));
  if (kind === "replace") {
    const object = readBody(definition, body, options);
    checkIdentity(object, key);
    return () => object;
  }
  const apply = compilePatch(kind, definition, body);
  return (shown) => {
    const object = readBody(definition, apply(shown), { ...options, strictError: patchRefused });
    checkIdentity(object, key);
    return object;
  };
}

/** @throws API_INVALID when the view can not be so. */
function written({ definition, apply }: View, wanted: KubeObject, stored: KubeObject): KubeObject {
  const errors = definition.strategy.validate?.(wanted, undefined) ?? [];
  if (errors.length > 0) throw invalidObject(definition.type, stored.metadata.name ?? "", errors);
  const { uid, resourceVersion } = wanted.metadata;
  // What the author says that he has seen is demanded of the object itself.
  return withMetadata(apply(wanted, stored), { uid, resourceVersion });
}
