import { describe, expect, test } from "vitest";
import type { ChangeListener, ObjectSource, Written } from "../../../../src/kube/object/object-source.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createExpectations } from "../../../../src/engine/sync/state/expectations.ts";
import { tenantEndpoints } from "../../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };

/** A cache of one object that a test moves by hand. */
function handMadeSource() {
  let object: KubeObject | undefined;
  let listener: ChangeListener = () => {};
  const source: ObjectSource = {
    get: () => object,
    list: () => (object === undefined ? [] : [object]),
    onChange: (next) => {
      listener = next;
      return () => void (listener = () => {});
    },
    synced: true,
    current: true,
  };
  return { source, becomes: (next: KubeObject | undefined) => ((object = next), listener(KEY)), misses: () => listener(KEY, "missed") };
}

function version(resourceVersion: string, uid = "uid-1"): KubeObject {
  return tenantEndpoints({ resourceVersion, uid });
}

describe("createLatest", () => {
  test("shows what was written until the cache has it", () => {
    const { source, becomes } = handMadeSource();
    const latest = createExpectations(source);
    becomes(version("1"));
    latest.writing(KEY)(version("5"));
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("5");
    becomes(version("3"));
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("5");
    becomes(version("6"));
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("6");
  });

  test("shows a created object before the cache knows it", () => {
    const { source } = handMadeSource();
    const latest = createExpectations(source);
    latest.writing(KEY)(version("5"));
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("5");
  });

  test("shows a deleted object again that changes after its delete: it was not deleted", () => {
    const { source, becomes } = handMadeSource();
    const latest = createExpectations(source);
    becomes(version("5"));
    latest.removed(version("5"));
    becomes(version("4"));
    expect(latest.get(KEY)).toBeUndefined();
    becomes(version("6"));
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("6");
  });

  test("believes the cache alone once its cluster contradicts, and has it listed again", () => {
    const { source, becomes } = handMadeSource();
    let lists = 0;
    const latest = createExpectations({ ...source, relist: () => void (lists += 1) });
    becomes(version("5"));
    latest.removed(version("5"));
    latest.doubt(KEY);
    expect(lists).toBe(1);
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("5");
  });

  test("hides a deleted object until the cache has dropped it, and not its successor", () => {
    const { source, becomes } = handMadeSource();
    const latest = createExpectations(source);
    becomes(version("5"));
    latest.removed(version("5"));
    expect(latest.get(KEY)).toBeUndefined();
    becomes(version("9", "uid-2"));
    expect(latest.get(KEY)?.metadata.uid).toBe("uid-2");
  });

  test("shows a deleted object that a finalizer holds as soon as the cache says so", () => {
    const { source, becomes } = handMadeSource();
    const latest = createExpectations(source);
    becomes(version("5"));
    latest.removed(version("5"));
    const held = version("6");
    becomes({ ...held, metadata: { ...held.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("6");
  });

  test("forgets its own write when the object is deleted", () => {
    const { source, becomes } = handMadeSource();
    const latest = createExpectations(source);
    latest.writing(KEY)(version("5"));
    becomes(undefined);
    expect(latest.get(KEY)).toBeUndefined();
  });

  test("does not show what was written when it vanished before the answer came", () => {
    const { source, becomes } = handMadeSource();
    const latest = createExpectations(source);
    const answer = latest.writing(KEY);
    becomes(version("5"));
    becomes(undefined);
    answer(version("5"));
    expect(latest.get(KEY)).toBeUndefined();
  });

  test("asks a cache that does not show a write to tell when it never took place, and believes the cache then", () => {
    const { source, becomes, misses } = handMadeSource();
    const expected: string[] = [];
    const expect_ = ({ metadata }: KubeObject, written: Written) => void expected.push(`${written} ${metadata.resourceVersion}`);
    const latest = createExpectations({ ...source, expect: expect_ });
    latest.writing(KEY)(version("5"));
    becomes(version("5"));
    latest.writing(KEY)(version("6"));
    misses();
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("5");
    latest.removed(version("5"));
    expect(latest.get(KEY)).toBeUndefined();
    misses();
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("5");
    expect(expected).toEqual(["stored 5", "stored 6", "removed 5"]);
  });

  test("holds no lead over a cache that knows already", () => {
    const { source, becomes } = handMadeSource();
    const latest = createExpectations(source);
    const answer = latest.writing(KEY);
    becomes(version("5"));
    answer(version("5"));
    becomes(undefined);
    latest.removed(version("5"));
    // A server that was restored to an earlier state gives lower versions.
    becomes(version("3"));
    expect(latest.get(KEY)?.metadata.resourceVersion).toBe("3");
  });
});
