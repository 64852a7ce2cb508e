/**
 * A cluster over the network and tokens of a platform that does not run: only its published keys are known.
 */
import { CoreV1Api, KubeConfig, Watch } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { startCluster, type Cluster, type Target } from "../../src/clusters.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP } from "../../src/cluster/rbac/resources.ts";
import { formatKubeconfig } from "../../src/apiserver/access/kubeconfig.ts";
import { createRawClient } from "../conformance/raw-client.ts";
import { createTestPlatform, ISSUER, requestFor, type TestPlatform } from "../management/tokens/signed.ts";
import { createFakeClock } from "../support/fake-clock.ts";

/** Real timers, and wall time that a test moves. */
const time = createFakeClock(systemClock.now());
const clock = { ...systemClock, now: () => time.now() };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const RBAC = `/apis/${RBAC_GROUP}/v1`;
const REVIEWS = "/apis/authorization.k8s.io/v1";
const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

let platform: TestPlatform;
let c1: Cluster;
let c2: Cluster;
let blue: Cluster;

const start = (target: Target) =>
  startCluster({ name: "demo", clock, platform: { issuer: ISSUER, keys: platform.keys.published(), target } });

beforeAll(async () => {
  platform = await createTestPlatform(clock);
  c1 = await start({ kind: "cluster", cluster: "c1" });
  c2 = await start({ kind: "cluster", cluster: "c2" });
  blue = await start({ kind: "virtualCluster", project: "web", virtualCluster: "blue" });
});
afterAll(() => Promise.all([c1, c2, blue].map((cluster) => cluster.stop())));

type Wanted = Parameters<typeof requestFor>[0];
const tokenOf = async (wanted: Wanted = {}) => (await platform.signer.sign(requestFor(wanted))).token;

type Request = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

/** One request with a token; its code and answer. */
async function ask(cluster: Cluster, token: string, [method, path, body, headers]: Request) {
  const raw = createRawClient({ url: cluster.url, caPem: cluster.caPem, token });
  try {
    return await raw.send(method, path, { ...(body !== undefined && { body }), ...(headers && { headers }) });
  } finally {
    await raw.close();
  }
}

const codeOf = async (cluster: Cluster, wanted: Wanted, ...request: Request) => (await ask(cluster, await tokenOf(wanted), request)).code;
const named = <T extends object>(name: string, rest?: T) => ({ metadata: { name }, ...rest! });
const binding = (name: string) =>
  named(name, { roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "view" }, subjects: [{ kind: "User", name: "eve" }] });
const rules = (...list: object[]) => ({ scopes: [{ rules: list }] });

describe("without a scope", () => {
  test("an administrator of the platform may do everything, and a token says whose it is", async () => {
    const { code, json } = await ask(c1, await tokenOf(), ["POST", WHO, {}]);
    expect([code, json["status"]!["userInfo"]]).toEqual([
      201,
      { username: "jane", groups: ["platform:admins", "system:authenticated"], extra: { "platform/access-key": ["ci"] } },
    ]);
    expect(await codeOf(c1, {}, "GET", "/api/v1/secrets")).toBe(200);
    expect(await codeOf(c1, {}, "POST", `${RBAC}/clusterroles`, named("all", { rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] }))).toBe(201); // prettier-ignore
    expect(await codeOf(c1, {}, "GET", "/api/v1/namespaces", undefined, { "impersonate-user": "joe" })).toBe(403);
    expect(await codeOf(c1, {}, "POST", WHO, {}, { "impersonate-user": "joe" })).toBe(201);
  });

  test("all other users may do what roles and bindings grant to the name and the groups", async () => {
    const joe = { name: "joe", groups: ["platform:team:dev"] };
    expect(await codeOf(c1, joe, "GET", CONFIG_MAPS)).toBe(403);
    const body = named("devs", { roleRef: binding("x").roleRef, subjects: [{ kind: "Group", name: "platform:team:dev" }] });
    await c1.client.create(CLUSTER_ROLE_BINDINGS, { ...CLUSTER_ROLE_BINDINGS, ...body });
    expect(await codeOf(c1, joe, "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeOf(c1, joe, "POST", CONFIG_MAPS, named("a"))).toBe(403);
    expect(await codeOf(c2, joe, "GET", CONFIG_MAPS)).toBe(403);
  });

  test("groups that mean something to Kubernetes itself are worth nothing", async () => {
    expect(await codeOf(c1, { name: "eve", groups: ["system:masters"] }, "GET", "/api/v1/secrets")).toBe(403);
  });

  test("other administrators may be named", async () => {
    const trust = { issuer: ISSUER, keys: platform.keys.published(), target: { kind: "cluster", cluster: "c3" } } as const;
    const c3 = await startCluster({ name: "c3", clock, platform: { ...trust, administrators: ["ops"] } });
    expect(await codeOf(c3, { groups: ["ops"] }, "GET", "/api/v1/secrets")).toBe(200);
    expect(await codeOf(c3, {}, "GET", "/api/v1/secrets")).toBe(403);
    await c3.stop();
  });
});

describe("the ClusterRoles of a token", () => {
  const member = (...clusterRoles: string[]) => ({ name: "mia", groups: ["platform:team:ops"], clusterRoles });

  test("are those of the cluster, everywhere in it, for as long as it has them", async () => {
    expect(await codeOf(c1, member(), "GET", CONFIG_MAPS)).toBe(403);
    expect(await codeOf(c1, member("view"), "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeOf(c1, member("view"), "POST", CONFIG_MAPS, named("b"))).toBe(403);
    expect(await codeOf(c1, member("missing", "edit"), "POST", CONFIG_MAPS, named("b"))).toBe(201);
    const token = await tokenOf(member("nodes-reader"));
    const list = async () => (await ask(c1, token, ["GET", "/api/v1/nodes"])).code;
    const codes = [await list()];
    await c1.client.create(CLUSTER_ROLES, { ...CLUSTER_ROLES, ...named("nodes-reader", { rules: [{ verbs: ["list"], apiGroups: [""], resources: ["nodes"] }] }) }); // prettier-ignore
    codes.push(await list());
    await c1.client.delete(CLUSTER_ROLES, { namespace: "", name: "nodes-reader" });
    codes.push(await list());
    expect(codes).toEqual([403, 200, 403]);
  });

  test("may be handed on, and no more than them", async () => {
    const request = (role: string) => ["POST", `${RBAC}/clusterrolebindings`, { ...binding(role), roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role } }] as const; // prettier-ignore
    await c1.client.create(CLUSTER_ROLES, { ...CLUSTER_ROLES, ...named("binder", { rules: [{ verbs: ["create"], apiGroups: [RBAC_GROUP], resources: ["clusterrolebindings"] }] }) }); // prettier-ignore
    const token = await tokenOf(member("binder", "view"));
    expect((await ask(c1, token, request("view"))).code).toBe(201);
    expect((await ask(c1, token, request("edit"))).code).toBe(403);
  });

  test("are limited by scopes", async () => {
    expect(await codeOf(c1, { ...member("view"), scopes: [{ clusters: [{ cluster: "c2" }] }] }, "GET", CONFIG_MAPS)).toBe(403);
    expect(await codeOf(c2, { ...member("view"), scopes: [{ clusters: [{ cluster: "c2" }] }] }, "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeOf(c2, { ...member("view"), scopes: [{ clusters: [{ cluster: "c2" }] }] }, "POST", CONFIG_MAPS, named("c"))).toBe(403);
  });
});

describe("a scope", () => {
  const codes = (wanted: Wanted) => Promise.all([c1, c2, blue].map((cluster) => codeOf(cluster, wanted, "GET", CONFIG_MAPS)));

  test.each([
    ["one cluster", [{ clusters: [{ cluster: "c1" }] }], [200, 403, 403]],
    ["another cluster", [{ clusters: [{ cluster: "c2" }] }], [403, 200, 403]],
    ["all clusters", [{ clusters: [{ cluster: "*" }] }], [200, 200, 403]],
    ["one virtual cluster", [{ virtualClusters: [{ project: "web", virtualCluster: "blue" }] }], [403, 403, 200]],
    ["another virtual cluster", [{ virtualClusters: [{ project: "web", virtualCluster: "red" }] }], [403, 403, 403]],
    ["all virtual clusters of another project", [{ virtualClusters: [{ project: "db", virtualCluster: "*" }] }], [403, 403, 403]],
    ["all virtual clusters", [{ virtualClusters: [{ project: "*", virtualCluster: "*" }] }], [403, 403, 200]],
    ["nothing", [{}], [403, 403, 403]],
    ["both of two", [{ clusters: [{ cluster: "*" }] }, { clusters: [{ cluster: "c1" }] }], [200, 403, 403]],
    ["neither of two", [{ clusters: [{ cluster: "c2" }] }, { clusters: [{ cluster: "c1" }] }], [403, 403, 403]],
    ["what the platform manages", [{ roles: [{ role: "platformCLI" }] }], [403, 403, 403]],
  ])("of %s", async (_what, scopes, expected) => {
    expect(await codes({ scopes })).toEqual(expected);
  });

  test("of verbs, resources and namespaces counts for each request", async () => {
    const wanted = rules({ verbs: ["get", "list"], resources: [{ resources: ["configmaps"] }], namespaces: ["default"] });
    expect(await codeOf(c1, wanted, "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeOf(c1, wanted, "GET", "/api/v1/namespaces/kube-system/configmaps")).toBe(403);
    expect(await codeOf(c1, wanted, "GET", "/api/v1/configmaps")).toBe(403);
    expect(await codeOf(c1, wanted, "GET", "/api/v1/namespaces/default/secrets")).toBe(403);
    expect(await codeOf(c1, wanted, "POST", CONFIG_MAPS, named("d"))).toBe(403);
    expect(await codeOf(c1, wanted, "GET", `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`)).toBe(403);
    expect(await codeOf(c1, rules({ verbs: ["watch"] }), "GET", `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`)).toBe(200);
    expect(await codeOf(c1, rules({ verbs: ["watch"] }), "GET", CONFIG_MAPS)).toBe(403);
  });

  test("of what is in no namespace does not reach across all of them", async () => {
    const outside = rules({ verbs: ["get", "list"], namespaces: [""] });
    expect(await codeOf(c1, outside, "GET", "/api/v1/namespaces")).toBe(200);
    expect(await codeOf(c1, outside, "GET", "/api/v1/configmaps")).toBe(403);
    expect(await codeOf(c1, rules({ verbs: ["get", "list"] }), "GET", "/api/v1/configmaps")).toBe(200);
  });

  test("leaves what clients need to find their way", async () => {
    const wanted = { scopes: [{}] };
    for (const path of ["/version", "/api", "/apis", "/api/v1", "/openapi/v3", "/readyz"])
      expect(await codeOf(c1, wanted, "GET", path)).toBe(200);
    expect(await codeOf(c1, wanted, "POST", WHO, {})).toBe(201);
  });

  test("gives nothing that the user does not have", async () => {
    const wanted = { name: "zoe", groups: [], scopes: [{ clusters: [{ cluster: "*" }] }] };
    expect(await codeOf(c1, wanted, "GET", CONFIG_MAPS)).toBe(403);
  });

  test("of update does not create what is absent", async () => {
    const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/made";
    const body = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "made" },
      addressType: "IPv4",
      endpoints: [],
    };
    const apply = ["PATCH", `${path}?fieldManager=test`, JSON.stringify(body), { "content-type": "application/apply-patch+yaml" }] as const;
    expect((await ask(c1, await tokenOf(rules({ verbs: ["patch"] })), apply)).code).toBe(403);
    expect((await ask(c1, await tokenOf(rules({ verbs: ["patch", "create"] })), apply)).code).toBe(201);
  });
});

describe("permissions beyond a scope", () => {
  const here = { scopes: [{ clusters: [{ cluster: "c1" }] }] };

  test("are not gained by impersonation", async () => {
    for (const headers of [{ "impersonate-user": "jane" }, { "impersonate-user": "root", "impersonate-group": "system:masters" }]) {
      expect(await codeOf(c1, here, "GET", CONFIG_MAPS, undefined, headers)).toBe(403);
      expect(await codeOf(c1, rules({}), "GET", CONFIG_MAPS, undefined, headers)).toBe(403);
    }
  });

  test("are not gained by a ServiceAccount's token, a role or a binding, unless the scope has the whole cluster", async () => {
    const token = "/api/v1/namespaces/default/serviceaccounts/default/token";
    const ways = (name: string): readonly Request[] => [
      ["POST", token, { spec: {} }],
      ["POST", `${RBAC}/clusterrolebindings`, binding(name)],
      ["POST", `${RBAC}/namespaces/default/rolebindings`, binding(name)],
      ["POST", `${RBAC}/clusterroles`, named(name, { rules: [] })],
    ];
    const all = async (wanted: Wanted, name: string) => Promise.all(ways(name).map((way) => codeOf(c1, wanted, ...way)));
    expect(await all(rules({ verbs: ["create", "get"] }), "limited")).toEqual([403, 403, 403, 403]);
    expect(await all({ scopes: [...here.scopes, ...rules({ verbs: ["create"] }).scopes] }, "limited-twice")).toEqual([403, 403, 403, 403]);
    expect(await all(here, "here")).toEqual([201, 201, 201, 201]);
    expect(await all({ scopes: [{ clusters: [{ cluster: "*" }] }] }, "everywhere")).toEqual([201, 201, 201, 201]);
    expect(await codeOf(c1, rules({ verbs: ["delete"] }), "DELETE", `${RBAC}/clusterroles/here`)).toBe(200);
  });
});

describe("reviews", () => {
  const can = async (wanted: Wanted, resourceAttributes: object) =>
    (await ask(c1, await tokenOf(wanted), ["POST", `${REVIEWS}/selfsubjectaccessreviews`, { spec: { resourceAttributes } }])).json[
      "status"
    ];
  const list = async (wanted: Wanted, namespace = "default") =>
    (await ask(c1, await tokenOf(wanted), ["POST", `${REVIEWS}/selfsubjectrulesreviews`, { spec: { namespace } }])).json["status"]!;

  test("say what scope and roles allow together", async () => {
    const wanted = rules({ verbs: ["get"], resources: [{ resources: ["pods"] }] });
    expect(await can(wanted, { verb: "get", resource: "pods", namespace: "default" })).toMatchObject({ allowed: true });
    expect(await can(wanted, { verb: "list", resource: "pods", namespace: "default" })).toMatchObject({ reason: "the scope of the token does not allow it" }); // prettier-ignore
    expect(await can({ name: "zoe", groups: [], ...wanted }, { verb: "get", resource: "pods" })).not.toMatchObject({ allowed: true });
    expect(await can({ clusterRoles: ["view"], name: "zoe", groups: [] }, { verb: "get", resource: "pods" })).toMatchObject({
      allowed: true,
      reason: 'RBAC: allowed by the ClusterRole "view" of the platform\'s token',
    });
  });

  test("list what is left of the rules", async () => {
    const wanted = rules({ verbs: ["get", "list"], resources: [{ resources: ["pods"], resourceNames: ["web"] }] });
    const { resourceRules } = await list(wanted);
    expect(resourceRules).toContainEqual({
      verbs: ["get", "list"],
      apiGroups: [""],
      resources: ["pods"],
      resourceNames: ["web"],
    });
    expect(Array.from(resourceRules!, ({ verbs }) => verbs).flat()).not.toContain("*");
    expect((await list({}))["resourceRules"]).toContainEqual({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
    expect((await list({ scopes: [{ clusters: [{ cluster: "c1" }] }] }))["resourceRules"]).toContainEqual({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }); // prettier-ignore
  });

  test("of tokens know it", async () => {
    const spec = { token: await tokenOf() };
    const review = await ask(c1, c1.token, ["POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec }]);
    expect(review.json["status"]).toMatchObject({ authenticated: true, user: { username: "jane" } });
  });
});

describe("a watch", () => {
  const watched = async (ttlSeconds: number, headers: Record<string, string>) => {
    const { token } = await platform.signer.sign({ ...requestFor(), ttlSeconds });
    const raw = createRawClient({ url: c1.url, caPem: c1.caPem, token });
    const lines = await raw.watch("/api/v1/namespaces?watch=1&timeoutSeconds=90", Infinity, { headers });
    await raw.close();
    return lines.at(-1);
  };

  test("ends with its token, also when impersonating", async () => {
    const expired = { type: "ERROR", object: expect.objectContaining({ code: 401, message: "the token has expired" }) as unknown };
    const as = { "impersonate-user": "root", "impersonate-group": "system:masters" };
    expect(await Promise.all([watched(1, {}), watched(1, as)])).toEqual([expired, expired]);
  });
});

describe("clients", () => {
  const kubeConfig = (cluster: Cluster, token: string) => {
    const config = new KubeConfig();
    config.loadFromString(formatKubeconfig({ name: "direct", url: cluster.url, caPem: cluster.caPem, token }));
    return config;
  };

  test("for JavaScript work with a token as with any other", async () => {
    const config = kubeConfig(c1, await tokenOf(rules({ namespaces: ["default"], resources: [{ resources: ["configmaps"] }] })));
    const core = config.makeApiClient(CoreV1Api);
    await core.createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "typed" }, data: { a: "1" } } });
    expect((await core.readNamespacedConfigMap({ namespace: "default", name: "typed" })).data).toEqual({ a: "1" });
    await expect(core.listNamespacedSecret({ namespace: "default" })).rejects.toMatchObject({ code: 403 });
    const seen: string[] = [];
    const ended = await new Promise<unknown>((resolve, reject) => {
      const on = (type: string, object: { metadata: { name: string } }) => {
        seen.push(`${type} ${object.metadata.name}`);
        if (object.metadata.name === "typed") resolve(undefined);
      };
      new Watch(config).watch(CONFIG_MAPS, { timeoutSeconds: 90 }, on, reject).catch(reject);
    });
    expect([ended, seen]).toEqual([undefined, expect.arrayContaining(["ADDED typed"])]);
  });

  test("are refused with a token for another cluster, and with one that has ended", async () => {
    const scoped = await tokenOf({ scopes: [{ clusters: [{ cluster: "c2" }] }] });
    await expect(kubeConfig(c1, scoped).makeApiClient(CoreV1Api).listNamespace()).rejects.toMatchObject({ code: 403 });
    expect((await kubeConfig(c2, scoped).makeApiClient(CoreV1Api).listNamespace()).items).not.toEqual([]);
    const { token } = await platform.signer.sign({ ...requestFor(), ttlSeconds: 60 });
    const core = kubeConfig(c1, token).makeApiClient(CoreV1Api);
    expect((await core.listNamespace()).items).not.toEqual([]);
    time.jump(60_000);
    await expect(core.listNamespace()).rejects.toMatchObject({ code: 401 });
  });
});
