/**
 * How much of the past a store keeps: so many events, and so much of what they replaced.
 */
import { describe, expect, test } from "vitest";
import { createHistory } from "../../../src/apiserver/store/memory/history.ts";
import { HISTORY_BYTES } from "../../../src/apiserver/store/memory-limits.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import type { StoreEvent } from "../../../src/apiserver/store/store.ts";

const TEXT = JSON.parse(JSON.stringify("x".repeat(3 * 1024 * 1024))) as string;
const object = (revision: number, characters: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", resourceVersion: String(revision) },
  text: TEXT.slice(0, characters),
});

/** An update of one object of that size. */
function update(revision: number, characters: number): StoreEvent {
  return { type: "updated", key: "/a", revision, object: object(revision, characters), previous: object(revision - 1, characters) };
}

describe("a history", () => {
  test("of small objects has as many events as were asked for", () => {
    const history = createHistory({ capacity: 100, bytesMax: HISTORY_BYTES, start: 1 });
    for (let revision = 2; revision <= 1_001; revision += 1) history.add(update(revision, 1_000));
    expect(history.after(history.oldest()).length).toBeGreaterThanOrEqual(100);
    expect(history.after(history.oldest()).length).toBeLessThanOrEqual(200);
  });

  test("of large objects has fewer, and still all from one state on", () => {
    const large = 3 * 1024 * 1024;
    const history = createHistory({ capacity: 10_000, bytesMax: HISTORY_BYTES, start: 1 });
    let most = 0;
    for (let revision = 2; revision <= 1_001; revision += 1) {
      history.add(update(revision, large));
      const kept = history.after(history.oldest());
      most = Math.max(most, kept.length);
      expect(kept.at(-1)?.revision ?? revision).toBe(revision);
      expect(kept.length).toBe(revision - history.oldest());
    }
    expect(most * large).toBeLessThanOrEqual(HISTORY_BYTES);
    expect(history.before(history.oldest()).get("/a")?.revision).toBe(history.oldest());
    expect(history.after(history.oldest()).length * large).toBeGreaterThan(HISTORY_BYTES / 4);
  });
});

test("a store whose large object is written again and again tells the last states, and that earlier ones are gone", async () => {
  const store = createMemoryStore();
  let { revision } = (await store.create("/a", object(0, 3_000_000)))!;
  const first = revision;
  for (let time = 0; time < 60; time += 1) revision = (await store.update("/a", object(revision, 3_000_000), revision))!.revision;
  await expect(store.list({ prefix: "/", revision: first })).rejects.toMatchObject({ code: "API_EXPIRED" });
  expect((await store.list({ prefix: "/", revision: store.oldest() })).objects[0]!.revision).toBe(store.oldest());
  await store.close();
});
