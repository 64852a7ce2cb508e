/** Scopes and requests of few names, so that they meet often. */
import * as fc from "fast-check";
import type { AccessScope, ScopeRule, Target } from "../../../src/cluster/scope/types.ts";
import type { ScopedRequest } from "./request.ts";

/** Each field is there or not; a list is short, and may be empty. */
function some<T extends object>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<T>;
}

const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 2 });
const project = fc.constantFrom("a", "b", "*", "");
const name = fc.constantFrom("x", "y", "*", "");

const rule: fc.Arbitrary<ScopeRule> = some<ScopeRule>({
  verbs: few(fc.constantFrom("get", "list", "create", "*")),
  resources: few(
    some({
      group: fc.constantFrom("", "management.platform", "authorization.k8s.io"),
      resources: few(fc.constantFrom("teams", "teams/log", "teams/*", "*/log", "*", "*/*", "pods", "pods/log")),
      resourceNames: few(fc.constantFrom("x", "y")),
    }),
  ),
  namespaces: few(fc.constantFrom("", "p-a", "p-b", "a", "p-")),
  nonResourceURLs: few(fc.constantFrom("/a", "/a/*", "/a/b/*", "/a/b", "/*", "*", "/metrics")),
  requestTargets: few(fc.constantFrom("Management", "Cluster", "ProjectSpace", "ProjectVirtualCluster", "Other")),
  cluster: fc.constantFrom("", "x", "*"),
  virtualClusters: few(some({ name: fc.constantFrom("", "x", "y"), namespace: fc.constantFrom("", "p-a", "q") })),
});

const fields: { [K in keyof Required<AccessScope>]: fc.Arbitrary<NonNullable<AccessScope[K]>> } = {
  roles: few(some({ role: fc.constantFrom("platformCLI", "platform-cli", "agent"), projects: few(project), virtualClusters: few(name) })),
  projects: few(some({ project })),
  spaces: few(some({ project, space: name })),
  virtualClusters: few(some({ project, virtualCluster: name })),
  clusters: few(some({ cluster: name })),
  rules: few(rule),
  allowPlatformCli: fc.boolean(),
};

/** Any scope; often of one or two entries, sometimes of all. */
export const accessScope: fc.Arbitrary<AccessScope> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ rules: fc.array(rule, { minLength: 1, maxLength: 3 }) }) },
  { weight: 2, arbitrary: some<AccessScope>(fields) },
);

const targets: readonly Target[] = [
  { kind: "management" },
  ...["x", "z"].flatMap((cluster): Target[] => [
    { kind: "cluster", cluster },
    { kind: "cluster", cluster, project: "a" },
    ...["a", "c"].flatMap((of) => ["x", "z"].map((space): Target => ({ kind: "cluster", cluster, project: of, space }))),
  ]),
  ...["a", "b", "c"].flatMap((of) => ["x", "z"].map((virtualCluster): Target => ({ kind: "virtualCluster", project: of, virtualCluster }))),
];

const verb = fc.constantFrom("get", "list", "create", "delete");

/** Any request, of names that scopes use and of others. */
export const scopedRequest: fc.Arbitrary<ScopedRequest> = fc.record({
  target: fc.constantFrom(...targets),
  attributes: fc.oneof(
    fc.record({ verb, path: fc.constantFrom("/", "/a", "/a/", "/a/b", "/a/b/c", "/a/c", "/metrics", "/other", "/version") }),
    fc.record({
      verb,
      group: fc.constantFrom("", "management.platform", "apps"),
      version: fc.constant("v1"),
      resource: fc.constantFrom("teams", "pods", "others"),
      subresource: fc.constantFrom("", "log", "status"),
      namespace: fc.constantFrom("", "p-a", "p-b", "p-c", "a", "p-", "other"),
      name: fc.constantFrom("", "x", "z"),
    }),
  ),
});
