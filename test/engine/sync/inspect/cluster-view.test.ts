/**
 * A copy of a cluster in memory takes writes as the cluster would.
 */
import { describe, expect, test } from "vitest";
import { codeOf } from "../../../conformance/setting.ts";
import type { ObjectKey } from "../../../../src/kube/object/key.ts";
import { ENDPOINTS, EVENTS, SECRETS } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createClusterView, type ClusterView } from "../../../../src/engine/sync/inspect/cluster-view.ts";

const KEY = { namespace: "shop", name: "web" };
const web = (metadata: KubeObject["metadata"] = {}, rest: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { ...KEY, uid: "1", resourceVersion: "7", ...metadata },
  ...rest,
});
const secret: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { ...KEY, uid: "2", resourceVersion: "9" } };

function viewOf(items: readonly KubeObject[], { reads = [] as ObjectKey[] } = {}): ClusterView {
  return createClusterView({
    lists: [{ resource: ENDPOINTS, items }],
    reads: { list: () => Promise.resolve([]), one: (_resource, key) => (reads.push(key), Promise.resolve(secret)) },
    namespaceExists: (name) => Promise.resolve(name !== "none"),
  });
}

describe("a view", () => {
  test("remembers what was read, and shows what was written since, under a newer version", async () => {
    const view = viewOf([web()]);
    const heard: unknown[] = [];
    view.source(ENDPOINTS).onChange((key, sign) => heard.push([key, sign]));
    const stored = await view.writer.update(ENDPOINTS, web({ labels: { a: "b" } }));
    expect(view.before(ENDPOINTS, KEY)).toEqual(web());
    expect(view.now(ENDPOINTS, KEY)).toBe(stored);
    expect(view.source(ENDPOINTS).get(KEY)).toBe(stored);
    expect([stored.metadata.resourceVersion, view.madeUp("8"), view.madeUp("7")]).toEqual(["8", true, false]);
    expect(heard).toEqual([[KEY, "event"]]);
  });

  test("takes a write that changes nothing for none", async () => {
    const view = viewOf([web()]);
    expect((await view.writer.update(ENDPOINTS, web())).metadata.resourceVersion).toBe("7");
  });

  test.each([
    {
      why: "an update of another version",
      write: (view: ClusterView) => view.writer.update(ENDPOINTS, web({ resourceVersion: "6" })),
      code: "API_CONFLICT",
    },
    {
      why: "a delete of another life",
      write: (view: ClusterView) => view.writer.delete(ENDPOINTS, KEY, { uid: "3" }),
      code: "API_CONFLICT",
    },
    {
      why: "an update of what is not there",
      write: (view: ClusterView) => view.writer.update(ENDPOINTS, web({ name: "db" })),
      code: "API_NOT_FOUND",
    },
    { why: "a second object of one name", write: (view: ClusterView) => view.writer.create(ENDPOINTS, web()), code: "API_ALREADY_EXISTS" },
    {
      why: "an object in a namespace that there is not",
      write: (view: ClusterView) => view.writer.create(ENDPOINTS, web({ namespace: "none" })),
      code: "API_NOT_FOUND",
    },
  ])("refuses $why", async ({ write, code }) => {
    const view = viewOf([web()]);
    expect(await codeOf(write(view))).toBe(code);
    expect(view.source(ENDPOINTS).list()).toEqual([web()]);
  });

  test("keeps what a finalizer holds, marked as going", async () => {
    const view = viewOf([web({ finalizers: ["example.com/hold"] })]);
    await view.writer.delete(ENDPOINTS, KEY);
    expect(view.now(ENDPOINTS, KEY)?.metadata.deletionTimestamp).toBeTypeOf("string");
    const free = viewOf([web()]);
    expect([await free.writer.delete(ENDPOINTS, KEY), await free.writer.delete(ENDPOINTS, KEY)]).toEqual(["deleted", "absent"]);
  });

  test("keeps no Events", async () => {
    const view = viewOf([]);
    await view.writer.create(EVENTS, { apiVersion: "v1", kind: "Event", metadata: { ...KEY } });
    expect(view.now(EVENTS, KEY)).toBe(undefined);
  });

  test("reads an object of a kind that was not listed when it is asked for, once", async () => {
    const reads: ObjectKey[] = [];
    const view = viewOf([], { reads });
    const source = view.follow!(SECRETS, KEY);
    expect([source.synced, source.get(KEY)]).toEqual([false, undefined]);
    expect(await view.loaded()).toBe(true);
    expect([source.synced, source.get(KEY)]).toEqual([true, secret]);
    view.follow!(SECRETS, KEY);
    expect([reads, await view.loaded()]).toEqual([[KEY], false]);
    expect(view.follow!(ENDPOINTS, KEY).synced).toBe(true);
  });
});
