/**
 * Rules within scopes, as `kubectl auth can-i --list` shows them: never more than is allowed.
 */
import { expect, test } from "vitest";
import { rulesWithin } from "../../../src/cluster/scope/rules.ts";
import { SCOPE_EXTRA, allowedByScopes } from "../../../src/cluster/scope/scope.ts";
import type { AccessScope } from "../../../src/cluster/scope/types.ts";

const TARGET = { kind: "cluster", cluster: "c1" } as const;
const ALL = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
const PATHS = { verbs: ["get"], nonResourceURLs: ["/metrics", "/logs/*", "/version"] };

const userOf = (...scopes: readonly AccessScope[]) => ({
  name: "jane",
  groups: [],
  extra: { [SCOPE_EXTRA]: scopes.map((scope) => JSON.stringify(scope)) },
});
const left = (rules: Parameters<typeof rulesWithin>[0], ...scopes: readonly AccessScope[]) =>
  rulesWithin(rules, userOf(...scopes), { target: TARGET, namespace: "shop" });

test("a user without scopes keeps all rules", () => {
  expect(left([ALL, PATHS])).toEqual([ALL, PATHS]);
});

test.each<[string, AccessScope[], object[]]>([
  ["of everything here", [{ clusters: [{ cluster: "c1" }] }], [ALL]],
  ["of another cluster", [{ clusters: [{ cluster: "c2" }] }], []],
  ["of nothing", [{}], []],
  ["of verbs", [{ rules: [{ verbs: ["get"] }] }], [{ ...ALL, verbs: ["get"] }]],
  ["of another namespace", [{ rules: [{ namespaces: ["bank"] }] }], []],
  ["of this namespace", [{ rules: [{ namespaces: ["shop"] }] }], [ALL]],
  ["of a group", [{ rules: [{ resources: [{ group: "apps" }] }] }], [{ ...ALL, apiGroups: ["apps"] }]],
  [
    "of the parts of one kind",
    [{ rules: [{ resources: [{ resources: ["pods/*"] }] }] }],
    [{ ...ALL, apiGroups: [""], resources: ["pods/*"] }],
  ],
  [
    "of one part of all kinds",
    [{ rules: [{ resources: [{ resources: ["*/scale"] }] }] }],
    [{ ...ALL, apiGroups: [""], resources: ["*/scale"] }],
  ],
  ["of one object", [{ rules: [{ resources: [{ resources: ["pods"], resourceNames: ["web"] }] }] }], [{ ...ALL, apiGroups: [""], resources: ["pods"], resourceNames: ["web"] }]], // prettier-ignore
  [
    "of what two allow both",
    [{ rules: [{ verbs: ["get", "list"] }] }, { rules: [{ verbs: ["list", "watch"] }] }],
    [{ ...ALL, verbs: ["list"] }],
  ],
  ["that is not a scope", [{ regions: ["eu"] } as AccessScope], []],
])("a scope %s leaves of all rules what it allows", (_what, scopes, expected) => {
  expect(left([ALL], ...scopes)).toEqual(expected);
});

test.each<[string, object, AccessScope, object[]]>([
  ["verbs", { ...ALL, verbs: ["get", "update"] }, { rules: [{ verbs: ["get", "list"] }] }, [{ ...ALL, verbs: ["get"] }]],
  ["parts", { ...ALL, apiGroups: [""], resources: ["pods", "pods/log"] }, { rules: [{ resources: [{ resources: ["pods/*"] }] }] }, [{ ...ALL, apiGroups: [""], resources: ["pods/log"] }]], // prettier-ignore
  ["names", { ...ALL, apiGroups: [""], resourceNames: ["a", "b"] }, { rules: [{ resources: [{ resources: ["pods"], resourceNames: ["b", "c"] }] }] }, [{ ...ALL, apiGroups: [""], resources: ["pods"], resourceNames: ["b"] }]], // prettier-ignore
  ["other names", { ...ALL, apiGroups: [""], resourceNames: ["a"] }, { rules: [{ resources: [{ resources: ["pods"], resourceNames: ["b"] }] }] }, []], // prettier-ignore
])("rules and scopes that differ in %s leave what both allow", (_what, rule, scope, expected) => {
  expect(left([rule as typeof ALL], scope)).toEqual(expected);
});

test("paths are left as far as both reach, and those that are always open in any case", () => {
  expect(left([PATHS], { rules: [{ nonResourceURLs: ["/logs/*", "/debug"] }] })).toEqual([
    { verbs: ["get"], nonResourceURLs: ["/version"] },
    { verbs: ["get"], nonResourceURLs: ["/logs/"] },
    { verbs: ["get"], nonResourceURLs: ["/logs/*"] },
  ]);
});

test("asking about oneself is left in any case", () => {
  const asking = { verbs: ["create"], apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectrulesreviews", "subjectaccessreviews"] };
  expect(left([asking], {})).toEqual([{ ...asking, resources: ["selfsubjectrulesreviews"] }]);
});

test("what is listed is allowed", () => {
  const scope = {
    rules: [{ verbs: ["get", "list"], namespaces: ["shop"], resources: [{ group: "apps", resources: ["deployments", "*/scale"] }] }],
  };
  for (const { verbs, apiGroups = [], resources = [] } of left([ALL], scope)) {
    for (const verb of verbs) {
      for (const [resource = "", subresource = ""] of resources.map((text) => text.replace("*/", "deployments/").split("/"))) {
        const attributes = { verb, group: apiGroups[0]!, version: "v1", resource, subresource, namespace: "shop", name: "web" };
        expect(allowedByScopes(userOf(scope), TARGET, attributes)).toBe(true);
      }
    }
  }
  expect(left([ALL], scope)).toHaveLength(2);
});
