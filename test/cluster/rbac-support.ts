/**
 * Rules, roles, bindings, people and questions in few words, and the policy of objects.
 */
import { createRbacAuthorizer } from "../../src/cluster/rbac/authorize.ts";
import { followPolicy, type Binding } from "../../src/cluster/rbac/policy.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from "../../src/cluster/rbac/resources.ts";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import type { PolicyRule } from "../../src/apiserver/access/authorization.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { storeKey } from "../../src/apiserver/verbs/resource-context.ts";
import type { UserInfo } from "../../src/apiserver/types/user-info.ts";

export const rule = (verbs: string, groups: string, resources: string, names = ""): PolicyRule => ({
  verbs: verbs.split(","),
  apiGroups: groups.split(","),
  resources: resources.split(","),
  ...(names !== "" && { resourceNames: names.split(",") }),
});
export const paths = (verbs: string, urls: string): PolicyRule => ({ verbs: verbs.split(","), nonResourceURLs: urls.split(",") });

export const JANE: UserInfo = { name: "jane", groups: ["dev", "system:authenticated"] };
export const BOT: UserInfo = { name: "system:serviceaccount:shop:bot", groups: ["system:serviceaccounts", "system:serviceaccounts:shop"] };

export const role = (name: string, namespace: string, rules: readonly PolicyRule[]): KubeObject => ({
  ...(namespace === "" ? CLUSTER_ROLES : ROLES),
  metadata: { name, ...(namespace !== "" && { namespace }) },
  rules,
});

export function binding(name: string, namespace: string, ref: string, ...subjects: string[]): Binding {
  const [kind = "", roleName = ""] = ref.split("/");
  return {
    ...(namespace === "" ? CLUSTER_ROLE_BINDINGS : ROLE_BINDINGS),
    metadata: { name, ...(namespace !== "" && { namespace }) },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
    subjects: subjects.map((text) => {
      const [subjectKind = "", subjectName = "", subjectNamespace] = text.split("/");
      return { kind: subjectKind, name: subjectName, ...(subjectNamespace !== undefined && { namespace: subjectNamespace }) };
    }),
  };
}

const typeOf = ({ kind }: KubeObject) =>
  [ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS].find((type) => type.kind === kind) as ResourceType;
export const keyIn = (object: KubeObject) =>
  storeKey(typeOf(object), { namespace: object.metadata.namespace ?? "", name: object.metadata.name! });

export async function policyOf(...objects: readonly KubeObject[]) {
  const store = createMemoryStore();
  for (const object of objects) await store.create(keyIn(object), object);
  const policy = await followPolicy(store);
  return { store, policy, authorizer: createRbacAuthorizer(policy) };
}
