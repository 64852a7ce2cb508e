import { keyOf, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import type { ObjectSource } from "../../../kube/object/object-source.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { KubeObject, OwnerReference, Service } from "../../../kube/object/types.ts";
import { isCopyOf } from "../../reconcile/copy/ownership.ts";
import type { PlanInput } from "../../reconcile/plan-types.ts";
import type { Rules, ServedBackends, SliceCount } from "../../reconcile/rules/rules.ts";
import { countSlices, isCopied } from "../../kinds/slice-labels.ts";
import type { DeleteBrake } from "../guards/delete-brake.ts";
import type { AwaitedSlices } from "./awaited-slices.ts";
import type { EventHandlers } from "./event-handlers.ts";
import type { Tracked } from "./reconcile.ts";

/** Sources of a plan's input. */
export interface GatherOptions {
  /** The newest known Services, whichever syncer creates them. */
  readonly services: Readonly<Record<"tenant" | "host", Pick<ObjectSource, "get">>>;
  /** Slices, if this syncer syncs them. */
  readonly syncedSlices: Tracked | undefined;
  readonly router: EventHandlers;
  readonly awaited: AwaitedSlices;
  readonly brake: DeleteBrake;
  /** Owner of copies, if it exists. */
  owner(): OwnerReference | undefined;
  /** Reports whether a host Service counts, if another syncer creates Services. Default: its markers decide. */
  readonly ownsHostService?: ((hostKey: ObjectKey) => boolean) | undefined;
  /** Decisions about the backends of Services; undefined if there are none. */
  readonly backends?: BackendsObserver | undefined;
}

/** An object that is planned, and the object at its host key. */
export interface PlannedObject {
  readonly key: ObjectKey;
  readonly tenant: KubeObject | undefined;
  readonly host: KubeObject | undefined;
  /** For Endpoints without a decision: the slices of their Service, counted. */
  readonly slices?: SliceCount | undefined;
}

/** Source of decisions about the backends of Services. */
export interface BackendsObserver {
  /** Returns the decision for a planned object; undefined if none applies to it. */
  around(id: string, rules: Rules, about: PlannedObject): ServedBackends | undefined;
}

/** Collects the input of a plan, all of it from caches and recent writes. */
export type Gather = (id: string, side: Tracked, key: ObjectKey, hostKey: ObjectKey | undefined) => PlanInput;

/** Creates a {@link Gather} over these caches. */
export function createGather(options: GatherOptions): Gather {
  const { services, syncedSlices, router, awaited, brake, owner, ownsHostService, backends } = options;

  /** Counts the slices of a Service. Undefined for other kinds than Endpoints: only their mirrored slices are replaced by copied ones. */
  function slicesOf(rules: Rules, key: ObjectKey, hostKey: ObjectKey | undefined, isNew: boolean): SliceCount | undefined {
    if (rules.kind.resource !== ENDPOINTS || syncedSlices === undefined || hostKey === undefined) return undefined;
    if (syncedSlices.rules.decidesBackends === true) return undefined;
    const pairs = router.slices!.of(key).flatMap((slice) => {
      const slicePlace = rules.translator.toHost(slice, ENDPOINT_SLICES);
      const found = syncedSlices.tenant.get(slice);
      return found === undefined ? [] : [{ tenant: found, host: slicePlace && syncedSlices.host.get(slicePlace) }];
    });
    const slices = countSlices(rules, hostKey, pairs);
    if (!isNew || slices.copied === slices.total) return slices;
    const uncopied = pairs.flatMap((pair) => (isCopied(rules, hostKey, pair) ? [] : [keyOf(pair.tenant)]));
    return { ...slices, waitMs: awaited.waitMs(key, uncopied) };
  }

  /** Returns the orphaned copy at a host key; none if another object's reconcile has just taken its place, which the cache shows later. */
  function orphanAt({ rules, host }: Tracked, orphanKey: ObjectKey, key: ObjectKey): readonly KubeObject[] {
    const orphan = host.get(orphanKey);
    return orphan !== undefined && isCopyOf(rules, orphan, key) ? [orphan] : [];
  }

  return (id, side, key, hostKey) => {
    const tenantObject = side.tenant.get(key);
    const serviceKey = tenantObject && side.rules.kind.serviceOf(key, tenantObject);
    const hostServiceKey = serviceKey && (sameKey(serviceKey, key) ? hostKey : side.rules.translator.toHost(serviceKey, SERVICES));
    const hostObject = hostKey && side.host.get(hostKey);
    // If another syncer creates Services, the embedder may decide which of them count.
    const owns = hostServiceKey && side.rules.services === "external" ? ownsHostService?.(hostServiceKey) : undefined;
    const slices = slicesOf(side.rules, key, hostKey, tenantObject !== undefined && hostObject === undefined);
    const decided = backends?.around(id, side.rules, { key, tenant: tenantObject, host: hostObject, slices });
    return {
      ...{ key, hostKey },
      tenant: tenantObject,
      host: hostObject,
      tenantService: serviceKey && (services.tenant.get(serviceKey) as Service | undefined),
      ...(hostServiceKey && owns !== false && { hostService: services.host.get(hostServiceKey) as Service | undefined }),
      ...(owns === true && { ownsHostService: true }),
      slices,
      ...(decided && { backends: decided }),
      owner: owner(),
      deletesHeld: brake.holds(id),
      orphans: router.orphans(side.rules, key).flatMap((orphanKey) => orphanAt(side, orphanKey, key)),
    };
  };
}

/** Returns the owner reference to `service`; undefined if there is no Service with a uid. */
export function ownerReference(service: KubeObject | undefined): OwnerReference | undefined {
  if (!service?.metadata.uid) return undefined;
  return { apiVersion: "v1", kind: "Service", name: service.metadata.name!, uid: service.metadata.uid };
}
