import { expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { decideAudit, type AuditPolicy } from "../../../src/management/audit/policy.ts";
import { policyOf } from "../../../src/management/audit/levels.ts";
import type { Attributes } from "../../../src/apiserver/access/authorization.ts";

const JANE = { name: "jane", groups: ["platform:team:dev", "system:authenticated"] };

/** "verb group/resource[/part] [namespace] [name]", with "-" for nothing, or "verb /path". */
function facts(words: string, user: typeof JANE | undefined = JANE) {
  const [verb = "", what = "", namespace = "-", name = "-"] = words.split(" ");
  if (what.startsWith("/")) return { user, attributes: { verb, path: what } satisfies Attributes };
  const [group = "", resource = "", subresource = ""] = what.split("/");
  const plain = (word: string) => (word === "-" ? "" : word);
  return {
    user,
    attributes: { verb, group: plain(group), version: "v1", resource, subresource, namespace: plain(namespace), name: plain(name) },
  };
}

/** As read from a file. */
function policy(written: object): AuditPolicy {
  const result = parseManagementConfig(JSON.stringify({ audit: { policy: written } }));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config.audit.policy!;
}

const M = "management.platform";

test("row 172: audit.policy.rules are in order, and the first that matches decides", () => {
  const rules = [
    { level: "Request", users: ["jane"], verbs: ["create"] },
    { level: "Metadata", users: ["jane"] },
    { level: "RequestResponse" },
  ];
  const level = (order: readonly object[], words: string, user = JANE) => decideAudit(policy({ rules: order }), facts(words, user)).level;
  expect(level(rules, `create ${M}/teams`)).toBe("Request");
  expect(level(rules, `list ${M}/teams`)).toBe("Metadata");
  expect(level(rules, `list ${M}/teams`, { ...JANE, name: "bob" })).toBe("RequestResponse");
  expect(level(rules.toReversed(), `create ${M}/teams`)).toBe("RequestResponse");
  expect(level([{ level: "None", verbs: ["create"] }, ...rules], `create ${M}/teams`)).toBe("None");
});

test.each([{}, { rules: [] }, { rules: [{ level: "Metadata", verbs: ["delete"] }] }, { rules: [{ users: ["jane"] }] }])(
  "row 173: the default level is None: %j",
  (written) => {
    expect(decideAudit(policy(written), facts(`create ${M}/teams`)).level).toBe("None");
  },
);

test("row 173: stages are left out by the policy and by the rule that decides", () => {
  const written = {
    omitStages: ["RequestReceived"],
    rules: [
      { level: "Metadata", verbs: ["get"], omitStages: ["Panic"] },
      { level: "Metadata", omitStages: ["ResponseStarted"] },
    ],
  };
  const omitted = (words: string) => [...decideAudit(policy(written), facts(words)).omitStages];
  expect(omitted(`get ${M}/teams`)).toEqual(["RequestReceived", "Panic"]);
  expect(omitted(`watch ${M}/teams`)).toEqual(["RequestReceived", "ResponseStarted"]);
});

test.each<[rule: object, words: string, matches: boolean]>([
  [{}, `get ${M}/teams`, true],
  [{}, "get /metrics", true],
  [{ users: ["jane"] }, `get ${M}/teams`, true],
  [{ users: ["bob"] }, `get ${M}/teams`, false],
  [{ users: ["*"] }, `get ${M}/teams`, true],
  [{ userGroups: ["platform:team:dev"] }, `get ${M}/teams`, true],
  [{ userGroups: ["platform:team:ops"] }, `get ${M}/teams`, false],
  [{ verbs: ["get"] }, `get ${M}/teams`, true],
  [{ verbs: ["get"] }, `list ${M}/teams`, false],
  [{ verbs: ["*"] }, `list ${M}/teams`, true],
  [{ users: ["jane"], verbs: ["list"] }, `get ${M}/teams`, false],
  [{ resources: [{ group: M, resources: ["teams"] }] }, `get ${M}/teams - a`, true],
  [{ resources: [{ group: M, resources: ["users"] }] }, `get ${M}/teams - a`, false],
  [{ resources: [{ group: M }] }, `get ${M}/teams - a`, true],
  [{ resources: [{ group: "*" }] }, `get ${M}/teams - a`, true],
  [{ resources: [{ resources: ["teams"] }] }, `get ${M}/teams - a`, false],
  [{ resources: [{ resources: ["pods"] }] }, "get -/pods web a", true],
  [{ resources: [{ group: M, resources: ["teams"] }] }, `get ${M}/teams/status - a`, false],
  [{ resources: [{ group: M, resources: ["teams/status"] }] }, `get ${M}/teams/status - a`, true],
  [{ resources: [{ group: M, resources: ["teams/*"] }] }, `get ${M}/teams/status - a`, true],
  [{ resources: [{ group: M, resources: ["teams/*"] }] }, `get ${M}/teams - a`, false],
  [{ resources: [{ group: M, resources: ["*/status"] }] }, `get ${M}/teams/status - a`, true],
  [{ resources: [{ group: M, resources: ["*"] }] }, `get ${M}/teams/status - a`, true],
  [{ resources: [{ group: M, resources: ["teams"], resourceNames: ["a"] }] }, `get ${M}/teams - a`, true],
  [{ resources: [{ group: M, resources: ["teams"], resourceNames: ["a"] }] }, `get ${M}/teams - b`, false],
  [{ resources: [{ group: M, resources: ["teams"], resourceNames: ["a"] }] }, `list ${M}/teams`, false],
  [{ resources: [{ group: M, resources: ["teams"] }] }, "get /metrics", false],
  [{ namespaces: ["p-shop"] }, `get ${M}/sharedsecrets p-shop a`, true],
  [{ namespaces: ["p-shop"] }, `get ${M}/sharedsecrets p-bank a`, false],
  [{ namespaces: [""] }, `get ${M}/teams - a`, true],
  [{ namespaces: ["p-shop"] }, "get /metrics", false],
  [{ nonResourceURLs: ["/metrics"] }, "get /metrics", true],
  [{ nonResourceURLs: ["/metrics"] }, "get /metrics/x", false],
  [{ nonResourceURLs: ["/metrics*"] }, "get /metrics/x", true],
  [{ nonResourceURLs: ["*"] }, "get /metrics", true],
  [{ nonResourceURLs: ["*"] }, `get ${M}/teams - a`, false],
  [{ nonResourceURLs: ["/metrics"], resources: [{ group: M }] }, "get /metrics", true],
  [{ nonResourceURLs: ["/metrics"], resources: [{ group: M }] }, `get ${M}/teams - a`, true],
  [{ nonResourceURLs: ["/metrics"], resources: [{ group: M }] }, "get -/pods", false],
  [{ requestTargets: ["Management"] }, `get ${M}/teams`, true],
  [{ requestTargets: ["Cluster", "VCluster"] }, `get ${M}/teams`, false],
  [{ clusters: ["c1"] }, `get ${M}/teams`, false],
  [{ clusters: ["*"] }, `get ${M}/teams`, false],
])("row 172: a rule %j and the request %s: %s", (rule, words, matches) => {
  const { level } = decideAudit(policy({ rules: [{ level: "Metadata", ...rule }] }), facts(words));
  expect(level).toBe(matches ? "Metadata" : "None");
});

test.each([{ users: ["*"] }, { userGroups: ["*"] }])("unknown callers are not among %j", (rule) => {
  const unknown = { attributes: facts(`get ${M}/teams`).attributes };
  expect(decideAudit(policy({ rules: [{ level: "Metadata", ...rule }] }), unknown).level).toBe("None");
  expect(decideAudit(policy({ rules: [{ level: "Metadata" }] }), unknown).level).toBe("Metadata");
});

const REQUESTS: readonly [words: string, byLevel: readonly string[]][] = [
  [`create ${M}/teams`, ["None", "Request", "Request", "Request", "RequestResponse"]],
  [`update ${M}/teams - a`, ["None", "Metadata", "Metadata", "Request", "RequestResponse"]],
  [`patch ${M}/sharedsecrets p-a a`, ["None", "Metadata", "Metadata", "Request", "RequestResponse"]],
  [`delete ${M}/teams - a`, ["None", "Metadata", "Metadata", "Request", "RequestResponse"]],
  [`deletecollection ${M}/teams`, ["None", "Metadata", "Metadata", "Request", "RequestResponse"]],
  [`get ${M}/teams - a`, ["None", "None", "Metadata", "Request", "RequestResponse"]],
  [`watch ${M}/teams`, ["None", "None", "Metadata", "Request", "RequestResponse"]],
  ["get /metrics", ["None", "None", "Metadata", "Request", "RequestResponse"]],
  ["get /healthz", ["None", "None", "None", "None", "None"]],
  ["get /apis", ["None", "None", "None", "None", "None"]],
  ["create authorization.k8s.io/selfsubjectaccessreviews", ["None", "None", "None", "None", "None"]],
  ["create authentication.k8s.io/selfsubjectreviews", ["None", "None", "None", "None", "None"]],
  ["create authentication.k8s.io/tokenreviews", ["None", "None", "None", "None", "None"]],
  ...["ownedaccesskeys", "users", "sharedsecrets", "directclusterendpointtokens"].map(
    (plural) => [`create ${M}/${plural}`, ["None", "Metadata", "Metadata", "Metadata", "Metadata"]] as [string, string[]],
  ),
];

test.each(REQUESTS)("row 171: the levels 0 to 4 say of %s: %j", (words, byLevel) => {
  const said = byLevel.map((_, level) => decideAudit(policyOf({ level }), facts(words)).level);
  expect(said).toEqual(byLevel);
});

test("row 171: a level above 4 acts as 4, and none at all as 1", () => {
  expect([policyOf({ level: 9 }), policyOf({})]).toEqual([policyOf({ level: 4 }), policyOf({ level: 1 })]);
});

test("row 171: audit.level and audit.policy together are a configuration error", () => {
  const result = parseManagementConfig("audit: { enabled: true, path: /tmp/a, level: 1, policy: { rules: [] } }");
  expect(result).toMatchObject({ ok: false, problems: [{ field: "audit.level" }] });
});
