/**
 * Everything a plan needs that stays the same from object to object: one immutable value per configuration.
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

/** The writer of host Services: this engine, or another syncer beside it. */
export type ServicesMode = "managed" | "external";

/** The EndpointSlices of one tenant Service, counted. */
export interface SliceCount {
  /** Slices that the tenant has. */
  readonly total: number;
  /** Those of them whose copies are on the host and belong to the host Service. */
  readonly copied: number;
}

/** Decision about the backends of an object's Service, with `backends: auto`. */
export interface ServedBackends {
  /** Readers learn the object's content from a copy of it, not from a copy of another object. */
  readonly isSource: boolean;
  /** The copy of an object that is gone or is no source may be deleted: its replacement is seen. */
  readonly mayGo: boolean;
  /** The copy stays though the object is no source, with the paused Endpoints that it was made of. Default false. */
  readonly isKept?: boolean;
  /** The copy of a slice would lose endpoints that another slice of the Service is about to show: it changes after that. Default false. */
  readonly awaitsMove?: boolean;
  /** Value of the skip-mirror label on the copy of Endpoints: "true" keeps the host's mirror away. Undefined for none. */
  readonly skipMirror: "true" | "false" | undefined;
  /** Without these readers would miss what goes now. Default none. */
  readonly standIns?: readonly StandIn[];
}

/** An object that takes the place of one that goes, as a cache has it. It is read live first: each cache lags by itself. */
export interface StandIn {
  /** Where it is. Default: on the host, where readers see it. */
  readonly side?: "tenant" | "host";
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  /** Undefined where there must be none: without a Service there are no readers. One that is about to go is none in the tenant. */
  readonly object: KubeObject | undefined;
  /** The label by which a slice belongs to its Service, and which must say the same; left out for what must be this very version. */
  readonly label?: string;
  /** Others than this syncer's reconcile of the Service may change it: it need only be there, for the same Service. Default false. */
  readonly mayChange?: boolean;
}

/** State of both sides around the planned object. */
export interface Surroundings {
  /** The tenant Service that the object belongs to; {@link SyncedKind.serviceOf} says which that is. */
  readonly tenantService?: Service | undefined;
  /** The host Service at the host key of that Service. */
  readonly hostService?: Service | undefined;
  /** An embedder states that the host Service belongs to the tenant Service, whatever its marks. */
  readonly ownsHostService?: boolean | undefined;
  /** The slices of that Service; undefined while slices are not synced. Endpoints only. */
  readonly slices?: SliceCount | undefined;
  /** Undefined where nothing is decided: every object is a source. */
  readonly backends?: ServedBackends | undefined;
}

/** Input of a copy's labels besides the tenant's. */
export interface LabelSurroundings extends Surroundings {
  readonly host: KubeObject | undefined;
  readonly translator: Translator;
}

/** All that is special about one synced kind. The body is everything but metadata. */
export interface SyncedKind extends KindDescription {
  readonly resource: ResourceType;
  /**
   * Its objects say where a Service leads, so that what becomes of the Service's copy decides over theirs: they stand beside it, or are
   * not copied. Other kinds are copied whatever Services there are.
   */
  readonly besideService: boolean;
  /** Tells that the body's host edits may flow back (as one value). */
  readonly bodyFlows: boolean;
  /** Label keys whose values on a copy the engine alone decides. They cross in neither direction. */
  readonly ownLabelKeys: readonly string[];
  /** Values of the copy under these keys; a missing key is not on the copy. Neither the tenant nor a patch has a say. */
  ownLabels(tenant: KubeObject, around: LabelSurroundings): StringMap;
  /** The tenant Service that an object belongs to; undefined when it belongs to none. */
  serviceOf(key: ObjectKey, tenant: KubeObject): ObjectKey | undefined;
  /** Controller in the tenant cluster that writes this object and would undo host edits; undefined if there is none. */
  writerOf(tenant: KubeObject): string | undefined;
  /** The body of the host object, before patches. */
  translateBody(tenant: KubeObject, translator: Translator): Record<string, unknown>;
  /** Checks and corrects the patched body; may refuse the whole object. */
  admitBody(object: KubeObject, rules: Rules): AllowedBody;
  /** SHA-256 of the owned part of a host object's body: equivalent bodies have the same digest. The object must not change. */
  hostFingerprint(object: KubeObject): string;
  /** The same for a tenant object's body. */
  tenantFingerprint(object: KubeObject): string;
  /**
   * A host object with `desired`'s body, keeping values that the host's API server assigned, without annotations that it would refuse
   * beside that body.
   */
  withBody(host: KubeObject, desired: KubeObject): KubeObject;
  /** The tenant object with the reversed body of a host object; `undefined` when it cannot be reversed. */
  tenantWithBody(tenant: KubeObject, reversed: KubeObject, translator: Translator): KubeObject | undefined;
  /** Tells that the host object must be deleted and created, because a field that differs cannot be changed. */
  mustRecreate(host: KubeObject, desired: KubeObject): boolean;
}

/** A body that may be written, with the parts left out of it, or the reason why nothing may. */
export interface AllowedBody {
  readonly object: KubeObject;
  readonly refusedAddresses: readonly { readonly ip: string; readonly reason: string }[];
  /** Where something stood that the host's API server would refuse beside the rest. Default none. */
  readonly leftOut?: readonly string[];
  readonly rejected?: string;
}

/** See the module comment. */
export interface Rules {
  readonly kind: SyncedKind;
  readonly enabled: boolean;
  /** True when the source of the backends that readers get is decided for each Service. Default false. */
  readonly decidesBackends?: boolean;
  readonly patches: readonly CompiledPatch[];
  readonly engine: PatchEngine;
  readonly names: NameRules;
  readonly translator: Translator;
  readonly settings: PlanSettings;
  readonly services: ServicesMode;
  /** True when this engine syncs Services (managed and not switched off). */
  readonly servicesEnabled: boolean;
  /** `context.vcluster` of expressions. */
  readonly vcluster: { readonly name: string; readonly namespace: string; readonly config: unknown };
  /** Digest of this kind's patches and translation; recorded on every copy. */
  readonly configHash: string;
  /** Prefix of the markers of another syncer whose copies are taken over. */
  readonly adopt?: string;
  /** uid of the tenant cluster's `kube-system` namespace, which tells one tenant cluster from another; recorded on every copy. */
  readonly clusterUid?: string;
  /** uid of an earlier tenant cluster of this virtual cluster, whose copies count as ours. */
  readonly adoptCluster?: string;
}
