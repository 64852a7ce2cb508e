import { describe, expect, test } from "vitest";
import { compileScope } from "../../../src/cluster/scope/scope.ts";
import type { ScopeRule } from "../../../src/cluster/scope/types.ts";
import { request } from "./request.ts";

interface Case {
  readonly rule: ScopeRule;
  readonly allows?: readonly string[];
  readonly refuses?: readonly string[];
}

function check({ rule, allows = [], refuses = [] }: Case): void {
  const scope = compileScope({ rules: [rule] });
  const allowed = (requests: readonly string[]) =>
    requests.filter((words) => {
      const { target, attributes } = request(words);
      return scope.allows(target, attributes);
    });
  expect({ allows: allowed(allows), refuses: allowed(refuses) }).toEqual({ allows, refuses: [] });
}

const TEAMS = "management: get teams.management.platform";
const SECRETS = "management: get sharedsecrets.management.platform in p-a";
const CLUSTER = "cluster c1: get pods in shop";
const SPACE = "cluster c1 space a/s: get pods in shop";
const VIRTUAL = "virtual cluster a/v: get pods in shop";
const PATH = "management: get /metrics";

describe("a rule of a scope", () => {
  test("allows what it says and no more", () => {
    check({
      rule: {
        verbs: ["get"],
        resources: [{ group: "management.platform", resources: ["sharedsecrets"], resourceNames: ["x"] }],
        namespaces: ["p-a"],
        requestTargets: ["Management"],
      },
      allows: [`${SECRETS} named x`],
      refuses: [
        `${SECRETS} named y`,
        SECRETS,
        "management: delete sharedsecrets.management.platform in p-a named x",
        "management: get sharedsecrets in p-a named x",
        "management: get sharedsecrets.management.platform in p-b named x",
        "management: get sharedsecrets.management.platform/status in p-a named x",
        "cluster c1: get sharedsecrets.management.platform in p-a named x",
        TEAMS,
        PATH,
      ],
    });
  });

  test("that is empty does not restrict", () => check({ rule: {}, allows: [TEAMS, SECRETS, CLUSTER, SPACE, VIRTUAL, PATH] }));

  test.each<Case>([
    { rule: { verbs: [] }, allows: [TEAMS, "management: delete teams.management.platform", PATH, "management: post /metrics"] },
    { rule: { verbs: ["*"] }, allows: [TEAMS, "management: delete teams.management.platform", "management: post /metrics"] },
    {
      rule: { verbs: ["get"] },
      allows: [TEAMS, PATH],
      refuses: ["management: list teams.management.platform", "management: post /metrics"],
    },
    { rule: { verbs: ["list", "watch"] }, allows: ["management: watch teams.management.platform"], refuses: [TEAMS] },
  ])("with verbs: empty is every verb: $rule.verbs", check);

  test.each<Case>([
    { rule: { resources: [] }, allows: [TEAMS, SECRETS, CLUSTER, "cluster c1: get deployments.apps/scale in shop named x"] },
    { rule: { resources: [{}] }, allows: ["cluster c1: get pods/log in shop"], refuses: [TEAMS, PATH] },
  ])("with resources: empty is all kinds in all groups: $rule.resources", check);

  test.each<Case>([
    { rule: { resources: [{ group: "" }] }, allows: [CLUSTER], refuses: [TEAMS, SECRETS] },
    { rule: { resources: [{ group: "", resources: ["*"] }] }, allows: [CLUSTER], refuses: [TEAMS, SECRETS] },
    { rule: { resources: [{ group: "management.platform" }] }, allows: [TEAMS, SECRETS], refuses: [CLUSTER] },
    { rule: { resources: [{ group: "*" }] }, refuses: [CLUSTER, TEAMS] },
    {
      rule: { resources: [{ group: "" }, { group: "apps" }] },
      allows: [CLUSTER, "cluster c1: get deployments.apps in shop"],
      refuses: [TEAMS],
    },
  ])("with groups: the empty text is the core group: $rule.resources", check);

  const FORMS = ["pods", "pods/log", "pods/scale", "deployments", "deployments/scale"];
  test.each([
    { entries: ["pods"], means: ["pods"] },
    { entries: ["pods/log"], means: ["pods/log"] },
    { entries: ["*"], means: FORMS },
    { entries: ["pods/*"], means: ["pods/log", "pods/scale"] },
    { entries: ["*/scale"], means: ["pods/scale", "deployments/scale"] },
    { entries: ["*/*"], means: ["pods/log", "pods/scale", "deployments/scale"] },
    { entries: [], means: FORMS },
    { entries: ["pods", "*/scale"], means: ["pods", "pods/scale", "deployments/scale"] },
    { entries: ["pod*", "pods/l*"], means: [] },
  ])("with resources named $entries means $means", ({ entries, means }) => {
    const words = (form: string) => `cluster c1: get ${form} in shop named x`;
    check({
      rule: { resources: [{ group: "", resources: entries }] },
      allows: means.map(words),
      refuses: FORMS.filter((form) => !means.includes(form)).map(words),
    });
  });

  test.each<Case>([
    {
      rule: { resources: [{ resources: ["pods"], resourceNames: ["web"] }] },
      allows: [`${CLUSTER} named web`],
      refuses: [`${CLUSTER} named db`, CLUSTER],
    },
    { rule: { resources: [{ resources: ["pods"], resourceNames: [] }] }, allows: [`${CLUSTER} named web`, `${CLUSTER} named db`, CLUSTER] },
    { rule: { resources: [{ resources: ["pods"], resourceNames: ["*"] }] }, refuses: [`${CLUSTER} named web`, CLUSTER] },
  ])("with resourceNames: empty is every instance: $rule.resources", check);

  test.each<Case>([
    { rule: { namespaces: [""] }, allows: [TEAMS], refuses: [SECRETS, PATH] },
    { rule: { namespaces: [] }, allows: [TEAMS, SECRETS] },
    { rule: { namespaces: ["p-a"] }, allows: [SECRETS], refuses: [TEAMS, "management: get sharedsecrets.management.platform in p-b"] },
    { rule: { namespaces: ["", "p-a"] }, allows: [TEAMS, SECRETS], refuses: ["management: get sharedsecrets.management.platform in p-b"] },
    { rule: { namespaces: ["*"] }, refuses: [TEAMS, SECRETS] },
  ])("with namespaces: the empty text is what is in none, empty is every namespace: $rule.namespaces", check);

  test.each<Case>([
    {
      rule: { nonResourceURLs: ["/metrics"] },
      allows: [PATH],
      refuses: [TEAMS, CLUSTER, "management: get /metrics/a", "management: get /metric"],
    },
    {
      rule: { nonResourceURLs: ["/a/*"] },
      allows: ["management: get /a/b", "management: post /a/b/c", "management: get /a/"],
      refuses: ["management: get /a", "management: get /ab", "management: get /b/a/b"],
    },
    { rule: { nonResourceURLs: ["/a*", "/*/b", "a"] }, refuses: ["management: get /ab", "management: get /a/b", "management: get /a"] },
    { rule: { nonResourceURLs: ["*"] }, allows: [PATH, "management: get /a/b"], refuses: [TEAMS] },
    { rule: { nonResourceURLs: ["/*"] }, allows: [PATH, "management: get /a/b", "management: get /"], refuses: [TEAMS] },
    { rule: { nonResourceURLs: ["/metrics"], verbs: ["get"] }, allows: [PATH], refuses: ["management: post /metrics"] },
    { rule: { resources: [{ resources: ["pods"] }] }, refuses: [PATH] },
    {
      rule: { nonResourceURLs: ["/metrics"], resources: [{ resources: ["pods"] }] },
      allows: [PATH, CLUSTER],
      refuses: [TEAMS, "management: get /logs"],
    },
    { rule: { nonResourceURLs: ["/metrics"], namespaces: ["shop"] }, allows: [PATH, CLUSTER], refuses: [TEAMS] },
  ])("with nonResourceURLs: the wildcard is everything below: $rule", check);

  test.each<Case>([
    { rule: { requestTargets: [] }, allows: [TEAMS, CLUSTER, SPACE, VIRTUAL] },
    { rule: { requestTargets: ["Management"] }, allows: [TEAMS], refuses: [CLUSTER, SPACE, VIRTUAL] },
    { rule: { requestTargets: ["Cluster"] }, allows: [CLUSTER, "cluster c1 project a: get pods"], refuses: [TEAMS, SPACE, VIRTUAL] },
    { rule: { requestTargets: ["ProjectSpace"] }, allows: [SPACE], refuses: [TEAMS, CLUSTER, VIRTUAL] },
    { rule: { requestTargets: ["ProjectVirtualCluster"] }, allows: [VIRTUAL], refuses: [TEAMS, CLUSTER, SPACE] },
    { rule: { requestTargets: ["Cluster", "ProjectSpace"] }, allows: [CLUSTER, SPACE], refuses: [TEAMS, VIRTUAL] },
    { rule: { requestTargets: ["management", "Everything"] }, refuses: [TEAMS, CLUSTER, SPACE, VIRTUAL] },
  ])("with requestTargets: empty is every request, one allows only that one: $rule.requestTargets", check);

  test.each<Case>([
    { rule: { cluster: "c1" }, allows: [CLUSTER, SPACE], refuses: ["cluster c2: get pods in shop", TEAMS, SECRETS, VIRTUAL, PATH] },
    { rule: { cluster: "*" }, allows: [CLUSTER, "cluster c2: get pods"], refuses: [TEAMS, VIRTUAL] },
    { rule: { cluster: "" }, allows: [TEAMS, CLUSTER, VIRTUAL] },
    { rule: { cluster: "c1", requestTargets: ["Management"] }, refuses: [TEAMS, CLUSTER] },
    { rule: { cluster: "c1", requestTargets: ["ProjectSpace"] }, allows: [SPACE], refuses: [CLUSTER, "cluster c2 space a/s: get pods"] },
  ])("with cluster: only requests to clusters, never to management: $rule", check);

  test.each<Case>([
    { rule: { virtualClusters: [] }, allows: [TEAMS, CLUSTER, VIRTUAL] },
    { rule: { virtualClusters: [{}] }, allows: [VIRTUAL, "virtual cluster b/w: get pods"], refuses: [TEAMS, CLUSTER, SPACE] },
    {
      rule: { virtualClusters: [{ name: "", namespace: "" }] },
      allows: [VIRTUAL, "virtual cluster b/w: get pods"],
      refuses: [TEAMS, CLUSTER],
    },
    {
      rule: { virtualClusters: [{ name: "v" }] },
      allows: [VIRTUAL, "virtual cluster b/v: get pods"],
      refuses: ["virtual cluster a/w: get pods", TEAMS],
    },
    {
      rule: { virtualClusters: [{ namespace: "p-a" }] },
      allows: [VIRTUAL, "virtual cluster a/w: get pods"],
      refuses: ["virtual cluster b/v: get pods"],
    },
    {
      rule: { virtualClusters: [{ name: "v", namespace: "p-a" }] },
      allows: [VIRTUAL],
      refuses: ["virtual cluster b/v: get pods", "virtual cluster a/w: get pods"],
    },
    { rule: { virtualClusters: [{ name: "*", namespace: "*" }] }, allows: [VIRTUAL, "virtual cluster b/w: get pods"], refuses: [TEAMS] },
    { rule: { virtualClusters: [{ namespace: "a" }] }, refuses: [VIRTUAL] },
    { rule: { virtualClusters: [{ name: "v" }], cluster: "c1" }, refuses: [TEAMS, CLUSTER, SPACE, VIRTUAL] },
    { rule: { virtualClusters: [{ name: "v" }], requestTargets: ["Cluster"] }, refuses: [TEAMS, CLUSTER, SPACE, VIRTUAL] },
  ])("with virtualClusters: only requests to virtual clusters, an empty item is all: $rule", check);
});
