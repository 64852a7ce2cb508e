import type { KubeObject } from "../../kube/object/types.ts";

/** Index of dependents and of owners that are being deleted, kept up to date with the store. */
export interface Ownership {
  get(uid: string): KubeObject | undefined;
  /** The objects whose references name this one as a permitted owner: a cluster-scoped one, or one in their namespace. */
  dependentsOf(owner: KubeObject): readonly KubeObject[];
  /** The objects that name this uid as an owner, permitted or not. */
  claimantsOf(uid: string): readonly KubeObject[];
  put(object: KubeObject): void;
  remove(object: KubeObject): void;
}

/** Creates an empty {@link Ownership}. The cost of a change is proportional to the number of the object's owners. */
export function createOwnership(): Ownership {
  const objects = new Map<string, KubeObject>();
  const claimants = new Map<string, Set<string>>();
  const forget = (uid: string) => {
    const before = objects.get(uid);
    if (before === undefined) return;
    for (const owner of ownersOf(before)) {
      const group = claimants.get(owner);
      group?.delete(uid);
      if (group?.size === 0) claimants.delete(owner);
    }
    objects.delete(uid);
  };
  const claimantsOf = (uid: string) => [...(claimants.get(uid) ?? [])].map((claimant) => objects.get(claimant)!);
  return {
    get: (uid) => objects.get(uid),
    claimantsOf,
    dependentsOf: (owner) => claimantsOf(owner.metadata.uid!).filter((object) => mayOwn(owner, object)),
    put(object) {
      const uid = object.metadata.uid!;
      forget(uid);
      objects.set(uid, object);
      for (const owner of ownersOf(object)) claimants.set(owner, (claimants.get(owner) ?? new Set()).add(uid));
    },
    remove: (object) => forget(object.metadata.uid!),
  };
}

/** The UIDs in the owner references of an object. */
export function ownersOf(object: KubeObject | undefined): readonly string[] {
  return object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? NO_OWNERS;
}

const NO_OWNERS: readonly string[] = [];

function mayOwn({ metadata: { namespace } }: KubeObject, dependent: KubeObject): boolean {
  return namespace === undefined || namespace === dependent.metadata.namespace;
}
