import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { formatSegments } from "../../../src/engine/path/syntax/format.ts";
import { compilePath, parseConcrete, REMOVE, type PathStep } from "../../../src/engine/path/path.ts";
import { documentsWithPath, objectOf, placesOf, valueAt } from "./support.ts";

/** What a change may answer, by the number of the match: the value itself, another one, or its removal. */
const answers = fc.array(fc.oneof(fc.constant("same" as const), fc.constant("remove" as const), fc.constantFrom(null, 0, "new", [], {})), {
  minLength: 1,
});

function deepFreeze(node: unknown): unknown {
  if (typeof node === "object" && node !== null) Object.values(Object.freeze(node)).forEach(deepFreeze);
  return node;
}

/** The obvious way: find, clone, set each place, then remove from the last to the first. */
function findAndSet(document: unknown, places: readonly string[], decided: readonly unknown[]): unknown {
  const root = { root: structuredClone(document) };
  const writes = places.map((place, at) => ({ steps: ["root", ...parseConcrete(place)], value: decided[at] }));
  for (const { steps, value } of writes.toReversed()) {
    const parent = steps.slice(0, -1).reduce<unknown>((node, step) => (node as Record<PathStep, unknown>)[step], root) as Record<
      PathStep,
      unknown
    >;
    const last = steps.at(-1)!;
    if (value !== REMOVE) Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
    else if (Array.isArray(parent)) parent.splice(last as number, 1);
    else delete parent[last];
  }
  return root.root;
}

describe("update", () => {
  test("follows three and more names from the root as one place does, whatever they are and wherever they end", () => {
    const name = fc.constantFrom("a", "b", "__proto__", "constructor", "0");
    const leaf = fc.constantFrom<unknown>(null, 1, "text", [], ["a"], {});
    const below = (child: fc.Arbitrary<unknown>) => fc.array(fc.tuple(name, fc.oneof(child, leaf))).map(objectOf);
    const documents = below(below(below(below(leaf))));
    const choices = fc.constantFrom<unknown>("same", REMOVE, null, "new", {});
    fc.assert(
      fc.property(documents, fc.array(name, { minLength: 3, maxLength: 5 }), choices, (document, names, choice) => {
        const change = (value: unknown) => (choice === "same" ? value : choice);
        const place = names.map((step) => `["${step}"]`).join("");
        const got = compilePath(place).update(deepFreeze(document), change);
        const { found, value } = valueAt(document, names);
        const changes = found && !Object.is(change(value), value);
        const wanted = changes ? findAndSet(document, [place], [change(value)]) : document;
        const text = (value: unknown) => JSON.stringify(value, (_, item: unknown) => (item === REMOVE ? "REMOVE" : item));
        expect(text(got)).toBe(text(wanted));
        expect(got === document).toBe(!changes);
      }),
      { numRuns: 1000 },
    );
  });

  test("changes what find finds and nothing else, whatever the keys are, and leaves a frozen document alone", () => {
    fc.assert(
      fc.property(documentsWithPath({ keys: "adversarial" }), answers, ({ document, segments }, choices) => {
        const before = JSON.stringify(deepFreeze(document));
        const path = compilePath(formatSegments(segments));
        const asked: string[] = [];
        const decided: unknown[] = [];
        const got = path.update(document, (value, place) => {
          const choice = choices[asked.length % choices.length];
          asked.push(place);
          decided.push(choice === "same" ? value : choice === "remove" ? REMOVE : choice);
          return decided.at(-1);
        });
        expect(asked).toEqual(path.find(document).map((match) => match.path));
        expect(JSON.stringify(got)).toBe(JSON.stringify(findAndSet(document, asked, decided)));
        expect(JSON.stringify(document)).toBe(before);
        if (asked.every((place, at) => Object.is(valueAt(document, parseConcrete(place)).value, decided[at]))) expect(got).toBe(document);
      }),
      { numRuns: 1000 },
    );
  });

  test("shares every node that is not above a change", () => {
    fc.assert(
      fc.property(documentsWithPath({ keys: "adversarial" }), fc.nat({ max: 5 }), ({ document, segments }, chosen) => {
        const changed: string[] = [];
        let asked = 0;
        const got = compilePath(formatSegments(segments)).update(document, (value, place) => {
          if (asked++ !== chosen) return value;
          changed.push(place);
          return { changed: true };
        });
        const ways = changed.map((place) => parseConcrete(place));
        for (const steps of placesOf(document)) {
          const above = ways.some((way) => steps.every((step, at) => way[at] === step));
          const below = ways.some((way) => way.every((step, at) => steps[at] === step));
          if (!above && !below) expect(Object.is(valueAt(got, steps).value, valueAt(document, steps).value)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each(["list[*].x", "list[*][0]", "list[*][*]"])("shares the elements of a list in which %s did not change", (text) => {
    const list = [{ x: 1, "0": 1 }, { x: 2, "0": 2 }, [3]];
    const got = compilePath(text).update({ list }, (value) => (value === 2 ? 0 : value)) as { list: unknown[] };
    expect(got.list.map((item, at) => item === list[at])).toEqual([true, false, true]);
  });

  test("passes over undefined members and elements, as find does", () => {
    const document = { a: undefined, b: 1, list: [undefined, 1, undefined, 2] };
    const got = compilePath("list[*]").update(document, (value) => Number(value) * 10);
    expect(got).toEqual({ a: undefined, b: 1, list: [undefined, 10, undefined, 20] });
    expect(compilePath("*").update({ a: undefined, b: 1 }, (value) => Number(value) + 1)).toEqual({ a: undefined, b: 2 });
  });

  test.each([
    { path: "a", document: {}, why: "the member is absent" },
    { path: "list[*]", document: { list: [] }, why: "the list is empty" },
    { path: "a.b", document: { a: "text" }, why: "a text is in the way" },
    { path: "a.b", document: null, why: "there is no document" },
  ])("returns the same reference without asking when $why", ({ path, document }) => {
    const unasked = () => expect.unreachable("nothing was found");
    expect(compilePath(path).update(document, unasked)).toBe(document);
  });

  test.each(["a", "list[*]", "list[0]", "list[*].x", "*"])(
    "returns the same reference when every answer at %s is the value itself",
    (text) => {
      const document = { a: NaN, list: [{ x: 1 }, { x: null }, "text"] };
      expect(compilePath(text).update(document, (value) => value)).toBe(document);
    },
  );

  test("removes several elements of one list without skipping any", () => {
    const document = { ports: [80, 81, 82, 83] };
    const remove = (value: unknown) => (value === 82 ? value : REMOVE);
    expect(compilePath("ports[*]").update(document, remove)).toEqual({ ports: [82] });
  });

  test("removes members, keeping the order of the others", () => {
    const document = { labels: { a: "1", b: "2", c: "3" } };
    const got = compilePath("labels[*]").update(document, (value) => (value === "2" ? REMOVE : `${String(value)}!`));
    expect(JSON.stringify(got)).toBe('{"labels":{"a":"1!","c":"3!"}}');
    expect(compilePath("labels.b").update(document, () => REMOVE)).toEqual({ labels: { a: "1", c: "3" } });
    expect(compilePath("[*][*]").update({ a: ["x", "y"], b: ["z"] }, () => REMOVE)).toEqual({ a: [], b: [] });
  });

  test("removes an element by index, from the end as well", () => {
    expect(compilePath("[0]").update([1, 2, 3], () => REMOVE)).toEqual([2, 3]);
    expect(compilePath("[-1]").update([1, 2, 3], () => REMOVE)).toEqual([1, 2]);
    expect(compilePath("", { empty: "whole-object" }).update([1], () => REMOVE)).toBeUndefined();
  });

  test("decides everything before it writes anything", () => {
    const seen: unknown[] = [];
    compilePath("list[*]").update({ list: [1, 2, 3] }, (value) => {
      seen.push(value);
      return REMOVE;
    });
    expect(seen).toEqual([1, 2, 3]);
  });

  test("passes on what the change throws", () => {
    const document = { a: 1, list: [1] };
    for (const text of ["a", "list[*]"]) {
      const failing = () =>
        compilePath(text).update(document, () => {
          throw new RangeError("no");
        });
      expect(failing).toThrow(RangeError);
    }
  });

  test.each(["a", "list[*]"])("refuses undefined as an answer at %s, and a change that modifies the document", (text) => {
    const internal = (attempt: () => unknown) => {
      try {
        attempt();
      } catch (error) {
        return isEngineError(error, "INTERNAL");
      }
      return false;
    };
    expect(internal(() => compilePath(text).update({ a: 1, list: [1] }, () => undefined))).toBe(true);
    const document = { list: [1, 2, 3] };
    expect(internal(() => compilePath("list[*]").update(document, () => ((document.list.length = 1), 0)))).toBe(true);
  });

  test("writes own members named __proto__ as data and never reaches a prototype", () => {
    const polluting: unknown = JSON.parse('{"polluted":true}');
    const document: unknown = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":2,"constructor":{"prototype":{"polluted":3}}}}');
    for (const text of ["__proto__", "__proto__.polluted", "a.__proto__", "a.constructor.prototype.polluted", "[*]", "a[*]"]) {
      const got = compilePath(text).update(document, () => polluting);
      expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
      const places = compilePath(text).find(got);
      expect(places.length).toBeGreaterThan(0);
      for (const { value } of places) expect(value).toBe(polluting);
      expect(Object.keys(got as object)).toEqual(["__proto__", "a"]);
    }
    expect(compilePath("__proto__.polluted").update({}, () => 1)).toEqual({});
    expect(compilePath("a.constructor.prototype.polluted").update({ a: {} }, () => 1)).toEqual({ a: {} });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
