/**
 * Laws of role-based access over random roles, bindings and histories; the rules that a user lacks.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRbacAuthorizer } from "../../src/cluster/rbac/authorize.ts";
import { missingRules } from "../../src/cluster/rbac/escalation.ts";
import { followPolicy, type Binding } from "../../src/cluster/rbac/policy.ts";
import { ruleAllows, simpleRuleCount, simpleRules } from "../../src/cluster/rbac/rules.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import type { Attributes, PolicyRule } from "../../src/apiserver/access/authorization.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import type { UserInfo } from "../../src/apiserver/types/user-info.ts";
import { BOT, JANE, binding, keyIn, paths, policyOf, role, rule } from "./rbac-support.ts";

const NAMESPACES = ["shop", "bank"];
const pick = <T>(...items: readonly T[]) => fc.constantFrom(...items);
const some = (...items: readonly string[]) => fc.subarray([...items], { minLength: 1 });
const ruleOf = fc.oneof(
  fc.record({ verbs: some("get", "list", "*"), apiGroups: some("", "apps", "*"), resources: some("pods", "pods/log", "*/log", "*"), resourceNames: fc.subarray(["web", "db"]) }), // prettier-ignore
  fc.record({ verbs: some("get", "post", "*"), nonResourceURLs: some("/a", "/a/*", "/a/b", "*") }),
);
const roleOf = fc
  .record({ name: pick("r1", "r2"), namespace: pick("", ...NAMESPACES), rules: fc.array(ruleOf, { maxLength: 2 }) })
  .map(({ name, namespace, rules }) => role(name, namespace, rules));
const bindingOf = fc
  .record({
    name: pick("b1", "b2"),
    namespace: pick("", ...NAMESPACES),
    ref: pick("Role/r1", "ClusterRole/r1", "ClusterRole/r2"),
    subjects: fc.subarray(["User/jane", "Group/dev", "ServiceAccount/bot/shop", "ServiceAccount/bot", "User/joe"]),
  })
  .filter(({ namespace, ref }) => namespace !== "" || ref.startsWith("Cluster"))
  .map(({ name, namespace, ref, subjects }) => binding(name, namespace, ref, ...subjects));
const objectOf = fc.oneof(roleOf, bindingOf);
const askedFor: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({ verb: pick("get", "list"), group: pick("", "apps"), version: pick("v1"), resource: pick("pods", "secrets"), subresource: pick("", "log"), namespace: pick("", ...NAMESPACES), name: pick("", "web") }), // prettier-ignore
  fc.record({ verb: pick("get", "post"), path: pick("/a", "/a/", "/a/b", "/b") }),
);

/** Every binding against every subject, with nothing but the definition at hand. */
function naive(objects: readonly KubeObject[], user: UserInfo, attributes: Attributes): boolean {
  const namespace = "path" in attributes ? "" : attributes.namespace;
  const means = ({ kind, name, namespace: own }: { kind: string; name: string; namespace?: string }, where: string) => {
    if (kind === "Group") return user.groups.includes(name);
    return user.name === (kind === "User" ? name : `system:serviceaccount:${own ?? where}:${name}`);
  };
  return objects.some((object) => {
    const { roleRef, subjects, metadata } = object as Binding;
    const where = metadata.namespace ?? "";
    if (roleRef === undefined || (where !== "" && where !== namespace)) return false;
    if (!(subjects ?? []).some((subject) => means(subject, where))) return false;
    const home = roleRef.kind === "ClusterRole" ? "" : where;
    const found = objects.find((other) => "rules" in other && other.metadata.name === roleRef.name && (other.metadata.namespace ?? "") === home); // prettier-ignore
    return ((found?.["rules"] ?? []) as PolicyRule[]).some((one) => [...simpleRules(one)].some((simple) => ruleAllows(simple, attributes)));
  });
}

describe("the policy of a store", () => {
  test("decides as evaluating every rule does, after any history of writes", async () => {
    const step = fc.record({ object: objectOf, remove: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.nat({ max: 12 }),
        pick(JANE, BOT),
        fc.array(askedFor, { minLength: 1, maxLength: 6 }),
        async (steps, start, user, questions) => {
          // prettier-ignore
          const store = createMemoryStore();
          const present = new Map<string, KubeObject>();
          const write = async ({ object, remove }: { object: KubeObject; remove: boolean }) => {
            const key = keyIn(object);
            const stored = await store.get(key);
            if (remove && stored !== undefined) await store.delete(key, stored.revision);
            else if (stored !== undefined) await store.update(key, object, stored.revision);
            else if (!remove) await store.create(key, object);
            if (remove) present.delete(key);
            else present.set(key, object);
          };
          for (const one of steps.slice(0, start)) await write(one);
          const authorizer = createRbacAuthorizer(await followPolicy(store));
          for (const one of steps.slice(start)) await write(one);
          for (const question of questions) {
            expect(authorizer.decide(user, question).allowed).toBe(naive([...present.values()], user, question));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test("tells the rules that decide", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(objectOf, { selector: keyIn, maxLength: 8 }), askedFor, async (objects, question) => {
        const { authorizer } = await policyOf(...objects);
        const namespace = "path" in question ? "" : question.namespace;
        const rules = authorizer.rulesFor(JANE, namespace);
        expect(rules.some((one) => ruleAllows(one, question))).toBe(authorizer.decide(JANE, question).allowed);
      }),
      { numRuns: 200 },
    );
  });
});

describe("what is missing of a set of rules", () => {
  test("is nothing exactly when every request that it allows is allowed already", () => {
    fc.assert(
      fc.property(fc.array(ruleOf, { maxLength: 3 }), ruleOf, fc.array(askedFor, { maxLength: 10 }), (held, wanted, questions) => {
        const missing = missingRules(held, [wanted]);
        for (const question of questions) {
          const has = held.some((one) => ruleAllows(one, question));
          const lacks = missing.some((one) => ruleAllows(one, question));
          if (ruleAllows(wanted, question)) expect(has || lacks).toBe(true);
        }
        expect(missingRules([...held, ...missing], [wanted])).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    { why: "a verb", held: rule("get", "", "pods"), wanted: rule("get,list", "", "pods"), missing: [rule("list", "", "pods")] },
    {
      why: "everything, with parts of it in hand",
      held: rule("get", "", "pods"),
      wanted: rule("*", "*", "*"),
      missing: [rule("*", "*", "*")],
    },
    { why: "nothing, with everything in hand", held: rule("*", "*", "*"), wanted: rule("get", "apps", "pods/log", "web"), missing: [] },
    { why: "all objects, with one in hand", held: rule("get", "", "pods", "web"), wanted: rule("get", "", "pods"), missing: [rule("get", "", "pods")] }, // prettier-ignore
    { why: "a part, with the object in hand", held: rule("get", "", "pods"), wanted: rule("get", "", "pods/log"), missing: [rule("get", "", "pods/log")] }, // prettier-ignore
    {
      why: "nothing, with that part of everything in hand",
      held: rule("get", "", "*/log"),
      wanted: rule("get", "", "pods/log"),
      missing: [],
    },
    { why: "a path beyond a pattern", held: paths("get", "/a/*"), wanted: paths("get", "/a/b,/c"), missing: [paths("get", "/c")] },
    { why: "nothing of a narrower pattern", held: paths("get", "/a*"), wanted: paths("get", "/a/b*"), missing: [] },
  ])("is $why", ({ held, wanted, missing }) => {
    expect(missingRules([held], [wanted])).toEqual(missing);
  });

  test("is counted before it is compared", () => {
    fc.assert(
      fc.property(ruleOf, (one) => {
        expect(simpleRuleCount(one)).toBe([...simpleRules(one)].length);
      }),
    );
  });
});
