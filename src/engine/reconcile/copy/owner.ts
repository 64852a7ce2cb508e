import type { KubeObject, OwnerReference } from "../../../kube/object/types.ts";

/**
 * The owners of a copy with `owner` among them: an object of its kind and name was replaced by it, since an object without an owner is
 * collected. Undefined if it is among them already, and if there is none.
 *
 * @example
 * missingOwner(copy, { apiVersion: "v1", kind: "Service", name: "blue", uid: "new" });
 */
export function missingOwner({ metadata }: KubeObject, owner: OwnerReference | undefined): readonly OwnerReference[] | undefined {
  const { ownerReferences = [] } = metadata;
  if (owner === undefined || ownerReferences.some(({ uid }) => uid === owner.uid)) return undefined;
  const isFormer = ({ apiVersion, kind, name }: OwnerReference) =>
    apiVersion === owner.apiVersion && kind === owner.kind && name === owner.name;
  return [...ownerReferences.filter((reference) => !isFormer(reference)), owner];
}

/** The copy with that owner; the same reference when it has it already. */
export function ownedBy<T extends KubeObject>(copy: T, owner: OwnerReference | undefined): T {
  const ownerReferences = missingOwner(copy, owner);
  return ownerReferences === undefined ? copy : { ...copy, metadata: { ...copy.metadata, ownerReferences } };
}
