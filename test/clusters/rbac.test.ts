import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { authorize, createRbacAuthorizer } from "../../src/clusters/rbac/authorize.ts";
import { missingRules } from "../../src/clusters/rbac/escalation.ts";
import { followPolicy } from "../../src/clusters/rbac/policy.ts";
import type { Binding } from "../../src/clusters/rbac/policy.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from "../../src/clusters/rbac/resources.ts";
import { ruleAllows, simpleRuleCount, simpleRules } from "../../src/clusters/rbac/rules.ts";
import type { ResourceType } from "../../src/object/resource.ts";
import type { KubeObject } from "../../src/object/types.ts";
import type { Attributes, PolicyRule } from "../../src/server/access/authorization.ts";
import { attributesOf, refusal } from "../../src/server/access/authorization.ts";
import { createMemoryStore } from "../../src/server/store/memory-store.ts";
import { parseTarget } from "../../src/server/http/request-target.ts";
import { storeKey } from "../../src/server/resource-context.ts";
import type { UserInfo } from "../../src/server/access/user-info.ts";

/** `verb group/resource[/subresource] [name]`, the core group being empty; or `verb /path`. */
function asked(text: string): Attributes {
  const [verb = "", what = "", name = ""] = text.split(" ");
  if (what.startsWith("//")) return { verb, path: what.slice(1) };
  const [group = "", resource = "", subresource = ""] = what.split("/");
  return { verb, group, version: "v1", resource, subresource, namespace: "shop", name };
}

const rule = (verbs: string, groups: string, resources: string, names = ""): PolicyRule => ({
  verbs: verbs.split(","),
  apiGroups: groups.split(","),
  resources: resources.split(","),
  ...(names !== "" && { resourceNames: names.split(",") }),
});
const paths = (verbs: string, urls: string): PolicyRule => ({ verbs: verbs.split(","), nonResourceURLs: urls.split(",") });

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
  ["* as a name, which is no pattern", rule("get", "", "pods", "*"), "get /pods web", false],
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
  ["a * in the middle, which is no pattern", paths("get", "/a/*/c"), "get //a/b/c", false],
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

const JANE: UserInfo = { name: "jane", groups: ["dev", "system:authenticated"] };
const BOT: UserInfo = { name: "system:serviceaccount:shop:bot", groups: ["system:serviceaccounts", "system:serviceaccounts:shop"] };
const ROOT: UserInfo = { name: "root", groups: ["system:masters"] };
const GET_PODS = rule("get", "", "pods");

const role = (name: string, namespace: string, rules: readonly PolicyRule[]): KubeObject => ({
  ...(namespace === "" ? CLUSTER_ROLES : ROLES),
  metadata: { name, ...(namespace !== "" && { namespace }) },
  rules,
});

function binding(name: string, namespace: string, ref: string, ...subjects: string[]): Binding {
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
const keyIn = (object: KubeObject) => storeKey(typeOf(object), { namespace: object.metadata.namespace ?? "", name: object.metadata.name! });

async function policyOf(...objects: readonly KubeObject[]) {
  const store = createMemoryStore();
  for (const object of objects) await store.create(keyIn(object), object);
  const policy = await followPolicy(store);
  return { store, policy, authorizer: createRbacAuthorizer(policy) };
}

const at = (namespace: string): Attributes => ({ ...asked("get /pods"), namespace }) as Attributes;

describe("a binding", () => {
  const grants: readonly { why: string; objects: readonly KubeObject[]; user: UserInfo; in: string; allowed: boolean }[] = [
    { why: "nobody gave anything", objects: [], user: JANE, in: "shop", allowed: false },
    { why: "a Role to a user in its namespace", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "shop", allowed: true }, // prettier-ignore
    { why: "a Role in another namespace", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "bank", allowed: false }, // prettier-ignore
    { why: "a Role in all namespaces at once", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "", allowed: false }, // prettier-ignore
    { why: "a Role that lives elsewhere", objects: [role("r", "bank", [GET_PODS]), binding("b", "shop", "Role/r", "User/jane")], user: JANE, in: "shop", allowed: false }, // prettier-ignore
    { why: "a Role to somebody else", objects: [role("r", "shop", [GET_PODS]), binding("b", "shop", "Role/r", "User/joe")], user: JANE, in: "shop", allowed: false }, // prettier-ignore
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
      why: "a role to nobody",
      objects: [role("c", "", [GET_PODS]), binding("b", "", "ClusterRole/c")],
      user: JANE,
      in: "shop",
      allowed: false,
    },
  ];
  test.each(grants)("$why: $allowed", async ({ objects, user, in: namespace, allowed }) => {
    expect((await policyOf(...objects)).authorizer.decide(user, at(namespace)).allowed).toBe(allowed);
  });

  test("to a user with a slash in his name gives nothing to others in a namespace that is spelt with his name", async () => {
    const odd = { ...binding("b", "shop", "ClusterRole/c"), subjects: [{ kind: "User", name: "User/jane" }] };
    const { authorizer } = await policyOf(role("c", "", [GET_PODS]), odd);
    expect(authorizer.decide(JANE, at("shop/User")).allowed).toBe(false);
    expect(authorizer.decide({ name: "User/jane", groups: [] }, at("shop")).allowed).toBe(true);
  });

  test("is told as the reason", async () => {
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

const NAMESPACES = ["shop", "bank"];
const pick = <T>(...items: readonly T[]) => fc.constantFrom(...items);
const some = (...items: readonly string[]) => fc.subarray([...items], { minLength: 1 });
const ruleOf = fc.oneof(
  fc.record({ verbs: some("get", "list", "*"), apiGroups: some("", "apps", "*"), resources: some("pods", "pods/log", "*/log", "*"), resourceNames: fc.subarray(["web", "db"]) }), // prettier-ignore
  fc.record({ verbs: some("get", "post", "*"), nonResourceURLs: some("/a", "/a/*", "/a/b", "*") }),
);
const roleOf = fc
  .record({ name: pick("r1", "r2"), namespace: pick("", ...NAMESPACES), rules: fc.array(ruleOf, { maxLength: 2 }) })
  .map(({ name, namespace, rules }) => role(name, namespace, rules));
const bindingOf = fc
  .record({
    name: pick("b1", "b2"),
    namespace: pick("", ...NAMESPACES),
    ref: pick("Role/r1", "ClusterRole/r1", "ClusterRole/r2"),
    subjects: fc.subarray(["User/jane", "Group/dev", "ServiceAccount/bot/shop", "ServiceAccount/bot", "User/joe"]),
  })
  .filter(({ namespace, ref }) => namespace !== "" || ref.startsWith("Cluster"))
  .map(({ name, namespace, ref, subjects }) => binding(name, namespace, ref, ...subjects));
const objectOf = fc.oneof(roleOf, bindingOf);
const askedFor: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({ verb: pick("get", "list"), group: pick("", "apps"), version: pick("v1"), resource: pick("pods", "secrets"), subresource: pick("", "log"), namespace: pick("", ...NAMESPACES), name: pick("", "web") }), // prettier-ignore
  fc.record({ verb: pick("get", "post"), path: pick("/a", "/a/", "/a/b", "/b") }),
);

/** Every binding against every subject, with nothing but the definition at hand. */
function naive(objects: readonly KubeObject[], user: UserInfo, attributes: Attributes): boolean {
  const namespace = "path" in attributes ? "" : attributes.namespace;
  const means = ({ kind, name, namespace: own }: { kind: string; name: string; namespace?: string }, where: string) => {
    if (kind === "Group") return user.groups.includes(name);
    return user.name === (kind === "User" ? name : `system:serviceaccount:${own ?? where}:${name}`);
  };
  return objects.some((object) => {
    const { roleRef, subjects, metadata } = object as Binding;
    const where = metadata.namespace ?? "";
    if (roleRef === undefined || (where !== "" && where !== namespace)) return false;
    if (!(subjects ?? []).some((subject) => means(subject, where))) return false;
    const home = roleRef.kind === "ClusterRole" ? "" : where;
    const found = objects.find((other) => "rules" in other && other.metadata.name === roleRef.name && (other.metadata.namespace ?? "") === home); // prettier-ignore
    return ((found?.["rules"] ?? []) as PolicyRule[]).some((one) => [...simpleRules(one)].some((simple) => ruleAllows(simple, attributes)));
  });
}

describe("the policy of a store", () => {
  test("decides as evaluating every rule does, after any history of writes", async () => {
    const step = fc.record({ object: objectOf, remove: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.nat({ max: 12 }),
        pick(JANE, BOT),
        fc.array(askedFor, { minLength: 1, maxLength: 6 }),
        async (steps, start, user, questions) => {
          // prettier-ignore
          const store = createMemoryStore();
          const present = new Map<string, KubeObject>();
          const write = async ({ object, remove }: { object: KubeObject; remove: boolean }) => {
            const key = keyIn(object);
            const stored = await store.get(key);
            if (remove && stored !== undefined) await store.delete(key, stored.revision);
            else if (stored !== undefined) await store.update(key, object, stored.revision);
            else if (!remove) await store.create(key, object);
            if (remove) present.delete(key);
            else present.set(key, object);
          };
          for (const one of steps.slice(0, start)) await write(one);
          const authorizer = createRbacAuthorizer(await followPolicy(store));
          for (const one of steps.slice(start)) await write(one);
          for (const question of questions) {
            expect(authorizer.decide(user, question).allowed).toBe(naive([...present.values()], user, question));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test("tells the rules that decide", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(objectOf, { selector: keyIn, maxLength: 8 }), askedFor, async (objects, question) => {
        const { authorizer } = await policyOf(...objects);
        const namespace = "path" in question ? "" : question.namespace;
        const rules = authorizer.rulesFor(JANE, namespace);
        expect(rules.some((one) => ruleAllows(one, question))).toBe(authorizer.decide(JANE, question).allowed);
      }),
      { numRuns: 200 },
    );
  });
});

describe("what is missing of a set of rules", () => {
  test("is nothing exactly when every request that it allows is allowed already", () => {
    fc.assert(
      fc.property(fc.array(ruleOf, { maxLength: 3 }), ruleOf, fc.array(askedFor, { maxLength: 10 }), (held, wanted, questions) => {
        const missing = missingRules(held, [wanted]);
        for (const question of questions) {
          const has = held.some((one) => ruleAllows(one, question));
          const lacks = missing.some((one) => ruleAllows(one, question));
          if (ruleAllows(wanted, question)) expect(has || lacks).toBe(true);
        }
        expect(missingRules([...held, ...missing], [wanted])).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    { why: "a verb", held: rule("get", "", "pods"), wanted: rule("get,list", "", "pods"), missing: [rule("list", "", "pods")] },
    {
      why: "everything, with parts of it in hand",
      held: rule("get", "", "pods"),
      wanted: rule("*", "*", "*"),
      missing: [rule("*", "*", "*")],
    },
    { why: "nothing, with everything in hand", held: rule("*", "*", "*"), wanted: rule("get", "apps", "pods/log", "web"), missing: [] },
    { why: "all objects, with one in hand", held: rule("get", "", "pods", "web"), wanted: rule("get", "", "pods"), missing: [rule("get", "", "pods")] }, // prettier-ignore
    { why: "a part, with the object in hand", held: rule("get", "", "pods"), wanted: rule("get", "", "pods/log"), missing: [rule("get", "", "pods/log")] }, // prettier-ignore
    {
      why: "nothing, with that part of everything in hand",
      held: rule("get", "", "*/log"),
      wanted: rule("get", "", "pods/log"),
      missing: [],
    },
    { why: "a path beyond a pattern", held: paths("get", "/a/*"), wanted: paths("get", "/a/b,/c"), missing: [paths("get", "/c")] },
    { why: "nothing of a narrower pattern", held: paths("get", "/a*"), wanted: paths("get", "/a/b*"), missing: [] },
  ])("is $why", ({ held, wanted, missing }) => {
    expect(missingRules([held], [wanted])).toEqual(missing);
  });

  test("is counted before it is compared", () => {
    fc.assert(
      fc.property(ruleOf, (one) => {
        expect(simpleRuleCount(one)).toBe([...simpleRules(one)].length);
      }),
    );
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
    expect(authorize(JANE, attributes, [])).toEqual({ allowed: false, reason: "" });
  });
});
