import { groupOf, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf, type OwnedSpec } from "../../kinds/common.ts";
import { MANAGEMENT_GROUP } from "../../kinds/types.ts";
import type { Caller } from "../caller.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import { EVERYBODY, EVERYBODYS_GROUP, verbsOf } from "./object-permissions.ts";

/** An index of the callers who may create objects of a kind, according to the access rules of existing objects. Every create needs it. */
export interface Creators {
  /** `namespace` is "" for kinds without namespaces. */
  has(type: ResourceType, namespace: string, caller: Caller): boolean;
}

/**
 * Indexes the access rules of the stored objects of these kinds, and follows their changes.
 *
 * @example
 * createCreators(objects, [SHARED_SECRETS, TEAMS]).has(SHARED_SECRETS, "shop", jane);
 */
export function createCreators(objects: ManagedObjects, types: readonly ResourceType[]): Creators {
  /** The number of rules that let a subject create, by kind, namespace and name. */
  const rules = new Map<string, number>();
  const count = (object: KubeObject | undefined, by: 1 | -1) => {
    if (object === undefined) return;
    for (const place of placesOf(object)) {
      const left = (rules.get(place) ?? 0) + by;
      if (left === 0) rules.delete(place);
      else rules.set(place, left);
    }
  };
  for (const type of types) for (const object of objects.of(type)) count(object, 1);
  objects.onChange(types, ({ object, previous }) => {
    count(previous, -1);
    count(object, 1);
  });
  return {
    has(type, namespace, { subject, groups, teams }) {
      if (groupOf(type) !== MANAGEMENT_GROUP) return false;
      const at = (name: string) => rules.has(`${type.kind}/${namespace}/${name}`);
      if (groups.includes(EVERYBODYS_GROUP) && at(`user/${EVERYBODY}`)) return true;
      if (subject?.kind === "user" && at(`user/${subject.name}`)) return true;
      return [...teams].some((team) => at(`team/${team}`));
    },
  };
}

const NOWHERE: readonly string[] = [];

function placesOf(object: KubeObject): readonly string[] {
  const { kind, metadata } = object;
  const { access } = specOf<OwnedSpec>(object);
  if (access === undefined) return NOWHERE;
  return access
    .filter((rule) => verbsOf(rule, object).includes("create"))
    .flatMap(({ users = [], teams = [] }) => [...users.map((name) => `user/${name}`), ...teams.map((name) => `team/${name}`)])
    .map((name) => `${kind}/${metadata.namespace ?? ""}/${name}`);
}
