/**
 * What the containers of a Pod may say. Source: `validateContainers` and what it calls.
 *
 * @module
 */
import { duplicate, forbidden, invalid, fieldNotFound, notSupported, required } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsLabel } from "../../apiserver/types/objects/names.ts";
import type { TextRule } from "../../apiserver/types/objects/names.ts";
import { compareQuantities } from "../../apiserver/types/objects/quantity.ts";
import { portNumberErrors, PROTOCOLS } from "./endpoints.ts";
import type { Container, ContainerPort, EnvVar, Handler, PodSpec } from "./pod-types.ts";

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES = ["FallbackToLogsOnError", "File"];
const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;
const ENV_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`";
const PORT_NAME_MAX = 15;

/** What is wrong with the containers of a Pod, of every sort. */
export function containersErrors(spec: PodSpec): FieldError[] {
  const names = new Set<string>();
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  const sorts = ["containers", "initContainers", "ephemeralContainers"] as const;
  return sorts.flatMap((sort) =>
    (spec[sort] ?? []).flatMap((container, index) => {
      const field = `spec.${sort}[${index}]`;
      const repeated = names.has(container.name) ? [duplicate(`${field}.name`, container.name)] : [];
      names.add(container.name);
      return [...nameErrors(container.name, `${field}.name`), ...repeated, ...containerErrors(container, field, { spec, volumes })];
    }),
  );
}

/** What is wrong with a name that has to be there and to be a DNS label. */
export function nameErrors(name: string, field: string): FieldError[] {
  return name === "" ? [required(field)] : dnsLabel(name).map((detail) => invalid(field, name, detail));
}

interface Surroundings {
  readonly spec: PodSpec;
  readonly volumes: ReadonlySet<string>;
}

function containerErrors(container: Container, field: string, { spec, volumes }: Surroundings): FieldError[] {
  const { imagePullPolicy = "", terminationMessagePolicy = "", env = [], ports = [] } = container;
  return [
    ...imageErrors(container.image ?? "", `${field}.image`),
    ...portListErrors(ports, `${field}.ports`, spec.hostNetwork === true),
    ...env.flatMap((variable, index) => envErrors(variable, `${field}.env[${index}]`)),
    ...envFromErrors(container, `${field}.envFrom`),
    ...mountErrors(container, `${field}.volumeMounts`, volumes),
    ...(PULL_POLICIES.includes(imagePullPolicy) ? [] : [notSupported(`${field}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES)]),
    ...(MESSAGE_POLICIES.includes(terminationMessagePolicy)
      ? []
      : [notSupported(`${field}.terminationMessagePolicy`, terminationMessagePolicy, MESSAGE_POLICIES)]),
    ...resourceErrors(container, `${field}.resources`),
    ...handlerErrors(container, field),
  ];
}

function imageErrors(image: string, field: string): FieldError[] {
  if (image === "") return [required(field)];
  return image.trim() === image ? [] : [invalid(field, image, "must not have leading or trailing whitespace")];
}

/** Names of ports, as IANA registers services. */
const portName: TextRule = (name) => [
  ...(name.length > PORT_NAME_MAX ? [`must be no more than ${PORT_NAME_MAX} characters`] : []),
  ...(/^[-a-z0-9]*$/.test(name) ? [] : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
  ...(/[a-z]/.test(name) ? [] : ["must contain at least one letter (a-z)"]),
  ...(name.includes("--") ? ["must not contain consecutive hyphens"] : []),
  ...(/^-|-$/.test(name) ? ["must not begin or end with a hyphen"] : []),
];

function portListErrors(ports: readonly ContainerPort[], field: string, hostNetwork: boolean): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const { name = "" } = port;
    const repeated = name !== "" && names.has(name) ? [duplicate(`${field}[${index}].name`, name)] : [];
    names.add(name);
    return [...repeated, ...portErrors(port, `${field}[${index}]`, hostNetwork)];
  });
}

function portErrors(
  { name = "", containerPort, hostPort = 0, protocol = "" }: ContainerPort,
  field: string,
  hostNetwork: boolean,
): FieldError[] {
  return [
    ...(name === "" ? [] : portName(name).map((detail) => invalid(`${field}.name`, name, detail))),
    ...(containerPort === 0 ? [required(`${field}.containerPort`)] : portNumberErrors(containerPort, `${field}.containerPort`)),
    ...(hostPort === 0 ? [] : portNumberErrors(hostPort, `${field}.hostPort`)),
    ...(hostNetwork && hostPort !== containerPort
      ? [invalid(`${field}.hostPort`, hostPort, "must match `containerPort` when `hostNetwork` is true")]
      : []),
    ...(PROTOCOLS.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, PROTOCOLS)]),
  ];
}

/** Names of variables: whatever can be printed, but for the sign that ends them. */
const envName: TextRule = (name) =>
  /^[ -<>-~]+$/.test(name) ? [] : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

function envErrors({ name, value = "", valueFrom }: EnvVar, field: string): FieldError[] {
  return [
    ...(name === "" ? [required(`${field}.name`)] : envName(name).map((detail) => invalid(`${field}.name`, name, detail))),
    ...(valueFrom === undefined ? [] : valueFromErrors(valueFrom, `${field}.valueFrom`, value)),
  ];
}

function valueFromErrors(valueFrom: Readonly<Record<string, object>>, field: string, value: string): FieldError[] {
  const count = Object.keys(valueFrom).length;
  if (count === 0) return [invalid(field, "", `must specify one of: ${ENV_SOURCES}`)];
  if (value !== "") return [invalid(field, "", "may not be specified when `value` is not empty")];
  if (count > 1) return [invalid(field, "", "may not have more than one field specified at a time")];
  return keyErrors(valueFrom, field);
}

function keyErrors(valueFrom: Readonly<Record<string, object>>, field: string): FieldError[] {
  return ["configMapKeyRef", "secretKeyRef"].flatMap((source) => {
    const reference = valueFrom[source] as { readonly key: string; readonly name?: string } | undefined;
    if (reference === undefined) return [];
    const { key, name = "" } = reference;
    return [...(name === "" ? [required(`${field}.${source}.name`)] : []), ...(key === "" ? [required(`${field}.${source}.key`)] : [])];
  });
}

function envFromErrors({ envFrom = [] }: Container, field: string): FieldError[] {
  return envFrom.flatMap(({ prefix = "", configMapRef, secretRef }, index) => {
    const at = `${field}[${index}]`;
    const given = [configMapRef, secretRef].filter((source) => source !== undefined).length;
    return [
      ...(prefix === "" ? [] : envName(prefix).map((detail) => invalid(`${at}.prefix`, prefix, detail))),
      ...(given === 0 ? [invalid(at, "", "must specify one of: `configMapRef` or `secretRef`")] : []),
      ...(given > 1 ? [invalid(at, "", "may not have more than one field specified at a time")] : []),
    ];
  });
}

function mountErrors({ volumeMounts = [] }: Container, field: string, volumes: ReadonlySet<string>): FieldError[] {
  const places = new Set<string>();
  return volumeMounts.flatMap(({ name, mountPath }, index) => {
    const at = `${field}[${index}]`;
    const taken = places.has(mountPath);
    places.add(mountPath);
    return [
      ...(name === "" ? [required(`${at}.name`)] : volumes.has(name) ? [] : [fieldNotFound(`${at}.name`, name)]),
      ...(mountPath === "" ? [required(`${at}.mountPath`)] : []),
      ...(taken ? [invalid(`${at}.mountPath`, mountPath, "must be unique")] : []),
    ];
  });
}

function resourceErrors({ resources: { limits = {}, requests = {} } = {} }: Container, field: string): FieldError[] {
  const negative = (amounts: Readonly<Record<string, string>>, part: string) =>
    Object.entries(amounts)
      .filter(([, amount]) => amount.startsWith("-"))
      .map(([name, amount]) => invalid(`${field}.${part}[${name}]`, amount, "must be greater than or equal to 0"));
  const excessive = Object.entries(requests).filter(([name, amount]) => {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    return limit !== undefined && compareQuantities(amount, limit) > 0;
  });
  return [
    ...negative(limits, "limits"),
    ...negative(requests, "requests"),
    ...excessive.map(([name, amount]) =>
      invalid(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${limits[name]}`),
    ),
  ];
}

function handlerErrors(container: Container, field: string): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle = {} } = container;
  const handlers = {
    livenessProbe,
    readinessProbe,
    startupProbe,
    "lifecycle.postStart": lifecycle.postStart,
    "lifecycle.preStop": lifecycle.preStop,
  };
  return Object.entries(handlers).flatMap(([name, handler]) =>
    handler === undefined ? [] : oneHandlerErrors(handler, `${field}.${name}`),
  );
}

function oneHandlerErrors(handler: Handler, field: string): FieldError[] {
  const [first, ...others] = HANDLERS.filter((name) => handler[name] !== undefined);
  if (first === undefined) return [required(field, "must specify a handler type")];
  return others.map((name) => forbidden(`${field}.${name}`, "may not specify more than 1 handler type"));
}
