/**
 * The validation rules of Services. Source: `ValidateService` and `ValidateServiceUpdate`.
 *
 * @module
 */
import { isIP } from "node:net";
import { jsonEqual } from "../../base/json.ts";
import type { ServicePort, StringMap } from "../../kube/object/types.ts";
import { duplicate, forbidden, invalid, notSupported, required, type FieldError } from "../../apiserver/types/field-error.ts";
import { validateLabels } from "../../apiserver/types/objects/metadata.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "../../apiserver/types/objects/names.ts";
import { portNumberErrors, PROTOCOLS } from "./endpoints.ts";

/** `spec` of a Service. */
export interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly externalName?: string;
  readonly externalIPs?: readonly string[];
  readonly ports?: readonly ServicePort[];
  readonly selector?: StringMap;
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly externalTrafficPolicy?: string;
  readonly internalTrafficPolicy?: string;
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
  readonly publishNotReadyAddresses?: boolean;
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly healthCheckNodePort?: number;
  readonly trafficDistribution?: string;
}

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/** The cluster IP of a Service that has none: its name resolves to the addresses behind it. */
export const HEADLESS = "None";

/** Reports whether a Service can have ports on every node. */
export function hasNodePorts({ type }: ServiceSpec): boolean {
  return type === "NodePort" || type === "LoadBalancer";
}

/** Reports whether a Service has a cluster IP, even if it is "None": all types but ExternalName do. */
export function hasClusterIp({ type }: ServiceSpec): boolean {
  return type !== "ExternalName";
}

/** The problems of a spec, old or new. */
export function specErrors(spec: ServiceSpec): FieldError[] {
  const { type = "", ports = [], selector = {}, externalIPs = [] } = spec;
  const portless = spec.clusterIP === HEADLESS || type === "ExternalName";
  return [
    ...(TYPES.includes(type) ? [] : [notSupported("spec.type", type, TYPES)]),
    ...affinityErrors(spec),
    ...(ports.length === 0 && !portless ? [required("spec.ports")] : []),
    ...portListErrors(ports, spec),
    ...validateLabels(selector, "spec.selector"),
    ...externalIPs.flatMap((ip, index) =>
      isIP(ip) === 0 ? [invalid(`spec.externalIPs[${index}]`, ip, "must be a valid IP address")] : [],
    ),
    ...clusterIpErrors(spec),
    ...(type === "ExternalName" ? externalNameErrors(spec.externalName ?? "") : []),
  ];
}

/** Default time for which a client stays with one Pod, in seconds: three hours. */
const AFFINITY_SECONDS = 10_800;
const AFFINITY_SECONDS_MAX = 86_400;

/** Sets the defaults of session affinity; without affinity, removes its settings. Source: `SetDefaults_Service`. */
export function withAffinity({ sessionAffinityConfig: config, ...spec }: ServiceSpec): ServiceSpec {
  const { sessionAffinity = "None" } = spec;
  if (sessionAffinity === "None") return { ...spec, sessionAffinity };
  const timeoutSeconds = config?.clientIP?.timeoutSeconds ?? (sessionAffinity === "ClientIP" ? AFFINITY_SECONDS : undefined);
  return { ...spec, sessionAffinity, ...(timeoutSeconds !== undefined && { sessionAffinityConfig: { clientIP: { timeoutSeconds } } }) };
}

function affinityErrors({ sessionAffinity = "", sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const known = sessionAffinity === "None" || sessionAffinity === "ClientIP";
  if (!known) return [notSupported("spec.sessionAffinity", sessionAffinity, ["ClientIP", "None"])];
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 1;
  if (seconds > 0 && seconds <= AFFINITY_SECONDS_MAX) return [];
  const why = `must be greater than 0 and less than ${AFFINITY_SECONDS_MAX}`;
  return [invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why)];
}

function clusterIpErrors(spec: ServiceSpec): FieldError[] {
  const { type, clusterIP = "", clusterIPs = [] } = spec;
  if (type === "ExternalName") {
    const set = clusterIPs.length > 0 || clusterIP !== "";
    return set ? [forbidden("spec.clusterIPs[0]", "may not be set when `type` is 'ExternalName'")] : [];
  }
  if (clusterIP === HEADLESS && hasNodePorts(spec)) {
    return [invalid("spec.clusterIPs[0]", HEADLESS, `may not be set to 'None' for ${type} services`)];
  }
  if ((clusterIPs[0] ?? "") !== clusterIP) return [invalid("spec.clusterIPs", clusterIPs, "first value must match `clusterIP`")];
  const valid = clusterIP === "" || clusterIP === HEADLESS || isIP(clusterIP) !== 0;
  return valid ? [] : [invalid("spec.clusterIPs[0]", clusterIP, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
}

function externalNameErrors(name: string): FieldError[] {
  if (name === "") return [required("spec.externalName")];
  // A trailing dot, which makes a DNS name absolute, is allowed here.
  return dnsSubdomain(name.replace(/\.$/, "")).map((detail) => invalid("spec.externalName", name, detail));
}

function portListErrors(ports: readonly ServicePort[], spec: ServiceSpec): FieldError[] {
  const seen = { names: new Set<string>(), ports: new Set<string>() };
  return ports.flatMap((port, index) => {
    const field = `spec.ports[${index}]`;
    const { name = "", protocol = "" } = port;
    const number = `${port.port}/${protocol}`;
    const repeated = [
      ...(name !== "" && seen.names.has(name) ? [duplicate(`${field}.name`, name)] : []),
      ...(seen.ports.has(number) ? [duplicate(field, { port: port.port, protocol })] : []),
    ];
    seen.names.add(name);
    seen.ports.add(number);
    return [...portErrors(port, field, { several: ports.length > 1, spec }), ...repeated];
  });
}

function portErrors(port: ServicePort, field: string, { several, spec }: { several: boolean; spec: ServiceSpec }): FieldError[] {
  const { name = "", protocol = "", nodePort = 0, appProtocol } = port;
  return [
    ...(several && name === "" ? [required(`${field}.name`)] : []),
    ...(name === "" ? [] : dnsLabel(name).map((detail) => invalid(`${field}.name`, name, detail))),
    ...portNumberErrors(port.port, `${field}.port`),
    ...(PROTOCOLS.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, PROTOCOLS)]),
    ...targetPortErrors(port.targetPort ?? port.port, `${field}.targetPort`),
    ...(appProtocol === undefined ? [] : qualifiedName(appProtocol).map((detail) => invalid(`${field}.appProtocol`, appProtocol, detail))),
    ...(nodePort !== 0 && !hasNodePorts(spec) ? [forbidden(`${field}.nodePort`, `may not be used when \`type\` is '${spec.type}'`)] : []),
  ];
}

function targetPortErrors(target: number | string, field: string): FieldError[] {
  if (typeof target === "number") return portNumberErrors(target, field);
  const valid = /^[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/.test(target) && /[a-z]/.test(target) && !target.includes("--");
  return valid
    ? []
    : [
        invalid(
          field,
          target,
          "must be an IANA service name: at most 15 lower case alphanumeric characters or '-', with at least one letter",
        ),
      ];
}

/** The problems of a change: the cluster IP cannot change as long as the Service has one. */
export function specUpdateErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (!hasClusterIp(spec) || !hasClusterIp(old) || (old.clusterIP ?? "") === "") return [];
  if (jsonEqual(spec.clusterIPs ?? [], old.clusterIPs ?? [])) return [];
  return [invalid("spec.clusterIPs[0]", spec.clusterIPs ?? [], "may not change once set")];
}
