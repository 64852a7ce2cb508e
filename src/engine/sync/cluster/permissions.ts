/**
 * Permissions that a configuration needs on both clusters, and a check of them.
 *
 * @module
 */
import type { ClusterClient } from "../../../kube/object/cluster-client.ts";
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  EVENTS,
  groupOf,
  LEASES,
  NAMESPACES,
  SERVICES,
  type ResourceType,
} from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { sourceSide, targetSide } from "../../reconcile/references/reference-copy.ts";
import type { ReferenceRules } from "../../reconcile/references/reference-rules.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import type { Translator } from "../../translate/translator.ts";

/** One verb on one kind, as a role grants it. */
export interface Permission {
  readonly side: "tenant" | "host";
  readonly verb: "get" | "list" | "watch" | "create" | "update" | "delete";
  readonly resource: ResourceType;
  /** Namespace of the objects; "" for all namespaces. */
  readonly namespace: string;
  /** Name of the one object that the verb applies to. If omitted, it applies to every object. */
  readonly name?: string;
  /**
   * False if everything else works without it, or if a role may grant it in another form that cannot be checked: for each
   * name, or in namespaces that are not known beforehand.
   */
  readonly required: boolean;
}

/** Input from which the permissions follow. An engine is one. */
export interface PermissionOptions {
  readonly rules: readonly Pick<Rules, "kind" | "enabled" | "decidesBackends">[];
  readonly references?: Pick<ReferenceRules, "kinds"> | undefined;
  readonly translator: Pick<Translator, "targetNamespaces" | "hostNamespace" | "vcluster">;
}

type Verb = Permission["verb"];

/**
 * Returns the permissions that a syncer needs with these rules, in the order in which it needs them.
 *
 * @example
 * const engine = await createEngine({ config, vcluster });
 * requiredPermissions(engine).map(({ side, verb, resource }) => `${verb} ${resource.plural} on the ${side}`);
 */
export function requiredPermissions({ rules, references, translator }: PermissionOptions): readonly Permission[] {
  const read = [...new Set([...rules.map(({ kind }) => kind.resource), SERVICES])];
  const decides = rules.some(({ enabled, decidesBackends }) => enabled && decidesBackends === true);
  const copied = rules.filter(({ enabled }) => enabled).map(({ kind }) => kind);
  const written = copied.map(({ resource }) => resource);
  const targets = hostNamespaces(translator);
  const own = [translator.vcluster.namespace];
  const kubeSystem = { verb: "get", resource: NAMESPACES, namespace: "", name: "kube-system", required: false } as const;
  return [
    { side: "tenant", ...kubeSystem },
    { side: "host", ...kubeSystem },
    ...read.flatMap((resource) => [
      ...permissions("tenant", ["list", "watch"], { resource, namespaces: ALL }),
      ...permissions("host", ["list", "watch"], { resource, namespaces: targets.followed }),
    ]),
    ...written.flatMap((resource) => [
      ...permissions("tenant", ["get", "update"], { resource, namespaces: ALL }),
      ...permissions("host", ["create", "update", "delete"], { resource, namespaces: targets.written, required: targets.known }),
    ]),
    // The copy is read before a slice made from it is changed or deleted, and a replacement before the object that it replaces is deleted.
    ...(decides ? [ENDPOINTS, ENDPOINT_SLICES] : []).flatMap((resource) =>
      permissions("host", ["get"], { resource, namespaces: targets.written, required: targets.known }),
    ),
    ...(copied.some(({ besideService }) => besideService) ? serviceReads(written, targets) : []),
    ...(references?.kinds ?? []).flatMap((kind) => referencePermissions(kind, targets)),
    ...((references?.kinds ?? []).some(({ direction }) => direction === "toTenant")
      ? permissions("tenant", ["get"], { resource: NAMESPACES, namespaces: ALL, required: false })
      : []),
    ...permissions("tenant", ["create"], { resource: EVENTS, namespaces: ALL, required: false }),
    ...permissions("host", ["create"], { resource: EVENTS, namespaces: own, required: false }),
  ];
}

/**
 * Returns the additional permissions that a syncer needs to take part in an election.
 *
 * @example
 * electionPermissions({ namespace: "vc-blue", name: "endpoint-sync-blue" }).map(({ verb }) => verb); // ["create", "get", "update"]
 */
export function electionPermissions({ namespace, name }: { namespace: string; name: string }): readonly Permission[] {
  const common = { side: "host", resource: LEASES, namespace, required: true } as const;
  return [{ ...common, verb: "create" }, ...(["get", "update"] as const).map((verb) => ({ ...common, verb, name }))];
}

const ALL = [""];

interface Targets {
  readonly followed: readonly string[];
  /** Namespaces in which copies can be made. Without the virtual cluster's own namespace if only mapped namespaces are synced. */
  readonly written: readonly string[];
  /** False if the configuration does not name the namespaces. */
  readonly known: boolean;
}

function hostNamespaces(translator: PermissionOptions["translator"]): Targets {
  const namespaces = translator.targetNamespaces();
  if (namespaces === "all") return { followed: ALL, written: ALL, known: false };
  // No namespace is named "", so it translates to the host namespace of all namespaces without a mapping.
  const rest = translator.hostNamespace("");
  const written = namespaces.filter((namespace) => namespace !== translator.vcluster.namespace || namespace === rest);
  return { followed: namespaces.length === 1 ? namespaces : ALL, written, known: true };
}

/** Returns the permissions for live reads of the Service that decides whether a copy is created or deleted. */
function serviceReads(written: readonly ResourceType[], targets: Targets): Permission[] {
  const tenant = written.includes(SERVICES) ? [] : permissions("tenant", ["get"], { resource: SERVICES, namespaces: ALL });
  return [...tenant, ...permissions("host", ["get"], { resource: SERVICES, namespaces: targets.written, required: targets.known })];
}

/** Returns the permissions for one kind. Reads may be granted name by name, which cannot be checked before the names are known. */
function referencePermissions(kind: ReferenceRules["kinds"][number], targets: Targets): readonly Permission[] {
  const { resource } = kind;
  const [from, to] = [sourceSide({ kind }), targetSide({ kind })];
  const places = (side: "tenant" | "host", namespaces: readonly string[]) => ({
    resource,
    namespaces: side === "tenant" ? ALL : namespaces,
  });
  return [
    ...permissions(from, ["get", "list", "watch"], { ...places(from, targets.followed), required: false }),
    // A copy that no cache shows is read before it counts as gone.
    ...permissions(to, ["get", "list", "watch"], { ...places(to, targets.followed), required: false }),
    ...permissions(to, ["create", "update", "delete"], { ...places(to, targets.written), required: to === "tenant" || targets.known }),
  ];
}

interface Place {
  readonly resource: ResourceType;
  readonly namespaces: readonly string[];
  readonly required?: boolean;
}

function permissions(side: Permission["side"], verbs: readonly Verb[], { resource, namespaces, required = true }: Place): Permission[] {
  return namespaces.flatMap((namespace) => verbs.map((verb) => ({ side, verb, resource, namespace, required })));
}

const ACCESS_REVIEWS: ResourceType = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
};

/**
 * Checks whether a cluster allows something, with a SelfSubjectAccessReview, which every user may create.
 *
 * @throws API_… when the cluster does not respond.
 */
export async function isAllowed(client: Pick<ClusterClient, "create">, permission: Permission): Promise<boolean> {
  const { verb, resource, namespace, name } = permission;
  const attributes = { verb, group: groupOf(resource), resource: resource.plural, ...(namespace && { namespace }), ...(name && { name }) };
  const review: KubeObject = { ...ACCESS_REVIEWS_TYPE, metadata: {}, spec: { resourceAttributes: attributes } };
  const { status } = (await client.create(ACCESS_REVIEWS, review)) as { status?: { allowed?: boolean } };
  return status?.allowed === true;
}

const ACCESS_REVIEWS_TYPE = { apiVersion: ACCESS_REVIEWS.apiVersion, kind: ACCESS_REVIEWS.kind };

/**
 * Describes a permission in words, with the remedy if it is missing.
 *
 * @example
 * describePermission(electionPermissions({ namespace: "vc-blue", name: "x" })[0]);
 * // 'create leases.coordination.k8s.io in namespace "vc-blue" of the host cluster: grant verb "create" on resource "leases" of API group "coordination.k8s.io" in that namespace to the user of the host kubeconfig'
 */
export function describePermission({ side, verb, resource, namespace, name }: Permission): string {
  const group = groupOf(resource);
  const what = group === "" ? resource.plural : `${resource.plural}.${group}`;
  const one = name === undefined ? "" : ` "${name}"`;
  const [where, there] = placeOf(resource, namespace);
  const remedy = `grant verb "${verb}" on resource "${resource.plural}" of API group "${group}"${there} to the user of the ${side} kubeconfig`;
  return `${verb} ${what}${one}${where} of the ${side} cluster: ${remedy}`;
}

function placeOf({ namespaced }: ResourceType, namespace: string): readonly [where: string, there: string] {
  if (!namespaced) return ["", " by a ClusterRole"];
  return namespace === "" ? [" in all namespaces", " by a ClusterRole"] : [` in namespace "${namespace}"`, " in that namespace"];
}
