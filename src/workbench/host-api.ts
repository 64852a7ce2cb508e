/**
 * Validates objects as an API server would, without a cluster. Uses the validation of the embedded API server.
 *
 * @module
 */
import type { Code } from "../base/codes.ts";
import { isEngineError, type EngineError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { FieldError } from "../apiserver/types/field-error.ts";
import type { ResourceDefinition } from "../apiserver/types/resource-definition.ts";
import { invalidObject } from "../apiserver/types/status.ts";
import { checkCreation } from "../apiserver/verbs/stages.ts";
import { configMaps } from "../cluster/kinds/config-maps.ts";
import { endpointSlices } from "../cluster/kinds/endpoint-slices.ts";
import { endpoints } from "../cluster/kinds/endpoints.ts";
import { secrets } from "../cluster/kinds/secrets.ts";
import { createServices } from "../cluster/kinds/services.ts";
import type { Outcome } from "../engine/patch/types.ts";
import type { Patched } from "../engine/patcher.ts";
import { compilePath } from "../engine/path/path.ts";
import type { SyncedKind } from "../engine/reconcile/rules/rules.ts";
import type { ResourceType } from "../kube/object/resource.ts";
import type { KubeObject } from "../kube/object/types.ts";
import { decode } from "../schema/decode.ts";
import { objectToNode } from "../schema/object-node.ts";
import { Report } from "../schema/problem.ts";
import type { ObjectSchema } from "../schema/schema.ts";

/** Nothing is allocated while an object is only validated, so no randomness is used. */
const services = createServices({ fraction: () => 0 });
/** The kinds that a syncer writes and that an embedded cluster knows. */
const DEFINITIONS: readonly ResourceDefinition[] = [endpoints, endpointSlices, services, secrets, configMaps];

/**
 * The errors for which an API server would refuse an object, one per field; none if it accepts the object, or if the kind is unknown
 * here. A value of the wrong type is the only error in the list, and its field has no index, as in the responses of API servers. Kinds
 * that embedded clusters do not have are checked against their schema in `kinds`.
 *
 * @example
 * refusalsOf(endpointsWithHostname("DB-0"))[0]?.field; // "subsets[0].addresses[0].hostname"
 */
export function refusalsOf(object: KubeObject, kinds: readonly DescribedKind[] = []): readonly FieldError[] {
  const isMeant = (type: Pick<ResourceType, "apiVersion" | "kind">) => type.kind === object.kind && type.apiVersion === object.apiVersion;
  const definition = DEFINITIONS.find(({ type }) => isMeant(type));
  if (definition === undefined) return bodyErrors(object, kinds.find(({ resource }) => isMeant(resource))?.schema);
  try {
    return checkCreation(definition, object);
  } catch (error) {
    if (!isEngineError(error, "API_BAD_REQUEST")) throw error;
    const [, found, field = "", wanted] = /cannot unmarshal (.+) into Go struct field \w+\.(\S+) of type (\S+)$/.exec(error.message) ?? [];
    const message = found === undefined ? error.message : `Invalid type: found ${found}, expected ${wanted}`;
    return [{ reason: "FieldValueTypeInvalid", field, message }];
  }
}

/** A kind with the schema of its objects. A synced kind is one. */
type DescribedKind = Pick<SyncedKind, "resource" | "schema">;

/** Checks an object against its schema, except for metadata, which an API server completes. */
function bodyErrors(
  { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...body }: KubeObject,
  schema?: ObjectSchema,
): FieldError[] {
  if (schema === undefined) return [];
  const { metadata: _all, ...fields } = schema.fields;
  const report = new Report();
  decode({ ...schema, fields }, objectToNode(body, { file: "", report }), { report });
  const errors = report.problems.filter(({ severity }) => severity === "error");
  const reasonOf = (code: Code) => (code === "CONFIG_REQUIRED" ? "FieldValueRequired" : "FieldValueInvalid");
  return errors.map(({ code, field, message }) => ({ reason: reasonOf(code), field, message }));
}

/**
 * Formats refusals for users.
 *
 * @example
 * formatRefusals(refusals); // 'subsets[0].addresses[0].hostname: Invalid value: "DB-0": a lowercase RFC 1123 label must …'
 */
export function formatRefusals(refusals: readonly FieldError[]): string {
  return refusals.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
}

/** The last patch that may have written the refused value; undefined if there is none. */
export function patchOfRefusal({ field }: FieldError, { outcomes, object }: Pick<Patched, "outcomes" | "object">): Outcome | undefined {
  const bare = (place: string) => place.replace(/\[\d+\]/g, "");
  const isAt = (place: string) => [place, bare(place)].some((one) => one === field || one.startsWith(`${field}.`) || field.startsWith(one));
  const applied = outcomes.filter(({ outcome }) => outcome === "applied");
  return applied.findLast(({ path }) =>
    compilePath(path)
      .find(object)
      .some((match) => isAt(match.path)),
  );
}

/** Every address of Endpoints or of a slice, in order; none for other objects. */
export function addressesOf(object: KubeObject): readonly string[] {
  const items = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []);
  const records = (list: unknown) => items(list).filter(isRecord);
  const inSubsets = records(object["subsets"]).flatMap((subset) =>
    [...records(subset["addresses"]), ...records(subset["notReadyAddresses"])].map(({ ip }) => ip),
  );
  const inEndpoints = records(object["endpoints"]).flatMap(({ addresses }) => items(addresses));
  return [...inSubsets, ...inEndpoints].filter((address) => typeof address === "string");
}

/** Reports whether Endpoints or a slice had addresses, and has none left on the host. */
export function endsEmpty(tenant: KubeObject, { object }: Pick<Patched, "object">): boolean {
  return addressesOf(tenant).length > 0 && addressesOf(object).length === 0;
}

/** The error of an API server that refuses an object, API_INVALID; undefined if it accepts it. */
export function refusalOf(object: KubeObject): EngineError | undefined {
  const refusals = refusalsOf(object);
  const definition = DEFINITIONS.find(({ type }) => type.kind === object.kind);
  return refusals.length === 0 || definition === undefined
    ? undefined
    : invalidObject(definition.type, object.metadata.name ?? "", refusals);
}
