/**
 * What the API server fills in when a Pod leaves it out. Source: the defaults of the core API, and of what its admission
 * plugins add to every Pod: service account, priority, and tolerations for nodes that are gone.
 *
 * @module
 */
import type { Container, Handler, Pod, PodSpec, PodStatus, Probe, Toleration, Volume } from "./pod-types.ts";
import { VOLUME_SOURCES } from "./pod-volumes.ts";
import { qosClassOf } from "./pod-qos.ts";

/** Seconds that a Pod may take to end unless it says otherwise. */
export const GRACE_SECONDS_DEFAULT = 30;

/** How long a Pod stays bound to a node that is gone, in seconds. */
const GONE_SECONDS = 300;
/** 0644: everybody may read, the owner may write. */
const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3_600;

/** The priorities of the classes that every cluster has. */
const PRIORITIES: Readonly<Record<string, number>> = {
  "": 0,
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

/** A Pod with its defaults. `old` is the stored one, which keeps what only a new Pod is given. */
export function withPodDefaults(pod: Pod, old: Pod | undefined): Pod {
  const spec = withAdmitted(withPodOnlyDefaults(withPodSpecDefaults(pod.spec ?? {})), old?.spec);
  const status = old === undefined ? { phase: "Pending", qosClass: qosClassOf(spec) } : withAddresses(pod.status ?? {});
  return { ...pod, spec, status };
}

/** An old client knows one address only; what it writes there counts. Source: the conversion of Pods. */
function withAddresses(status: PodStatus): PodStatus {
  const { podIP = "", podIPs = [] } = status;
  if (podIP === "") return podIPs.length === 0 ? status : { ...status, podIP: podIPs[0]!.ip };
  return podIPs[0]?.ip === podIP ? status : { ...status, podIPs: [{ ip: podIP }] };
}

/** What the specs of Pods and of templates for Pods are given alike. */
export function withPodSpecDefaults(spec: PodSpec): PodSpec {
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  return {
    ...spec,
    ...(spec.volumes && { volumes: spec.volumes.map(withVolumeDefaults) }),
    ...withEachContainer(spec, withContainerDefaults),
    restartPolicy: spec.restartPolicy ?? "Always",
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? GRACE_SECONDS_DEFAULT,
    dnsPolicy: spec.dnsPolicy ?? "ClusterFirst",
    ...(account !== undefined && { serviceAccountName: account, serviceAccount: account }),
    securityContext: spec.securityContext ?? {},
    schedulerName: spec.schedulerName ?? "default-scheduler",
  };
}

/** What only Pods are given, since later defaults may be others for what a template makes. */
export function withPodOnlyDefaults(spec: PodSpec): PodSpec {
  const complete = ({ ports, resources, ...rest }: Container): Container => ({
    ...rest,
    ...(ports && {
      ports: spec.hostNetwork === true ? ports.map((port) => ({ ...port, hostPort: port.hostPort ?? port.containerPort })) : ports,
    }),
    resources:
      resources?.limits === undefined ? (resources ?? {}) : { ...resources, requests: { ...resources.limits, ...resources.requests } },
  });
  return { ...spec, ...withEachContainer(spec, complete), enableServiceLinks: spec.enableServiceLinks ?? true };
}

/** The lists of containers, those of all sorts that are there. */
function withEachContainer(
  { initContainers, containers = [], ephemeralContainers }: PodSpec,
  change: (container: Container) => Container,
): Pick<PodSpec, "initContainers" | "containers" | "ephemeralContainers"> {
  return {
    ...(initContainers && { initContainers: initContainers.map(change) }),
    containers: containers.map(change),
    ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(change) }),
  };
}

/** What admission gives to new Pods, and keeps on old ones. */
function withAdmitted(spec: PodSpec, old: PodSpec | undefined): PodSpec {
  const given = old ?? defaultAdmission(spec);
  const account = spec.serviceAccountName ?? (old === undefined ? "default" : undefined);
  return {
    ...spec,
    ...(account !== undefined && { serviceAccountName: account, serviceAccount: account }),
    ...(given.priority !== undefined && { priority: spec.priority ?? given.priority }),
    ...(given.preemptionPolicy !== undefined && { preemptionPolicy: spec.preemptionPolicy ?? given.preemptionPolicy }),
    tolerations: withNodeTolerations(spec.tolerations ?? []),
  };
}

function defaultAdmission({ priorityClassName = "" }: PodSpec): PodSpec {
  const priority = Object.hasOwn(PRIORITIES, priorityClassName) ? PRIORITIES[priorityClassName] : undefined;
  return { ...(priority !== undefined && { priority }), preemptionPolicy: "PreemptLowerPriority" };
}

function withNodeTolerations(tolerations: readonly Toleration[]): readonly Toleration[] {
  const missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
    (key) => !tolerations.some((one) => bears(one, key)),
  );
  return [...tolerations, ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: GONE_SECONDS }))];
}

function bears({ key = "", effect = "" }: Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}

function withContainerDefaults(container: Container): Container {
  const { ports, env, resources, lifecycle } = container;
  return {
    ...container,
    ...(ports && { ports: ports.map((port) => ({ ...port, protocol: port.protocol ?? "TCP" })) }),
    ...(env && { env: env.map(withFieldVersion) }),
    resources: resources ?? {},
    ...probesOf(container),
    ...(lifecycle && { lifecycle: withHooks(lifecycle) }),
    terminationMessagePath: container.terminationMessagePath ?? "/dev/termination-log",
    terminationMessagePolicy: container.terminationMessagePolicy ?? "File",
    imagePullPolicy: container.imagePullPolicy ?? pullPolicyOf(container.image ?? ""),
  };
}

/**
 * The tag latest may be another image tomorrow. It is the tag of an image that has neither tag nor digest.
 *
 * @example
 * pullPolicyOf("example.com:5000/web"); // "Always"
 */
export function pullPolicyOf(image: string): "Always" | "IfNotPresent" {
  const [tagged = "", digest] = image.split("@");
  const [, tag = digest === undefined ? "latest" : ""] = tagged.slice(tagged.lastIndexOf("/") + 1).split(":");
  return tag === "latest" ? "Always" : "IfNotPresent";
}

function withFieldVersion<T extends { readonly valueFrom?: Readonly<Record<string, object>> }>(item: T): T {
  const reference = item.valueFrom?.["fieldRef"];
  return reference === undefined ? item : { ...item, valueFrom: { ...item.valueFrom, fieldRef: { apiVersion: "v1", ...reference } } };
}

function probesOf(container: Container): Partial<Container> {
  const names = ["livenessProbe", "readinessProbe", "startupProbe"] as const;
  const found = names.flatMap((name) => (container[name] === undefined ? [] : [[name, withProbeDefaults(container[name])]]));
  return Object.fromEntries(found) as Partial<Container>;
}

function withProbeDefaults(probe: Probe): Probe {
  const { timeoutSeconds = 1, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe;
  return { ...withRequestDefaults(probe), timeoutSeconds, periodSeconds, successThreshold, failureThreshold };
}

function withHooks({ postStart, preStop, ...rest }: NonNullable<Container["lifecycle"]>): NonNullable<Container["lifecycle"]> {
  return {
    ...rest,
    ...(postStart && { postStart: withRequestDefaults(postStart) }),
    ...(preStop && { preStop: withRequestDefaults(preStop) }),
  };
}

function withRequestDefaults<T extends Handler>(handler: T): T {
  const { httpGet } = handler;
  return httpGet === undefined
    ? handler
    : { ...handler, httpGet: { ...httpGet, path: httpGet.path ?? "/", scheme: httpGet.scheme ?? "HTTP" } };
}

function withVolumeDefaults(volume: Volume): Volume {
  const source = VOLUME_SOURCES.find((name) => volume[name] !== undefined);
  if (source === undefined) return { ...volume, emptyDir: {} };
  return { ...volume, [source]: { ...SOURCE_DEFAULTS[source], ...withParts(volume[source] as object) } };
}

const SOURCE_DEFAULTS: Readonly<Record<string, object>> = {
  hostPath: { type: "" },
  secret: { defaultMode: FILE_MODE },
  configMap: { defaultMode: FILE_MODE },
  downwardAPI: { defaultMode: FILE_MODE },
  projected: { defaultMode: FILE_MODE },
};

/** What a source is made of, with defaults of its own: the files of the downward API, and tokens. */
function withParts(source: { readonly items?: readonly object[]; readonly sources?: readonly object[] }): object {
  const { items, sources } = source;
  return { ...source, ...(items && { items: items.map(withFieldRef) }), ...(sources && { sources: sources.map(withProjection) }) };
}

function withFieldRef(item: { readonly fieldRef?: object }): object {
  return item.fieldRef === undefined ? item : { ...item, fieldRef: { apiVersion: "v1", ...item.fieldRef } };
}

function withProjection(part: { readonly serviceAccountToken?: object; readonly downwardAPI?: object }): object {
  const { serviceAccountToken, downwardAPI } = part;
  return {
    ...part,
    ...(serviceAccountToken && { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, ...serviceAccountToken } }),
    ...(downwardAPI && { downwardAPI: withParts(downwardAPI) }),
  };
}
