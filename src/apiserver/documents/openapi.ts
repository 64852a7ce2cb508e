/**
 * The OpenAPI v3 documents. Clients use them to validate objects before they write, and to explain kinds.
 *
 * @module
 */
import type { JsonObject } from "../../base/json.ts";
import { sha256Hex } from "../../base/digest.ts";
import { kindMarker, reference, schemaName, schemasOf } from "./openapi-schema.ts";
import { ALL_VERBS, type ResourceDefinition, type Verb } from "../types/resource-definition.ts";
import type { ObjectSchema } from "../../schema/schema.ts";
import { PATCH_TYPES } from "../verbs/write/patch.ts";

/** One published document. */
export interface OpenApiDocument {
  /** The path below `/openapi/v3/`: `api/v1` or `apis/group/version`. */
  readonly path: string;
  readonly text: string;
  /** Changes with the text. */
  readonly hash: string;
}

/** The documents of all group versions, in the order of the definitions. */
export function openApiDocuments(definitions: readonly ResourceDefinition[]): readonly OpenApiDocument[] {
  const versions = [...new Set(definitions.map(({ type }) => type.apiVersion))];
  return versions.map((apiVersion) => {
    const text = JSON.stringify(openApiOf(definitions.filter(({ type }) => type.apiVersion === apiVersion)));
    return { path: rootOf(apiVersion).slice(1), text, hash: sha256Hex(text).toUpperCase() };
  });
}

/** The index at `/openapi/v3` below `basePath`: the URL of each document, which changes with the document's content. */
export function openApiIndex(documents: readonly OpenApiDocument[], basePath = ""): object {
  const entries = documents.map(({ path, hash }) => [path, { serverRelativeURL: `${basePath}/openapi/v3/${path}?hash=${hash}` }] as const);
  return { paths: Object.fromEntries(entries) };
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function openApiOf(definitions: readonly ResourceDefinition[]): JsonObject {
  return {
    openapi: "3.0.0",
    info: { title: "endpoint-sync", version: "unversioned" },
    paths: Object.fromEntries(definitions.flatMap(pathsOf)),
    components: { schemas: schemasOf(definitions.flatMap((definition) => [definition, ...partsOf(definition)])) },
  };
}

/** The definitions of subresources that have their own kind. */
function partsOf({ computed = {}, views = {} }: ResourceDefinition): readonly ResourceDefinition[] {
  return [...Object.values(computed), ...Object.values(views)].map(({ definition }) => definition);
}

const text = (name: string, description: string) => ({ name, in: "query", description, schema: { type: "string", uniqueItems: true } });
const flag = (name: string, description: string) => ({ name, in: "query", description, schema: { type: "boolean", uniqueItems: true } });
const number = (name: string, description: string) => ({ name, in: "query", description, schema: { type: "integer", uniqueItems: true } });

const WRITE_PARAMETERS = [
  text("dryRun", "With All, the request is processed but nothing is stored."),
  text("fieldManager", "The manager that metadata.managedFields records for the write."),
  text("fieldValidation", "How to handle fields that the kind does not have: Ignore, Warn or Strict."),
];
const FORCE = flag("force", "Take over fields of other managers; for server-side apply only.");
const SELECTORS = [
  text("labelSelector", "Select only objects whose labels match."),
  text("fieldSelector", "Select only objects whose fields match."),
  text("resourceVersion", "The version to read, or the oldest acceptable one."),
];
const LIST_PARAMETERS = [
  ...SELECTORS,
  text("continue", "The continue token of the previous page."),
  number("limit", "Maximum number of objects in one page."),
  flag("watch", "Follow changes instead of listing."),
  flag("allowWatchBookmarks", "Send bookmarks, about one per minute."),
  number("timeoutSeconds", "Duration of the watch in seconds."),
];
const DELETE_PARAMETERS = [WRITE_PARAMETERS[0]!, text("propagationPolicy", "Background, Foreground or Orphan.")];

interface Operation {
  readonly method: "get" | "put" | "post" | "patch" | "delete";
  readonly verb: Verb;
  /** The value of `x-kubernetes-action`. */
  readonly action: "get" | "list" | "put" | "post" | "patch" | "delete" | "deletecollection";
  readonly parameters: readonly object[];
}

const PATCH: Operation = { method: "patch", verb: "patch", action: "patch", parameters: [...WRITE_PARAMETERS, FORCE] };
/** kubectl concludes from PATCH alone that the server validates writes of a kind, so kinds that can only be created have it too. */
const NOT_SERVED = { responses: { "405": { description: "Method Not Allowed: objects of this kind can only be created." } } };
const ON_OBJECT: readonly Operation[] = [
  { method: "get", verb: "get", action: "get", parameters: [] },
  { method: "put", verb: "update", action: "put", parameters: WRITE_PARAMETERS },
  PATCH,
];
const ON_WHOLE_OBJECT: readonly Operation[] = [
  ...ON_OBJECT,
  { method: "delete", verb: "delete", action: "delete", parameters: DELETE_PARAMETERS },
];
const ON_COLLECTION: readonly Operation[] = [
  { method: "get", verb: "list", action: "list", parameters: LIST_PARAMETERS },
  { method: "post", verb: "create", action: "post", parameters: WRITE_PARAMETERS },
  { method: "delete", verb: "deletecollection", action: "deletecollection", parameters: [...DELETE_PARAMETERS, ...SELECTORS] },
];
const ON_EVERYTHING = ON_COLLECTION.slice(0, 1);

function pathsOf(definition: ResourceDefinition): [string, JsonObject][] {
  const { type, strategy } = definition;
  const root = rootOf(type.apiVersion);
  const collection = `${root}/${type.namespaced ? "namespaces/{namespace}/" : ""}${type.plural}`;
  const parts = Object.keys(strategy.subresources ?? {});
  const paths: (readonly [path: string, operations: readonly Operation[]])[] = [
    [collection, ON_COLLECTION],
    [`${collection}/{name}`, ON_WHOLE_OBJECT],
    ...parts.map((part) => [`${collection}/{name}/${part}`, ON_OBJECT] as const),
  ];
  if (type.namespaced) paths.push([`${root}/${type.plural}`, ON_EVERYTHING]);
  const computed = Object.entries(definition.computed ?? {}).map(([part, one]): [string, JsonObject] => {
    const path = `${collection}/{name}/${part}`;
    return [path, pathItem(one.definition, path, ON_COLLECTION)];
  });
  const shown = Object.entries(definition.views ?? {}).map(([part, view]): [string, JsonObject] => {
    const path = `${collection}/{name}/${part}`;
    return [path, pathItem(view.definition, path, ON_OBJECT)];
  });
  return [
    ...paths.map(([path, operations]): [string, JsonObject] => [path, pathItem(definition, path, operations)]),
    ...computed,
    ...shown,
  ];
}

function pathItem(definition: ResourceDefinition, path: string, operations: readonly Operation[]): JsonObject {
  const { verbs = ALL_VERBS } = definition;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const served = operations.filter(({ verb }) => verbs.includes(verb));
  const announced = operations === ON_WHOLE_OBJECT && verbs.includes("create") && !verbs.includes("patch") ? [PATCH] : [];
  const entries = [
    ...served.map((operation) => [operation.method, operationOf(definition, operation)] as const),
    ...announced.map((operation) => [operation.method, { ...operationOf(definition, operation), ...NOT_SERVED }] as const),
  ];
  return { ...Object.fromEntries(entries), parameters: inPath };
}

function operationOf({ type, shape }: ResourceDefinition, { method, action, parameters }: Operation): JsonObject {
  const schema = reference(schemaName(type.apiVersion, action === "list" ? `${type.kind}List` : type.kind));
  const body = bodyOf(method, schema, shape);
  return {
    parameters,
    ...(body && { requestBody: body }),
    responses: { [method === "post" ? "201" : "200"]: { description: "OK", content: { "application/json": { schema } } } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kindMarker(type),
  };
}

function bodyOf(method: Operation["method"], schema: JsonObject, shape: ObjectSchema): JsonObject | undefined {
  if (method === "patch") {
    const types = Object.keys(PATCH_TYPES).filter(
      (type) => PATCH_TYPES[type as keyof typeof PATCH_TYPES] !== "strategic" || !isOpaque(shape),
    );
    return { required: true, content: Object.fromEntries(types.map((type) => [type, { schema: { type: "object" } }])) };
  }
  return method === "put" || method === "post" ? { required: true, content: { "*/*": { schema } } } : undefined;
}

/**
 * Reports whether a shape has opaque parts. Clients must not compute strategic merge patches from its schema, which does not describe how
 * lists in opaque parts are merged. If the document does not offer these patches, clients use their built-in types.
 */
function isOpaque({ fields }: ObjectSchema): boolean {
  return Object.values(fields).some((field) => field.type === "any" && field.opaque !== undefined);
}
