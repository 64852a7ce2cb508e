import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileScope } from "../../../src/cluster/scope/scope.ts";
import { validateScope } from "../../../src/cluster/scope/checks/validate.ts";
import type { ScopeRule } from "../../../src/cluster/scope/types.ts";

function messages(rule: ScopeRule): string[] {
  return validateScope({ rules: [rule] }, "spec.scope").map(({ reason, field, message }) => {
    expect(reason).toBe("FieldValueInvalid");
    return `${field}: ${message}`;
  });
}

const RESOURCES = "spec.scope.rules[0].resources[0].resources";

describe("resources of a rule", () => {
  test.each([
    { entries: ["*", "pods"], at: 1, want: `"pods": if '*' is present, must not specify pods` },
    { entries: ["pods", "*"], at: 1, want: `"*": if 'pods' is present, must not specify *` },
    { entries: ["*", "pods/log"], at: 1, want: `"pods/log": if '*' is present, must not specify pods/log` },
    { entries: ["*", "*"], at: 1, want: `"*": if '*' is present, must not specify *` },
    { entries: ["pods/*", "pods/log"], at: 1, want: `"pods/log": if 'pods/*' is present, must not specify pods/log` },
    { entries: ["pods/log", "pods/*"], at: 1, want: `"pods/*": if 'pods/log' is present, must not specify pods/*` },
    { entries: ["*/scale", "pods/scale"], at: 1, want: `"pods/scale": if '*/scale' is present, must not specify pods/scale` },
    { entries: ["pods/*", "*/scale"], at: 1, want: `"*/scale": if 'pods/*' is present, must not specify */scale` },
    { entries: ["*/scale", "pods/*"], at: 1, want: `"pods/*": if '*/scale' is present, must not specify pods/*` },
    { entries: ["pods", "*/*", "pods/log"], at: 2, want: `"pods/log": if '*/*' is present, must not specify pods/log` },
  ])("must not overlap when there are wildcards: $entries", ({ entries, at, want }) => {
    expect(messages({ resources: [{ resources: entries }] })).toEqual([`${RESOURCES}[${at}]: Invalid value: ${want}`]);
  });

  test.each([
    [["pods", "pods/log", "services"]],
    [["pods", "pods"]],
    [["*"]],
    [["pods", "pods/*"]],
    [["pods", "deployments", "*/scale", "pods/log"]],
    [["pods/*", "services/*"]],
    [["*/scale", "*/status"]],
    [["pods", "*/*"]],
    [[]],
  ])("may stand beside each other: %j", (entries) => {
    expect(messages({ resources: [{ resources: entries }] })).toEqual([]);
  });

  test("overlap exactly when one is a wildcard and some request is meant by both", () => {
    const names = ["pods", "services", "*"];
    const parts = ["", "/log", "/scale", "/*"];
    const entry = fc.constantFrom(...names.flatMap((name) => parts.map((part) => name + part)));
    const requests = ["pods", "services", "others"].flatMap((resource) =>
      ["", "log", "scale", "others"].map((subresource) => ({
        verb: "get",
        group: "",
        version: "v1",
        resource,
        subresource,
        namespace: "",
        name: "",
      })),
    );
    const meantBy = (one: string) => {
      const scope = compileScope({ rules: [{ resources: [{ resources: [one] }] }] });
      return new Set(requests.filter((each) => scope.allows({ kind: "management" }, each)));
    };
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
        const overlap = entries.some((one, at) =>
          entries
            .slice(at + 1)
            .some((other) => `${one}${other}`.includes("*") && requests.some((each) => meantBy(one).has(each) && meantBy(other).has(each))),
        );
        expect(messages({ resources: [{ resources: entries }] }).length > 0).toBe(overlap);
      }),
      { numRuns: 2000 },
    );
  });

  test("are compared in time that grows with their number only", () => {
    const many = Array.from({ length: 50_000 }, (_item, index) => `r${index}/*`);
    expect(messages({ resources: [{ resources: [...many, "r7/log"] }] })).toHaveLength(1);
  });
});

describe("resourceNames", () => {
  test.each([{ resourceNames: ["web"] }, { resources: [], resourceNames: ["web"] }])("need resources: %j", (item) => {
    expect(messages({ resources: [item] })).toEqual([
      'spec.scope.rules[0].resources[0].resourceNames: Invalid value: ["web"]: using resourceNames requires at least one resource',
    ]);
  });

  test("are fine with resources, and when they are empty", () => {
    expect(messages({ resources: [{ resources: ["pods"], resourceNames: ["web"] }, { resourceNames: [] }] })).toEqual([]);
  });
});

describe("nonResourceURLs", () => {
  test.each(["/a*", "/*/b", "/a/b*", "/a/**", "/*a", "**", "/a/*/*", "a*b"])(
    "refuse a wildcard that is not the whole last step: %s",
    (path) => {
      const detail = "'*' is only allowed as the full, final step of the path";
      expect(messages({ nonResourceURLs: ["/ok", path] })).toEqual([
        `spec.scope.rules[0].nonResourceURLs[1]: Invalid value: ${JSON.stringify(path)}: ${detail}`,
      ]);
    },
  );

  test.each(["/a/*", "/*", "*", "/a", "/a/b/*", "/", "", "a"])("accept %j", (path) => {
    expect(messages({ nonResourceURLs: [path] })).toEqual([]);
  });
});

test("everything that is wrong is reported at once, with its place", () => {
  const wrong = { resources: [{ resources: ["pods"] }, { resources: ["*", "a", "b"] }], nonResourceURLs: ["/a*"] };
  expect(validateScope({ rules: [{}, wrong, { resources: [{ resourceNames: ["x"] }] }] }, "scope").map(({ field }) => field)).toEqual([
    "scope.rules[1].resources[1].resources[1]",
    "scope.rules[1].resources[1].resources[2]",
    "scope.rules[1].nonResourceURLs[0]",
    "scope.rules[2].resources[0].resourceNames",
  ]);
});

test("unknown names are not refused", () => {
  const rules = [{ verbs: ["x"], requestTargets: ["x"], namespaces: ["*"], cluster: "c", virtualClusters: [{}] }];
  expect(validateScope({ roles: [{ role: "x" }, {}], projects: [{}], rules }, "scope")).toEqual([]);
});
