/**
 * Plans the action on the Secret of a connected cluster, given the SharedSecret that it follows. Pure.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import { SECRETS } from "../../kube/object/resource.ts";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { specOf } from "../kinds/common.ts";
import type { SharedSecretSpec } from "../kinds/shared-secret.ts";

/** Labels that mark a Secret as the copy of a SharedSecret. */
export const SOURCE_NAME_LABEL = "management.platform/sharedsecret-name";
export const SOURCE_NAMESPACE_LABEL = "management.platform/sharedsecret-namespace";

/** The state of both sides. */
export interface SecretSyncState {
  readonly source: ObjectKey;
  readonly target: ObjectKey;
  /** Undefined when there is none, or when it may not be read. */
  readonly shared: KubeObject | undefined;
  readonly secret: KubeObject | undefined;
  /** Whether a Secret that follows no SharedSecret may be taken over. */
  readonly adopt: boolean;
}

/** The action to take. */
export type SecretSyncPlan =
  | { readonly action: "none"; readonly why: "equal" | "absent" }
  | { readonly action: "create" | "update"; readonly object: KubeObject }
  | { readonly action: "delete"; readonly object: KubeObject }
  /** A Secret of another origin has this name. */
  | { readonly action: "refuse"; readonly why: string };

/**
 * Plans the action.
 *
 * @example
 * planSecretSync({ source, target, shared, secret: undefined, adopt: false }).action; // "create"
 */
export function planSecretSync(state: SecretSyncState): SecretSyncPlan {
  const { shared, secret, source } = state;
  const isGoing = typeof shared?.metadata.deletionTimestamp === "string";
  if (shared === undefined || isGoing) {
    return secret !== undefined && follows(secret, source) ? { action: "delete", object: secret } : { action: "none", why: "absent" };
  }
  if (secret === undefined) return { action: "create", object: wanted(state, undefined) };
  if (!follows(secret, source) && !(state.adopt && followsNothing(secret))) return { action: "refuse", why: strangerText(state, secret) };
  const object = wanted(state, secret);
  return sameContent(object, secret) ? { action: "none", why: "equal" } : { action: "update", object };
}

function labelsOf({ metadata }: KubeObject): StringMap {
  return metadata.labels ?? {};
}

function follows(secret: KubeObject, { namespace, name }: ObjectKey): boolean {
  const labels = labelsOf(secret);
  return labels[SOURCE_NAME_LABEL] === name && labels[SOURCE_NAMESPACE_LABEL] === namespace;
}

function followsNothing(secret: KubeObject): boolean {
  return labelsOf(secret)[SOURCE_NAME_LABEL] === undefined;
}

function strangerText({ target }: SecretSyncState, secret: KubeObject): string {
  const place = `${target.namespace}/${target.name}`;
  if (!followsNothing(secret))
    return `Secret ${place} follows another SharedSecret, ${labelsOf(secret)[SOURCE_NAMESPACE_LABEL]}/${labelsOf(secret)[SOURCE_NAME_LABEL]}`;
  return `Secret ${place} already exists and is not linked to a SharedSecret`;
}

/** The data come only from the source; other labels, annotations and the type stay unchanged. */
function wanted({ source, target, shared }: SecretSyncState, secret: KubeObject | undefined): KubeObject {
  const labels = { ...(secret && labelsOf(secret)), [SOURCE_NAME_LABEL]: source.name, [SOURCE_NAMESPACE_LABEL]: source.namespace };
  const data = specOf<SharedSecretSpec>(shared!).data ?? {};
  const { apiVersion, kind } = SECRETS;
  if (secret === undefined) return { apiVersion, kind, metadata: { ...target, labels }, type: "Opaque", data };
  return { ...secret, metadata: { ...secret.metadata, labels }, data };
}

function sameContent(one: KubeObject, other: KubeObject): boolean {
  return jsonEqual(labelsOf(one), labelsOf(other)) && jsonEqual(one["data"] ?? {}, other["data"] ?? {});
}
