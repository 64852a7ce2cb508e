import { expect, test } from "vitest";
import { followManagedObjects } from "../../../src/management/access/managed-objects.ts";
import { SHARED_SECRETS, TEAMS, USERS } from "../../../src/management/kinds/types.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { storeKey } from "../../../src/apiserver/verbs/resource-context.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";

test("a listener hears of each change of objects of its types, after the index has it, until it leaves", async () => {
  const store = createMemoryStore();
  const put = ({ apiVersion, kind, ...type }: ResourceType, name: string) => {
    const metadata = { name, ...(type.namespaced && { namespace: "a" }) };
    return store.create(storeKey({ apiVersion, kind, ...type }, { namespace: "a", name }), { apiVersion, kind, metadata });
  };
  await put(TEAMS, "before");
  const objects = await followManagedObjects(store);
  const heard: string[] = [];
  const leave = objects.onChange([TEAMS, SHARED_SECRETS], ({ object, previous }) => {
    heard.push(
      `${previous?.metadata.name} -> ${object?.metadata.name}, ${objects.count(TEAMS)} teams, ${objects.count(SHARED_SECRETS)} secrets`,
    );
  });
  const users: unknown[] = [];
  objects.onChange([USERS], (change) => users.push(change));
  const secret = await put(SHARED_SECRETS, "s");
  const team = await put(TEAMS, "t");
  await put(USERS, "u");
  await store.update(team!.key, team!.object, team!.revision);
  await store.delete(secret!.key, secret!.revision);
  leave();
  await put(TEAMS, "later");
  expect(heard).toEqual([
    "undefined -> s, 1 teams, 1 secrets",
    "undefined -> t, 2 teams, 1 secrets",
    "t -> t, 2 teams, 1 secrets",
    "s -> undefined, 2 teams, 0 secrets",
  ]);
  expect(users).toEqual([{ object: expect.objectContaining({ kind: USERS.kind }), previous: undefined }]);
  objects.stop();
  await store.close();
});
