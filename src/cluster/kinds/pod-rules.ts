/**
 * What a Pod may say, and what of it may change. Source: `ValidatePodCreate` and `ValidatePodUpdate`.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import { duplicate, forbidden, invalid, notSupported, required } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { validateLabels } from "../../apiserver/types/objects/metadata.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "../../apiserver/types/objects/names.ts";
import type { TextRule } from "../../apiserver/types/objects/names.ts";
import { containersErrors, nameErrors } from "./container-rules.ts";
import type { Container, PodSpec, Toleration, Volume } from "./pod-types.ts";
import { VOLUME_SOURCES } from "./pod-volumes.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const OPERATORS = ["Equal", "Exists"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const SECONDS_MAX = 2 ** 31 - 1;

/** What is wrong with a spec, old or new. */
export function podSpecErrors(spec: PodSpec): FieldError[] {
  const { containers = [], restartPolicy = "", dnsPolicy = "", nodeSelector = {}, tolerations = [] } = spec;
  return [
    ...volumeErrors(spec.volumes ?? []),
    ...(containers.length === 0 ? [required("spec.containers")] : []),
    ...containersErrors(spec),
    ...(RESTART_POLICIES.includes(restartPolicy) ? [] : [notSupported("spec.restartPolicy", restartPolicy, RESTART_POLICIES)]),
    ...(DNS_POLICIES.includes(dnsPolicy) ? [] : [notSupported("spec.dnsPolicy", dnsPolicy, DNS_POLICIES)]),
    ...validateLabels(nodeSelector, "spec.nodeSelector"),
    ...textErrors(spec),
    ...tolerations.flatMap((toleration, index) => tolerationErrors(toleration, `spec.tolerations[${index}]`)),
    ...deadlineErrors(spec.activeDeadlineSeconds),
  ];
}

/** What a Pod may not have from its beginning. */
export function podCreationErrors({ ephemeralContainers = [], nodeName = "", schedulingGates = [] }: PodSpec): FieldError[] {
  const placed = nodeName !== "" && schedulingGates.length > 0;
  return [
    ...(ephemeralContainers.length === 0 ? [] : [forbidden("spec.ephemeralContainers", "cannot be set on create")]),
    ...(placed ? [forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")] : []),
  ];
}

function textErrors(spec: PodSpec): FieldError[] {
  const rules: readonly (readonly [field: keyof PodSpec, rule: TextRule])[] = [
    ["serviceAccountName", dnsSubdomain],
    ["nodeName", dnsSubdomain],
    ["hostname", dnsLabel],
    ["subdomain", dnsLabel],
    ["priorityClassName", dnsSubdomain],
    ["schedulerName", qualifiedName],
  ];
  return rules.flatMap(([field, rule]) => {
    const value = spec[field] as string | undefined;
    return value === undefined ? [] : rule(value).map((detail) => invalid(`spec.${field}`, value, detail));
  });
}

function deadlineErrors(seconds: number | undefined): FieldError[] {
  const fits = seconds === undefined || (seconds >= 1 && seconds <= SECONDS_MAX);
  return fits ? [] : [invalid("spec.activeDeadlineSeconds", seconds, `must be between 1 and ${SECONDS_MAX}, inclusive`)];
}

function volumeErrors(volumes: readonly Volume[]): FieldError[] {
  const names = new Set<string>();
  return volumes.flatMap((volume, index) => {
    const field = `spec.volumes[${index}]`;
    const repeated = names.has(volume.name) ? [duplicate(`${field}.name`, volume.name)] : [];
    names.add(volume.name);
    const [, ...others] = VOLUME_SOURCES.filter((source) => volume[source] !== undefined);
    const surplus = others.map((source) => forbidden(`${field}.${source}`, "may not specify more than 1 volume type"));
    return [...nameErrors(volume.name, `${field}.name`), ...repeated, ...surplus];
  });
}

function tolerationErrors(
  { key = "", operator = "", value = "", effect = "", tolerationSeconds }: Toleration,
  field: string,
): FieldError[] {
  return [
    ...(key === "" ? [] : qualifiedName(key).map((detail) => invalid(`${field}.key`, key, detail))),
    ...(key === "" && operator !== "Exists"
      ? [invalid(`${field}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"')]
      : []),
    ...(tolerationSeconds !== undefined && effect !== "NoExecute"
      ? [invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
      : []),
    ...(operator === "" || OPERATORS.includes(operator) ? [] : [notSupported(`${field}.operator`, operator, OPERATORS)]),
    ...(operator === "Exists" && value !== ""
      ? [invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'")]
      : []),
    ...(effect === "" || EFFECTS.includes(effect) ? [] : [notSupported(`${field}.effect`, effect, EFFECTS)]),
  ];
}

const WHAT_MAY_CHANGE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** What is wrong with the change of a spec. */
export function podUpdateErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  const counts = (["containers", "initContainers"] as const).filter((sort) => (spec[sort] ?? []).length !== (old[sort] ?? []).length);
  if (counts.length > 0) return counts.map((sort) => forbidden(`spec.${sort}`, "pod updates may not add or remove containers"));
  const errors = [...deadlineUpdateErrors(spec, old), ...tolerationUpdateErrors(spec, old), ...gateUpdateErrors(spec, old)];
  if (errors.length > 0) return errors;
  return jsonEqual(withOldParts(spec, old), old) ? [] : [forbidden("spec", WHAT_MAY_CHANGE)];
}

function deadlineUpdateErrors({ activeDeadlineSeconds: next }: PodSpec, { activeDeadlineSeconds: before }: PodSpec): FieldError[] {
  if (before === undefined || next === before) return [];
  const field = "spec.activeDeadlineSeconds";
  if (next === undefined) return [invalid(field, null, "must not update from a positive integer to nil value")];
  return next < before ? [] : [invalid(field, next, "must be less than or equal to previous value")];
}

/** Only how long a taint is borne may change; taints may be added to those that are. */
function tolerationUpdateErrors({ tolerations: next = [] }: PodSpec, { tolerations: before = [] }: PodSpec): FieldError[] {
  const lasting = ({ tolerationSeconds: _seconds, ...rest }: Toleration) => rest;
  const kept = before.every((toleration) => next.some((candidate) => jsonEqual(lasting(candidate), lasting(toleration))));
  return kept ? [] : [forbidden("spec.tolerations", "existing toleration cannot be modified except its tolerationSeconds")];
}

function gateUpdateErrors({ schedulingGates: next = [] }: PodSpec, { schedulingGates: before = [] }: PodSpec): FieldError[] {
  const added = next.filter(({ name }) => !before.some((gate) => gate.name === name));
  return added.map(({ name }) => forbidden("spec.schedulingGates", `only deletion is allowed, but found new scheduling gate '${name}'`));
}

/** The new spec with everything that may change as it was. */
function withOldParts(spec: PodSpec, old: PodSpec): object {
  const gracious = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1;
  const free = {
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
    ...(gracious && { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds }),
  };
  const init = spec.initContainers && { initContainers: withOldImages(spec.initContainers, old.initContainers) };
  return { ...spec, ...free, ...init, containers: withOldImages(spec.containers, old.containers) };
}

function withOldImages(containers: readonly Container[] = [], old: readonly Container[] = []): readonly Container[] {
  return containers.map((container, index) => ({ ...container, image: old[index]?.image ?? "" }));
}
