/**
 * `docs/guides/limit-a-key.md`: its keys are valid, and its tables say what scopes do.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { REQUEST_TARGETS } from "../../src/cluster/scope/grants.ts";
import { compileScope } from "../../src/cluster/scope/scope.ts";
import { ACCESS_SCOPE } from "../../src/cluster/scope/shape.ts";
import type { AccessScope } from "../../src/cluster/scope/types.ts";
import { validateScope } from "../../src/cluster/scope/checks/validate.ts";
import { scopeWarnings } from "../../src/cluster/scope/checks/warnings.ts";
import { decodeObject } from "../../src/apiserver/types/objects/decode.ts";
import { request } from "../cluster/scope/request.ts";
import { blocksOf, tablesOf } from "../support/markdown.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/guides/limit-a-key.md"), "utf8");

function readScope(value: unknown): AccessScope {
  const refuse = (why: string): never => {
    throw new Error(why);
  };
  return decodeObject(ACCESS_SCOPE, value, { root: "AccessScope", onUnknownField: refuse, refuse });
}

function rowsOf(name: string) {
  return tablesOf(PAGE)
    .filter((table) => table.name === name)
    .flatMap(({ rows }) => rows);
}

function decide(scope: AccessScope, words: string): string {
  const { target, attributes } = request(words);
  return compileScope(scope).allows(target, attributes) ? "allowed" : "refused";
}

function key(name: string): AccessScope {
  const block = blocksOf(PAGE).find(({ words }) => words.includes(name));
  const { spec } = load(block?.text ?? "") as { spec: { scope: unknown } };
  return readScope(spec.scope);
}

describe("keys of the guide", () => {
  test.each([
    { name: "ci-key", warnings: [] },
    { name: "rule-key", warnings: ["spec.scope.rules: deprecated; use projects, spaces and virtualClusters"] },
  ])("$name is valid and has an effect", ({ name, warnings }) => {
    expect([validateScope(key(name), "spec.scope"), scopeWarnings(key(name), "spec.scope")]).toEqual([[], warnings]);
  });

  test.each([
    ["ci-key", "management: get sharedsecrets.management.platform in p-shop", "allowed"],
    ["ci-key", "virtual cluster tests/x: get pods in web", "allowed"],
    ["ci-key", "virtual cluster shop/x: get pods in web", "refused"],
    ["rule-key", "cluster c1: get pods/log in web named db", "allowed"],
    ["rule-key", "cluster c1: delete pods in web named db", "refused"],
    ["rule-key", "cluster c2: get pods in web named db", "refused"],
    ["rule-key", "management: get /metrics/slis", "allowed"],
  ])("with %s %s is %s", (name, words, answer) => {
    expect(decide(key(name), words)).toBe(answer);
  });
});

describe("a scope of the tables", () => {
  test.each(rowsOf("scope requests"))("line $line: $scope, $request is $result", ({ scope, request: words, result }) => {
    const read = readScope(load(scope!));
    expect([validateScope(read, "spec.scope"), decide(read, words!)]).toEqual([[], result]);
  });

  test.each(rowsOf("scope refusals"))("line $line is refused: $scope", ({ scope, message }) => {
    const errors = validateScope(readScope(load(scope!)), "spec.scope");
    expect(errors.map(({ field, message: text }) => `${field}: ${text}`)).toEqual([message]);
  });

  test.each(rowsOf("scope warnings"))("line $line is warned of: $scope", ({ scope, warning }) => {
    expect(scopeWarnings(readScope(load(scope!)), "spec.scope")).toEqual([warning]);
  });

  test("are there", () => {
    expect(["scope requests", "scope refusals", "scope warnings"].map((name) => rowsOf(name).length)).toEqual([37, 3, 4]);
  });
});

test("every request target is named", () => {
  expect(REQUEST_TARGETS.filter((target) => !PAGE.includes(`\`${target}\``))).toEqual([]);
});
