/**
 * Reads and checks the parameters of requests.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import type { DeletePreconditions } from "../../kube/object/cluster-client.ts";
import { invalid, notSupported, type FieldError } from "../types/field-error.ts";
import type { FieldValidation } from "../verbs/resource-context.ts";
import { bool, int64, listOf, objectOf, optional, text } from "../../schema/builders.ts";
import { badRequest, invalidObject } from "../types/status.ts";
import { PROPAGATION_POLICIES, type DeletionTerms, type PropagationPolicy } from "../verbs/write/delete-step.ts";
import type { ListRequest } from "../verbs/read/list.ts";
import type { WatchRequest } from "../verbs/watch/watch.ts";

const META = "meta.k8s.io/v1";
const FIELD_MANAGER_MAX = 128;

/** Reads the parameters of a list. @throws API_BAD_REQUEST if a number is malformed. */
export function readListRequest(query: URLSearchParams): ListRequest {
  if (query.size === 0) return {};
  const { limit } = readNumbers(query);
  return {
    ...readTexts(query, ["labelSelector", "fieldSelector", "continue", "resourceVersion", "resourceVersionMatch"]),
    ...readInitialEvents(query),
    ...(limit !== undefined && { limit }),
  };
}

/** Reads the numbers of a ListOptions, which are checked for every verb. */
function readNumbers(query: URLSearchParams) {
  return { limit: readInteger(query, "limit"), timeoutSeconds: readInteger(query, "timeoutSeconds") };
}

function readInitialEvents(query: URLSearchParams): { sendInitialEvents?: boolean } {
  const sendInitialEvents = readFlag(query, "sendInitialEvents");
  return sendInitialEvents === undefined ? {} : { sendInitialEvents };
}

/** Reads the parameters of a watch. @throws API_BAD_REQUEST if a number is malformed. */
export function readWatchRequest(query: URLSearchParams): WatchRequest {
  const { timeoutSeconds } = readNumbers(query);
  return {
    ...readTexts(query, ["labelSelector", "fieldSelector", "resourceVersion", "resourceVersionMatch"]),
    allowWatchBookmarks: readFlag(query, "allowWatchBookmarks") ?? false,
    ...readInitialEvents(query),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  };
}

/** Reads a boolean parameter: true if it is present, unless its value is "false" or "0"; undefined if it is absent. */
export function readFlag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text.toLowerCase() !== "false" && text !== "0";
}

function readTexts<Name extends string>(query: URLSearchParams, names: readonly Name[]): { [name in Name]?: string } {
  const given = names.filter((name) => (query.get(name) ?? "") !== "");
  return Object.fromEntries(given.map((name) => [name, query.get(name)])) as { [name in Name]?: string };
}

function readInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  if (/^-?[0-9]{1,15}$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax (parameter ${name})`);
}

/** Parameters of a write. */
export interface WriteParameters {
  readonly dryRun: boolean;
  /** Absent if the request names none. */
  readonly fieldManager?: string;
  readonly fieldValidation: FieldValidation;
}

/**
 * Reads the parameters of a write.
 *
 * @param kind The kind of the options for error messages, such as `CreateOptions`.
 * @throws API_INVALID when a parameter has an unsupported value.
 */
export function readWriteParameters(query: URLSearchParams, kind: string): WriteParameters {
  if (query.size === 0) return USUAL_WRITE;
  const manager = query.get("fieldManager") ?? "";
  const validation = query.get("fieldValidation") ?? "";
  const errors = [
    ...dryRunErrors(query.getAll("dryRun")),
    ...(["", "Ignore", "Warn", "Strict"].includes(validation)
      ? []
      : [notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"])]),
    ...(manager.length > FIELD_MANAGER_MAX ? [invalid("fieldManager", manager, `may not be more than ${FIELD_MANAGER_MAX} bytes`)] : []),
  ];
  if (errors.length > 0) throw invalidObject({ apiVersion: META, kind }, "", errors);
  return {
    dryRun: query.getAll("dryRun").includes("All"),
    fieldValidation: (validation || "Warn") as FieldValidation,
    ...(manager !== "" && { fieldManager: manager }),
  };
}

const USUAL_WRITE: WriteParameters = { dryRun: false, fieldValidation: "Warn" };

/** Reads the parameters of a patch. */
export function readPatchParameters(query: URLSearchParams): WriteParameters & { readonly force?: boolean } {
  const force = readFlag(query, "force");
  return { ...readWriteParameters(query, "PatchOptions"), ...(force !== undefined && { force }) };
}

function dryRunErrors(values: readonly string[]) {
  return values.every((value) => value === "All" || value === "") ? [] : [notSupported("dryRun", values, ["All"])];
}

/** Parameters of a DELETE. */
export interface DeleteParameters extends DeletionTerms {
  readonly preconditions: DeletePreconditions;
  readonly dryRun: boolean;
}

/** DeleteOptions in the body of a request. */
export const DELETE_OPTIONS = objectOf({
  gracePeriodSeconds: [1, optional(int64)],
  preconditions: [2, objectOf({ uid: [1, text], resourceVersion: [2, text] })],
  orphanDependents: [3, optional(bool)],
  propagationPolicy: [4, text],
  dryRun: [5, listOf(text)],
});

/**
 * Reads DeleteOptions from the body, or from the query if there is no body.
 *
 * @throws API_BAD_REQUEST when the body is not a DeleteOptions, API_INVALID when a field has an unsupported value.
 */
export function readDeleteParameters(query: URLSearchParams, body: unknown): DeleteParameters {
  const options = body === undefined ? fromQuery(query) : body;
  if (!isRecord(options)) throw badRequest("the body of a DELETE must be a DeleteOptions object");
  const { kind = "DeleteOptions", dryRun = [], preconditions = {} } = options;
  if (kind !== "DeleteOptions") throw badRequest(`${String(kind)} cannot be handled as a DeleteOptions`);
  const values = Array.isArray(dryRun) ? dryRun.map(String) : [String(dryRun)];
  const errors = [...dryRunErrors(values), ...policyErrors(options)];
  if (errors.length > 0) throw invalidObject({ apiVersion: META, kind: "DeleteOptions" }, "", errors);
  return { ...readTerms(options), preconditions: readPreconditions(preconditions), dryRun: values.includes("All") };
}

function policyErrors({ propagationPolicy: policy, orphanDependents }: Record<string, unknown>): FieldError[] {
  if (policy === undefined || policy === null) return [];
  const known: readonly unknown[] = PROPAGATION_POLICIES;
  const both = orphanDependents !== undefined && orphanDependents !== null;
  return [
    ...(known.includes(policy) ? [] : [notSupported("propagationPolicy", policy, PROPAGATION_POLICIES)]),
    ...(both ? [invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")] : []),
  ];
}

/** Null is equivalent to an absent field. */
function readTerms({ propagationPolicy, orphanDependents, gracePeriodSeconds }: Record<string, unknown>): DeletionTerms {
  const orphan = orphanDependents ?? undefined;
  const seconds = gracePeriodSeconds ?? undefined;
  if (orphan !== undefined && typeof orphan !== "boolean") throw badRequest("orphanDependents of a DeleteOptions must be true or false");
  if (seconds !== undefined && !isInteger(seconds)) throw badRequest("gracePeriodSeconds of a DeleteOptions must be an integer");
  return {
    ...(typeof propagationPolicy === "string" && { propagationPolicy: propagationPolicy as PropagationPolicy }),
    ...(orphan !== undefined && { orphanDependents: orphan }),
    ...(seconds !== undefined && { gracePeriodSeconds: seconds }),
  };
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  return {
    ...readTexts(query, ["propagationPolicy"]),
    orphanDependents: readFlag(query, "orphanDependents"),
    gracePeriodSeconds: readInteger(query, "gracePeriodSeconds"),
    dryRun: query.getAll("dryRun").filter((value) => value !== ""),
  };
}

function readPreconditions(value: unknown): DeletePreconditions {
  const { uid, resourceVersion } = isRecord(value) ? value : {};
  return { ...(typeof uid === "string" && { uid }), ...(typeof resourceVersion === "string" && { resourceVersion }) };
}
