import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeObject } from "../../../src/apiserver/types/objects/decode.ts";
import type { ObjectSchema, Schema } from "../../../src/schema/schema.ts";
import { compileScope } from "../../../src/cluster/scope/scope.ts";
import { ACCESS_SCOPE } from "../../../src/cluster/scope/shape.ts";
import type { AccessScope } from "../../../src/cluster/scope/types.ts";
import { accessScope, scopedRequest } from "./arbitrary.ts";

function read(value: unknown): { scope: AccessScope; unknown: string[] } {
  const unknown: string[] = [];
  const refuse = (why: string): never => {
    throw new Error(why);
  };
  return {
    scope: decodeObject(ACCESS_SCOPE, value, { root: "AccessScope", onUnknownField: (path) => unknown.push(path), refuse }),
    unknown,
  };
}

const WHOLE = {
  roles: [{ role: "platformCLI", projects: ["a", "*"], virtualClusters: ["v"] }, { role: "of-tomorrow" }],
  projects: [{ project: "a" }],
  spaces: [{ project: "a", space: "*" }],
  virtualClusters: [{ project: "a", virtualCluster: "v" }],
  clusters: [{ cluster: "*" }],
  rules: [
    {
      verbs: ["get"],
      resources: [{ group: "apps", resources: ["deployments", "*/scale"], resourceNames: ["web"] }],
      namespaces: ["", "shop"],
      nonResourceURLs: ["/metrics/*"],
      requestTargets: ["Cluster"],
      cluster: "c1",
      virtualClusters: [{ name: "v", namespace: "p-a" }, {}],
    },
    {},
  ],
  allowPlatformCli: true,
};

describe("the shape of a scope", () => {
  test("keeps every field of the specification as it was given, in its order", () => {
    const { scope, unknown } = read(WHOLE);
    expect([JSON.stringify(scope), unknown]).toEqual([JSON.stringify(WHOLE), []]);
  });

  test("tells of fields that it does not have", () => {
    expect(read({ allowLoftCli: true, rules: [{ verb: "get" }] }).unknown).toEqual(["allowLoftCli", "rules[0].verb"]);
  });

  test.each([
    [{ roles: {} }],
    [{ roles: ["platformCLI"] }],
    [{ roles: [{ role: 1 }] }],
    [{ roles: [{ projects: "a" }] }],
    [{ projects: ["a"] }],
    [{ clusters: [{ cluster: ["c1"] }] }],
    [{ rules: [{ verbs: [1] }] }],
    [{ rules: [{ resources: ["pods"] }] }],
    [{ rules: [{ cluster: true }] }],
    [{ allowPlatformCli: "true" }],
  ])("refuses another type: %j", (value) => {
    expect(() => read(value)).toThrow();
  });

  test("loses nothing that matters when empty fields are left out", () => {
    fc.assert(
      fc.property(accessScope, fc.array(scopedRequest, { minLength: 10, maxLength: 10 }), (scope, requests) => {
        const [given, kept] = [compileScope(scope), compileScope(read(scope).scope)];
        for (const { target, attributes } of requests) expect(kept.allows(target, attributes)).toBe(given.allows(target, attributes));
      }),
    );
  });

  test("has a text for each type and each field", () => {
    const bare: string[] = [];
    const look = (shape: Schema, path: string): void => {
      if (shape.type === "list") return look(shape.items, path);
      if (shape.type !== "object") return;
      const { name, about, fields }: ObjectSchema = shape;
      if (!name || !about) bare.push(path);
      for (const [field, of] of Object.entries(fields)) {
        if (!of.description) bare.push(`${path}.${field}`);
        look(of, `${path}.${field}`);
      }
    };
    look(ACCESS_SCOPE, "scope");
    expect(bare).toEqual([]);
  });
});
