import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatKey, type ObjectKey } from "../../../src/kube/object/key.ts";
import { createMapping, PAIRS_MAX } from "../../../src/engine/translate/mapping.ts";

const KIND = "v1/Endpoints";
const host = { namespace: "vc", name: "a-x-b-x-c-x-v" };
const first = { namespace: "c", name: "a-x-b" };
const second = { namespace: "b-x-c", name: "a" };

describe("a mapping", () => {
  test("finds recorded pairs from both sides, within their kind", () => {
    const mapping = createMapping();
    expect(mapping.record(KIND, first, host)).toBe("recorded");
    expect(mapping.toHost(KIND, first)).toEqual(host);
    expect(mapping.toTenant(KIND, host)).toEqual(first);
    expect(mapping.toTenant("v1/Secret", host)).toBeUndefined();
    expect(mapping.toHost("v1/Secret", first)).toBeUndefined();
  });

  test("refuses a second tenant object on one host name and says whose it is", () => {
    const mapping = createMapping();
    mapping.record(KIND, first, host);
    expect(mapping.record(KIND, second, host)).toEqual({ taken: first });
    expect(mapping.toTenant(KIND, host)).toEqual(first);
    expect(mapping.toHost(KIND, second)).toBeUndefined();
    expect(mapping.record(KIND, first, host)).toBe("recorded");
  });

  test("gives a host name to the next tenant object once it is free", () => {
    const mapping = createMapping();
    mapping.record(KIND, first, host);
    mapping.forget(KIND, first);
    mapping.forget(KIND, first);
    mapping.forget("v1/Secret", first);
    expect(mapping.toTenant(KIND, host)).toBeUndefined();
    expect(mapping.record(KIND, second, host)).toBe("recorded");
  });

  test("moves a tenant object to a new host name", () => {
    const mapping = createMapping();
    const moved = { namespace: "mapped", name: "a-x-b" };
    mapping.record(KIND, first, host);
    mapping.record(KIND, first, moved);
    expect(mapping.toHost(KIND, first)).toEqual(moved);
    expect(mapping.toTenant(KIND, host)).toBeUndefined();
  });

  test("keeps the old pair when the new host name is taken", () => {
    const mapping = createMapping();
    const other = { namespace: "vc", name: "other" };
    mapping.record(KIND, first, host);
    mapping.record(KIND, second, other);
    expect(mapping.record(KIND, second, host)).toEqual({ taken: first });
    expect(mapping.toHost(KIND, second)).toEqual(other);
  });

  test("remembers the pairs that were recorded last, however many names come and go", () => {
    const mapping = createMapping();
    const key = (index: number) => ({ namespace: "shop", name: `secret-${index}` });
    for (let index = 0; index < 100_000; index += 1) {
      mapping.record(KIND, key(index), { namespace: "vc", name: `host-${index}` });
      mapping.record(KIND, key(0), { namespace: "vc", name: "host-0" });
    }
    const known = Array.from({ length: 100_000 }, (_, index) => index).filter((index) => mapping.toHost(KIND, key(index)) !== undefined);
    expect(known).toHaveLength(PAIRS_MAX);
    expect([known[0], known[1], known.at(-1)]).toEqual([0, 100_000 - PAIRS_MAX + 1, 99_999]);
    expect(mapping.toTenant(KIND, { namespace: "vc", name: "host-7" })).toBeUndefined();
  });

  test("is one-to-one after any sequence of calls", () => {
    const key = fc.record({ namespace: fc.constantFrom("a", "b"), name: fc.constantFrom("1", "2", "3") });
    const step = fc.record({ call: fc.constantFrom("record", "record", "forget"), tenant: key, host: key });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const mapping = createMapping();
        const model = new Map<string, ObjectKey>();
        for (const { call, tenant, host: target } of steps) {
          const holder = [...model].find(([, mapped]) => formatKey(mapped) === formatKey(target))?.[0];
          if (call === "forget") {
            mapping.forget(KIND, tenant);
            model.delete(formatKey(tenant));
          } else if (holder === undefined || holder === formatKey(tenant)) {
            expect(mapping.record(KIND, tenant, target)).toBe("recorded");
            model.set(formatKey(tenant), target);
          } else {
            expect(mapping.record(KIND, tenant, target)).not.toBe("recorded");
          }
          expect(mapping.toHost(KIND, tenant)).toEqual(model.get(formatKey(tenant)));
          const back = mapping.toTenant(KIND, target);
          expect(back === undefined || formatKey(model.get(formatKey(back))!) === formatKey(target)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
