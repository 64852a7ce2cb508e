import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../../src/base/clock.ts";
import { SCOPE_EXTRA, allowedByScopes, compileScope, scopesOf } from "../../../src/cluster/scope/scope.ts";
import { TextCache } from "../../../src/cluster/scope/patterns/text-cache.ts";
import type { AccessScope } from "../../../src/cluster/scope/types.ts";
import type { UserInfo } from "../../../src/apiserver/types/user-info.ts";
import { accessScope, scopedRequest } from "./arbitrary.ts";
import { request } from "./request.ts";

function user(...texts: readonly string[]): UserInfo {
  return { name: "jane", groups: [], extra: { [SCOPE_EXTRA]: texts } };
}

function may(who: UserInfo, words: string, options = {}): boolean {
  const { target, attributes } = request(words);
  return allowedByScopes(who, target, attributes, options);
}

const C1: AccessScope = { clusters: [{ cluster: "c1" }] };
const READS: AccessScope = { rules: [{ verbs: ["get", "list"] }] };

describe("a user with several scopes", () => {
  test("may do what all of them allow", () => {
    const jane = user(JSON.stringify(C1), JSON.stringify(READS));
    expect(["cluster c1: get pods", "cluster c1: delete pods", "cluster c2: get pods"].map((words) => may(jane, words))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("may do exactly what each of them alone allows", () => {
    fc.assert(
      fc.property(fc.array(accessScope, { maxLength: 3 }), scopedRequest, (scopes, { target, attributes }) => {
        const each = scopes.map((scope) => compileScope(scope).allows(target, attributes));
        const jane = user(...scopes.map((scope) => JSON.stringify(scope)));
        expect(allowedByScopes(jane, target, attributes)).toBe(!each.includes(false));
      }),
    );
  });

  test("is not limited without scopes", () => {
    const plain: UserInfo = { name: "jane", groups: [] };
    for (const who of [plain, { ...plain, extra: {} }, user()])
      expect([may(who, "management: delete teams.management.platform"), scopesOf(who)]).toEqual([true, []]);
  });
});

describe("a text that is not a scope", () => {
  test.each([
    "",
    "null",
    "[]",
    "{",
    '{"clusters":[{"cluster":1}]}',
    '{"clusters":{"cluster":"*"}}',
    '{"clusters":[{"cluster":"*"}],"except":["c1"]}',
    '{"rules":[{"verbs":["get"],"notNames":["x"]}]}',
    '{"rules":[{"verbs":"get"}]}',
  ])("allows nothing: %s", (text) => {
    const asked = ["cluster c1: get pods", "management: get /metrics", "management: get /version"];
    expect(asked.map((words) => may(user(text), words))).toEqual([false, false, true]);
  });

  test("takes nothing from what is well formed beside it, and adds nothing", () => {
    expect(may(user(JSON.stringify(C1), "{"), "cluster c1: get pods")).toBe(false);
  });
});

test("the same text means another thing with another prefix", () => {
  const jane = user('{"projects":[{"project":"a"}]}');
  const prefixes = [undefined, "q-", "p-"].map((projectNamespacePrefix) => ({ projectNamespacePrefix }));
  const answers = prefixes.map((options) => ["p-a", "q-a"].map((name) => may(jane, `management: get secrets in ${name}`, options)));
  expect(answers).toEqual([
    [true, false],
    [false, true],
    [true, false],
  ]);
});

test("the scopes of a user are compiled once for each prefix, however long they are", () => {
  const jane = user(`${JSON.stringify(C1)}${" ".repeat(5_000_000)}`);
  const scopes = scopesOf(jane);
  expect(scopes.map((scope) => scope.allows({ kind: "cluster", cluster: "c1" }, { verb: "get", path: "/metrics" }))).toEqual([true]);
  expect(scopesOf(jane)[0]).toBe(scopes[0]);
  expect(scopesOf(jane, { projectNamespacePrefix: "q-" })[0]).not.toBe(scopes[0]);
});

test("the compiled scopes of many users take no more memory than the cache may have", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const scopeOf = (index: number) => `{"rules":[${"{},".repeat(20_000)}{"cluster":"c${index}"}]}`;
  const users = Array.from({ length: 24 }, (_, index) => user(scopeOf(index)));
  collect();
  const before = process.memoryUsage().heapUsed;
  for (const one of users) scopesOf(one);
  // What was looked up stays until the end of the current turn.
  await nextMacrotask();
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200_000_000);
  expect(users).toHaveLength(24);
});

describe("TextCache", () => {
  function filled(limits: { entries: number; characters: number }, ...texts: string[]) {
    const cache = new TextCache<object>(limits);
    const made = texts.map((text) => cache.get(text, () => ({})));
    return { keeps: (text: string) => made.includes(cache.get(text, () => ({}))) };
  }

  test("makes a thing once", () => {
    expect(filled({ entries: 2, characters: 100 }, "a", "b").keeps("a")).toBe(true);
  });

  test("lets the least recently used go when there are too many", () => {
    const texts = ["a", "b", "a", "c"];
    expect(["a", "b", "c"].map((text) => filled({ entries: 2, characters: 100 }, ...texts).keeps(text))).toEqual([true, false, true]);
  });

  test("lets the least recently used go when their texts are too long together", () => {
    const texts = ["aaaa", "bbbb", "cccc"];
    expect(texts.map((text) => filled({ entries: 9, characters: 8 }, ...texts).keeps(text))).toEqual([false, true, true]);
    expect(filled({ entries: 9, characters: 8 }, "a", "123456789").keeps("123456789")).toBe(false);
  });
});
