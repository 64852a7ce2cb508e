/**
 * Everything a plan needs that is the same for all objects of one kind: one immutable value per kind and configuration.
 *
 * @module
 */
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Selector } from "../../../kube/object/selector.ts";
import type { KubeObject, Service, StringMap } from "../../../kube/object/types.ts";
import type { CompiledPatch } from "../../patch/compile.ts";
import type { NameRules, OnError, PatchEngine } from "../../patch/types.ts";
import type { Translator } from "../../translate/translator.ts";
import type { CompiledAddressPolicy } from "./address-policy.ts";
import type { KeyFilter } from "./excluded-keys.ts";
import type { KindDescription } from "./kind-description.ts";

/** The settings that determine writes. */
export interface PlanSettings {
  readonly onError: OnError;
  readonly addressPolicy: CompiledAddressPolicy;
  readonly selector: Selector;
  readonly requireService: boolean;
  readonly excluded: KeyFilter;
  /** Fuel for all evaluations of one object in one direction. */
  readonly objectFuel: number;
}

/** The writer of host Services: this engine, or another syncer. */
export type ServicesMode = "managed" | "external";

/** The EndpointSlices of one tenant Service, counted. */
export interface SliceCount {
  /** Slices that the tenant has. */
  readonly total: number;
  /** Those of them whose copies are on the host and belong to the host Service. */
  readonly copied: number;
  /** Milliseconds that a new copy of the Endpoints waits at most for the others; omitted if it does not wait. */
  readonly waitMs?: number | undefined;
}

/** Decision about the backends of an object's Service, with `backends: auto`. */
export interface ServedBackends {
  /** True if readers get the object's content from its own copy, not from objects made from another copy. */
  readonly isSource: boolean;
  /** True if the copy of an object that is gone or is no source may be deleted, because readers see its replacement. */
  readonly mayGo: boolean;
  /** True if the copy stays although the object is no source, because the Endpoints that it was made from are paused. Default false. */
  readonly isKept?: boolean;
  /** True if the copy of a slice must not change yet: it would lose endpoints that another copy is about to show. Default false. */
  readonly awaitsMove?: boolean;
  /** Value of the skip-mirror label on the copy of Endpoints: "true" keeps the host's mirror away. Undefined for none. */
  readonly skipMirror: "true" | "false" | undefined;
  /** Objects without which readers would miss the backends that are removed now. Default none. */
  readonly standIns?: readonly StandIn[];
  /** The tenant Service whose other backends must not change during the removal. Undefined if there is none, or if it is unknown. */
  readonly service?: ObjectKey | undefined;
}

/** An object that replaces a removed one for readers, as a cache has it. It is read live first, because each cache lags independently. */
export interface StandIn {
  /** The cluster of the object. Default: the host, where readers see it. */
  readonly side?: "tenant" | "host";
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  /** Undefined if it must not exist: without a Service, there are no readers. In the tenant, an object that is being deleted is absent. */
  readonly object: KubeObject | undefined;
  /** The label that names the Service of a slice and must be unchanged. If omitted, the object must be exactly this version. */
  readonly label?: string;
  /** True if it may also change outside the reconcile of the Service: it must only exist, for the same Service. Default false. */
  readonly mayChange?: boolean;
}

/** State of both sides around the planned object. */
export interface Surroundings {
  /** The tenant Service that the object belongs to, as determined by {@link SyncedKind.serviceOf}. */
  readonly tenantService?: Service | undefined;
  /** The host Service at the host key of that Service. */
  readonly hostService?: Service | undefined;
  /** True if an embedder states that the host Service belongs to the tenant Service, whatever its markers. */
  readonly ownsHostService?: boolean | undefined;
  /** The slices of that Service; undefined while slices are not synced. Endpoints only. */
  readonly slices?: SliceCount | undefined;
  /** Undefined if nothing is decided: every object is then a source. */
  readonly backends?: ServedBackends | undefined;
}

/** Input of a copy's labels besides the tenant's. */
export interface LabelSurroundings extends Surroundings {
  readonly host: KubeObject | undefined;
  readonly translator: Translator;
}

/** Everything that is specific to one synced kind. The body is everything except metadata. */
export interface SyncedKind extends KindDescription {
  readonly resource: ResourceType;
  /**
   * True if its objects contain the backends of a Service, so that the host Service determines whether they are copied. Other kinds are
   * copied regardless of Services.
   */
  readonly besideService: boolean;
  /** True if host edits of the body may be synced back, as one value. */
  readonly bodyFlows: boolean;
  /** Label keys whose values on a copy only the engine sets. They are copied in neither direction. */
  readonly ownLabelKeys: readonly string[];
  /** Returns the copy's labels under these keys; the copy has no others of them. Neither the tenant nor a patch can change them. */
  ownLabels(tenant: KubeObject, around: LabelSurroundings): StringMap;
  /** Returns the tenant Service that an object belongs to; undefined if it belongs to none. */
  serviceOf(key: ObjectKey, tenant: KubeObject): ObjectKey | undefined;
  /** Returns the controller in the tenant cluster that writes this object and would undo host edits; undefined if there is none. */
  writerOf(tenant: KubeObject): string | undefined;
  /** Returns the body of the host object, before patches. */
  translateBody(tenant: KubeObject, translator: Translator): Record<string, unknown>;
  /** Checks and corrects the patched body; may refuse the whole object. */
  admitBody(object: KubeObject, rules: Rules): AllowedBody;
  /** Returns the SHA-256 of the owned part of a host object's body: the same for equivalent bodies. The object must not change. */
  hostFingerprint(object: KubeObject): string;
  /** Returns the same for a tenant object's body. */
  tenantFingerprint(object: KubeObject): string;
  /**
   * Returns a host object with `desired`'s body. Values that the host's API server assigned stay; annotations that it would refuse together
   * with that body do not.
   */
  withBody(host: KubeObject, desired: KubeObject): KubeObject;
  /** Returns the tenant object with the reversed body of a host object; `undefined` if the body cannot be reversed. */
  tenantWithBody(tenant: KubeObject, reversed: KubeObject, translator: Translator): KubeObject | undefined;
  /** Reports whether the host object must be deleted and created again, because a field that differs cannot be changed. */
  mustRecreate(host: KubeObject, desired: KubeObject): boolean;
}

/** A body that may be written, with the parts left out of it, or the reason why nothing may. */
export interface AllowedBody {
  readonly object: KubeObject;
  readonly refusedAddresses: readonly { readonly ip: string; readonly reason: string }[];
  /** Paths of removed values that the host's API server would refuse together with the rest. Default none. */
  readonly leftOut?: readonly string[];
  readonly rejected?: string;
}

/** The rules for planning copies of objects of one kind. */
export interface Rules {
  readonly kind: SyncedKind;
  readonly enabled: boolean;
  /** True when the source of backends is chosen for each Service, as with `backends: auto`. Default false. */
  readonly decidesBackends?: boolean;
  readonly patches: readonly CompiledPatch[];
  readonly engine: PatchEngine;
  readonly names: NameRules;
  readonly translator: Translator;
  readonly settings: PlanSettings;
  readonly services: ServicesMode;
  /** True when this engine syncs Services: `services` is "managed", and the configuration does not disable them. */
  readonly servicesEnabled: boolean;
  /** `context.vcluster` of expressions. */
  readonly vcluster: { readonly name: string; readonly namespace: string; readonly config: unknown };
  /** Digest of this kind's patches and translation; recorded on every copy. */
  readonly configHash: string;
  /** Prefix of the markers of another syncer whose copies are adopted. */
  readonly adopt?: string;
  /** uid of the tenant cluster's `kube-system` namespace, which identifies the tenant cluster; recorded on every copy. */
  readonly clusterUid?: string;
  /** uid of an earlier tenant cluster of this virtual cluster, whose copies are adopted. */
  readonly adoptCluster?: string;
}
