import { formatKey, parseKey, sameKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers } from "../../translate/identity.ts";
import { syncId } from "./sync-id.ts";

/** Tracks copies in places to which their tenant object no longer translates, because its namespace was remapped. */
export interface Orphans {
  /** Records the present object at a host key. */
  look(rules: Rules, hostKey: ObjectKey, object: KubeObject | undefined): void;
  /** Host keys of the orphaned copies of one tenant object. */
  of(rules: Rules, key: ObjectKey): readonly ObjectKey[];
}

const NONE: readonly ObjectKey[] = [];

/** Creates an empty index of orphans by tenant object. It holds an entry per orphaned copy, and nothing for the others. */
export function createOrphans(): Orphans {
  /** Both maps hold the same pairs: id of the tenant object, text of the host key. */
  const tenantByHost = new Map<string, string>();
  const hostsByTenant = new Map<string, Set<string>>();

  function forget(hostId: string, hostText: string): void {
    const tenantId = tenantByHost.get(hostId);
    if (tenantId === undefined) return;
    tenantByHost.delete(hostId);
    const hosts = hostsByTenant.get(tenantId);
    hosts?.delete(hostText);
    if (hosts?.size === 0) hostsByTenant.delete(tenantId);
  }

  return {
    look(rules, hostKey, object) {
      const plural = rules.kind.resource.plural;
      const [hostId, hostText] = [syncId(plural, hostKey), formatKey(hostKey)];
      forget(hostId, hostText);
      const source = object && orphanedFrom(rules, hostKey, object);
      if (source === undefined) return;
      const tenantId = syncId(plural, source);
      tenantByHost.set(hostId, tenantId);
      hostsByTenant.set(tenantId, (hostsByTenant.get(tenantId) ?? new Set()).add(hostText));
    },
    of(rules, key) {
      const hosts = hostsByTenant.get(syncId(rules.kind.resource.plural, key));
      return hosts === undefined ? NONE : [...hosts].map(parseKey);
    },
  };
}

/** The tenant key that a copy is of, if that translates to another host key, or to none. */
function orphanedFrom(rules: Rules, hostKey: ObjectKey, object: KubeObject): ObjectKey | undefined {
  const source = ourMarkers(rules, object, rules.kind.resource);
  if (source === undefined) return undefined;
  const key = { namespace: source.namespace, name: source.name };
  const wanted = rules.translator.toHost(key, rules.kind.resource);
  return wanted !== undefined && sameKey(wanted, hostKey) ? undefined : key;
}
