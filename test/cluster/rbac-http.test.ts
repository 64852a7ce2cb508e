import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCluster, type Cluster, type TokenSubject } from "../../src/clusters.ts";
import { SERVICE_ACCOUNTS } from "../../src/cluster/kinds/service-accounts.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP } from "../../src/cluster/rbac/resources.ts";
import { impersonated } from "../../src/apiserver/access/impersonation.ts";
import type { Authorizer, ResourceAttributes } from "../../src/apiserver/access/authorization.ts";
import { createRawClient } from "../conformance/raw-client.ts";
import { codeOf } from "../conformance/setting.ts";

const REVIEWS = "/apis/authentication.k8s.io/v1";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ name: "demo" });
});
afterAll(() => cluster.stop());

const as = async (subject: TokenSubject) => clientOf((await cluster.tokenFor(subject)).token);
const clientOf = (token: string) => createRawClient({ url: cluster.url, caPem: cluster.caPem, token });

async function give(role: string, rules: readonly object[], user: string): Promise<void> {
  await cluster.client.create(CLUSTER_ROLES, { ...CLUSTER_ROLES, metadata: { name: role }, rules });
  const roleRef = { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role };
  await cluster.client.create(CLUSTER_ROLE_BINDINGS, { ...CLUSTER_ROLE_BINDINGS, metadata: { name: role }, roleRef, subjects: [{ kind: "User", name: user }] }); // prettier-ignore
}

describe("a token for a user", () => {
  test("makes anyone who shows it that user, who is authenticated besides", async () => {
    const jane = await as({ user: "jane", groups: ["dev"] });
    const { json } = await jane.send("POST", `${REVIEWS}/selfsubjectreviews`, { body: {} });
    expect(json["status"]!["userInfo"]).toEqual({ username: "jane", groups: ["dev", "system:authenticated"] });
    expect((await jane.send("GET", "/api/v1/namespaces")).code).toBe(403);
    await jane.close();
  });

  test("may have extra facts about the user, which reviews show, and an impersonated user lacks", async () => {
    const extra = { "example.com/team": ["shop", "depot"] };
    const token = cluster.access.tokens.issue({ user: { name: "ann", groups: ["system:masters"], extra } });
    const ann = clientOf(token);
    const whoami = (headers: Readonly<Record<string, string>> = {}) =>
      ann.send("POST", `${REVIEWS}/selfsubjectreviews`, { body: {}, headers });
    expect((await whoami()).json["status"]!["userInfo"]).toEqual({ username: "ann", groups: ["system:masters"], extra });
    expect((await whoami({ "impersonate-user": "bob" })).json["status"]!["userInfo"]).toEqual({
      username: "bob",
      groups: ["system:authenticated"],
    });
    const { json } = await ann.send("POST", `${REVIEWS}/tokenreviews`, { body: { spec: { token } } });
    expect(json["status"]!["user"]).toEqual({ username: "ann", groups: ["system:masters"], extra });
    await ann.close();
  });

  test("comes with a kubeconfig that holds it", async () => {
    const { token, kubeconfig } = await cluster.tokenFor({ user: "jane" });
    expect(load(kubeconfig)).toMatchObject({ users: [{ user: { token } }], clusters: [{ cluster: { server: cluster.url } }] });
    expect(token).not.toBe(cluster.token);
    expect((await cluster.tokenFor({ user: "jane" })).token).not.toBe(token);
  });

  test("of the masters makes an administrator", async () => {
    const root = await as({ user: "root", groups: ["system:masters"] });
    expect((await root.send("GET", "/api/v1/secrets")).code).toBe(200);
    await root.close();
  });

  test("ends with its ServiceAccount, and a new account of that name does not bring it back", async () => {
    const key = { namespace: "default", name: "bot" };
    const create = () => cluster.client.create(SERVICE_ACCOUNTS, { ...SERVICE_ACCOUNTS, metadata: key });
    await create();
    const bot = await as({ serviceAccount: "default/bot" });
    const whoami = () => bot.send("POST", `${REVIEWS}/selfsubjectreviews`, { body: {} });
    expect((await whoami()).json["status"]!["userInfo"]).toEqual({
      username: "system:serviceaccount:default:bot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    await cluster.client.delete(SERVICE_ACCOUNTS, key);
    expect((await whoami()).code).toBe(401);
    await create();
    expect((await whoami()).code).toBe(401);
    await bot.close();
  });

  test.each([
    ["default/absent", "API_NOT_FOUND"],
    ["default", "API_BAD_REQUEST"],
    ["a/b/c", "API_BAD_REQUEST"],
  ])("of the ServiceAccount %s is refused with %s", async (serviceAccount, code) => {
    expect(await codeOf(cluster.tokenFor({ serviceAccount }))).toBe(code);
  });

  test("is reported by a review, as is an unknown one", async () => {
    const { token } = await cluster.tokenFor({ user: "joe", groups: ["dev"] });
    const admin = clientOf(cluster.token);
    const review = async (shown: string) =>
      (await admin.send("POST", `${REVIEWS}/tokenreviews`, { body: { spec: { token: shown } } })).json;
    expect((await review(token))["status"]).toEqual({ authenticated: true, user: { username: "joe", groups: ["dev", "system:authenticated"] } }); // prettier-ignore
    expect((await review("wrong"))["status"]).toEqual({});
    await admin.close();
  });

  test("makes its bearer that user over plain HTTP too, where others are the administrator", async () => {
    const plain = await startCluster({ name: "plain", tls: false });
    const { token } = await plain.tokenFor({ user: "jane" });
    const codes = [];
    for (const own of [{ token }, { token: "wrong" }, {}]) {
      const raw = createRawClient({ url: plain.url, ...own });
      codes.push((await raw.send("GET", "/api/v1/namespaces")).code);
      await raw.close();
    }
    expect(codes).toEqual([403, 401, 200]);
    await plain.stop();
  });
});

describe("a permission", () => {
  test("counts from the moment its write is acknowledged, and no longer than until it is taken away", async () => {
    const eve = await as({ user: "eve" });
    const list = async () => (await eve.send("GET", "/api/v1/namespaces")).code;
    const codes = [await list()];
    await give("list-namespaces", [{ apiGroups: [""], resources: ["namespaces"], verbs: ["list"] }], "eve");
    codes.push(await list());
    await cluster.client.delete(CLUSTER_ROLES, { namespace: "", name: "list-namespaces" });
    codes.push(await list());
    expect(codes).toEqual([403, 200, 403]);
    await eve.close();
  });

  test("to impersonate may name users and groups, and reaches no further", async () => {
    await give("act-as-bob", [{ apiGroups: [""], resources: ["users", "groups"], verbs: ["impersonate"], resourceNames: ["bob", "dev"] }], "alice"); // prettier-ignore
    const alice = await as({ user: "alice" });
    const act = async (user: string, group: string) => {
      const headers = { "impersonate-user": user, "impersonate-group": group };
      const { code, json } = await alice.send("POST", `${REVIEWS}/selfsubjectreviews`, { body: {}, headers });
      return code === 201 ? json["status"]!["userInfo"] : String(json["message"]);
    };
    expect(await act("bob", "dev")).toEqual({ username: "bob", groups: ["dev", "system:authenticated"] });
    expect(await act("bob", "system:masters")).toBe('groups "system:masters" is forbidden: User "alice" cannot impersonate resource "groups" in API group "" at the cluster scope'); // prettier-ignore
    expect(await act("root", "dev")).toBe('users "root" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope'); // prettier-ignore
    await alice.close();
  });

  test("of more combinations than can be compared is not given away", async () => {
    await give("role-writer", [{ apiGroups: [RBAC_GROUP], resources: ["clusterroles"], verbs: ["create"] }], "mallory");
    const mallory = await as({ user: "mallory" });
    const many = (prefix: string) => Array.from({ length: 100 }, (_, index) => `${prefix}${index}`);
    const rules = [{ verbs: many("v"), apiGroups: many("g"), resources: many("r"), resourceNames: many("n") }];
    const { code, json } = await mallory.send("POST", `/apis/${RBAC_GROUP}/v1/clusterroles`, {
      body: { metadata: { name: "huge" }, rules },
    });
    expect([code, json["message"]]).toEqual([
      403,
      expect.stringContaining("more than 10000 combinations of verb, group, resource and name; split the role"),
    ]);
    await mallory.close();
  });

  test("is not written down by a dry run", async () => {
    const admin = clientOf(cluster.token);
    const body = { metadata: { name: "tried" }, rules: [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }] };
    expect((await admin.send("POST", `/apis/${RBAC_GROUP}/v1/clusterroles?dryRun=All`, { body })).code).toBe(201);
    expect(cluster.access.authorizer.rulesFor({ name: "x", groups: ["system:authenticated"] }, "")).not.toContainEqual(body.rules[0]);
    expect((await admin.send("GET", `/apis/${RBAC_GROUP}/v1/clusterroles/tried`)).code).toBe(404);
    await admin.close();
  });
});

describe("impersonation", () => {
  const asked: string[] = [];
  const everything: Authorizer = {
    decide: (_user, attributes) => {
      const { resource, namespace, name } = attributes as ResourceAttributes;
      asked.push(`${resource} ${namespace}/${name}`);
      return { allowed: true, reason: "" };
    },
    rulesFor: () => [],
  };
  const act = (headersDistinct: Record<string, string[]>) => {
    asked.length = 0;
    const headers = Object.fromEntries(Object.entries(headersDistinct).map(([name, values]) => [name, values.join(", ")]));
    return impersonated({ headers, headersDistinct }, { name: "admin", groups: ["system:masters"] }, everything);
  };

  test("asks for each that is named, and adds what goes without saying", () => {
    expect(act({})).toEqual({ name: "admin", groups: ["system:masters"] });
    expect(asked).toEqual([]);
    expect(act({ "impersonate-user": ["bob"], "impersonate-group": ["a", "b"] })).toEqual({ name: "bob", groups: ["a", "b", "system:authenticated"] }); // prettier-ignore
    expect(asked).toEqual(["users /bob", "groups /a", "groups /b"]);
    expect(act({ "impersonate-user": ["system:anonymous"] }).groups).toEqual(["system:unauthenticated"]);
    expect(act({ "impersonate-user": ["system:serviceaccount:shop:bot"] }).groups).toContain("system:serviceaccounts:shop");
    expect(asked).toEqual(["serviceaccounts shop/bot"]);
  });

  test.each([
    ["a group without a user", { "impersonate-group": ["a"] }],
    ["a uid", { "impersonate-user": ["bob"], "impersonate-uid": ["1"] }],
    ["anything extra", { "impersonate-user": ["bob"], "impersonate-extra-scope": ["1"] }],
    ["too many groups", { "impersonate-user": ["bob"], "impersonate-group": Array.from({ length: 101 }, String) }],
  ])("of %s is refused", (_why, headers) => {
    expect(() => act(headers as Record<string, string[]>)).toThrowError(expect.objectContaining({ code: "API_BAD_REQUEST" }));
  });
});
