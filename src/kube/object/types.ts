/** String map, as in labels and annotations. */
export type StringMap = Readonly<Record<string, string>>;

/** An owner of an object. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The metadata that every Kubernetes object carries. Timestamps are RFC 3339 text. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string | null;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly unknown[];
}

/**
 * A Kubernetes object as the API returns it: plain JSON, shared between readers, never modified in place.
 */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** The object behind an address. */
export interface TargetReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** One address of an Endpoints subset. */
export interface EndpointAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: TargetReference;
}

/** One port of an Endpoints subset; `protocol` defaults to TCP. */
export interface EndpointPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

/** Addresses × ports of an Endpoints object. */
export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly EndpointPort[];
}

/** `v1` Endpoints. */
export interface Endpoints extends KubeObject {
  readonly subsets?: readonly EndpointSubset[];
}

/** One port of a Service. */
export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
  readonly appProtocol?: string;
  readonly nodePort?: number;
}

/** `v1` Service, as far as the sync of Endpoints needs it. */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: StringMap;
    readonly ports?: readonly ServicePort[];
    readonly [field: string]: unknown;
  };
}

/** One endpoint of an EndpointSlice: a Pod in most cases. */
export interface SliceEndpoint {
  readonly addresses: readonly string[] | null;
  readonly conditions?: { readonly ready?: boolean | null; readonly serving?: boolean | null; readonly terminating?: boolean | null };
  readonly hostname?: string;
  readonly targetRef?: TargetReference;
  readonly nodeName?: string;
  readonly zone?: string;
}

/** One port of an EndpointSlice; every port when `port` is left out. */
export interface SlicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port?: number;
  readonly appProtocol?: string;
}

/** `discovery.k8s.io/v1` EndpointSlice as it is stored; absent lists show as null. */
export interface EndpointSlice extends KubeObject {
  readonly addressType: string;
  readonly endpoints: readonly SliceEndpoint[] | null;
  readonly ports: readonly SlicePort[] | null;
}
