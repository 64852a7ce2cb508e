import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileScope } from "../../../src/cluster/scope/scope.ts";
import { isScopeWithin } from "../../../src/cluster/scope/checks/subset.ts";
import type { AccessScope, ScopeRule, Target } from "../../../src/cluster/scope/types.ts";
import { accessScope, scopedRequest } from "./arbitrary.ts";
import type { ScopedRequest } from "./request.ts";

const verbs = (...names: string[]): ScopeRule => ({ verbs: names });
const resources = (...names: string[]): ScopeRule => ({ resources: [{ resources: names }] });
const namespaces = (...names: string[]): ScopeRule => ({ namespaces: names });
const paths = (...names: string[]): ScopeRule => ({ nonResourceURLs: names });
const rules = (...list: ScopeRule[]): AccessScope => ({ rules: list });

interface Pair {
  readonly inner: AccessScope | undefined;
  readonly outer: AccessScope | undefined;
}

describe("isWithin", () => {
  test.each<Pair & { why: string }>([
    { inner: undefined, outer: undefined, why: "nothing limits either" },
    { inner: { clusters: [{ cluster: "*" }] }, outer: undefined, why: "nothing limits the outer one" },
    { inner: {}, outer: {}, why: "both allow nothing" },
    { inner: { projects: [{}] }, outer: {}, why: "an entry selects nothing" },
    { inner: undefined, outer: rules({}), why: "a rule allows everything" },
    { inner: { clusters: [{ cluster: "c" }] }, outer: { clusters: [{ cluster: "*" }] }, why: "a wildcard holds a name" },
    { inner: { projects: [{ project: "a" }] }, outer: { projects: [{ project: "b" }, { project: "a" }] }, why: "one of several" },
    { inner: { spaces: [{ project: "a", space: "*" }] }, outer: { projects: [{ project: "a" }] }, why: "a project holds its spaces" },
    { inner: { spaces: [{ project: "a", space: "*" }] }, outer: { clusters: [{ cluster: "*" }] }, why: "clusters hold spaces" },
    { inner: { roles: [{ role: "platformCLI", projects: ["a"] }] }, outer: { projects: [{ project: "a" }] }, why: "a role in a project" },
    { inner: { allowPlatformCli: true }, outer: { roles: [{ role: "platform-cli" }] }, why: "two words for one role" },
    {
      inner: { clusters: [{ cluster: "c" }] },
      outer: rules({ requestTargets: ["Cluster"] }, { requestTargets: ["ProjectSpace"] }),
      why: "two targets make a cluster",
    },
    {
      inner: { virtualClusters: [{ project: "a", virtualCluster: "*" }] },
      outer: rules({ virtualClusters: [{ namespace: "p-a" }] }),
      why: "a project and its namespace",
    },
    { inner: rules(verbs("get", "list")), outer: rules(verbs("get"), verbs("list")), why: "verbs of two rules together" },
    {
      inner: rules(resources("pods/*", "pods")),
      outer: rules(resources("pods/*"), resources("pods")),
      why: "resources of two rules together",
    },
    { inner: rules(resources("*")), outer: rules(resources("*/*", "*")), why: "a resource with its parts" },
    { inner: rules(resources("pods/log")), outer: rules(resources("*/log")), why: "a part of all" },
    { inner: rules(paths("/a/b/*", "/a/c")), outer: rules(paths("/a/*")), why: "paths below" },
    { inner: rules(namespaces("a", "")), outer: rules(namespaces(""), namespaces("b", "a")), why: "namespaces of two rules together" },
    {
      inner: rules({ verbs: ["get", "list"], namespaces: ["a", "b"] }),
      outer: rules(
        { verbs: ["get"], namespaces: ["a", "b"] },
        { verbs: ["list"], namespaces: ["a"] },
        { verbs: ["list"], namespaces: ["b"] },
      ),
      why: "rules that only together cover a square",
    },
  ])("holds: $why", ({ inner, outer }) => {
    expect(isScopeWithin(inner, outer)).toBe(true);
  });

  test.each<Pair & { why: string }>([
    { inner: undefined, outer: {}, why: "nothing limits the inner one" },
    { inner: undefined, outer: { clusters: [{ cluster: "*" }] }, why: "management is missing" },
    { inner: { clusters: [{ cluster: "*" }] }, outer: { clusters: [{ cluster: "c" }] }, why: "a name is not a wildcard" },
    { inner: { clusters: [{ cluster: "*" }] }, outer: { projects: [{ project: "*" }] }, why: "clusters have more than projects" },
    { inner: { clusters: [{ cluster: "c" }] }, outer: rules({ requestTargets: ["Cluster"] }), why: "spaces are missing" },
    {
      inner: { projects: [{ project: "a" }] },
      outer: { spaces: [{ project: "a", space: "*" }] },
      why: "a project is more than its spaces",
    },
    { inner: { projects: [{ project: "*" }] }, outer: { projects: [{ project: "a" }] }, why: "a project of many" },
    { inner: { allowPlatformCli: true }, outer: { projects: [{ project: "*" }] }, why: "what is in no project" },
    { inner: rules(verbs()), outer: rules(verbs("get"), verbs("list")), why: "verbs that are named nowhere" },
    { inner: rules(resources("pods/*")), outer: rules(resources("pods/log", "pods/status")), why: "parts that are named nowhere" },
    { inner: rules(resources("pods/*")), outer: rules(resources("pods")), why: "parts are not the whole" },
    {
      inner: rules(resources("pods")),
      outer: rules({ resources: [{ resources: ["pods"], resourceNames: ["web"] }] }),
      why: "objects of other names",
    },
    { inner: rules(resources("pods")), outer: rules({ resources: [{ group: "apps" }] }), why: "another group" },
    { inner: rules(paths("/a/*")), outer: rules(paths("/a/b/*", "/a/b", "/a/c")), why: "paths beside" },
    { inner: rules(paths("/a/*")), outer: rules(resources()), why: "paths against resources" },
    { inner: rules({}), outer: rules(namespaces(""), namespaces("a")), why: "other namespaces" },
    {
      inner: rules({ verbs: ["get", "list"], namespaces: ["a", "b"] }),
      outer: rules({ verbs: ["get"], namespaces: ["a", "b"] }, { verbs: ["list"], namespaces: ["a"] }),
      why: "a square of which a corner is missing",
    },
  ])("does not hold: $why", ({ inner, outer }) => {
    expect(isScopeWithin(inner, outer)).toBe(false);
  });

  test("implies that no request is allowed by the inner and refused by the outer scope", () => {
    let held = 0;
    fc.assert(
      fc.property(
        fc.option(accessScope, { nil: undefined }),
        accessScope,
        fc.array(scopedRequest, { minLength: 20, maxLength: 40 }),
        (inner, outer, requests) => {
          if (!isScopeWithin(inner, outer)) return;
          held += 1;
          const [asked, allowed] = [compileScope(inner), compileScope(outer)];
          const beyond = requests.filter(
            ({ target, attributes }) => asked.allows(target, attributes) && !allowed.allows(target, attributes),
          );
          expect(beyond).toEqual([]);
        },
      ),
      { numRuns: 4000 },
    );
    expect(held).toBeGreaterThan(100);
  });

  test("is exact: it holds whenever no request of any sort is allowed by the inner and refused by the outer scope", () => {
    const few = (...names: string[]) => fc.array(fc.constantFrom(...names), { maxLength: 2 });
    const rule = fc.record(
      {
        verbs: few("get", "list"),
        namespaces: few("", "p-a"),
        resources: few("teams", "teams/*", "*/log", "*").map((list) => [{ resources: list }]),
        nonResourceURLs: few("/a/*", "/a/b"),
        requestTargets: few("Management", "Cluster", "ProjectSpace"),
      },
      { requiredKeys: [] },
    );
    const scope = fc.record({ rules: fc.array(rule, { minLength: 1, maxLength: 4 }) });
    const of = { project: "a", space: "s", cluster: "c" };
    const targets: Target[] = [
      { kind: "management" },
      { kind: "cluster", cluster: "c" },
      { kind: "cluster", ...of },
      { kind: "virtualCluster", project: "a", virtualCluster: "v" },
    ];
    const paths = ["/", "/a", "/a/", "/a/b", "/a/c"].map((path) => ({ path }));
    const things = ["teams", "others"].flatMap((resource) =>
      ["", "log", "status"].flatMap((subresource) =>
        ["", "p-a", "p-b"].flatMap((namespace) =>
          ["", "apps"].map((group) => ({ resource, subresource, namespace, group, version: "v1", name: "" })),
        ),
      ),
    );
    const all: ScopedRequest[] = targets.flatMap((target) =>
      ["get", "list", "create"].flatMap((verb) => [...paths, ...things].map((rest) => ({ target, attributes: { verb, ...rest } }))),
    );
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(scope, scope, (inner, outer) => {
        const [asked, allowed] = [compileScope(inner), compileScope(outer)];
        const holds = all.every(({ target, attributes }) => !asked.allows(target, attributes) || allowed.allows(target, attributes));
        seen[`${holds}`] += 1;
        expect(isScopeWithin(inner, outer)).toBe(holds);
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(20);
  });

  test("holds whenever the inner scope was made of parts of the outer one", () => {
    const outer = accessScope.filter((scope) => Object.keys(scope).length > 0);
    fc.assert(
      fc.property(outer, fc.infiniteStream(fc.boolean()), (scope, coin) => {
        const keep = () => coin.next().value === true;
        const part = Object.fromEntries(
          Object.entries(scope).map(([field, value]) => [field, Array.isArray(value) ? value.filter(keep) : value && keep()]),
        ) as AccessScope;
        expect(isScopeWithin(part, scope)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("holds for a scope and itself, however it is ordered", () => {
    fc.assert(
      fc.property(accessScope, (scope) => {
        const turned = Object.fromEntries(
          Object.entries(scope)
            .reverse()
            .map(([field, value]) => [field, Array.isArray(value) ? value.toReversed() : value]),
        ) as AccessScope;
        expect(isScopeWithin(turned, scope)).toBe(true);
        expect(isScopeWithin(scope, turned)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("follows the prefix that the platform gives to namespaces of projects", () => {
    const [inner, outer] = [
      { projects: [{ project: "a" }] },
      rules({ namespaces: ["q-a"] }, { requestTargets: ["Cluster", "ProjectSpace"] }),
    ];
    expect(isScopeWithin(inner, outer)).toBe(false);
    expect(isScopeWithin(inner, outer, { projectNamespacePrefix: "q-" })).toBe(true);
  });

  test("says no where it would take too long, and yes to what the other scope has too", () => {
    const wide = (count: number, ...verbs: string[]) =>
      rules(...Array.from({ length: count }, (_item, at) => ({ verbs: [`a${at}`, ...verbs], namespaces: [`n${at}`] })));
    const turned = (count: number) => ({ rules: wide(count, "get").rules?.toReversed() ?? [] });
    expect(isScopeWithin(wide(3000), wide(3000, "get"))).toBe(false);
    expect(isScopeWithin(wide(100), wide(100, "get"))).toBe(true);
    expect(isScopeWithin(wide(3000, "get"), turned(3000))).toBe(true);
    expect(isScopeWithin(turned(3000), { ...wide(3000, "get"), clusters: [{ cluster: "c" }] })).toBe(true);
    expect(isScopeWithin({ ...turned(100), projects: [{ project: "q" }] }, rules({ namespaces: ["n1"] }))).toBe(false);
  });
});
