import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatKey, type ObjectKey } from "../../../src/kube/object/key.ts";
import { KeyMap } from "../../../src/kube/runtime/informer/object-cache.ts";

const part = fc.constantFrom("", "a", "b", "__proto__", "constructor");
const key: fc.Arbitrary<ObjectKey> = fc.record({ namespace: part, name: part });
const step = fc.oneof(fc.record({ set: key, value: fc.option(fc.integer(), { nil: undefined }) }), fc.record({ delete: key }));

test("a key map does what a map by the text of the key does", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), key, (steps, asked) => {
      const [map, model] = [new KeyMap<number | undefined>(), new Map<string, number | undefined>()];
      const textOf = ({ namespace, name }: ObjectKey) => JSON.stringify([namespace, name]);
      for (const one of steps) {
        if ("set" in one) {
          map.set(one.set, one.value);
          model.set(textOf(one.set), one.value);
        } else {
          expect(map.delete(one.delete)).toBe(model.delete(textOf(one.delete)));
        }
        expect(map.size).toBe(model.size);
      }
      expect([map.get(asked), map.has(asked)]).toEqual([model.get(textOf(asked)), model.has(textOf(asked))]);
      expect([...map.values()].map(String).sort()).toEqual([...model.values()].map(String).sort());
    }),
    { numRuns: 500 },
  );
});

test("values come namespace by namespace, in the order of their keys", () => {
  const map = new KeyMap<string>();
  const keys = ["shop/web", "test/db", "shop/db"].map((text) => ({ namespace: text.split("/")[0]!, name: text.split("/")[1]! }));
  for (const one of keys) map.set(one, formatKey(one));
  expect([...map.values()]).toEqual(["shop/web", "shop/db", "test/db"]);
});
