/**
 * Who may do what, as it shows on the wire; part of the cluster suite. The administrator acts as others, so that any cluster
 * can be asked.
 */
import { describe, expect, test } from "vitest";
import type { RawSetting } from "./raw-setting.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const GROUP = "rbac.authorization.k8s.io";

const rule = (verbs: string, resources: string, resourceNames?: readonly string[]) => ({
  apiGroups: [""],
  verbs: verbs.split(" "),
  resources: resources.split(" "),
  ...(resourceNames && { resourceNames }),
});

interface Person {
  readonly name: string;
  send(method: string, path: string, options?: { body?: unknown; headers?: Readonly<Record<string, string>> }): ReturnType<RawSetting["raw"]["send"]>; // prettier-ignore
}

/** The cases; `setting` is called when a test runs. */
export function accessCases(setting: () => RawSetting): void {
  const person = (name: string, group?: string): Person => {
    const own = { "impersonate-user": name, ...(group !== undefined && { "impersonate-group": group }) };
    return { name, send: (method, path, { body, headers } = {}) => setting().raw.send(method, path, { body, headers: { ...headers, ...own } }) }; // prettier-ignore
  };
  const inNamespace = (plural: string) => `${RBAC}/namespaces/${setting().namespace}/${plural}`;

  /** Gives rules to a person in the namespace of the tests, and waits until the server knows. */
  const give = async (name: string, rules: readonly object[]): Promise<Person> => {
    const { raw, namespace } = setting();
    const user = `${namespace}-${name}`;
    expect((await raw.send("POST", inNamespace("roles"), { body: { metadata: { name }, rules } })).code).toBe(201);
    const roleRef = { apiGroup: GROUP, kind: "Role", name };
    const subjects = [{ kind: "User", name: user }];
    expect((await raw.send("POST", inNamespace("rolebindings"), { body: { metadata: { name }, roleRef, subjects } })).code).toBe(201);
    const [first] = rules as readonly { verbs: readonly string[]; apiGroups: readonly string[]; resources: readonly string[]; resourceNames?: readonly string[] }[]; // prettier-ignore
    const resourceAttributes = { namespace, verb: first!.verbs[0], group: first!.apiGroups[0], resource: first!.resources[0], name: first!.resourceNames?.[0] ?? "" }; // prettier-ignore
    await eventually(async () => {
      const { json } = await raw.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { body: { spec: { user, resourceAttributes } } }); // prettier-ignore
      return (json["status"]!["allowed"] as unknown) === true;
    });
    return person(user);
  };

  describe("access", () => {
    test("a user without permissions gets a Status with the message and details of Kubernetes", async () => {
      const { path, namespace } = setting();
      const { name, send } = person(`${namespace}-nobody`);
      const { code, json } = await send("GET", path("configmaps", "a"));
      expect([code, json]).toEqual([
        403,
        {
          kind: "Status",
          apiVersion: "v1",
          metadata: {},
          status: "Failure",
          message: `configmaps "a" is forbidden: User "${name}" cannot get resource "configmaps" in API group "" in the namespace "${namespace}"`,
          reason: "Forbidden",
          details: { name: "a", kind: "configmaps" },
          code: 403,
        },
      ]);
    });

    test.each([
      ["GET", "configmaps", "list", "configmaps is forbidden"],
      ["POST", "configmaps", "create", "configmaps is forbidden"],
      ["DELETE", "configmaps", "deletecollection", "configmaps is forbidden"],
      ["PUT", "configmaps/a", "update", 'configmaps "a" is forbidden'],
      ["PATCH", "configmaps/a", "patch", 'configmaps "a" is forbidden'],
      ["DELETE", "configmaps/a", "delete", 'configmaps "a" is forbidden'],
      ["GET", "configmaps?watch=1", "watch", "configmaps is forbidden"],
    ])("%s of %s without permission returns 403 and names the verb %s", async (method, what, verb, subject) => {
      const { path, namespace } = setting();
      const { name, send } = person(`${namespace}-nobody`);
      const { code, json } = await send(method, path(what), { ...(method !== "GET" && { body: {} }) });
      const text = `${subject}: User "${name}" cannot ${verb} resource "configmaps" in API group "" in the namespace "${namespace}"`;
      expect([code, json["message"]]).toEqual([403, text]);
    });

    test("a kind that is not served returns 403, not 404, without permission", async () => {
      const { namespace, raw } = setting();
      const { name, send } = person(`${namespace}-nobody`);
      expect((await send("GET", "/apis/example.com/v1/things")).json).toMatchObject({
        message: `things.example.com is forbidden: User "${name}" cannot list resource "things" in API group "example.com" at the cluster scope`,
        details: { group: "example.com", kind: "things" },
      });
      expect((await raw.send("GET", "/apis/example.com/v1/things")).code).toBe(404);
    });

    test("a path that is not a resource is forbidden, but discovery is not", async () => {
      const { namespace } = setting();
      const { name, send } = person(`${namespace}-nobody`);
      const { code, json } = await send("GET", "/metrics");
      expect([code, json]).toMatchObject([403, { message: `forbidden: User "${name}" cannot get path "/metrics"`, details: {} }]);
      for (const path of ["/api", "/apis", "/api/v1", `${RBAC}`, "/openapi/v3", "/version"])
        expect((await send("GET", path)).code).toBe(200);
    });

    test("a role allows its verbs on its resources in its namespace, and no more", async () => {
      const { path } = setting();
      const { send } = await give("reader", [rule("get list watch", "configmaps")]);
      expect((await send("GET", path("configmaps"))).code).toBe(200);
      expect((await send("GET", path("configmaps", "absent"))).code).toBe(404);
      expect((await send("GET", path("secrets"))).code).toBe(403);
      expect((await send("GET", "/api/v1/configmaps")).code).toBe(403);
      expect((await send("POST", path("configmaps"), { body: { metadata: { name: "b" } } })).code).toBe(403);
    });

    test("a role no longer applies once its binding is deleted", async () => {
      const { raw, path } = setting();
      const { send } = await give("briefly", [rule("list", "configmaps")]);
      await raw.send("DELETE", `${inNamespace("rolebindings")}/briefly`);
      await eventually(async () => (await send("GET", path("configmaps"))).code === 403);
    });

    test("resourceNames restrict a role, and allow lists that select such a name", async () => {
      const { path } = setting();
      const { send } = await give("one-object", [rule("get list watch", "configmaps", ["mine"])]);
      const codes = [
        await send("GET", path("configmaps", "mine")),
        await send("GET", path("configmaps", "other")),
        await send("GET", path("configmaps")),
        await send("GET", `${path("configmaps")}?fieldSelector=metadata.name%3Dmine`),
        await send("GET", `${path("configmaps")}?fieldSelector=metadata.name%3Dother`),
      ].map(({ code }) => code);
      expect(codes).toEqual([404, 403, 403, 200, 403]);
    });

    test("patch is a separate verb, and applying an absent object also needs create", async () => {
      const { raw, path } = setting();
      const { send } = await give("patcher", [rule("patch", "configmaps")]);
      const apply = (name: string, by: Person["send"]) =>
        by("PATCH", `${path("configmaps", name)}?fieldManager=test&force=true`, {
          body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "1" } },
          headers: APPLY,
        });
      const absent = await apply("access-applied", send);
      expect([absent.code, absent.json["message"]]).toEqual([403, expect.stringMatching(/"access-applied" is forbidden: User .* cannot create resource/)]); // prettier-ignore
      await raw.send("POST", path("configmaps"), { body: { metadata: { name: "access-applied" } } });
      expect((await apply("access-applied", send)).code).toBe(200);
      expect((await send("PATCH", path("configmaps", "access-applied"), { body: { data: { a: "2" } }, headers: MERGE })).code).toBe(200);
      expect((await send("PUT", path("configmaps", "access-applied"), { body: { metadata: { name: "access-applied" } } })).code).toBe(403);
    });

    test("users cannot write rules that they do not have, unless they may escalate", async () => {
      const manager = await give("role-manager", [rule("get", "configmaps"), { apiGroups: [GROUP], verbs: ["create", "update", "patch"], resources: ["roles"] }]); // prettier-ignore
      const make = (by: Person, name: string, rules: readonly object[]) =>
        by.send("POST", inNamespace("roles"), { body: { metadata: { name }, rules } });
      expect((await make(manager, "own", [rule("get", "configmaps")])).code).toBe(201);
      const { code, json } = await make(manager, "more", [rule("get list", "configmaps secrets")]);
      expect([code, json["reason"], json["details"]]).toEqual([403, "Forbidden", { name: "more", group: GROUP, kind: "roles" }]);
      const text = String(json["message"]);
      expect(text).toContain(`roles.${GROUP} "more" is forbidden: user "${manager.name}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n`); // prettier-ignore
      expect(text.split("\n").slice(1).sort()).toEqual([
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
      ]);
      const grow = { body: { rules: [rule("delete", "configmaps")] }, headers: MERGE };
      expect((await manager.send("PATCH", `${inNamespace("roles")}/own`, grow)).code).toBe(403);
      const label = { body: { metadata: { labels: { a: "b" } } }, headers: MERGE };
      expect((await manager.send("PATCH", `${inNamespace("roles")}/own`, label)).code).toBe(200);
      const escalator = await give("escalator", [{ apiGroups: [GROUP], verbs: ["create", "escalate"], resources: ["roles"] }]);
      await eventually(async () => (await make(escalator, "most", [rule("*", "*")])).code !== 403);
    });

    test("users cannot grant a role that they do not have, unless they may bind it", async () => {
      const bind = (by: Person, name: string, roleRef: object) =>
        by.send("POST", inNamespace("rolebindings"), { body: { metadata: { name }, roleRef: { apiGroup: GROUP, ...roleRef }, subjects: [{ kind: "User", name: "friend" }] } }); // prettier-ignore
      const binder = await give("binder", [rule("get", "pods"), { apiGroups: [GROUP], verbs: ["create"], resources: ["rolebindings"] }]);
      expect((await bind(binder, "given-own", { kind: "Role", name: "binder" })).code).toBe(201);
      expect((await bind(binder, "given-view", { kind: "ClusterRole", name: "view" })).json).toMatchObject({
        code: 403,
        reason: "Forbidden",
      });
      expect((await bind(binder, "given-absent", { kind: "Role", name: "absent" })).code).toBe(404);
      const viewer = { apiGroups: [GROUP], verbs: ["bind"], resources: ["clusterroles"], resourceNames: ["view"] };
      const giver = await give("giver", [viewer, { apiGroups: [GROUP], verbs: ["create"], resources: ["rolebindings"] }]);
      expect((await bind(giver, "bound-view", { kind: "ClusterRole", name: "view" })).code).toBe(201);
      expect((await bind(giver, "bound-edit", { kind: "ClusterRole", name: "edit" })).code).toBe(403);
      const { raw } = setting();
      await raw.send("POST", inNamespace("rolebindings"), {
        body: { metadata: { name: "others" }, roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: "edit" } },
      });
      const changer = await give("binding-changer", [{ apiGroups: [GROUP], verbs: ["patch"], resources: ["rolebindings"] }]);
      const patch = (body: object) => changer.send("PATCH", `${inNamespace("rolebindings")}/others`, { body, headers: MERGE });
      expect((await patch({ metadata: { labels: { a: "b" } } })).code).toBe(200);
      expect((await patch({ subjects: [{ kind: "User", name: changer.name }] })).code).toBe(403);
    });

    test.each([
      [
        "a changed roleRef",
        { roleRef: { apiGroup: GROUP, kind: "Role", name: "other" } },
        "roleRef: Invalid value",
        "cannot change roleRef",
      ],
      ["an unknown kind of role", { roleRef: { apiGroup: GROUP, kind: "Group", name: "r" } }, "roleRef.kind: Unsupported value", '"Role"'],
      [
        "a role of another API group",
        { roleRef: { apiGroup: "apps", kind: "Role", name: "r" } },
        "roleRef.apiGroup: Unsupported value",
        GROUP,
      ],
      ["an unknown kind of subject", { subjects: [{ kind: "Robot", name: "r" }] }, "subjects[0].kind: Unsupported value", '"Group"'],
      ["a subject without a name", { subjects: [{ kind: "User", name: "" }] }, "subjects[0].name: Required value", "Required"],
      ["a service account of another API group", { subjects: [{ kind: "ServiceAccount", apiGroup: "x", name: "a" }] }, "subjects[0].apiGroup: Unsupported value", ""], // prettier-ignore
    ])("a binding with %s returns 422", async (_why, change, field, more) => {
      const { raw } = setting();
      const roleRef = { apiGroup: GROUP, kind: "Role", name: "r" };
      await raw.send("POST", inNamespace("rolebindings"), { body: { metadata: { name: "checked" }, roleRef } });
      const { code, json } = await raw.send("PATCH", `${inNamespace("rolebindings")}/checked`, { body: change, headers: MERGE });
      expect([code, String(json["message"])]).toEqual([422, expect.stringContaining(field)]);
      expect(json["message"]).toContain(more);
    });

    test.each([
      ["without verbs", { apiGroups: [""], resources: ["pods"] }, "rules[0].verbs: Required value: verbs must contain at least one value"],
      ["without groups", { verbs: ["get"], resources: ["pods"] }, "rules[0].apiGroups: Required value: resource rules must supply at least one api group"], // prettier-ignore
      ["without resources", { verbs: ["get"], apiGroups: [""] }, "rules[0].resources: Required value: resource rules must supply at least one resource"], // prettier-ignore
      ["with URL paths in a namespace", { verbs: ["get"], nonResourceURLs: ["/a"] }, "namespaced rules cannot apply to non-resource URLs"],
    ])("a rule %s returns 422", async (_why, bad, message) => {
      const { raw } = setting();
      const { code, json } = await raw.send("POST", inNamespace("roles"), { body: { metadata: { name: "bad" }, rules: [bad] } });
      expect([code, String(json["message"])]).toEqual([422, expect.stringContaining(message)]);
    });

    test("every namespace has the default service account", async () => {
      const { raw, path } = setting();
      await eventually(async () => (await raw.send("GET", path("serviceaccounts", "default"))).code === 200);
    });

    test("the default roles exist, and edit does not allow updates of endpoints", async () => {
      const { raw } = setting();
      const rules = async (name: string) => (await raw.send("GET", `${RBAC}/clusterroles/${name}`)).json["rules"]!;
      const writes = (await rules("edit")).filter((one) => (one["resources"] as unknown as string[])?.includes("endpoints") && (one["verbs"] as unknown as string[]).includes("update")); // prettier-ignore
      expect(writes).toEqual([]);
      expect(await rules("cluster-admin")).toEqual([
        { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
        { verbs: ["*"], nonResourceURLs: ["*"] },
      ]);
      expect((await raw.send("GET", `${RBAC}/clusterrolebindings/cluster-admin`)).json["subjects"]).toEqual([
        { kind: "Group", apiGroup: GROUP, name: "system:masters" },
      ]);
    });

    test("users cannot impersonate others without permission", async () => {
      const { raw, namespace, path } = setting();
      const { name } = await give("impersonator", [rule("list", "configmaps")]);
      const { json } = await raw.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        body: { spec: { user: name, resourceAttributes: { verb: "impersonate", resource: "users", name: "jane" } } },
      });
      expect(json["status"]!["allowed"]).toBe(false);
      const account = { "impersonate-user": `system:serviceaccount:${namespace}:bot` };
      const { json: who } = await raw.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: {}, headers: account });
      expect(who["status"]!["userInfo"]).toMatchObject({
        username: `system:serviceaccount:${namespace}:bot`,
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
      });
      expect((await raw.send("GET", path("configmaps"), { headers: { "impersonate-group": "dev" } })).code).toBeGreaterThanOrEqual(400);
    });
  });

  describe("reviews", () => {
    const ask = (by: Person["send"], kind: string, spec: unknown) =>
      by("POST", `/apis/authorization.k8s.io/v1/${kind}`, { body: { spec } });
    const self = "selfsubjectaccessreviews";

    test("reviews report what the caller may do", async () => {
      const { namespace } = setting();
      const { send } = await give("asker", [rule("get list", "configmaps"), rule("get", "pods/log")]);
      const may = async (resourceAttributes: object) => (await ask(send, self, { resourceAttributes })).json["status"]!["allowed"];
      expect(await may({ namespace, verb: "list", resource: "configmaps" })).toBe(true);
      expect(await may({ namespace, verb: "delete", resource: "configmaps" })).toBe(false);
      expect(await may({ verb: "list", resource: "configmaps" })).toBe(false);
      expect(await may({ namespace, verb: "get", resource: "pods", subresource: "log" })).toBe(true);
      expect(await may({ namespace, verb: "get", resource: "pods" })).toBe(false);
      const path = async (name: string) => (await ask(send, self, { nonResourceAttributes: { path: name, verb: "get" } })).json["status"]!["allowed"]; // prettier-ignore
      expect([await path("/apis/apps"), await path("/metrics")]).toEqual([true, false]);
    });

    test("reviews list what the caller may do in a namespace", async () => {
      const { namespace } = setting();
      const { send } = await give("lister", [rule("get list", "configmaps", ["mine"])]);
      const { code, json } = await ask(send, "selfsubjectrulesreviews", { namespace });
      expect(code).toBe(201);
      expect(json["status"]!["resourceRules"]).toContainEqual({ verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"] }); // prettier-ignore
      expect((await ask(send, "selfsubjectrulesreviews", {})).code).toBe(400);
    });

    test("reviews report what others may do, if the caller may create such reviews", async () => {
      const { raw, namespace } = setting();
      const spec = { user: "somebody", groups: ["system:masters"], resourceAttributes: { verb: "delete", resource: "nodes" } };
      expect((await ask(raw.send, "subjectaccessreviews", spec)).json["status"]).toMatchObject({ allowed: true });
      expect((await ask(person(`${namespace}-nobody`).send, "subjectaccessreviews", spec)).code).toBe(403);
      const local = `/apis/authorization.k8s.io/v1/namespaces/${namespace}/localsubjectaccessreviews`;
      const body = (where: string) => ({ body: { spec: { user: "somebody", resourceAttributes: { namespace: where, verb: "get", resource: "pods" } } } }); // prettier-ignore
      expect((await raw.send("POST", local, body(namespace))).json["status"]).toMatchObject({ allowed: false });
      expect((await raw.send("POST", local, body("other"))).code).toBeGreaterThanOrEqual(400);
    });

    test.each([
      ["neither a resource nor a path", {}],
      ["both a resource and a path", { resourceAttributes: { verb: "get", resource: "pods" }, nonResourceAttributes: { path: "/", verb: "get" } }], // prettier-ignore
    ])("reviews that name %s return 422", async (_why, spec) => {
      expect((await ask(setting().raw.send, self, spec)).code).toBe(422);
    });

    test("reviews report who the caller is, and allow only the verb create", async () => {
      const { raw } = setting();
      const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      const { code, json } = await person("jane", "dev").send("POST", reviews, { body: {} });
      expect([code, json["status"]!["userInfo"]]).toMatchObject([201, { username: "jane", groups: ["dev", "system:authenticated"] }]);
      expect((await raw.send("GET", reviews)).code).toBe(405);
    });
  });
}

/** Servers follow their own roles by watching them, so what was written may take a moment to count. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  await expect.poll(holds).toBe(true);
}
