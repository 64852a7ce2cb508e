import type { KubeObject } from "../../kube/object/types.ts";
import type { PolicyRule } from "../../apiserver/access/authorization.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import type { Store, StoreEvent } from "../../apiserver/store/store.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP, ROLE_BINDINGS, ROLES } from "./resources.ts";

/** A subject to which a role is granted. */
export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  /** Namespace of a ServiceAccount. Default: that of the binding. */
  readonly namespace?: string;
}

/** The role that is granted. */
export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** A RoleBinding or ClusterRoleBinding. */
export interface Binding extends KubeObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

/** Grant of a binding to a user: the rules of its role, and its description for human readers. */
export interface Grant {
  readonly rules: readonly PolicyRule[];
  readonly reason: string;
}

/** All roles and bindings, indexed for look-ups. */
export interface Policy {
  /** Grants of a user in a namespace; "" for those that apply everywhere. Bindings whose role is missing grant nothing. */
  grantsOf(user: UserInfo, namespace: string): Iterable<Grant>;
  /** The rules of a role, seen from a namespace; undefined when there is none. */
  rulesOf(roleRef: Pick<RoleRef, "kind" | "name">, namespace: string): readonly PolicyRule[] | undefined;
  stop(): void;
}

/**
 * Creates a policy that follows a store: every lookup includes all earlier writes.
 *
 * @example
 * const policy = await followPolicy(store);
 * policy.rulesOf({ kind: "ClusterRole", name: "view" }, "");
 */
export async function followPolicy(store: Store): Promise<Policy> {
  const index = new PolicyIndex();
  const prefix = `/${RBAC_GROUP}/`;
  const present = await store.list({ prefix });
  for (const { object } of present.objects) index.put(object);
  const watch = await store.watch({ prefix, after: present.revision, onEvent: (event) => index.follow(event) });
  return {
    grantsOf: (user, namespace) => index.grantsOf(user, namespace),
    rulesOf: (roleRef, namespace) => index.rulesOf(roleRef, namespace),
    stop: () => watch.stop(),
  };
}

/** The user name of a ServiceAccount. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** One subject of one binding. */
interface Bound {
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly who: string;
}

class PolicyIndex {
  /** Rules by namespace and name; the namespace of ClusterRoles is "". */
  readonly #rules = new Map<string, readonly PolicyRule[]>();
  /** By namespace and subject, which requests look up, then by the name of the binding, which events replace. */
  readonly #bound = new Map<string, Map<string, Bound>>();

  follow({ type, object, previous }: StoreEvent): void {
    if (previous !== undefined) this.#drop(previous);
    if (type !== "deleted") this.put(object);
  }

  put(object: KubeObject): void {
    const { kind, metadata } = object;
    const namespace = metadata.namespace ?? "";
    if (kind === ROLES.kind || kind === CLUSTER_ROLES.kind) {
      this.#rules.set(`${namespace}/${metadata.name}`, (object["rules"] ?? []) as readonly PolicyRule[]);
    }
    if (!isBinding(object)) return;
    for (const subject of object.subjects ?? []) {
      const at = placeOf(namespace, subject);
      const bindings = this.#bound.get(at) ?? new Map<string, Bound>();
      if (bindings.has(metadata.name!)) continue;
      this.#bound.set(at, bindings.set(metadata.name!, { namespace, roleRef: object.roleRef, who: describe(namespace, object, subject) }));
    }
  }

  #drop(object: KubeObject): void {
    const { kind, metadata } = object;
    const namespace = metadata.namespace ?? "";
    if (kind === ROLES.kind || kind === CLUSTER_ROLES.kind) this.#rules.delete(`${namespace}/${metadata.name}`);
    if (!isBinding(object)) return;
    for (const subject of object.subjects ?? []) {
      const at = placeOf(namespace, subject);
      const bindings = this.#bound.get(at);
      bindings?.delete(metadata.name!);
      if (bindings?.size === 0) this.#bound.delete(at);
    }
  }

  *grantsOf({ name, groups }: UserInfo, namespace: string): Generator<Grant> {
    // A namespace comes from the path of a request and can be any text; with a slash, it could be mistaken for a part of a subject.
    for (const place of namespace === "" || namespace.includes("/") ? [""] : ["", namespace]) {
      const subjects = [`${place}/User/${name}`, ...groups.map((group) => `${place}/Group/${group}`)];
      for (const subject of subjects) {
        for (const bound of this.#bound.get(subject)?.values() ?? []) {
          const rules = this.rulesOf(bound.roleRef, bound.namespace);
          if (rules !== undefined) yield { rules, reason: bound.who };
        }
      }
    }
  }

  rulesOf({ kind, name }: Pick<RoleRef, "kind" | "name">, namespace: string): readonly PolicyRule[] | undefined {
    return this.#rules.get(`${kind === CLUSTER_ROLES.kind ? "" : namespace}/${name}`);
  }
}

function isBinding(object: KubeObject): object is Binding {
  return object.kind === ROLE_BINDINGS.kind || object.kind === CLUSTER_ROLE_BINDINGS.kind;
}

/** The key of a subject in a namespace. A ServiceAccount counts as a user. */
function placeOf(place: string, { kind, name, namespace = place }: Subject): string {
  return kind === "ServiceAccount" ? `${place}/User/${serviceAccountUser(namespace, name)}` : `${place}/${kind}/${name}`;
}

/** Describes a grant as Kubernetes' authorizer does; audit logs and `kubectl auth` show this text. */
function describe(place: string, { kind, metadata, roleRef }: Binding, subject: Subject): string {
  const own = place === "" ? `${metadata.name}` : `${metadata.name}/${place}`;
  const who = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace ?? place}` : subject.name;
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
  return `RBAC: allowed by ${kind} ${JSON.stringify(own)} of ${role} to ${subject.kind} ${JSON.stringify(who)}`;
}
