import { describe, expect, test } from "vitest";
import { scopeWarnings } from "../../../src/cluster/scope/checks/warnings.ts";
import type { AccessScope } from "../../../src/cluster/scope/types.ts";

const DEPRECATED = "scope.rules: deprecated; use projects, spaces and virtualClusters";

describe("scopeWarnings", () => {
  test.each<{ scope: AccessScope; want: string[] }>([
    { scope: {}, want: ["scope: allows nothing"] },
    { scope: { roles: [], rules: [], allowPlatformCli: false }, want: ["scope: allows nothing"] },
    { scope: { roles: [{ role: "platformCLI" }] }, want: [] },
    { scope: { roles: [{ role: "platform-cli", projects: ["a"], virtualClusters: ["v"] }] }, want: [] },
    { scope: { clusters: [{ cluster: "*" }], projects: [{ project: "a" }] }, want: [] },
    { scope: { allowPlatformCli: true }, want: ['scope.allowPlatformCli: deprecated; use roles with the role "platformCLI"'] },
    { scope: { rules: [{}] }, want: [DEPRECATED] },
    {
      scope: { clusters: [{ cluster: "c" }], roles: [{ role: "platformCli" }, { role: "agent" }, {}] },
      want: [
        'scope.roles[0].role: unknown role "platformCli" allows nothing; did you mean "platformCLI"?',
        'scope.roles[1].role: unknown role "agent" allows nothing; known: "platformCLI"',
        'scope.roles[2].role: unknown role "" allows nothing; known: "platformCLI"',
      ],
    },
    {
      scope: { roles: [{ role: "platformCLI", virtualClusters: ["v"] }] },
      want: ["scope: allows nothing", 'scope.roles[0]: allows nothing, because the role "platformCLI" applies to projects only'],
    },
    {
      scope: {
        projects: [{ project: "a" }, {}],
        spaces: [{ project: "a" }],
        virtualClusters: [{ virtualCluster: "*" }],
        clusters: [{ cluster: "" }],
      },
      want: ["projects[1].project", "spaces[0].space", "virtualClusters[0].project", "clusters[0].cluster"].map(
        (field) => `scope.${field}: empty, so the entry selects nothing; "*" selects all`,
      ),
    },
    {
      scope: { rules: [{ requestTargets: ["management", "Management", "x"] }] },
      want: [
        DEPRECATED,
        'scope.rules[0].requestTargets[0]: unknown request target "management" matches nothing; did you mean "Management"?',
        'scope.rules[0].requestTargets[2]: unknown request target "x" matches nothing; known: "Management", "Cluster", "ProjectSpace", "ProjectVirtualCluster"',
      ],
    },
    {
      scope: { rules: [{}, { cluster: "c1", virtualClusters: [{}] }] },
      want: [DEPRECATED, "scope.rules[1]: allows nothing, because no request can match it"],
    },
    {
      scope: { rules: [{ namespaces: ["a", "*"], resources: [{ group: "*", resources: ["pods"], resourceNames: ["*"] }] }] },
      want: [
        DEPRECATED,
        `scope.rules[0].resources[0].group: "*" is not a wildcard here and matches nothing; leave the rule's resources empty to match all groups`,
        ...["resources[0].resourceNames[0]", "namespaces[1]"].map(
          (field) => `scope.rules[0].${field}: "*" is not a wildcard here and matches nothing; leave the list empty to match all`,
        ),
      ],
    },
    {
      scope: { rules: [{ nonResourceURLs: ["*", "/a", "metrics"] }] },
      want: [DEPRECATED, 'scope.rules[0].nonResourceURLs[2]: matches nothing, because paths begin with "/"'],
    },
  ])("$scope", ({ scope, want }) => {
    expect(scopeWarnings(scope, "scope")).toEqual(want);
  });

  test("knows the namespaces of projects by their prefix", () => {
    const scope = { rules: [{ virtualClusters: [{ namespace: "proj-a" }] }] };
    expect(scopeWarnings(scope, "scope", { projectNamespacePrefix: "proj-" })).toEqual([DEPRECATED]);
    expect(scopeWarnings(scope, "scope")).toHaveLength(3);
  });

  test("ends at twenty, with the number of those left out", () => {
    const warnings = scopeWarnings({ roles: Array.from({ length: 50 }, () => ({ role: "x" })) }, "scope");
    expect([warnings.length, warnings[20]]).toEqual([21, "scope: 31 more"]);
  });
});
