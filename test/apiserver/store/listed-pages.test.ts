import { expect, test } from "vitest";
import { StoreView } from "../../../src/apiserver/store/memory/store-view.ts";
import type { StoredObject } from "../../../src/apiserver/store/store.ts";

const prefix = "/core/configmaps/";

function stored(name: string, revision: number): StoredObject {
  const object = Object.freeze({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, resourceVersion: String(revision) } });
  return { key: `${prefix}${name}`, object, revision };
}

test("a list that is asked again shows what has changed since, in whichever way", () => {
  const view = new StoreView({ history: 100, contents: { revision: 5, objects: [stored("a", 4), stored("b", 5)], events: [] } });
  const shown = (more: { readonly limit?: number; readonly start?: string; readonly revision?: number } = {}) => {
    const { objects, revision, remaining } = view.list({ prefix, ...more });
    return [...objects.map(({ object }) => `${object.metadata.name}@${object.metadata.resourceVersion}`), revision, remaining];
  };
  for (let again = 0; again < 2; again += 1) {
    expect(shown()).toEqual(["a@4", "b@5", 5, 0]);
    expect(shown({ limit: 1 })).toEqual(["a@4", 5, 1]);
    expect(shown({ start: `${prefix}b` })).toEqual(["b@5", 5, 0]);
    expect(view.list({ prefix: "/core/secrets/" }).objects).toEqual([]);
  }
  shown();
  view.advance(6);
  expect(shown()).toEqual(["a@4", "b@5", 6, 0]);
  expect(shown({ revision: 5 })).toEqual(["a@4", "b@5", 5, 0]);
  shown();
  view.apply({ type: "updated", ...stored("a", 7), previous: stored("a", 4).object });
  expect(shown({ revision: 6 })).toEqual(["a@4", "b@5", 6, 0]);
  expect(shown()).toEqual(["a@7", "b@5", 7, 0]);
  view.apply({ type: "deleted", ...stored("b", 8), previous: stored("b", 5).object });
  expect(shown()).toEqual(["a@7", 8, 0]);
  view.replace({ revision: 8, objects: [stored("c", 8)] });
  expect(shown()).toEqual(["c@8", 8, 0]);
});
