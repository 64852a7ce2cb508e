import { describe, expect, test } from "vitest";
import { createMissingNamespaces, PROBE_MS } from "../../../../src/engine/sync/run/object-reconcile.ts";

function setUp() {
  const enqueued: string[] = [];
  return {
    enqueued,
    missing: createMissingNamespaces(
      (id) => enqueued.push(id),
      (namespace) => (namespace === "a" ? ["secret"] : []),
    ),
  };
}

describe("copies that wait for a host namespace", () => {
  test("are tried one at a time, and all at once when one was made", () => {
    const { enqueued, missing } = setUp();
    expect(["one", "two", "three", "one"].map((id) => missing.waits(id, "a"))).toEqual([PROBE_MS, undefined, undefined, PROBE_MS]);
    expect(missing.isThere("b")).toBe(false);
    expect(enqueued).toEqual([]);
    expect([missing.isThere("a"), missing.isThere("a")]).toEqual([true, false]);
    expect(enqueued).toEqual(["one", "two", "three", "secret"]);
    expect(missing.waits("two", "a")).toBe(PROBE_MS);
  });

  test("another one is tried when the first does not need its namespace any more", () => {
    const { enqueued, missing } = setUp();
    for (const id of ["one", "two", "three"]) missing.waits(id, "a");
    missing.leaves("two");
    missing.leaves("unknown");
    expect(enqueued).toEqual([]);
    missing.leaves("one");
    expect([enqueued, missing.waits("three", "a")]).toEqual([["three"], PROBE_MS]);
    expect(missing.waits("three", "b")).toBe(PROBE_MS);
    expect(missing.isThere("a")).toBe(false);
  });

  test("many missing namespaces are tried less often each", () => {
    const { missing } = setUp();
    const waits = () => Array.from({ length: 100 }, (_, index) => missing.waits(`id-${index}`, `namespace-${index}`)!);
    const times = Array.from({ length: 7 }, waits);
    expect(times.map((all) => [...new Set(all)])).toEqual([3_000, 6_000, 12_000, 24_000, 48_000, 50_000, 50_000].map((ms) => [ms]));
  });

  test("a namespace does not wait for many others that never appear", () => {
    const { missing } = setUp();
    for (let index = 0; index < 1_000; index += 1) missing.waits(`attack-${index}`, `never-${index}`);
    expect(missing.waits("victim", "soon")).toBe(PROBE_MS);
  });
});
