import { keyOf } from "../../../kube/object/key.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers } from "../../translate/identity.ts";
import type { ClusterCaches } from "../cluster/access.ts";
import { syncId } from "../state/sync-id.ts";

/** Tracks whether all objects that may refer to others have been planned since the start: until then, a copy may be in use. */
export interface FirstPlans {
  /** Records that the references of an object are known. */
  planned(id: string): void;
  readonly areOver: boolean;
}

/** Sources of the objects that may refer to others. */
export interface FirstPlansOptions {
  readonly tenant: ClusterCaches;
  readonly host: ClusterCaches;
  /** The rules of all synced kinds. */
  readonly synced: readonly Rules[];
  /** Called when the last of the objects has been planned. */
  over(): void;
}

/** Starts with the objects and copies that the caches contain when it is used for the first time. */
export function createFirstPlans({ tenant, host, synced, over }: FirstPlansOptions): FirstPlans {
  let left: Set<string> | undefined;

  function collect(): Set<string> {
    const ids = synced.filter(mayRefer).flatMap((rules) => {
      const { resource } = rules.kind;
      const copied = host.source(resource).list();
      const keys = [...tenant.source(resource).list().map(keyOf), ...copied.flatMap((copy) => ourMarkers(rules, copy, resource) ?? [])];
      return keys.map((key) => syncId(resource.plural, key));
    });
    return new Set(ids);
  }

  return {
    planned(id) {
      left ??= collect();
      if (left.delete(id) && left.size === 0) over();
    },
    get areOver() {
      return (left ??= collect()).size === 0;
    },
  };
}

/** Reports whether objects of a kind may refer to others. */
export function mayRefer({ patches }: Rules): boolean {
  return patches.some(({ reference }) => reference !== undefined);
}
