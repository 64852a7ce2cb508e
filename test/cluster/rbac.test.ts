/**
 * Rules, the subjects of bindings, and the attributes of requests.
 */
import { describe, expect, test } from "vitest";
import { authorize } from "../../src/cluster/rbac/authorize.ts";
import { ruleAllows } from "../../src/cluster/rbac/rules.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { attributesOf, refusal, type Attributes, type PolicyRule } from "../../src/apiserver/access/authorization.ts";
import { parseTarget } from "../../src/apiserver/http/request-target.ts";
import type { UserInfo } from "../../src/apiserver/types/user-info.ts";
import { BOT, JANE, binding, paths, policyOf, role, rule } from "./rbac-support.ts";

/** `verb group/resource[/subresource] [name]`, the core group being empty; or `verb /path`. */
function asked(text: string): Attributes {
  const [verb = "", what = "", name = ""] = text.split(" ");
  if (what.startsWith("//")) return { verb, path: what.slice(1) };
  const [group = "", resource = "", subresource = ""] = what.split("/");
  return { verb, group, version: "v1", resource, subresource, namespace: "shop", name };
}

const ROWS: readonly (readonly [why: string, rule: PolicyRule, asked: string, allowed: boolean])[] = [
  ["the verb and resource that it names", rule("get", "", "pods"), "get /pods", true],
  ["one of several verbs", rule("get,list", "", "pods"), "list /pods", true],
  ["a verb that it does not name", rule("get", "", "pods"), "list /pods", false],
  ["a verb in capitals", rule("GET", "", "pods"), "get /pods", false],
  ["every verb with *", rule("*", "", "pods"), "deletecollection /pods", true],
  ["a verb of its own with *", rule("*", "", "pods"), "escalate /pods", true],
  ["no verb that only begins like one", rule("ge", "", "pods"), "get /pods", false],
  ["no prefix of verbs before a *", rule("delete*", "", "pods"), "deletecollection /pods", false],
  ["watch apart from list", rule("list", "", "pods"), "watch /pods", false],
  ["patch apart from update", rule("update", "", "pods"), "patch /pods", false],
  ["deletecollection apart from delete", rule("delete", "", "pods"), "deletecollection /pods", false],
  ["no verb at all", { verbs: [], apiGroups: ["*"], resources: ["*"] }, "get /pods", false],
  ["the group that it names", rule("get", "apps", "deployments"), "get apps/deployments", true],
  ["the same resource in another group", rule("get", "apps", "deployments"), "get extensions/deployments", false],
  ["the same resource in the core group", rule("get", "apps", "deployments"), "get /deployments", false],
  ["one of several groups", rule("get", "extensions,apps", "deployments"), "get apps/deployments", true],
  ["every group with *", rule("get", "*", "deployments"), "get apps/deployments", true],
  ["the core group with *", rule("get", "*", "pods"), "get /pods", true],
  ["a group only as a whole", rule("get", "authorization.k8s.io", "roles"), "get rbac.authorization.k8s.io/roles", false],
  ["no prefix of groups before a *", rule("get", "*.k8s.io", "roles"), "get rbac.k8s.io/roles", false],
  ["nothing without a group", { verbs: ["get"], resources: ["pods"] }, "get /pods", false],
  ["nothing without a resource", { verbs: ["get"], apiGroups: [""] }, "get /pods", false],
  ["one of several resources", rule("get", "", "pods,services"), "get /services", true],
  ["a resource that it does not name", rule("get", "", "pods"), "get /secrets", false],
  ["a resource only as a whole", rule("get", "", "pod"), "get /pods", false],
  ["every resource with *", rule("get", "", "*"), "get /pods", true],
  ["every part with *", rule("get", "", "*"), "get /pods/log", true],
  ["a part that it names", rule("get", "", "pods/log"), "get /pods/log", true],
  ["another part", rule("get", "", "pods/log"), "get /pods/exec", false],
  ["the object of a part", rule("get", "", "pods/log"), "get /pods", false],
  ["a part of an object", rule("get", "", "pods"), "get /pods/log", false],
  ["that part of every resource with */", rule("update", "apps", "*/scale"), "update apps/deployments/scale", true],
  ["another part with */", rule("update", "apps", "*/scale"), "update apps/deployments/status", false],
  ["the object itself with */", rule("update", "apps", "*/scale"), "update apps/deployments", false],
  ["that part in another group", rule("update", "apps", "*/scale"), "update /replicationcontrollers/scale", false],
  ["no part with a * behind the slash", rule("get", "", "pods/*"), "get /pods/log", false],
  ["the same part of another resource", rule("get", "", "pods/status"), "get /services/status", false],
  ["object and part, when it names both", rule("get", "", "pods,pods/log"), "get /pods", true],
  ["the object that it names", rule("get", "", "pods", "web"), "get /pods web", true],
  ["an object that it does not name", rule("get", "", "pods", "web"), "get /pods db", false],
  ["one of several objects", rule("get", "", "pods", "web,db"), "get /pods db", true],
  ["a list, when it names objects", rule("list", "", "pods", "web"), "list /pods", false],
  ["a list of the one object that it names", rule("list", "", "pods", "web"), "list /pods web", true],
  ["a creation, when it names objects", rule("create", "", "pods", "web"), "create /pods", false],
  ["a part of the object that it names", rule("get", "", "pods/log", "web"), "get /pods/log web", true],
  ["a part of another object", rule("get", "", "pods/log", "web"), "get /pods/log db", false],
  ["* as a name, which is not a pattern", rule("get", "", "pods", "*"), "get /pods web", false],
  ["any object without names", rule("get", "", "pods"), "get /pods web", true],
  ["any object with an empty list of names", { ...rule("get", "", "pods"), resourceNames: [] }, "get /pods web", true],
  ["everything with * everywhere", rule("*", "*", "*"), "delete apps/deployments/scale web", true],
  ["no path with * everywhere in resources", rule("*", "*", "*"), "get //metrics", false],
  ["the path that it names", paths("get", "/metrics"), "get //metrics", true],
  ["a path below", paths("get", "/metrics"), "get //metrics/cadvisor", false],
  ["another method on the path", paths("get", "/metrics"), "post //metrics", false],
  ["every method on the path with *", paths("*", "/metrics"), "post //metrics", true],
  ["paths below with a * at the end", paths("get", "/healthz/*"), "get //healthz/etcd", true],
  ["the path without its rest", paths("get", "/healthz/*"), "get //healthz", false],
  ["the rest may be empty", paths("get", "/healthz/*"), "get //healthz/", true],
  ["paths that begin so, with a * at the end", paths("get", "/health*"), "get //healthz/etcd", true],
  ["several * at the end", paths("get", "/healthz/**"), "get //healthz/etcd", true],
  ["a * in the middle, which is not a pattern", paths("get", "/a/*/c"), "get //a/b/c", false],
  ["every path with *", paths("get", "*"), "get //metrics", true],
  ["one of several paths", paths("get", "/a,/b"), "get //b", true],
  ["no resource with a path", paths("*", "*"), "get /pods", false],
  ["a path with a slash at the end, which is another one", paths("get", "/version"), "get //version/", false],
  ["a path that only begins like it", paths("get", "/version"), "get //versions", false],
];

describe("a rule", () => {
  test.each(ROWS.filter(([, , , allowed]) => allowed))("allows %s", (_why, policyRule, text) => {
    expect(ruleAllows(policyRule, asked(text))).toBe(true);
  });

  test.each(ROWS.filter(([, , , allowed]) => !allowed))("does not allow %s", (_why, policyRule, text) => {
    expect(ruleAllows(policyRule, asked(text))).toBe(false);
  });
});
const ROOT: UserInfo = { name: "root", groups: ["system:masters"] };
const GET_PODS = rule("get", "", "pods");

const at = (namespace: string): Attributes => ({ ...asked("get /pods"), namespace }) as Attributes;

describe("a binding", () => {
  const grants: readonly { why: string; objects: readonly KubeObject[]; user: UserInfo; in: string; allowed: boolean }[] = [
    { why: "nothing was granted", objects: [], user: JANE, in: "shop", allowed: false },
    { why: "a Role to a user in its namespace", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "shop", allowed: true }, // prettier-ignore
    { why: "a Role in another namespace", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "bank", allowed: false }, // prettier-ignore
    { why: "a Role in all namespaces at once", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "", allowed: false }, // prettier-ignore
    { why: "a Role that lives elsewhere", objects: [role("r", "bank", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "shop", allowed: false }, // prettier-ignore
    { why: "a Role to another user", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/joe")], user: JANE, in: "shop", allowed: false }, // prettier-ignore
    { why: "a Role to a group", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "Group/dev")], user: JANE, in: "shop", allowed: true }, // prettier-ignore
    { why: "a Role to a user who is called like a group", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/dev")], user: JANE, in: "shop", allowed: false }, // prettier-ignore
    { why: "a Role to a group that is called like a user", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "Group/jane")], user: JANE, in: "shop", allowed: false }, // prettier-ignore
    { why: "a ClusterRole in one namespace", objects: [role("c", "", [GET_PODS]), binding("b", "shop", "ClusterRole/c", "User/jane")], user: JANE, in: "shop", allowed: true }, // prettier-ignore
    { why: "a ClusterRole beyond the namespace of its RoleBinding", objects: [role("c", "", [GET_PODS]), binding("b", "shop", "ClusterRole/c", "User/jane")], user: JANE, in: "", allowed: false }, // prettier-ignore
    { why: "a ClusterRole everywhere, in a namespace", objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c", "User/jane")], user: JANE, in: "shop", allowed: true }, // prettier-ignore
    { why: "a ClusterRole everywhere, in all namespaces at once", objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c", "User/jane")], user: JANE, in: "", allowed: true }, // prettier-ignore
    { why: "a role that is missing", objects: [binding("b", "", "ClusterRole/c", "User/jane")], user: JANE, in: "shop", allowed: false },
    { why: "a Role when a ClusterRole of that name was meant", objects: [role("c", "shop", [GET_PODS]), binding("b", "shop", "ClusterRole/c", "User/jane")], user: JANE, in: "shop", allowed: false }, // prettier-ignore
    { why: "a role to a ServiceAccount", objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c", "ServiceAccount/bot/shop")], user: BOT, in: "bank", allowed: true }, // prettier-ignore
    { why: "a role to a ServiceAccount of the binding's own namespace", objects: [role("c", "", [GET_PODS]), binding("b", "shop", "ClusterRole/c", "ServiceAccount/bot")], user: BOT, in: "shop", allowed: true }, // prettier-ignore
    { why: "a role to a ServiceAccount of that name elsewhere", objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c", "ServiceAccount/bot/bank")], user: BOT, in: "shop", allowed: false }, // prettier-ignore
    { why: "a role to all ServiceAccounts of a namespace", objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c", "Group/system:serviceaccounts:shop")], user: BOT, in: "bank", allowed: true }, // prettier-ignore
    { why: "a role to the user that a ServiceAccount is", objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c", `User/${BOT.name}`)], user: BOT, in: "bank", allowed: true }, // prettier-ignore
    { why: "nothing to the masters, who need nothing", objects: [], user: ROOT, in: "", allowed: true },
    {
      why: "a role without subjects",
      objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c")],
      user: JANE,
      in: "shop",
      allowed: false,
    },
  ];
  test.each(grants)("$why: $allowed", async ({ objects, user, in: namespace, allowed }) => {
    expect((await policyOf(...objects)).authorizer.decide(user, at(namespace)).allowed).toBe(allowed);
  });

  test("to a user with a slash in the name grants nothing to others in a namespace that contains that name", async () => {
    const odd = { ...binding("b", "shop", "ClusterRole/c"), subjects: [{ kind: "User", name: "User/jane" }] };
    const { authorizer } = await policyOf(role("c", "", [GET_PODS]), odd);
    expect(authorizer.decide(JANE, at("shop/User")).allowed).toBe(false);
    expect(authorizer.decide({ name: "User/jane", groups: [] }, at("shop")).allowed).toBe(true);
  });

  test("is reported as the reason", async () => {
    const { authorizer } = await policyOf(
      role("r", "shop", [GET_PODS]),
      role("c", "", [GET_PODS]),
      binding("b", "shop", "Role/r", "Group/dev"),
      binding("d", "", "ClusterRole/c", "ServiceAccount/bot/shop"),
    );
    expect([authorizer.decide(JANE, at("shop")).reason, authorizer.decide(BOT, at("")).reason]).toEqual([
      'RBAC: allowed by RoleBinding "b/shop" of Role "r" to Group "dev"',
      'RBAC: allowed by ClusterRoleBinding "d" of ClusterRole "c" to ServiceAccount "bot/shop"',
    ]);
  });

  test("does not allow paths in a namespace", async () => {
    const reads = role("c", "", [paths("get", "/metrics")]);
    const inside = await policyOf(reads, binding("b", "shop", "ClusterRole/c", "User/jane"));
    const outside = await policyOf(reads, binding("b", "", "ClusterRole/c", "User/jane"));
    const allowed = [inside, outside].map(({ authorizer }) => authorizer.decide(JANE, { verb: "get", path: "/metrics" }).allowed);
    expect(allowed).toEqual([false, true]);
  });
});

describe("a request", () => {
  const WHAT: readonly (readonly [request: string, attributes: string])[] = [
    ["GET /api/v1/namespaces/shop/pods/web", "get /pods@shop web"],
    ["HEAD /api/v1/namespaces/shop/pods/web", "get /pods@shop web"],
    ["GET /api/v1/namespaces/shop/pods", "list /pods@shop"],
    ["GET /api/v1/pods", "list /pods@"],
    ["GET /api/v1/pods?watch=true", "watch /pods@"],
    ["GET /api/v1/pods?watch=0", "list /pods@"],
    ["GET /api/v1/watch/namespaces/shop/pods", "watch /pods@shop"],
    ["GET /api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dweb", "list /pods@shop web"],
    ["GET /api/v1/namespaces/shop/pods?watch=1&fieldSelector=metadata.name%3Dweb", "watch /pods@shop web"],
    ["GET /api/v1/namespaces/shop/pods?fieldSelector=metadata.name!%3Dweb", "list /pods@shop"],
    ["GET /api/v1/namespaces/shop/pods?fieldSelector=spec.nodeName%3Da,metadata.name%3D%3Dweb", "list /pods@shop web"],
    ["POST /api/v1/namespaces/shop/pods", "create /pods@shop"],
    ["PUT /api/v1/namespaces/shop/pods/web", "update /pods@shop web"],
    ["PATCH /api/v1/namespaces/shop/pods/web", "patch /pods@shop web"],
    ["PATCH /api/v1/namespaces/shop/pods/web/status", "patch /pods/status@shop web"],
    ["DELETE /api/v1/namespaces/shop/pods/web", "delete /pods@shop web"],
    ["DELETE /api/v1/namespaces/shop/pods", "deletecollection /pods@shop"],
    ["DELETE /api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dweb", "deletecollection /pods@shop"],
    ["GET /api/v1/namespaces/shop", "get /namespaces@shop shop"],
    ["GET /api/v1/namespaces", "list /namespaces@"],
    ["POST /api/v1/namespaces", "create /namespaces@"],
    ["PUT /api/v1/namespaces/shop/finalize", "update /namespaces/finalize@shop shop"],
    ["GET /apis/discovery.k8s.io/v1/endpointslices", "list discovery.k8s.io/endpointslices@"],
    ["GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system:basic", "get rbac.authorization.k8s.io/clusterroles@ system:basic"],
    ["GET /metrics", "get //metrics"],
    ["POST /apis", "post //apis"],
    ["GET /apis/discovery.k8s.io/v1", "get //apis/discovery.k8s.io/v1"],
  ];
  test.each(WHAT)("%s wants to %s", (request, wanted) => {
    const [method = "", url = ""] = request.split(" ");
    const [path = "", search = ""] = url.split("?");
    const attributes = attributesOf({ method, path, query: new URLSearchParams(search) }, parseTarget(path));
    if ("path" in attributes) return expect(`${attributes.verb} /${attributes.path}`).toBe(wanted);
    const { verb, group, resource, subresource, namespace, name } = attributes;
    const part = subresource === "" ? "" : `/${subresource}`;
    expect(`${verb} ${group}/${resource}${part}@${namespace} ${name}`.trim()).toBe(wanted);
  });

  test.each([
    [
      asked("get /pods/log web"),
      'pods "web" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "shop"',
    ],
    [{ ...asked("list apps/deployments"), namespace: "" } as Attributes, 'deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" at the cluster scope'], // prettier-ignore
    [asked("get //metrics"), 'forbidden: User "jane" cannot get path "/metrics"'],
  ])("that is refused is answered in Kubernetes' words: %#", (attributes, message) => {
    expect(refusal(JANE, attributes)).toMatchObject({ code: "API_FORBIDDEN", message });
    expect(authorize(attributes, [])).toEqual({ allowed: false, reason: "" });
  });
});
