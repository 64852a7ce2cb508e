import { formatKey, keyOf, parseKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers } from "../../translate/identity.ts";
import type { CopySource } from "../../translate/markers.ts";
import type { ClusterCaches } from "../cluster/access.ts";
import { createBackendsIndex, type BackendsIndex } from "../state/backends-index.ts";
import { createServiceSlices, type ServiceSlices } from "../state/service-slices.ts";
import { BACKENDS, syncId } from "../state/sync-id.ts";
import type { KubeObject } from "../../../kube/object/types.ts";

/** Turns changes on either side into the ids of the objects to reconcile. */
export interface EventHandlers {
  readonly synced: boolean;
  /** Records which host key a tenant key translates to, so that a change there enqueues the tenant object. */
  claim(rules: Rules, key: ObjectKey, hostKey: ObjectKey): void;
  release(rules: Rules, key: ObjectKey): void;
  /** Returns the host keys of copies in places to which `key` no longer translates. */
  orphans(rules: Rules, key: ObjectKey): readonly ObjectKey[];
  /** Index of tenant slices by Service; undefined unless slices are synced. */
  readonly slices: ServiceSlices | undefined;
  /** Index of host slices by tenant Service; undefined unless the sources of backends are decided per Service. */
  readonly backends: BackendsIndex | undefined;
  /** Reports whether an object of the tenant translates to this host key. */
  isClaimed(rules: Rules, hostKey: ObjectKey): boolean;
  close(): void;
}

/** The caches to follow, and the receivers of their changes. */
export interface EventHandlersOptions {
  readonly tenant: ClusterCaches;
  readonly host: ClusterCaches;
  readonly rules: readonly Rules[];
  enqueue(id: string): void;
  /** Called for changes in the tenant cluster, before they are enqueued. */
  changed(id: string): void;
}

/** Subscribes to every cache that a plan reads. */
export function addEventHandlers({ tenant, host, rules, enqueue, changed }: EventHandlersOptions): EventHandlers {
  const resources = [...new Set([...rules.map(({ kind }) => kind.resource), SERVICES])];
  const sources = resources.flatMap((resource) => [tenant.source(resource), host.source(resource)]);
  /** Per host key: the tenant keys that translate to it, usually one, two when names collide. */
  const claims = new Map<string, Set<string>>();
  const orphans = createOrphans();
  const sliceRules = rules.find(({ kind }) => kind.resource === ENDPOINT_SLICES);
  const slices = sliceRules && createServiceSlices(sliceRules.translator);
  const backends = sliceRules?.decidesBackends === true ? createBackendsIndex(sliceRules, host) : undefined;
  const unsubscribe: (() => void)[] = [];

  function fromTenant(resource: ResourceType, key: ObjectKey, object: KubeObject | undefined): void {
    const services = resource === ENDPOINT_SLICES ? slices?.look(key, object) : undefined;
    for (const rule of rules) {
      for (const affected of affectedKeys(rule, resource, key, services)) {
        const id = syncId(rule.kind.resource.plural, affected);
        if (rule.kind.resource === resource) changed(id);
        enqueue(id);
      }
    }
    if (resource === ENDPOINT_SLICES) touch([...(services ?? []), ...besideMade(key)]);
    else if (resource === SERVICES) touch([key]);
    else if (resource === ENDPOINTS) touch([key], object !== undefined && !object.metadata.deletionTimestamp ? "copied" : undefined);
  }

  /** Returns the Service whose made slice has the host key to which a tenant slice translates. */
  function besideMade(key: ObjectKey): readonly ObjectKey[] {
    const place = backends && sliceRules!.translator.toHost(key, ENDPOINT_SLICES);
    const service = place && backends.madeFor(place);
    return service === undefined ? [] : [service];
  }

  function touch(services: readonly ObjectKey[], change?: "copied"): void {
    if (backends === undefined) return;
    for (const service of services) if (backends.touch(service, change)) enqueue(syncId(BACKENDS, service));
  }

  /** A Service affects the Endpoints of its name and its slices; slices affect the Endpoints whose mirrored slices they replace. */
  function affectedKeys(
    { kind }: Rules,
    resource: ResourceType,
    key: ObjectKey,
    services: readonly ObjectKey[] = [],
  ): readonly ObjectKey[] {
    if (kind.resource === resource) return [key];
    if (kind.resource === ENDPOINTS) return resource === SERVICES ? [key] : services;
    return kind.resource === ENDPOINT_SLICES && resource === SERVICES ? slices!.of(key) : [];
  }

  function fromHost(resource: ResourceType, hostKey: ObjectKey, object: KubeObject | undefined): void {
    const own = object && rules.find(({ kind }) => kind.resource === resource);
    const source = own && ourMarkers(own, object!, resource);
    for (const rule of rules) {
      if (rule.kind.resource === resource) orphans.look(rule, hostKey, source);
      for (const key of keysBeside(rule, resource, hostKey, source)) enqueue(syncId(rule.kind.resource.plural, key));
    }
    if (backends === undefined) return;
    if (resource === ENDPOINT_SLICES) touch(backends.look(hostKey, object));
    else if (resource === ENDPOINTS || resource === SERVICES) touch(backends.servicesAt(hostKey));
  }

  function keysBeside(rule: Rules, resource: ResourceType, hostKey: ObjectKey, source: CopySource | undefined): readonly ObjectKey[] {
    const { kind } = rule;
    if (kind.resource === resource) return tenantKeys(rule, hostKey, source);
    if (kind.resource === ENDPOINTS && resource === SERVICES) return tenantKeys(rule, hostKey);
    if (kind.resource === ENDPOINT_SLICES && resource === SERVICES) return slices!.ofHost(hostKey);
    if (kind.resource !== ENDPOINTS || sliceRules === undefined) return [];
    return tenantKeys(sliceRules, hostKey, source).flatMap((slice) => slices!.serviceOf(slice) ?? []);
  }

  /** Returns the tenant keys that translate to a host key, and the tenant key of which the object there is a copy. */
  function tenantKeys(rule: Rules, hostKey: ObjectKey, source?: CopySource): ObjectKey[] {
    const claimed = Array.from(claims.get(syncId(rule.kind.resource.plural, hostKey)) ?? [], parseKey);
    if (source === undefined || claimed.some((key) => sameKey(key, source))) return claimed;
    return [...claimed, { namespace: source.namespace, name: source.name }];
  }

  for (const resource of resources) {
    const [tenantSource, hostSource] = [tenant.source(resource), host.source(resource)];
    unsubscribe.push(
      tenantSource.onChange((key) => fromTenant(resource, key, tenantSource.get(key))),
      hostSource.onChange((key) => fromHost(resource, key, hostSource.get(key))),
    );
  }
  // The caches do not report the objects that they already contain.
  for (const resource of resources) {
    for (const object of tenant.source(resource).list()) fromTenant(resource, keyOf(object), object);
    for (const object of host.source(resource).list()) fromHost(resource, keyOf(object), object);
  }

  return {
    get synced() {
      return sources.every((source) => source.synced);
    },
    claim(rule, key, hostKey) {
      const id = syncId(rule.kind.resource.plural, hostKey);
      claims.set(id, (claims.get(id) ?? new Set()).add(formatKey(key)));
    },
    release(rule, key) {
      const hostKey = rule.translator.toHost(key, rule.kind.resource);
      const id = hostKey && syncId(rule.kind.resource.plural, hostKey);
      if (id === undefined) return;
      claims.get(id)?.delete(formatKey(key));
      if (claims.get(id)?.size === 0) claims.delete(id);
    },
    orphans: orphans.of,
    slices,
    backends,
    isClaimed: (rule, hostKey) => claims.has(syncId(rule.kind.resource.plural, hostKey)),
    close: () => unsubscribe.forEach((end) => end()),
  };
}

/** Tracks copies in places to which their tenant object no longer translates, because its namespace was remapped. */
interface Orphans {
  /** Records the tenant object of which a copy is at a host key; undefined if there is no copy. */
  look(rules: Rules, hostKey: ObjectKey, copied: ObjectKey | undefined): void;
  /** Host keys of the orphaned copies of one tenant object. */
  readonly of: (rules: Rules, key: ObjectKey) => readonly ObjectKey[];
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
    look(rules, hostKey, copied) {
      const { plural } = rules.kind.resource;
      const wanted = copied && rules.translator.toHost(copied, rules.kind.resource);
      const source = wanted !== undefined && sameKey(wanted, hostKey) ? undefined : copied;
      // Usually, there are no orphans.
      if (source === undefined && tenantByHost.size === 0) return;
      const [hostId, hostText] = [syncId(plural, hostKey), formatKey(hostKey)];
      forget(hostId, hostText);
      if (source === undefined) return;
      const tenantId = syncId(plural, source);
      tenantByHost.set(hostId, tenantId);
      hostsByTenant.set(tenantId, (hostsByTenant.get(tenantId) ?? new Set()).add(hostText));
    },
    of(rules, key) {
      if (hostsByTenant.size === 0) return NONE;
      const hosts = hostsByTenant.get(syncId(rules.kind.resource.plural, key));
      return hosts === undefined ? NONE : [...hosts].map(parseKey);
    },
  };
}
