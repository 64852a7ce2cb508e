import { jsonEqual } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import { isEngineError } from "../../base/errors.ts";
import { keyOf, sameKey } from "../../object/key.ts";
import type { ObjectKey } from "../../object/key.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import { createKeyWorker } from "../../clusters/controllers/controller.ts";
import type { KeyWorker } from "../../clusters/controllers/controller.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from "../../clusters/rbac/resources.ts";
import type { Registry } from "../../server/registry.ts";
import { SHARED_SECRETS, TEAMS } from "../kinds/types.ts";
import { derivedRoles, sourceOf } from "./derived-roles.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** What the controller works with. */
export interface DerivedRoleOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly logger: Logger;
}

const SOURCES: readonly ResourceType[] = [SHARED_SECRETS, TEAMS];

/**
 * Keeps Roles and RoleBindings in line with the access rules of objects, also with what happened while nothing ran. They are there to
 * be read; who may do what is decided by the rules themselves.
 */
export async function startDerivedRoles({ registry, objects, logger }: DerivedRoleOptions): Promise<KeyWorker> {
  const worker = createKeyWorker({ name: "derived-roles", logger, reconcile: (id) => reconcile(registry, objects, parseId(id)) });
  objects.onChange(({ object, previous }) => {
    const changed = object ?? previous;
    if (changed !== undefined && SOURCES.some(({ kind }) => kind === changed.kind)) worker.add(idOf(changed.kind, keyOf(changed)));
  });
  for (const type of SOURCES) for (const object of objects.of(type)) worker.add(idOf(type.kind, keyOf(object)));
  for (const type of [ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS]) {
    for (const derived of (await registry.list(type)).items) {
      const source = sourceOf(keyOf(derived));
      if (source !== undefined) worker.add(idOf(source.type.kind, source.key));
    }
  }
  return worker;
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

async function reconcile(registry: Registry, objects: ManagedObjects, { type, key }: Source): Promise<void> {
  const object = objects.get(type, key);
  const wanted = object === undefined ? [] : derivedRoles(object);
  const [roles, bindings] = type.namespaced ? [ROLES, ROLE_BINDINGS] : [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS];
  await bring(registry, roles, { source: { type, key }, wanted: wanted.map(({ role }) => role) });
  await bring(registry, bindings, { source: { type, key }, wanted: wanted.map(({ binding }) => binding) });
}

/** The roles, or the bindings, of one object. */
interface Brought {
  readonly source: Source;
  readonly wanted: readonly KubeObject[];
}

async function bring(registry: Registry, type: ResourceType, { source, wanted }: Brought): Promise<void> {
  const { items } = await registry.list(type, type.namespaced ? { namespace: source.key.namespace } : {});
  const present = new Map(items.filter((item) => isFrom(source, item)).map((item) => [item.metadata.name!, item]));
  for (const object of wanted) {
    const before = present.get(object.metadata.name!);
    present.delete(object.metadata.name!);
    if (before === undefined) await registry.create(type, source.key.namespace, object);
    else if (!sameContent(before, object)) await registry.update(type, keyOf(before), object);
  }
  for (const object of present.values()) await remove(registry, type, object);
}

function isFrom({ type, key }: Source, derived: KubeObject): boolean {
  const source = sourceOf(keyOf(derived));
  return source !== undefined && source.type === type && sameKey(source.key, key);
}

function sameContent(one: KubeObject, other: KubeObject): boolean {
  const content = ({ metadata, ...rest }: KubeObject) => [metadata.ownerReferences, rest["rules"], rest["subjects"], rest["roleRef"]];
  return jsonEqual(content(one), content(other));
}

/** The garbage collector may have been faster. */
async function remove(registry: Registry, type: ResourceType, object: KubeObject): Promise<void> {
  try {
    await registry.delete(type, keyOf(object), { preconditions: { uid: object.metadata.uid! } });
  } catch (error) {
    if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) throw error;
  }
}
