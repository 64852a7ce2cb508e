import { nextMacrotask } from "../../../base/clock.ts";
import { jsonEqual } from "../../../base/json.ts";
import type { Logger } from "../../../base/logger.ts";
import { isEngineError } from "../../../base/errors.ts";
import { keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { createKeyWorker, type KeyWorker } from "../../../cluster/controllers/key-worker.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from "../../../cluster/rbac/resources.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { SHARED_SECRETS, TEAMS } from "../../kinds/types.ts";
import { derivedRoles, derivedFrom, rulesOf } from "./derived-roles.ts";
import type { ManagedObjects } from "../managed-objects.ts";

/** Options of the controller. */
export interface DerivedRoleOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly logger: Logger;
}

const SOURCES: readonly ResourceType[] = [SHARED_SECRETS, TEAMS];

/**
 * Keeps Roles and RoleBindings in line with the access rules of objects, including changes made while it was not running. The Roles and
 * RoleBindings are read-only: requests are authorized by the access rules themselves.
 */
export async function startDerivedRoles({ registry, objects, logger }: DerivedRoleOptions): Promise<KeyWorker> {
  const names: DerivedNames = new Map();
  const worker = createKeyWorker({ name: "derived-roles", logger, reconcile: (id) => reconcile({ registry, objects, names }, id) });
  const unsubscribe = objects.onChange(SOURCES, ({ object, previous }) => {
    const changed = (object ?? previous)!;
    const id = idOf(changed.kind, keyOf(changed));
    // An object without rules has no roles, unless it had rules before.
    if (names.has(id) || (object !== undefined && rulesOf(object).length > 0)) worker.add(id);
  });
  for (const type of SOURCES) for (const object of objects.of(type)) worker.add(idOf(type.kind, keyOf(object)));
  for (const type of [ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS]) {
    for (const derived of (await registry.list(type)).items) {
      const source = derivedFrom(keyOf(derived));
      if (source === undefined) continue;
      const id = idOf(source.type.kind, source.key);
      const known = names.get(id) ?? new Set();
      names.set(id, known.add(derived.metadata.name!));
      worker.add(id);
    }
  }
  return {
    ...worker,
    stop() {
      unsubscribe();
      worker.stop();
    },
  };
}

interface Source {
  readonly type: ResourceType;
  readonly key: ObjectKey;
}

function idOf(kind: string, { namespace, name }: ObjectKey): string {
  return `${kind}/${namespace}/${name}`;
}

function parseId(id: string): Source {
  const [kind, namespace = "", name = ""] = id.split("/");
  return { type: SOURCES.find((type) => type.kind === kind)!, key: { namespace, name } };
}

/** Names that the roles and bindings of each object may have, so that they are not searched among all others. */
type DerivedNames = Map<string, Set<string>>;

interface Work extends Pick<DerivedRoleOptions, "registry" | "objects"> {
  readonly names: DerivedNames;
}

async function reconcile({ registry, objects, names }: Work, id: string): Promise<void> {
  const { type, key } = parseId(id);
  const object = objects.get(type, key);
  const wanted = object === undefined ? [] : derivedRoles(object);
  const own = new Map(wanted.map((derived) => [derived.role.metadata.name!, derived]));
  const before = names.get(id) ?? new Set();
  const known = new Set([...before, ...own.keys()]);
  names.set(id, known);
  const [roles, bindings] = type.namespaced ? [ROLES, ROLE_BINDINGS] : [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS];
  for (const name of known) {
    const place = { namespace: key.namespace, name };
    const derived = own.get(name);
    const mayBeThere = before.has(name);
    await bring(registry, roles, { key: place, wanted: derived?.role, mayBeThere });
    await bring(registry, bindings, { key: place, wanted: derived?.binding, mayBeThere });
    // A store in memory answers at once: without this pause, thousands of rules would block everything else.
    await nextMacrotask();
  }
  if (own.size === 0) names.delete(id);
  else names.set(id, new Set(own.keys()));
}

/** A role or binding as it should be, and whether it may exist already. */
interface Derived {
  readonly key: ObjectKey;
  readonly wanted: KubeObject | undefined;
  readonly mayBeThere: boolean;
}

async function bring(registry: Registry, type: ResourceType, { key, wanted, mayBeThere }: Derived): Promise<void> {
  const before = mayBeThere ? await find(registry, type, key) : undefined;
  if (wanted === undefined) return before && remove(registry, type, before);
  if (before === undefined) await registry.create(type, key.namespace, wanted);
  else if (!sameContent(before, wanted)) await registry.update(type, key, wanted);
}

async function find(registry: Registry, type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
  try {
    return await registry.get(type, key);
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}

function sameContent(one: KubeObject, other: KubeObject): boolean {
  const content = ({ metadata, ...rest }: KubeObject) => [metadata.ownerReferences, rest["rules"], rest["subjects"], rest["roleRef"]];
  return jsonEqual(content(one), content(other));
}

/** Deletes a role or binding, unless the garbage collector was faster. */
async function remove(registry: Registry, type: ResourceType, object: KubeObject): Promise<void> {
  try {
    await registry.delete(type, keyOf(object), { preconditions: { uid: object.metadata.uid! } });
  } catch (error) {
    if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) throw error;
  }
}
