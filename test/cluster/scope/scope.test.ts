import { describe, expect, test } from "vitest";
import { compileScope } from "../../../src/cluster/scope/scope.ts";
import type { AccessScope } from "../../../src/cluster/scope/types.ts";
import { request } from "./request.ts";

interface Case {
  readonly scope: AccessScope;
  readonly allows?: readonly string[];
  readonly refuses?: readonly string[];
}

/** Of the requests those that the scope allows. */
function allowed(scope: AccessScope | undefined, requests: readonly string[] = []): string[] {
  const compiled = compileScope(scope);
  return requests.filter((words) => {
    const { target, attributes } = request(words);
    return compiled.allows(target, attributes);
  });
}

function check({ scope, allows = [], refuses = [] }: Case): void {
  expect({ allows: allowed(scope, allows), refuses: allowed(scope, refuses) }).toEqual({ allows, refuses: [] });
}

const TEAMS = "management: get teams.management.platform";
const SECRETS = "management: get sharedsecrets.management.platform in p-a";
const OPEN = [
  "management: get /version",
  "management: get /api/v1",
  "management: get /apis/management.platform/v1",
  "cluster c1: get /openapi/v3/apis/apps/v1",
  "cluster c1: head /healthz",
  "virtual cluster a/v: get /livez/ping",
  "management: get /readyz",
  "management: create selfsubjectreviews.authentication.k8s.io",
  "cluster c1: create selfsubjectaccessreviews.authorization.k8s.io",
  "cluster c1: create selfsubjectrulesreviews.authorization.k8s.io",
];
const EVERYWHERE = [
  TEAMS,
  SECRETS,
  "management: delete sharedsecrets.management.platform in p-a named x",
  "management: get /metrics",
  "cluster c1: get pods in shop",
  "cluster c1 space a/s: get pods in shop",
  "virtual cluster a/v: get pods in shop",
  "virtual cluster a/v: post /reset",
];

describe("a scope", () => {
  test("that is absent limits nothing", () => {
    expect(allowed(undefined, [...OPEN, ...EVERYWHERE])).toEqual([...OPEN, ...EVERYWHERE]);
  });

  test("that is empty allows nothing but discovery, version, health and self reviews", () => {
    check({ scope: {}, allows: OPEN, refuses: EVERYWHERE });
  });

  test("opens only reading of the open paths, not what begins like them", () => {
    const refuses = ["management: post /version", "management: delete /api", "management: get /versions", "management: get /apisecrets"];
    check({ scope: {}, refuses });
  });

  test("opens only the creation of self reviews", () => {
    const refuses = [
      "management: list selfsubjectreviews.authentication.k8s.io",
      "management: create subjectaccessreviews.authorization.k8s.io",
      "management: create selfsubjectreviews.example.com",
      "management: create selfsubjectreviews.authentication.k8s.io/status",
    ];
    check({ scope: {}, refuses });
  });

  test("with several entries allows what one of them allows", () => {
    check({
      scope: { clusters: [{ cluster: "c1" }], virtualClusters: [{ project: "a", virtualCluster: "v" }] },
      allows: ["cluster c1: get pods", "virtual cluster a/v: get pods"],
      refuses: ["cluster c2: get pods", "virtual cluster a/w: get pods", TEAMS],
    });
  });
});

describe("a role", () => {
  const READS = [
    "management: get teams.management.platform named t",
    "management: list sharedsecrets.management.platform in p-a",
    "management: watch ownedaccesskeys.management.platform",
  ];
  const REST = [
    ...["create", "update", "patch", "delete", "deletecollection", "bind", "makeowner"].map(
      (verb) => `management: ${verb} teams.management.platform`,
    ),
    "management: get roles.rbac.authorization.k8s.io",
    "management: get /metrics",
    "cluster c1: get teams.management.platform",
    "virtual cluster a/v: get pods",
  ];

  test.each<Case>([
    { scope: { roles: [{ role: "platformCLI" }] } },
    { scope: { roles: [{ role: "platform-cli" }] } },
    { scope: { roles: [{ role: "platformCLI", projects: [], virtualClusters: [] }] } },
  ])("platformCLI reads what is managed and writes nothing: $scope", ({ scope }) => {
    check({ scope, allows: READS, refuses: REST });
  });

  test("allowPlatformCli has the effect of the role platformCLI", () => {
    check({ scope: { allowPlatformCli: true }, allows: READS, refuses: REST });
    check({ scope: { allowPlatformCli: false }, refuses: [...READS, ...REST] });
  });

  test.each<Case>([
    {
      scope: { roles: [{ role: "platformCLI", projects: ["a"] }] },
      allows: [SECRETS],
      refuses: [
        TEAMS,
        "management: get sharedsecrets.management.platform in p-b",
        "management: get sharedsecrets.management.platform in a",
        "management: create sharedsecrets.management.platform in p-a",
      ],
    },
    {
      scope: { roles: [{ role: "platformCLI", projects: ["*"] }] },
      allows: [SECRETS, "management: get sharedsecrets.management.platform in p-b"],
      refuses: [TEAMS, "management: get sharedsecrets.management.platform in kube-system"],
    },
    { scope: { roles: [{ role: "platformCLI", virtualClusters: ["v"] }] }, refuses: [TEAMS, SECRETS, "virtual cluster a/v: get pods"] },
    {
      scope: { roles: [{ role: "platformCLI", projects: ["a"], virtualClusters: ["*"] }] },
      allows: [SECRETS],
      refuses: [TEAMS, "virtual cluster a/v: get pods"],
    },
  ])("with projects or virtual clusters reaches what is listed and no more: $scope", check);

  test.each(["agent", "PlatformCLI", "*", ""])("of an unknown name grants nothing: %s", (role) => {
    check({ scope: { roles: [{ role }] }, refuses: [...READS, ...REST] });
  });

  test("without a name grants nothing", () => check({ scope: { roles: [{ projects: ["*"] }] }, refuses: [SECRETS, ...READS] }));
});

describe("an entry that names where requests go", () => {
  test.each<Case>([
    {
      scope: { projects: [{ project: "a" }] },
      allows: [
        SECRETS,
        "management: delete configmaps in p-a named x",
        "cluster c1 project a: get nodes",
        "cluster c2 space a/s: create pods in shop",
        "cluster c1 space a/s: get /metrics",
      ],
      refuses: [
        TEAMS,
        "management: get sharedsecrets.management.platform in p-b",
        "management: get sharedsecrets.management.platform in p-ab",
        "management: get /metrics",
        "cluster c1: get pods in p-a",
        "cluster c1 space b/s: get pods in shop",
        "virtual cluster a/v: get pods",
      ],
    },
    {
      scope: { projects: [{ project: "*" }] },
      allows: [SECRETS, "management: get sharedsecrets.management.platform in p-b", "cluster c1 space b/s: get pods in shop"],
      refuses: [
        TEAMS,
        "management: get sharedsecrets.management.platform in p-",
        "management: get secrets in shop",
        "cluster c1: get pods",
      ],
    },
  ])("projects: the named one, or all with *: $scope", check);

  test.each<Case>([
    {
      scope: { spaces: [{ project: "a", space: "s" }] },
      allows: ["cluster c1 space a/s: get pods in shop", "cluster c2 space a/s: delete pods", "cluster c1 space a/s: get /metrics"],
      refuses: [
        "cluster c1 space a/t: get pods",
        "cluster c1 space b/s: get pods",
        "cluster c1 project a: get pods",
        "cluster c1: get pods",
        SECRETS,
      ],
    },
    {
      scope: { spaces: [{ project: "a", space: "*" }] },
      allows: ["cluster c1 space a/s: get pods", "cluster c1 space a/t: get pods"],
      refuses: ["cluster c1 space b/s: get pods", "cluster c1 project a: get pods"],
    },
    {
      scope: {
        spaces: [
          { project: "a", space: "s" },
          { project: "b", space: "t" },
        ],
      },
      allows: ["cluster c1 space a/s: get pods", "cluster c1 space b/t: get pods"],
      refuses: ["cluster c1 space a/t: get pods", "cluster c1 space b/s: get pods"],
    },
    {
      scope: { spaces: [{ project: "*", space: "s" }] },
      allows: ["cluster c1 space b/s: get pods"],
      refuses: ["cluster c1 space b/t: get pods"],
    },
  ])("spaces: the named one, or all with *: $scope", check);

  test.each<Case>([
    {
      scope: { virtualClusters: [{ project: "a", virtualCluster: "v" }] },
      allows: [
        "virtual cluster a/v: get pods in shop",
        "virtual cluster a/v: delete namespaces in shop named shop",
        "virtual cluster a/v: get /metrics",
      ],
      refuses: ["virtual cluster a/w: get pods", "virtual cluster b/v: get pods", "cluster v: get pods", SECRETS],
    },
    {
      scope: { virtualClusters: [{ project: "a", virtualCluster: "*" }] },
      allows: ["virtual cluster a/v: get pods", "virtual cluster a/w: get pods"],
      refuses: ["virtual cluster b/v: get pods"],
    },
    {
      scope: { virtualClusters: [{ project: "*", virtualCluster: "*" }] },
      allows: ["virtual cluster a/v: get pods", "virtual cluster b/w: get pods"],
      refuses: ["cluster c1: get pods", TEAMS],
    },
  ])("virtualClusters: the named one, or all with *: $scope", check);

  test.each<Case>([
    {
      scope: { clusters: [{ cluster: "c1" }] },
      allows: ["cluster c1: get pods in shop", "cluster c1 space a/s: delete pods", "cluster c1: get /metrics"],
      refuses: ["cluster c2: get pods in shop", "cluster c2: get /metrics", "virtual cluster a/c1: get pods", TEAMS],
    },
    {
      scope: { clusters: [{ cluster: "*" }] },
      allows: ["cluster c1: get pods", "cluster c2 space a/s: get pods", "cluster c3 project a: get /metrics"],
      refuses: [TEAMS, "virtual cluster a/v: get pods"],
    },
  ])("clusters: a token for one is refused by another, one for * by none: $scope", check);

  test.each<AccessScope>([
    { projects: [{}] },
    { projects: [{ project: "" }] },
    { spaces: [{ project: "a" }] },
    { spaces: [{ space: "*" }] },
    { virtualClusters: [{ project: "a" }] },
    { virtualClusters: [{ virtualCluster: "*" }] },
    { clusters: [{}] },
  ])("selects nothing without its names: %j", (scope) => {
    check({ scope, refuses: [...EVERYWHERE, "management: get secrets in p-", "cluster c1 project a: get pods"] });
  });

  test("selects with * only what is in a project", () => {
    const { allows } = compileScope({
      projects: [{ project: "*" }],
      spaces: [{ project: "*", space: "*" }],
      virtualClusters: [{ project: "*", virtualCluster: "*" }],
    });
    const read = { verb: "get", path: "/metrics" };
    expect(allows({ kind: "cluster", cluster: "c1", space: "s" }, read)).toBe(false);
    expect(allows({ kind: "virtualCluster", project: "", virtualCluster: "v" }, read)).toBe(false);
  });

  test("follows the prefix that the platform gives to namespaces of projects", () => {
    const { allows } = compileScope({ projects: [{ project: "a" }] }, { projectNamespacePrefix: "proj-" });
    const [there, elsewhere] = ["proj-a", "p-a"].map((name) => request(`management: get secrets in ${name}`));
    expect([allows(there!.target, there!.attributes), allows(elsewhere!.target, elsewhere!.attributes)]).toEqual([true, false]);
  });
});
