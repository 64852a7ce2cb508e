/**
 * Copies that a cleanup deletes, and those it leaves, while other clients write.
 */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import type { ClusterClient, DeletePreconditions } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { removeCopies } from "../../../../src/engine/sync/inspect/cleanup.ts";
import type { MarkedCopy } from "../../../../src/engine/sync/inspect/marked-copies.ts";
import { readMarkers, writeMarkers, type CopySource } from "../../../../src/engine/translate/markers.ts";
import { createTranslator } from "../../../../src/engine/translate/translator.ts";

const translator = createTranslator({ vcluster: { name: "blue", namespace: "vc-blue" } });
const HOST = { name: "web-x-shop-x-blue", namespace: "vc-blue" };

function copy(resourceVersion: string, metadata: KubeObject["metadata"] = {}, more: Partial<CopySource> = {}): KubeObject {
  const source = { ...more, vcluster: "blue", kind: "v1/Endpoints", namespace: "shop", name: "web", uid: "u" };
  const markers = writeMarkers("sync.platform/", { ...source, hostName: HOST.name, hostNamespace: HOST.namespace });
  return { apiVersion: "v1", kind: "Endpoints", metadata: { ...HOST, ...markers, uid: "1", resourceVersion, ...metadata } };
}

function marking(resourceVersion: string, more: Partial<CopySource>): KubeObject {
  return copy(resourceVersion, {}, more);
}

function marked(object: KubeObject): MarkedCopy {
  return { resource: ENDPOINTS, object, source: readMarkers("sync.platform/", object)! };
}

/** A cluster in which the object is what the list says, one state after the other, each time it is asked. */
function changing(states: readonly (KubeObject | undefined)[]): Pick<ClusterClient, "get" | "delete"> & { deletes: unknown[] } {
  const left = [...states];
  const deletes: unknown[] = [];
  return {
    deletes,
    get: () => Promise.resolve(left[0]),
    delete: (_resource, _key, preconditions: DeletePreconditions = {}) => {
      deletes.push(preconditions);
      const now = left[0];
      if (now === undefined) return Promise.resolve("absent");
      if (now.metadata.resourceVersion === preconditions.resourceVersion) return Promise.resolve("deleted");
      if (left.length > 2) left.shift();
      return Promise.reject(new EngineError("API_CONFLICT", "The object changed"));
    },
  };
}

async function remove(seen: KubeObject, states: readonly (KubeObject | undefined)[]): Promise<{ result: string; deletes: unknown[] }> {
  const client = changing(states);
  const results: string[] = [];
  for await (const { result } of removeCopies([marked(seen)], { client, translator })) results.push(result);
  expect(results).toHaveLength(1);
  return { result: results[0]!, deletes: client.deletes };
}

describe("a copy", () => {
  test.each([
    { why: "goes as it was seen", seen: copy("1"), states: [copy("1")], result: "removed", deletes: [{ uid: "1", resourceVersion: "1" }] },
    {
      why: "that is gone by now counts as removed",
      seen: copy("1"),
      states: [undefined],
      result: "removed",
      deletes: [{ uid: "1", resourceVersion: "1" }],
    },
    {
      why: "that changed and is still ours goes as it is now",
      seen: copy("1"),
      states: [copy("2")],
      result: "removed",
      deletes: [
        { uid: "1", resourceVersion: "1" },
        { uid: "1", resourceVersion: "2" },
      ],
    },
    {
      why: "that was taken over stays",
      seen: copy("1"),
      states: [copy("2", { annotations: {} })],
      result: "left",
      deletes: [{ uid: "1", resourceVersion: "1" }],
    },
    {
      why: "that was recreated by another client stays",
      seen: copy("1"),
      states: [copy("2", { uid: "2", labels: {} })],
      result: "left",
      deletes: [{ uid: "1", resourceVersion: "1" }],
    },
    {
      why: "that a syncer of another virtual cluster of the name took over stays",
      seen: copy("1"),
      states: [marking("2", { vclusterNamespace: "elsewhere" })],
      result: "left",
      deletes: [{ uid: "1", resourceVersion: "1" }],
    },
    {
      why: "that is from another tenant cluster by now stays",
      seen: marking("1", { clusterUid: "c1" }),
      states: [marking("2", { clusterUid: "c2" })],
      result: "left",
      deletes: [{ uid: "1", resourceVersion: "1" }],
    },
    {
      why: "with finalizers is held",
      seen: copy("1", { finalizers: ["example.com/hold"] }),
      states: [copy("1")],
      result: "held",
      deletes: [{ uid: "1", resourceVersion: "1" }],
    },
    {
      why: "that is going already is not asked again",
      seen: copy("1", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      states: [copy("1")],
      result: "held",
      deletes: [],
    },
  ])("$why", async ({ seen, states, result, deletes }) => {
    expect(await remove(seen, states)).toEqual({ result, deletes });
  });

  test("that changes without end is left", async () => {
    const states = Array.from({ length: 20 }, (_, index) => copy(String(index + 2)));
    // Each answer to a get is outdated by the time of the delete.
    const client = changing(states);
    let version = 100;
    const racing = { delete: client.delete, get: () => Promise.resolve(copy(String((version += 1)))) };
    const results: string[] = [];
    for await (const { result } of removeCopies([marked(copy("1"))], { client: racing, translator })) results.push(result);
    expect({ results, deletes: client.deletes.length }).toEqual({ results: ["left"], deletes: 5 });
  });
});
