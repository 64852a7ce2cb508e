/** A key that expires after it is accepted and before its watch is open. */
import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import type { Store } from "../../src/apiserver/store/store.ts";
import { API, MERGE_PATCH, startPlatform } from "./platform.ts";

/** A store of which a watch of SharedSecrets opens only after `before` was done. */
function holdingWatches(before: () => Promise<void>): Store {
  const store = createMemoryStore();
  return new Proxy(store, {
    get(target, name) {
      if (name === "watch") {
        return async (options: Parameters<Store["watch"]>[0]) => {
          const watch = await target.watch(options);
          if (options.prefix.includes("sharedsecrets")) await before();
          return watch;
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

test.each([
  { how: "is replaced", change: { spec: { key: `other${"x".repeat(40)}` } } },
  { how: "is disabled", change: { spec: { disabled: true } } },
])("where the key $how meanwhile, nothing is reported", async ({ change }) => {
  let meanwhile = async () => {};
  const platform = await startPlatform({ store: holdingWatches(() => meanwhile()) });
  try {
    const { key, name } = await platform.withKey({ user: "jane" });
    meanwhile = async () => {
      meanwhile = async () => {};
      expect((await platform.admin.send("PATCH", `/ownedaccesskeys/${name}`, change, MERGE_PATCH)).code).toBe(200);
      const spec = { owner: { user: "jane" }, data: { a: "c2VjcmV0" } };
      const body = { metadata: { name: "later" }, spec };
      expect((await platform.admin.send("POST", "/namespaces/default/sharedsecrets", body)).code).toBe(201);
    };
    const watched = await fetch(`${platform.management.url}${API}/namespaces/default/sharedsecrets?watch=true&timeoutSeconds=1`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect([watched.status, await watched.text()]).toEqual([401, expect.not.stringContaining("later")]);
  } finally {
    await platform.stop();
  }
});

test("where the user leaves a team meanwhile, the watch ends, so that the watcher lists again", async () => {
  let meanwhile = async () => {};
  const platform = await startPlatform({ store: holdingWatches(() => meanwhile()) });
  try {
    expect((await platform.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { users: ["jane"] } })).code).toBe(201);
    const { key } = await platform.withKey({ user: "jane" });
    meanwhile = async () => {
      meanwhile = async () => {};
      expect((await platform.admin.send("PATCH", "/teams/ops", { spec: { users: [] } }, MERGE_PATCH)).code).toBe(200);
    };
    const watched = await fetch(`${platform.management.url}${API}/namespaces/default/sharedsecrets?watch=true`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(5_000),
    });
    expect(JSON.parse(await watched.text())).toMatchObject({ type: "ERROR", object: { code: 410 } });
  } finally {
    await platform.stop();
  }
});
