import { expect, test } from "vitest";
import { createCreators } from "../../../src/management/access/permissions/creators.ts";
import { followManagedObjects, type ManagedObjects } from "../../../src/management/access/managed-objects.ts";
import { createMembership } from "../../../src/management/access/membership.ts";
import { createPermissions } from "../../../src/management/access/permissions/permissions.ts";
import { KNOWN_GROUPS } from "../../../src/management/access/caller.ts";
import { SHARED_SECRETS, TEAMS } from "../../../src/management/kinds/types.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { storeKey } from "../../../src/apiserver/verbs/resource-context.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";

const objectOf = ({ apiVersion, kind }: ResourceType, metadata: { name: string; namespace?: string }, spec: object): KubeObject => ({
  apiVersion,
  kind,
  metadata,
  spec,
});
const secretOf = (name: string, access: object[], namespace = "a") => objectOf(SHARED_SECRETS, { name, namespace }, { access });
const keyOf = ({ name = "", namespace = "" }: KubeObject["metadata"]) => ({ name, namespace });
const jane = { name: "jane", groups: [...KNOWN_GROUPS] };

test("who may create follows the rules as they are now, by kind and namespace", async () => {
  const store = createMemoryStore();
  const put = (type: ResourceType, object: KubeObject) => store.create(storeKey(type, keyOf(object.metadata)), object);
  await put(TEAMS, objectOf(TEAMS, { name: "ops" }, { users: ["jane"] }));
  const first = await put(
    SHARED_SECRETS,
    secretOf("first", [
      { verbs: ["create"], users: ["jane"] },
      { verbs: ["create"], users: ["jane"] },
    ]),
  );
  const managed = await followManagedObjects(store);
  const membership = createMembership(managed);
  const creators = createCreators(managed, [SHARED_SECRETS, TEAMS]);
  const may = (type: ResourceType = SHARED_SECRETS, namespace = "a") => creators.has(type, namespace, membership.callerOf(jane));
  expect([may(), may(SHARED_SECRETS, "b"), may(TEAMS, "")]).toEqual([true, false, false]);
  const changed = secretOf("first", [{ verbs: ["*"], users: ["jane"] }]);
  await store.update(storeKey(SHARED_SECRETS, { namespace: "a", name: "first" }), changed, first!.revision);
  expect(may()).toBe(false);
  const second = await put(SHARED_SECRETS, secretOf("second", [{ verbs: ["get", "create"], teams: ["ops"] }]));
  await put(TEAMS, objectOf(TEAMS, { name: "all" }, { access: [{ verbs: ["create"], users: ["*"] }] }));
  expect([may(), may(TEAMS, "")]).toEqual([true, true]);
  await store.delete(storeKey(SHARED_SECRETS, { namespace: "a", name: "second" }), second!.revision);
  expect(may()).toBe(false);
  managed.stop();
  await store.close();
});

test("answers without a scan, however much is stored", async () => {
  const store = createMemoryStore();
  const followed = await followManagedObjects(store);
  let looks = 0;
  const managed: ManagedObjects = {
    ...followed,
    of(type) {
      looks += 1;
      return followed.of(type);
    },
  };
  const permissions = createPermissions({ objects: managed, membership: createMembership(managed) });
  looks = 0;
  const attributes = {
    verb: "create",
    group: "management.platform",
    version: "v1",
    resource: "teams",
    subresource: "",
    namespace: "",
    name: "",
  };
  expect(permissions.decide(jane, attributes).allowed).toBe(false);
  expect(looks).toBe(0);
  managed.stop();
  await store.close();
});
