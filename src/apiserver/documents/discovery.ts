/**
 * Discovery documents: the groups and resources that an API server serves.
 *
 * @module
 */
import { sha256Hex } from "../../base/digest.ts";
import { groupOf } from "../../kube/object/resource.ts";
import { ALL_VERBS, type ResourceDefinition, type Verb } from "../types/resource-definition.ts";

const SUBRESOURCE_VERBS: readonly Verb[] = ["get", "patch", "update"];
const COMPUTED_VERBS = ["create"];

/** The conversion that clients request to receive all resources in one document. */
export const AGGREGATED = { g: "apidiscovery.k8s.io", v: "v2", as: "APIGroupDiscoveryList" } as const;
/** The media type of that document; clients read the header, not the body, to recognize it. */
export const AGGREGATED_TYPE = `application/json;g=${AGGREGATED.g};v=${AGGREGATED.v};as=${AGGREGATED.as}`;

/**
 * The document at `/api`. Without kinds in the core group, it lists no version, because clients treat a version without kinds as a failure.
 */
export function coreVersions(definitions: readonly ResourceDefinition[]): object {
  const versions = definitions.some(({ type }) => groupOf(type) === "") ? ["v1"] : [];
  return { kind: "APIVersions", versions, serverAddressByClientCIDRs: [] };
}

/** The document at `/apis`: all API groups. */
export function groupList(definitions: readonly ResourceDefinition[]): object {
  const groups = groupNames(definitions).map((name) => groupEntry(definitions, name));
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

/** The document at `/apis/GROUP`; undefined if the server has no such group. */
export function group(definitions: readonly ResourceDefinition[], name: string): object | undefined {
  if (name === "" || !groupNames(definitions).includes(name)) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(definitions, name) };
}

function groupNames(definitions: readonly ResourceDefinition[]): string[] {
  return [...new Set(definitions.map(({ type }) => groupOf(type)))].filter((name) => name !== "").sort();
}

function groupEntry(definitions: readonly ResourceDefinition[], name: string) {
  const ofGroup = definitions.filter(({ type }) => groupOf(type) === name).map(({ type }) => type.apiVersion);
  const versions = [...new Set(ofGroup)].map((groupVersion) => ({ groupVersion, version: versionOf(groupVersion) }));
  return { name, versions, preferredVersion: versions[0]! };
}

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.lastIndexOf("/") + 1);
}

/** The document at `/api/v1` or `/apis/GROUP/VERSION`; undefined if the server has no such version. */
export function resourceList(definitions: readonly ResourceDefinition[], apiVersion: string): object | undefined {
  const served = definitions.filter(({ type }) => type.apiVersion === apiVersion);
  if (served.length === 0) return undefined;
  const resources = served.flatMap((definition) => [resourceEntry(definition), ...subresourceEntries(definition)]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersion, resources };
}

function resourceEntry({ type, singular, shortNames, categories, verbs = ALL_VERBS }: ResourceDefinition) {
  return {
    name: type.plural,
    singularName: singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    storageVersionHash: Buffer.from(sha256Hex(`${type.apiVersion}/${type.kind}`), "hex")
      .subarray(0, 8)
      .toString("base64"),
  };
}

function subresourceEntries({ type, strategy, computed = {}, views = {}, verbs = ALL_VERBS }: ResourceDefinition) {
  const partVerbs = SUBRESOURCE_VERBS.filter((verb) => verbs.includes(verb));
  const entry = (name: string) => ({ name: `${type.plural}/${name}`, singularName: "", namespaced: type.namespaced });
  return [
    ...Object.keys(strategy.subresources ?? {}).map((name) => ({ ...entry(name), kind: type.kind, verbs: partVerbs })),
    ...Object.entries(computed).map(([name, { definition }]) => ({ ...entry(name), ...kindOf(definition), verbs: COMPUTED_VERBS })),
    ...Object.entries(views).map(([name, { definition }]) => ({ ...entry(name), ...kindOf(definition), verbs: SUBRESOURCE_VERBS })),
  ];
}

function kindOf({ type }: ResourceDefinition) {
  return { group: groupOf(type), version: versionOf(type.apiVersion), kind: type.kind };
}

/** The aggregated discovery document at `/api` (core group only) or `/apis` (all other groups). */
export function aggregated(definitions: readonly ResourceDefinition[], { core }: { readonly core: boolean }): object {
  const names = core ? [""].filter((name) => definitions.some(({ type }) => groupOf(type) === name)) : groupNames(definitions);
  const items = names.map((name) =>
    aggregatedGroup(
      definitions.filter(({ type }) => groupOf(type) === name),
      name,
    ),
  );
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function aggregatedGroup(definitions: readonly ResourceDefinition[], name: string) {
  const apiVersions = [...new Set(definitions.map(({ type }) => type.apiVersion))];
  const versions = apiVersions.map((apiVersion) => ({
    version: versionOf(apiVersion),
    freshness: "Current",
    resources: definitions.filter(({ type }) => type.apiVersion === apiVersion).map(aggregatedResource),
  }));
  return { metadata: { ...(name !== "" && { name }), creationTimestamp: null }, versions };
}

function aggregatedResource(definition: ResourceDefinition) {
  const { type, singular, shortNames, categories, strategy, computed = {}, views = {}, verbs = ALL_VERBS } = definition;
  const responseKind = kindOf(definition);
  const partVerbs = SUBRESOURCE_VERBS.filter((verb) => verbs.includes(verb));
  const subresources = [
    ...Object.keys(strategy.subresources ?? {}).map((subresource) => ({ subresource, responseKind, verbs: partVerbs })),
    ...Object.entries(computed).map(([subresource, entry]) => ({
      subresource,
      responseKind: kindOf(entry.definition),
      verbs: COMPUTED_VERBS,
    })),
    ...Object.entries(views).map(([subresource, shown]) => ({
      subresource,
      responseKind: kindOf(shown.definition),
      verbs: SUBRESOURCE_VERBS,
    })),
  ];
  return {
    resource: type.plural,
    responseKind,
    scope: type.namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}
