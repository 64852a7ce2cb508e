/**
 * The reference page of the management API: its kinds with their fields, from the shapes that decode them.
 *
 * @module
 */
import { BASE_PATH } from "../../src/management/api/base-path.ts";
import { createConfigKind } from "../../src/management/kinds/config.ts";
import { createDirectClusterEndpointTokens } from "../../src/management/kinds/direct-cluster-endpoint-token.ts";
import { ACCESS_KEY_SHAPE } from "../../src/management/kinds/owned-access-key.ts";
import { PASSWORD_CHANGE } from "../../src/management/kinds/password-change.ts";
import { sharedSecrets } from "../../src/management/kinds/shared-secret.ts";
import { teams } from "../../src/management/kinds/team.ts";
import { MANAGEMENT_VERSION, OWNED_ACCESS_KEYS, USERS } from "../../src/management/kinds/types.ts";
import { USER_SHAPE } from "../../src/management/kinds/user.ts";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import { ALL_VERBS, type ResourceDefinition } from "../../src/apiserver/types/resource-definition.ts";
import type { ObjectSchema, Schema } from "../../src/schema/schema.ts";
import { code, GENERATED, prose, table } from "./markdown.ts";

interface Kind extends Pick<ResourceDefinition, "shape" | "verbs"> {
  readonly type: ResourceType;
  /** Where that is not where its plural says. */
  readonly path?: string;
}

const neverIssued = () => Promise.reject(new Error("a page issues no tokens"));

/** The kinds, in the order of the page. */
const MANAGEMENT_KINDS: readonly Kind[] = [
  sharedSecrets,
  teams,
  { type: OWNED_ACCESS_KEYS, shape: ACCESS_KEY_SHAPE },
  createDirectClusterEndpointTokens(neverIssued),
  createConfigKind(() => false),
  { type: USERS, shape: USER_SHAPE },
  { ...PASSWORD_CHANGE, path: "users/{name}/password" },
];

/** Parts with tables of their own: their name leads there. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  AccessScope: "[AccessScope](#accessscope)",
  ConfigStatus: "[Platform configuration](management-config.md)",
};

/** `reference/management-api.md`. */
export function managementApiPage(): string {
  const scope = shapeNamed("AccessScope");
  return `${GENERATED}
# Management API

This page lists the kinds of the API version \`${MANAGEMENT_VERSION}\`, served below \`${BASE_PATH}/apis/${MANAGEMENT_VERSION}\`. Every request carries
\`Authorization: Bearer KEY\`. Bodies are JSON or YAML; partial updates are JSON patches, merge patches, strategic merge patches or
applied configurations. \`kubectl explain\` shows the same descriptions. The guide [a first key](../guides/first-key.md) is a good place to start,
and [permissions](permissions.md) shows who may do what.

Objects have \`kind\`, \`apiVersion\`, \`metadata\`, \`spec\` and \`status\`, like any Kubernetes object. Names are unique within a
namespace, or within the kind if it has no namespaces; a \`generateName\` that is too long is truncated. A body for POST with a
\`metadata.resourceVersion\` is refused with 400, as in Kubernetes; other fields that only the server sets are ignored.

The server sets \`status\`. You can also read the status at \`…/status\` below the object's path, and write it only there, by a PUT or
PATCH that does not change \`spec\`. Administrators and users with an access rule that has \`status\` in \`subresources\` may do this. Unknown fields of a
status are dropped with a warning, and writers cannot set when a key was last used.

kubectl knows the short names \`ss\`, \`tm\`, \`oak\` and \`usr\`. Field selectors may name \`metadata.name\` and \`metadata.namespace\`;
\`spec.owner.user\` and \`spec.owner.team\` of SharedSecrets and Teams; \`spec.username\` of Teams and Users; \`spec.email\` and
\`spec.disabled\` of Users; \`spec.user\`, \`spec.team\`, \`spec.type\` and \`spec.disabled\` of keys.

${MANAGEMENT_KINDS.map(section).join("\n")}
## AccessScope

${prose(scope.about ?? "")}

${fieldTable(scope)}`;
}

function section({ type, shape, verbs = ALL_VERBS, path = pathOf(type) }: Kind): string {
  return `## ${type.kind}

${prose(shape.description)} Path ${code(path)}; verbs ${verbs.map(code).join(", ")}.

${fieldTable({ ...shape, fields: Object.fromEntries(Object.entries(shape.fields).filter(([name]) => name === "spec" || name === "status")) })}`;
}

function pathOf({ namespaced, plural }: ResourceType): string {
  return `${namespaced ? "namespaces/{namespace}/" : ""}${plural}`;
}

function fieldTable(shape: ObjectSchema): string {
  return table(["field", "type", "meaning"], rowsOf(shape, ""));
}

function rowsOf({ fields }: ObjectSchema, prefix: string): string[][] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner = innerOf(field);
    const link = ELSEWHERE[inner?.shape.name ?? ""];
    const meaning = prose(field.description || (inner?.shape.about ?? ""));
    const row = [code(path), code(typeText(field)), link === undefined ? meaning : `${meaning} See ${link}.`];
    return inner === undefined || link !== undefined ? [row] : [row, ...rowsOf(inner.shape, `${path}${inner.join}`)];
  });
}

function innerOf(shape: Schema): { readonly shape: ObjectSchema; readonly join: string } | undefined {
  if (shape.type === "object") return { shape, join: "." };
  return shape.type === "list" && shape.items.type === "object" ? { shape: shape.items, join: "[]." } : undefined;
}

function typeText(shape: Schema): string {
  if (shape.type === "list") return `${typeText(shape.items)}[]`;
  if (shape.type === "map") return `map of ${typeText(shape.values)}`;
  if (shape.type === "string" && shape.encodes !== undefined) return `string (${shape.encodes === "bytes" ? "base64" : shape.encodes})`;
  return shape.type;
}

function shapeNamed(name: string): ObjectSchema {
  const find = (shape: Schema): ObjectSchema | undefined => {
    const inner = innerOf(shape)?.shape;
    if (inner === undefined || inner.name === name) return inner;
    return Object.values(inner.fields).reduce<ObjectSchema | undefined>((found, field) => found ?? find(field), undefined);
  };
  return MANAGEMENT_KINDS.reduce<ObjectSchema | undefined>((found, { shape }) => found ?? find(shape), undefined)!;
}
