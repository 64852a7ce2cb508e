import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WatchEvent } from "../../../src/kube/object/cluster-client.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { ObjectCache } from "../../../src/kube/runtime/informer/object-cache.ts";

const KEY = { namespace: "shop", name: "db" };

function endpoints(resourceVersion: number, uid = "life-1", name = "db"): KubeObject {
  return { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name, uid, resourceVersion: String(resourceVersion) } };
}

function event(type: WatchEvent["type"], resourceVersion: number, uid = "life-1", name = "db"): WatchEvent {
  return { type, object: endpoints(resourceVersion, uid, name) };
}

function list(cache: ObjectCache, resourceVersion: number, items: readonly KubeObject[], history: "same" | "new" = "same") {
  return cache.replace({ items, resourceVersion: String(resourceVersion), history });
}

function versionAfter(...events: readonly WatchEvent[]): string | undefined {
  const cache = new ObjectCache();
  for (const one of events) cache.apply(one);
  return cache.get(KEY)?.metadata.resourceVersion;
}

describe("events", () => {
  test.each([
    { events: [event("ADDED", 1), event("MODIFIED", 2)], want: "2", why: "a change replaces what was known" },
    { events: [event("MODIFIED", 2)], want: "2", why: "a change of an unknown object makes it known" },
    { events: [event("MODIFIED", 2), event("ADDED", 1)], want: "2", why: "a late event does not go back in time" },
    { events: [event("ADDED", 9), event("MODIFIED", 10)], want: "10", why: "ten is newer than nine" },
    { events: [event("ADDED", 1), event("DELETED", 2)], want: undefined, why: "a deletion removes the object" },
    {
      events: [event("ADDED", 5), event("DELETED", 4)],
      want: undefined,
      why: "a deletion with an older body of the same life removes it too",
    },
    {
      events: [event("ADDED", 1), event("DELETED", 3), event("MODIFIED", 2)],
      want: undefined,
      why: "a late event does not revive a life that ended",
    },
    {
      events: [event("ADDED", 1), event("DELETED", 3), event("MODIFIED", 4)],
      want: undefined,
      why: "nor does one that claims to be newer",
    },
    {
      events: [event("ADDED", 1), event("DELETED", 3), event("ADDED", 5, "life-2")],
      want: "5",
      why: "a new life under the old name begins",
    },
    { events: [event("ADDED", 1), event("ADDED", 5, "life-2")], want: "5", why: "a new life is taken without a deletion in between" },
    {
      events: [event("ADDED", 5, "life-2"), event("DELETED", 3)],
      want: "5",
      why: "the end of an earlier life says nothing about this one",
    },
    { events: [event("ADDED", 5, "life-2"), event("MODIFIED", 2)], want: "5", why: "nor does a change in an earlier life" },
  ])("$why", ({ events, want }) => {
    expect(versionAfter(...events)).toBe(want);
  });

  test("tell the key only when something is new", () => {
    const cache = new ObjectCache();
    expect(cache.apply(event("ADDED", 1))).toEqual(KEY);
    expect(cache.apply(event("ADDED", 1))).toBeUndefined();
    expect(cache.apply(event("MODIFIED", 2))).toEqual(KEY);
    expect(cache.apply(event("DELETED", 3))).toEqual(KEY);
    expect(cache.apply(event("DELETED", 3))).toBeUndefined();
  });

  test("in any order, any number of times, with the newest among them: the copy ends at the newest", () => {
    const history = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }).map((exists) => {
      let life = 0;
      let alive = false;
      return exists.map((wanted, index): WatchEvent => {
        if (wanted && !alive) life += 1;
        const type = !wanted ? "DELETED" : alive ? "MODIFIED" : "ADDED";
        alive = wanted;
        return event(type, index + 1, `life-${life}`);
      });
    });
    const shuffled = history.chain((events) =>
      fc.tuple(fc.constant(events), fc.shuffledSubarray([...events, ...events], { minLength: 0 })),
    );
    fc.assert(
      fc.property(shuffled, ([events, noise]) => {
        const cache = new ObjectCache();
        // Noise may lack anything but the newest state of each life, which a server always sends in the end.
        for (const one of [...noise, ...events]) cache.apply(one);
        const last = events.at(-1)!;
        expect(cache.get(KEY)?.metadata.resourceVersion).toBe(last.type === "DELETED" ? undefined : last.object.metadata.resourceVersion);
      }),
      { numRuns: 1_000 },
    );
  });

  test("of a million deletions leave no growing memory behind", () => {
    const cache = new ObjectCache();
    for (let i = 0; i < 20_000; i++) {
      cache.apply(event("ADDED", 2 * i + 1, `life-${i}`, `db-${i}`));
      cache.apply(event("DELETED", 2 * i + 2, `life-${i}`, `db-${i}`));
    }
    expect(cache.size).toBe(0);
    expect(cache.remembered).toBeLessThanOrEqual(1_024);
  });
});

describe("what a write was answered", () => {
  const created = endpoints(5);

  test("is reported as missed when all is reported up to its version and it is not there, and once", () => {
    const cache = new ObjectCache();
    list(cache, 1, []);
    expect(cache.expect(created, "stored")).toBeUndefined();
    expect(["4", "5", "6"].map((version) => cache.passed(version))).toEqual([[], [KEY], []]);
  });

  test("is reported as missed when an older version is there then, and not when a newer one is", () => {
    const cache = new ObjectCache();
    list(cache, 1, [endpoints(1)]);
    expect(cache.expect(created, "stored")).toBeUndefined();
    cache.apply(event("MODIFIED", 3));
    expect(cache.passed("5")).toEqual([KEY]);
    cache.expect(created, "stored");
    cache.apply(event("MODIFIED", 7));
    expect(cache.passed("8")).toEqual([]);
    expect(cache.expect(endpoints(6), "stored")).toBeUndefined();
    expect(cache.passed("9")).toEqual([]);
  });

  test("is reported as missed when what was removed is still there the second time, and does not end", () => {
    const cache = new ObjectCache();
    list(cache, 5, [created]);
    expect(cache.expect(created, "removed")).toBeUndefined();
    expect(["6", "7", "8"].map((version) => cache.passed(version))).toEqual([[], [KEY], []]);
    cache.expect(created, "removed");
    cache.apply(event("DELETED", 9));
    expect(["9", "10"].map((version) => cache.passed(version))).toEqual([[], []]);
  });

  test("is reported as missed when what was removed before it came has come since, and is still there the second time", () => {
    const cache = new ObjectCache();
    list(cache, 1, []);
    expect(cache.expect(created, "removed")).toBeUndefined();
    expect(cache.apply(event("ADDED", 5))).toEqual(KEY);
    expect(["6", "7", "8"].map((version) => cache.passed(version))).toEqual([[], [KEY], []]);
    cache.expect(endpoints(9, "life-2"), "removed");
    cache.apply(event("ADDED", 9, "life-2"));
    cache.apply(event("DELETED", 10, "life-2"));
    expect(["10", "11"].map((version) => cache.passed(version))).toEqual([[], []]);
  });

  test("is reported as missed when what was removed never comes: it was not there in the first place", () => {
    const cache = new ObjectCache();
    list(cache, 1, []);
    cache.expect(created, "stored");
    expect(cache.expect(created, "removed")).toBeUndefined();
    expect(["6", "7", "8"].map((version) => cache.passed(version))).toEqual([[], [KEY], []]);
  });

  test("is reported as any end when its deletion comes though its creation never did", () => {
    const cache = new ObjectCache();
    cache.expect(created, "stored");
    expect(cache.apply(event("DELETED", 6))).toEqual(KEY);
    expect(cache.apply(event("ADDED", 5))).toBeUndefined();
  });

  test("is gone already where the last list was as new, or its deletion has come", () => {
    const cache = new ObjectCache();
    list(cache, 5, []);
    expect(cache.expect(created, "stored")).toEqual(KEY);
    cache.apply(event("ADDED", 7, "life-2"));
    cache.apply(event("DELETED", 8, "life-2"));
    expect(cache.expect(endpoints(7, "life-2"), "stored")).toEqual(KEY);
  });

  test("is nothing to tell once it has come, and missed where history starts over", () => {
    const cache = new ObjectCache();
    cache.expect(created, "stored");
    cache.apply(event("ADDED", 5));
    expect(cache.expect(created, "stored")).toBeUndefined();
    expect(cache.passed("6")).toEqual([]);
    cache.expect(endpoints(9, "life-3", "other"), "stored");
    expect(cache.passed("1", "new").map(({ name }) => name)).toEqual(["other"]);
  });
});

describe("a list", () => {
  test("makes what is older than it irrelevant, but for the end of what it holds", () => {
    const cache = new ObjectCache();
    list(cache, 10, [endpoints(5)]);
    expect(cache.apply(event("MODIFIED", 9, "gone", "gone-before-the-list"))).toBeUndefined();
    expect(cache.apply(event("DELETED", 5))).toEqual(KEY);
  });

  test("tells what appeared, changed and vanished, and nothing else", () => {
    const cache = new ObjectCache();
    list(cache, 4, [endpoints(1, "a", "same"), endpoints(2, "b", "changed"), endpoints(3, "c", "gone"), endpoints(4, "d", "reborn")]);
    const changed = list(cache, 7, [
      endpoints(1, "a", "same"),
      endpoints(7, "b", "changed"),
      endpoints(6, "e", "reborn"),
      endpoints(5, "f", "new"),
    ]);
    expect(changed.map(({ name }) => name).sort()).toEqual(["changed", "gone", "new", "reborn"]);
    expect(cache.size).toBe(4);
  });

  test("keeps the object itself when it did not change", () => {
    const cache = new ObjectCache();
    const known = endpoints(1);
    list(cache, 1, [known]);
    list(cache, 1, [endpoints(1)]);
    expect(cache.get(KEY)).toBe(known);
  });

  test("does not take an object back to an older state", () => {
    const cache = new ObjectCache();
    list(cache, 5, [endpoints(5)]);
    expect(list(cache, 6, [endpoints(3)])).toEqual([]);
    expect(cache.get(KEY)?.metadata.resourceVersion).toBe("5");
  });

  test("of a new history counts as it is, older or not", () => {
    const cache = new ObjectCache();
    list(cache, 60, [endpoints(50), endpoints(60, "life-9", "later")]);
    expect(list(cache, 3, [endpoints(3)], "new").map(({ name }) => name)).toEqual(["db", "later"]);
    expect(cache.get(KEY)?.metadata.resourceVersion).toBe("3");
  });

  test("ends the memory of deletions, which are older than it", () => {
    const cache = new ObjectCache();
    cache.apply(event("ADDED", 1));
    cache.apply(event("DELETED", 9));
    list(cache, 1, [], "new");
    cache.apply(event("ADDED", 2, "life-2"));
    expect(cache.get(KEY)?.metadata.resourceVersion).toBe("2");
  });
});

describe("a change of some parts of an object", () => {
  const BODY = { subsets: [{ addresses: [{ ip: "10.0.0.1" }] }], note: "a", none: null };
  const both = (before: object, after: object) => {
    const cache = new ObjectCache();
    cache.apply({ type: "ADDED", object: { ...endpoints(1), ...structuredClone(before) } });
    const known = cache.get(KEY)!;
    const object = { ...endpoints(2), ...structuredClone(after) };
    cache.apply({ type: "MODIFIED", object });
    return { known, object, now: cache.get(KEY)! };
  };

  test("leaves the others the very ones that they were, and the new object as it came", () => {
    const { known, object, now } = both(BODY, { ...BODY, note: "b" });
    expect(now).toEqual(object);
    expect(now["subsets"]).toBe(known["subsets"]);
    expect(now["subsets"]).not.toBe(object["subsets"]);
  });

  test("is taken as it came where every part differs", () => {
    const { object, now } = both(BODY, { subsets: [{ addresses: [{ ip: "10.0.0.2" }] }] });
    expect(now).toBe(object);
  });

  test("keeps no part that is gone", () => {
    expect(both(BODY, {}).now).toEqual(endpoints(2));
  });
});
