import { isRecord } from "../../base/json.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { decodeObject } from "../types/objects/decode.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import type { WriteOptions } from "./resource-context.ts";
import { badRequest } from "../types/status.ts";

/** Options for reading a body. */
export interface BodyOptions extends WriteOptions {
  /** Creates the error for unknown fields with `fieldValidation=Strict`. Default: 400. */
  readonly strictError?: (why: string) => Error;
}

/**
 * Reads the object in the body of a request: checks its type, drops unknown fields, and puts the others into canonical order. Missing type
 * information is taken from the resource.
 *
 * @throws API_BAD_REQUEST when the body is not an object of this kind.
 */
export function readBody(definition: ResourceDefinition, body: unknown, options: BodyOptions): KubeObject {
  const { type, shape } = definition;
  if (!isRecord(body)) throw badRequest(`the object provided is unrecognized (must be of type ${type.kind}): expected a JSON object`);
  checkType(definition, body);
  const unknown: string[] = [];
  const object = decodeObject(
    shape,
    { ...body, apiVersion: type.apiVersion, kind: type.kind },
    {
      root: type.kind,
      onUnknownField: (path) => unknown.push(path),
      refuse: (why) => {
        throw badRequest(`${cannotHandle(definition)}: ${why}`);
      },
    },
  );
  if (unknown.length > 0) {
    reportFaults(
      definition,
      unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
      options,
    );
  }
  return object as KubeObject;
}

function cannotHandle({ type }: ResourceDefinition): string {
  const version = type.apiVersion.split("/").at(-1);
  return `${type.kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}`;
}

function checkType({ type }: ResourceDefinition, { apiVersion, kind }: Record<string, unknown>): void {
  if (apiVersion !== undefined && apiVersion !== "" && apiVersion !== type.apiVersion) {
    throw badRequest(`the API version in the data (${String(apiVersion)}) does not match the expected API version (${type.apiVersion})`);
  }
  if (kind !== undefined && kind !== "" && kind !== type.kind) {
    const version = JSON.stringify(type.apiVersion.split("/").at(-1));
    throw badRequest(`${String(kind)} in version ${version} cannot be handled as a ${type.kind}: the kinds differ`);
  }
}

/** Maximum number of unknown or duplicate fields that an error names. */
const FAULTS_TOLD_MAX = 100;

/**
 * Reports unknown and duplicate fields of a body as `fieldValidation` requires: not at all, as warnings, or as an error.
 *
 * @throws API_BAD_REQUEST with `fieldValidation=Strict`, when there are unknown or duplicate fields.
 */
export function reportFaults(definition: ResourceDefinition, texts: readonly string[], options: BodyOptions): void {
  const { fieldValidation = "Warn", warn, strictError = badRequest } = options;
  if (texts.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Warn") return texts.forEach((text) => warn?.(text));
  const more = texts.length > FAULTS_TOLD_MAX ? `, and ${texts.length - FAULTS_TOLD_MAX} more` : "";
  throw strictError(`${cannotHandle(definition)}: strict decoding error: ${texts.slice(0, FAULTS_TOLD_MAX).join(", ")}${more}`);
}

/**
 * Checks that the object in a request has the name and the namespace of the request's URL.
 *
 * @throws API_BAD_REQUEST when the object has no name, or another name or namespace.
 */
export function checkObjectName({ metadata }: KubeObject, key: ObjectKey): void {
  const { name = "", namespace = "" } = metadata;
  if (name === "") throw badRequest(`the name of the object (${key.name} based on URL) was undeterminable: name must be provided`);
  if (name !== key.name) throw badRequest(`the name of the object (${name}) does not match the name on the URL (${key.name})`);
  checkNamespace(namespace, key.namespace);
}

/**
 * Checks that the namespace of an object, if set, is that of the request. In cluster-scoped objects, any namespace is ignored, because
 * templates often add one. Source: the API server's write handlers.
 *
 * @throws API_BAD_REQUEST when the namespaces differ.
 */
export function checkNamespace(given: string, requested: string): void {
  if (given === "" || given === requested || requested === "") return;
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}
