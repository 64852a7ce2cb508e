/**
 * Pods as code reads them: the fields that defaults, rules and controllers look at. Everything else is in the shapes.
 *
 * @module
 */
import type { KubeObject, StringMap } from "../../kube/object/types.ts";

/** A container's ports, as far as Services name them. */
export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly protocol?: string;
}

/** Limits and requests by resource. */
export interface ResourceRequirements {
  readonly limits?: StringMap;
  readonly requests?: StringMap;
}

/** A variable of the environment. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Readonly<Record<string, object>>;
}

/** What a probe or a hook does, among other things. */
export interface Handler {
  readonly exec?: object;
  readonly httpGet?: { readonly path?: string; readonly scheme?: string };
  readonly tcpSocket?: object;
  readonly grpc?: object;
  readonly sleep?: object;
}

/** How the health of a container is asked for. Times are in seconds. */
export interface Probe extends Handler {
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

/** A container of any sort. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly { readonly prefix?: string; readonly configMapRef?: object; readonly secretRef?: object }[];
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly imagePullPolicy?: string;
  readonly restartPolicy?: string;
}

/** A volume: its name and its source. */
export interface Volume {
  readonly name: string;
  readonly [source: string]: unknown;
}

/** A taint that is borne. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** `spec` of a Pod. */
export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly nodeName?: string;
  readonly nodeSelector?: StringMap;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly restartPolicy?: string;
  readonly dnsPolicy?: string;
  readonly dnsConfig?: object;
  readonly schedulerName?: string;
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly securityContext?: object;
  readonly enableServiceLinks?: boolean;
  readonly hostNetwork?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly tolerations?: readonly Toleration[];
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly preemptionPolicy?: string;
  readonly schedulingGates?: readonly { readonly name: string }[];
}

/** `status` of a Pod. */
export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly qosClass?: string;
  readonly nominatedNodeName?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** A Pod. */
export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}
