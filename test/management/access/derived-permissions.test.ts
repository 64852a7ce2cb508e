/**
 * The effect of owners and rules, stated twice: by the decision itself, and by the Roles and RoleBindings that follow. Any object,
 * any caller, any verb.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { authorize } from "../../../src/cluster/rbac/authorize.ts";
import { followPolicy } from "../../../src/cluster/rbac/policy.ts";
import { ruleAllows } from "../../../src/cluster/rbac/rules.ts";
import { groupOfSubject, KNOWN_GROUPS, subjectOfUserName, userNameOf, type KeySubject } from "../../../src/management/access/caller.ts";
import { derivedRoles } from "../../../src/management/access/permissions/derived-roles.ts";
import { followManagedObjects } from "../../../src/management/access/managed-objects.ts";
import { createMembership } from "../../../src/management/access/membership.ts";
import { objectAllows } from "../../../src/management/access/permissions/object-permissions.ts";
import { attributesOn, createPermissions } from "../../../src/management/access/permissions/permissions.ts";
import { SHARED_SECRETS, TEAMS } from "../../../src/management/kinds/types.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { storeKey } from "../../../src/apiserver/verbs/resource-context.ts";
import type { UserInfo } from "../../../src/apiserver/types/user-info.ts";

const OBJECT_VERBS = ["get", "list", "watch", "update", "patch", "delete"];
const VERBS = [...OBJECT_VERBS, "create", "bind", "makeowner", "deletecollection"];
const PARTS = ["", "history", "*", "status"];

const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 });
const userName = fc.constantFrom("jane", "bob", "", "*", "platform:team:ops", "platform:subject:robot", "system:admin");
const teamName = fc.constantFrom("ops", "dev", "", "*");
const rule = fc.record(
  {
    verbs: few(fc.constantFrom(...VERBS, "VerbAll", "*", "Get")),
    subresources: few(fc.constantFrom(...PARTS)),
    users: few(userName),
    teams: few(teamName),
  },
  { requiredKeys: [] },
);
const spec = fc.record(
  { owner: fc.record({ user: userName, team: teamName }, { requiredKeys: [] }), access: few(rule) },
  { requiredKeys: [] },
);

const object = fc
  .record({ kind: fc.constantFrom(SHARED_SECRETS, TEAMS), spec, name: fc.constantFrom("one", "two") })
  .map(({ kind: type, spec: of, name }) => {
    const metadata = { name, uid: `uid-${name}`, ...(type.namespaced && { namespace: "a" }) };
    return { type, object: { apiVersion: type.apiVersion, kind: type.kind, metadata, spec: of } as KubeObject };
  });

const subject: fc.Arbitrary<KeySubject> = fc.constantFrom(
  { kind: "user", name: "jane" },
  { kind: "user", name: "eve" },
  { kind: "team", name: "ops" },
  { kind: "subject", name: "robot" },
);
/** An authenticated user, with the groups of their teams. */
const known = fc.record({ subject, teams: fc.uniqueArray(fc.constantFrom("ops", "dev")) }).map(({ subject: of, teams }) => {
  const own = of.kind === "team" ? [...new Set([of.name, ...teams])] : teams;
  const groups = [...new Set([groupOfSubject(of), ...KNOWN_GROUPS, ...own.map((name) => groupOfSubject({ kind: "team", name }))])];
  const user: UserInfo = { name: userNameOf(of), groups };
  return { user, caller: { subject: subjectOfUserName(user.name), groups, teams: new Set(own), administers: false } };
});

test("the decision on an object is what its Roles and RoleBindings mean to Kubernetes' authorizer", async () => {
  let allowed = 0;
  const property = fc.asyncProperty(
    object,
    known,
    fc.constantFrom(...VERBS),
    fc.constantFrom(...PARTS),
    async (one, { user, caller }, verb, part) => {
      const store = createMemoryStore();
      const policy = await followPolicy(store);
      for (const { role, binding } of derivedRoles(one.object)) {
        for (const derived of [role, binding]) await store.create(rbacKey(derived), derived);
      }
      const { namespace = "", name = "" } = one.object.metadata;
      // Other objects have no name yet when they are created.
      const attributes = attributesOn(one.type, { namespace, name: verb === "create" ? "" : name }, verb, part);
      const byRoles = authorize(attributes, policy.grantsOf(user, namespace)).allowed;
      const direct = objectAllows(one.object, caller, { verb, subresource: part });
      if (verb !== "create" || part === "") expect(direct).toBe(byRoles);
      if (direct) allowed += 1;
      policy.stop();
      await store.close();
    },
  );
  await fc.assert(property, { numRuns: 3_000 });
  expect(allowed).toBeGreaterThan(100);
});

function rbacKey({ kind, metadata: { name, namespace = "" } }: KubeObject): string {
  return storeKey(
    { apiVersion: "rbac.authorization.k8s.io/v1", kind, plural: `${kind.toLowerCase()}s`, namespaced: namespace !== "" },
    { namespace, name: name! },
  );
}

const placed = fc.uniqueArray(object, { maxLength: 6, selector: ({ type, object: { metadata } }) => `${type.kind}/${metadata.name}` });
const members = fc.record({ ops: few(fc.constantFrom("jane", "bob")), groups: few(fc.constantFrom("sso:a", "sso:b")) });
const asker: fc.Arbitrary<UserInfo> = fc
  .record({ subject, groups: fc.uniqueArray(fc.constantFrom("sso:a", "sso:b", "sso:c")) })
  .map(({ subject: of, groups }) => ({ name: userNameOf(of), groups: [...groups, ...KNOWN_GROUPS] }));

async function platformOf(objects: readonly { readonly type: ResourceType; readonly object: KubeObject }[]) {
  const store = createMemoryStore();
  for (const { type, object: one } of objects) {
    await store.create(storeKey(type, { namespace: one.metadata.namespace ?? "", name: one.metadata.name! }), one);
  }
  const managed = await followManagedObjects(store);
  const permissions = createPermissions({ objects: managed, membership: createMembership(managed) });
  const stop = () => {
    managed.stop();
    return store.close();
  };
  return { permissions, stop };
}

function ops({ ops: users, groups }: { readonly ops: readonly string[]; readonly groups: readonly string[] }) {
  return {
    type: TEAMS,
    object: { apiVersion: TEAMS.apiVersion, kind: TEAMS.kind, metadata: { name: "ops" }, spec: { users, groups } } as KubeObject,
  };
}

test("lists and watches show exactly the objects on which the decision allows list, and rules reviews say what decisions do", async () => {
  const seen = { shown: 0, hidden: 0 };
  const property = fc.asyncProperty(placed, members, asker, async (objects, team, user) => {
    const all = [...objects, ops(team)];
    const { permissions, stop } = await platformOf(all);
    const caller = permissions.callerOf(user);
    for (const { type, object: one } of all) {
      const shows = permissions.visible(user, { type })!(one);
      expect(shows).toBe(objectAllows(one, caller, { verb: "list" }));
      seen[shows ? "shown" : "hidden"] += 1;
      const { namespace = "", name = "" } = one.metadata;
      for (const verb of ["get", "update", "patch", "delete", "bind", "makeowner", "create", "deletecollection"]) {
        const asked = attributesOn(type, { namespace, name: verb === "create" ? "" : name }, verb);
        const told = permissions.rulesFor(user, namespace).some((each) => ruleAllows(each, asked));
        expect([verb, permissions.decide(user, asked).allowed]).toEqual([verb, told]);
      }
      expect(permissions.decide(user, attributesOn(type, { namespace, name }, "get")).allowed).toBe(
        objectAllows(one, caller, { verb: "get" }),
      );
    }
    await stop();
  });
  await fc.assert(property, { numRuns: 400 });
  expect(Math.min(seen.shown, seen.hidden)).toBeGreaterThan(100);
});

test("membership does not change by what it gave: teams in teams lead nowhere", async () => {
  const teams = ["ops", "dev"].map((name, index) => ({
    type: TEAMS,
    object: {
      apiVersion: TEAMS.apiVersion,
      kind: TEAMS.kind,
      metadata: { name },
      spec: index === 0 ? { users: ["jane"] } : { groups: ["platform:team:ops"] },
    },
  }));
  const { permissions, stop } = await platformOf(teams);
  const bare = { name: "jane", groups: [...KNOWN_GROUPS] };
  expect([...permissions.callerOf(bare).teams]).toEqual(["ops"]);
  expect([...permissions.callerOf({ ...bare, groups: [...bare.groups, "platform:team:ops"] }).teams]).toEqual(["ops"]);
  await stop();
});
