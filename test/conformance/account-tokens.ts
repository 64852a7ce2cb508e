/**
 * Tokens of ServiceAccounts, aggregated ClusterRoles, and field managers that are submitted with an object; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import { createRawClient } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MERGE = { "content-type": "application/merge-patch+json" };

/** The cases; `setting` is called when a test runs. */
export function accountTokenCases(setting: () => RawSetting): void {
  const account = async (name: string) => {
    const { raw, path } = setting();
    return raw.send("POST", path("serviceaccounts"), { body: { metadata: { name } } });
  };
  const ask = (name: string, spec: object, { query = "", ...more } = {}) => {
    const { raw, path } = setting();
    return raw.send("POST", `${path("serviceaccounts", name)}/token${query}`, { body: { spec, ...more } });
  };
  const review = async (token: string, audiences?: readonly string[]) => {
    const body = { spec: { token, ...(audiences && { audiences }) } };
    return (await setting().raw.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body })).json["status"]!;
  };

  describe("service account tokens", () => {
    test("tokens authenticate as the account, for an hour by default", async () => {
      const { cluster, namespace } = setting();
      await account("bot");
      const before = Math.floor(Date.now() / 1_000) * 1_000;
      const { code, json } = await ask("bot", {});
      expect([code, json]).toMatchObject([
        201,
        {
          kind: "TokenRequest",
          apiVersion: "authentication.k8s.io/v1",
          metadata: { name: "bot", namespace },
          spec: { expirationSeconds: 3600 },
        },
      ]);
      const { token, expirationTimestamp } = json["status"] as unknown as { token: string; expirationTimestamp: string };
      expect(Date.parse(expirationTimestamp)).toBeGreaterThanOrEqual(before + 3_600_000);
      const bot = createRawClient({ url: cluster.url, ...(cluster.caPem && { caPem: cluster.caPem }), token });
      const who = await bot.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: {} });
      await bot.close();
      expect(who.json["status"]!["userInfo"]).toMatchObject({
        username: `system:serviceaccount:${namespace}:bot`,
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
      });
    });

    test.each([
      ["a lifetime below ten minutes", { expirationSeconds: 599 }, "spec.expirationSeconds"],
      ["a lifetime above 2^32 seconds", { expirationSeconds: 2 ** 32 + 1 }, "spec.expirationSeconds"],
    ])("tokens with %s return 422", async (_why, spec, field) => {
      await account("strict");
      const { code, json } = await ask("strict", spec);
      expect([code, json["details"]!["causes"]![0]!["field"]]).toEqual([422, field]);
    });

    test("a token of an absent account returns 404, and a token with a name other than the account's returns 422", async () => {
      await account("strict");
      expect((await ask("nobody", {})).code).toBe(404);
      expect((await ask("strict", {}, { metadata: { name: "other" } } as object)).code).toBe(422);
    });

    test("tokens become invalid with their account, even if an account of the same name is created", async () => {
      const { raw, path } = setting();
      await account("brief");
      const token = String((await ask("brief", {})).json["status"]!["token"]);
      expect((await review(token))["authenticated"]).toBe(true);
      await raw.send("DELETE", path("serviceaccounts", "brief"));
      await account("brief");
      await expect.poll(async () => (await review(token))["authenticated"] ?? false).toBe(false);
    });

    test("tokens become invalid with the object that they are bound to, which must exist", async () => {
      const { raw, path } = setting();
      await account("bound");
      const bind = (more: object) => ask("bound", { boundObjectRef: { apiVersion: "v1", kind: "Secret", name: "bound", ...more } });
      expect((await bind({})).code).toBe(404);
      await raw.send("POST", path("secrets"), { body: { metadata: { name: "bound" } } });
      expect((await bind({ uid: "another" })).code).toBe(409);
      expect((await bind({ kind: "ConfigMap" })).code).toBe(400);
      const token = String((await bind({})).json["status"]!["token"]);
      expect((await review(token))["authenticated"]).toBe(true);
      await raw.send("DELETE", path("secrets", "bound"));
      await expect.poll(async () => (await review(token))["authenticated"] ?? false).toBe(false);
    });

    test("tokens for a different audience are refused by the API and accepted by that audience", async () => {
      await account("vault");
      const token = String((await ask("vault", { audiences: ["vault", "other"] })).json["status"]!["token"]);
      expect((await review(token))["authenticated"] ?? false).toBe(false);
      expect(await review(token, ["vault", "third"])).toMatchObject({ authenticated: true, audiences: ["vault"] });
      expect((await review(token, ["third"]))["authenticated"] ?? false).toBe(false);
    });

    test("tokens are a subresource of accounts that can only be created", async () => {
      const { raw, path } = setting();
      expect((await raw.send("GET", `${path("serviceaccounts", "default")}/token`)).code).toBe(405);
      const { json } = await raw.send("GET", "/api/v1");
      expect(json["resources"]!.find((entry) => String(entry["name"]) === "serviceaccounts/token")).toMatchObject({
        group: "authentication.k8s.io",
        version: "v1",
        kind: "TokenRequest",
        namespaced: true,
        verbs: ["create"],
      });
    });
  });

  describe("aggregated roles", () => {
    const rule = (verb: string, resource: string) => ({ verbs: [verb], apiGroups: [""], resources: [resource] });
    const roles = `${RBAC}/clusterroles`;
    const rulesOf = async (name: string) => (await setting().raw.send("GET", `${roles}/${name}`)).json["rules"] ?? [];
    const create = (name: string, more: object, metadata: object = {}) =>
      setting().raw.send("POST", roles, { body: { metadata: { name, ...metadata }, ...more } });
    const aggregating = (label: string) => ({ aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] } });

    test("aggregated roles have the rules of the roles that they select, and change with them", async () => {
      const { raw, namespace } = setting();
      const label = `example.com/${namespace}`;
      const part = (name: string) => `${namespace}-${name}`;
      await create(part("whole"), { rules: [rule("get", "nodes")], ...aggregating(label) });
      await create(part("b"), { rules: [rule("list", "pods"), rule("get", "pods")] }, { labels: { [label]: "true" } });
      await create(part("a"), { rules: [rule("get", "pods")] }, { labels: { [label]: "true" } });
      await expect.poll(() => rulesOf(part("whole"))).toEqual([rule("get", "pods"), rule("list", "pods")]);
      await raw.send("PATCH", `${roles}/${part("b")}`, { body: { metadata: { labels: { [label]: null } } }, headers: MERGE });
      await expect.poll(() => rulesOf(part("whole"))).toEqual([rule("get", "pods")]);
      await raw.send("DELETE", `${roles}/${part("a")}`);
      await expect.poll(() => rulesOf(part("whole"))).toEqual([]);
      for (const name of ["whole", "b"]) await raw.send("DELETE", `${roles}/${part(name)}`);
    });

    test("aggregated roles include admin, edit and view, to which new kinds can add rules", async () => {
      const { raw, namespace } = setting();
      const name = `${namespace}-widgets`;
      const widgets = { verbs: ["get"], apiGroups: ["example.com"], resources: [name] };
      await create(name, { rules: [widgets] }, { labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } });
      for (const role of ["view", "edit", "admin"]) {
        await expect.poll(async () => (await rulesOf(role)).some((one) => JSON.stringify(one).includes(name))).toBe(true);
      }
      await raw.send("DELETE", `${roles}/${name}`);
      await expect.poll(async () => JSON.stringify(await rulesOf("admin")).includes(name)).toBe(false);
    });

    test("aggregated roles can be written only with all permissions, because they can gather any rules", async () => {
      const { raw, namespace } = setting();
      const name = `${namespace}-gatherer`;
      const rules = [{ verbs: ["create", "update", "patch"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"] }];
      await create(name, { rules });
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
      await raw.send("POST", `${RBAC}/clusterrolebindings`, { body: { metadata: { name }, roleRef, subjects: [{ kind: "User", name }] } });
      const headers = { "impersonate-user": name };
      const body = { metadata: { name: `${name}-2` }, rules: [], ...aggregating("kubernetes.io/bootstrapping") };
      await expect.poll(async () => (await raw.send("POST", roles, { body: { metadata: { name: `${name}-1` }, rules: [] }, headers })).code).not.toBe(403); // prettier-ignore
      const refused = await raw.send("POST", roles, { body, headers });
      expect([refused.code, refused.json["message"]]).toEqual([403, expect.stringContaining("must have cluster-admin privileges to use the aggregationRule")]); // prettier-ignore
      expect((await raw.send("PATCH", `${roles}/${name}-1`, { body: aggregating("a"), headers: { ...headers, ...MERGE } })).code).toBe(403);
      expect((await raw.send("PATCH", `${roles}/view`, { body: { aggregationRule: null }, headers: { ...headers, ...MERGE } })).code).toBe(
        403,
      );
      for (const role of [name, `${name}-1`]) await raw.send("DELETE", `${roles}/${role}`);
      await raw.send("DELETE", `${RBAC}/clusterrolebindings/${name}`);
    });
  });

  describe("submitted field managers", () => {
    const entry = {
      manager: "before",
      operation: "Apply",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:a": {} } },
    };
    const create = async (name: string, managedFields: unknown) => {
      const { raw, path } = setting();
      const body = { metadata: { name, managedFields, labels: { a: "b" } }, data: { b: "1" } };
      return raw.send("POST", `${path("configmaps")}?fieldManager=author`, { body });
    };

    test("managers in a new object own their fields, except those that its author writes", async () => {
      const { code, json } = await create("came-with", [entry, { ...entry, manager: "other", fieldsV1: { "f:data": { "f:b": {} } } }]);
      const names = (json["metadata"]!["managedFields"] ?? []).map(({ manager }) => String(manager)).sort();
      expect([code, names]).toEqual([201, ["author", "before"]]);
    });

    test.each([
      ["managers of an unknown type", [{ ...entry, fieldsType: "" }]],
      ["managers that are empty", [{}]],
    ])("%s are ignored", async (why, managedFields) => {
      const { code, json } = await create(`came-${why.replaceAll(" ", "-")}`, managedFields);
      const names = (json["metadata"]!["managedFields"] ?? []).map(({ manager }) => String(manager));
      expect([code, names]).toEqual([201, ["author"]]);
    });
  });
}
