/**
 * Laws of who owns what, over random histories of creations, updates and applies.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { canonicalJson, isRecord, type JsonObject } from "../../../src/base/json.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { compare, fieldsOfNew } from "../../../src/apiserver/apply/compare.ts";
import {
  difference,
  intersection,
  leavesOf,
  NO_FIELDS,
  pathsOf,
  union,
  type FieldSet,
} from "../../../src/apiserver/types/fields/field-set.ts";
import { appliedFields } from "../../../src/apiserver/apply/fields-of.ts";
import { zeroObject } from "../../../src/apiserver/apply/update.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { always, int32, objectOf, text, textMap } from "../../../src/schema/builders.ts";
import { contentOf, Tracked, widget, widgets } from "./support.ts";

const word = fc.constantFrom("1", "2", "3");
const name = fc.constantFrom("a", "b.c/d", "constructor", "__proto__");
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const present = (record: object): JsonObject => JSON.parse(JSON.stringify(record)) as JsonObject;
const map = <T>(of: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(name, of), { minLength: 1, maxLength: 3 }).map((entries): JsonObject => Object.fromEntries(entries));
const unique = <T>(of: fc.Arbitrary<T>, key: (item: T) => string) => fc.uniqueArray(of, { selector: key, minLength: 1, maxLength: 3 });

const rule = fc.record({ host: name, weight: fc.constantFrom(1, 2) });
const port = fc
  .record({
    port: fc.constantFrom(80, 81),
    protocol: some(fc.constantFrom("TCP", "UDP")),
    name: some(word),
    rules: some(unique(rule, ({ host }) => host)),
  })
  .map(present);
const free: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small" }, word, fc.constant([1]), map(tie("value"))),
})).value;
const spec = fc.record({
  size: some(fc.constantFrom(1, 2)),
  title: some(word),
  ports: some(unique(port, ({ port: number, protocol = "TCP" }) => JSON.stringify([number, protocol]))),
  tags: some(unique(word, String)),
  rows: some(fc.array(fc.record({ a: word }), { minLength: 1, maxLength: 2 })),
  nested: some(fc.record({ x: some(word), y: word })),
  byName: some(map(fc.record({ x: word, y: some(word) }))),
  free: some(map(free)),
});
/**
 * Everything but values that the decoder leaves out, which are owned without being there, and empty objects, which are there
 * without being owned once everything in them is gone.
 */
const full = spec.map(present).map((members) => (Object.keys(members).length === 0 ? undefined : members));
const content = fc
  .record({
    data: some(map(word)),
    spec: some(full),
    metadata: some(fc.record({ labels: some(map(word)), finalizers: some(fc.constant(["x/y"])) })),
  })
  .map(present);

const act = fc.record({ kind: fc.constantFrom("write", "apply", "force"), manager: fc.constantFrom("a", "b", "c"), content });
const history = fc.array(act, { minLength: 1, maxLength: 6 });

interface Act {
  readonly kind: string;
  readonly manager: string;
  readonly content: JsonObject;
}

/** Carries out an act; one that conflicts does nothing. */
function carryOut(tracked: Tracked, { kind, manager, content: body }: Act): "done" | "conflict" {
  try {
    if (kind === "write") tracked.write(manager, body);
    else tracked.apply(manager, body, { force: kind === "force" });
    return "done";
  } catch (error) {
    if (isEngineError(error, "API_CONFLICT")) return "conflict";
    throw error;
  }
}

function after(acts: readonly Act[]): Tracked {
  const tracked = new Tracked();
  for (const one of acts) carryOut(tracked, one);
  return tracked;
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly fieldsV1: FieldSet;
}

function entriesOf(object: KubeObject | undefined): readonly Entry[] {
  return (object?.metadata.managedFields ?? []) as Entry[];
}

function ownedBy(object: KubeObject | undefined, operation: string, manager: string): FieldSet {
  return entriesOf(object).find((entry) => entry.operation === operation && entry.manager === manager)?.fieldsV1 ?? NO_FIELDS;
}

/** Every field that an object adds to what each has by itself. */
function fieldsOf(object: KubeObject): FieldSet {
  const { modified, added } = compare(widgets.shape, zeroObject(widgets.shape), object);
  return union(modified, added);
}

/** The content with lists that are merged in one order: applying may reorder them. */
function unordered(value: unknown, name?: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => unordered(item));
    return ["ports", "tags", "rules", "finalizers"].includes(name!) ? items.map(canonicalJson).sort() : items;
  }
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unordered(member, key)])) : value;
}

/** Reports whether a field is in a set. The fields above and below it do not count. */
function membershipOf(set: FieldSet): (path: readonly string[]) => boolean {
  const members = new Set(pathsOf(set).map((path) => JSON.stringify(path)));
  return (path) => members.has(JSON.stringify(path));
}

const runs = { numRuns: 400 };

describe("the author of a new object", () => {
  test("owns all of its fields, though objects of one form share the set", () => {
    fc.assert(
      fc.property(content, (members) => {
        // As it comes: null and empty values, which decoding leaves out, have forms of their own.
        const object = widget(members) as unknown as KubeObject;
        const own = fieldsOfNew(widgets.shape, zeroObject(widgets.shape), object);
        expect(own).toEqual(fieldsOf(object));
      }),
      { numRuns: 2_000 },
    );
  });

  test("owns what differs from the defaults of the kind, not what is as they are", () => {
    const shape = kindShape({ mode: always(text), limits: always(objectOf({ high: always(int32), names: always(textMap) })) });
    const fieldsIn = (members: JsonObject) => fieldsOfNew(shape, zeroObject(shape), widget(members) as unknown as KubeObject);
    expect(fieldsIn({ mode: "", limits: { high: 0, names: null } })).toEqual({});
    expect(fieldsIn({ mode: "x", limits: { high: 0, names: null } })).toEqual({ "f:mode": {} });
    expect(fieldsIn({ mode: "", limits: { high: 1, names: null } })).toEqual({ "f:limits": { "f:high": {} } });
    expect(fieldsIn({ mode: "", limits: { high: 0, names: { a: "" } } })).toEqual({ "f:limits": { "f:names": { "f:a": {} } } });
    expect(fieldsIn({ mode: "", limits: { high: 0, names: {} } })).toEqual({ "f:limits": { "f:names": {} } });
  });

  test("shares a frozen set with the author of an object of the same form, whatever its values are", () => {
    const fieldsIn = (value: string) =>
      fieldsOfNew(widgets.shape, zeroObject(widgets.shape), widget({ data: { a: value } }) as unknown as KubeObject);
    expect(fieldsIn("1")).toBe(fieldsIn("2"));
    expect(Object.isFrozen(fieldsIn("1")["f:data"])).toBe(true);
  });

  test("owns the same when a name looks like a part of another form", () => {
    const fieldsIn = (data: JsonObject) => fieldsOfNew(widgets.shape, zeroObject(widgets.shape), widget({ data }) as unknown as KubeObject);
    for (const name of ["a.b", "a.1:b"]) expect(fieldsIn({ [name]: "x" })).toEqual({ "f:data": { ".": {}, [`f:${name}`]: {} } });
    expect(fieldsIn({ a: "x", b: "x" })).toEqual({ "f:data": { ".": {}, "f:a": {}, "f:b": {} } });
  });
});

describe("whatever happens", () => {
  test("every leaf of the object has an owner, and everything owned is there", () => {
    fc.assert(
      fc.property(history, (acts) => {
        const { object } = after(acts);
        if (object === undefined) return;
        const owned = entriesOf(object).reduce((all, { fieldsV1 }) => union(all, fieldsV1), NO_FIELDS);
        const there = fieldsOf(object);
        const has = membershipOf(owned);
        expect(leavesOf(there).filter((path) => !has(path))).toEqual([]);
        expect(pathsOf(difference(owned, there))).toEqual([]);
      }),
      runs,
    );
  });

  test("no two updates own the same leaf", () => {
    fc.assert(
      fc.property(history, (acts) => {
        const updates = entriesOf(after(acts).object).filter(({ operation }) => operation === "Update");
        updates.forEach((one, index) => {
          for (const other of updates.slice(index + 1)) expect(intersection(one.fieldsV1, other.fieldsV1)).toEqual({});
        });
      }),
      runs,
    );
  });

  test("an applier owns what it said last, less what was taken from it", () => {
    fc.assert(
      fc.property(history, content, (acts, config) => {
        const tracked = after(acts).apply("z", config, { force: true });
        expect(pathsOf(difference(ownedBy(tracked.live, "Apply", "z"), appliedFields(widgets.shape, config)))).toEqual([]);
        const said = difference(appliedFields(widgets.shape, widget(config)), ownedBy(tracked.live, "Apply", "z"));
        expect(pathsOf(said).map((path) => path.join(" "))).toEqual([
          "f:apiVersion",
          "f:kind",
          "f:metadata f:name",
          "f:metadata f:namespace",
        ]);
      }),
      runs,
    );
  });
});

describe("an apply", () => {
  test("done twice is done once", () => {
    fc.assert(
      fc.property(history, content, (acts, config) => {
        const tracked = after(acts).apply("a", config, { force: true });
        const once = JSON.stringify(tracked.live);
        expect(JSON.stringify(tracked.apply("a", config).live)).toBe(once);
      }),
      runs,
    );
  });

  test("makes the object say what the configuration says", () => {
    fc.assert(
      fc.property(history, content, (acts, config) => {
        const { live } = after(acts).apply("a", config, { force: true });
        const again = new Tracked();
        again.object = live;
        // An applier of the same configuration changes nothing.
        expect(contentOf(again.apply("another manager", config).live)).toEqual(contentOf(live));
      }),
      runs,
    );
  });

  test("of nothing removes exactly what was applied alone", () => {
    fc.assert(
      fc.property(history, content, (acts, config) => {
        const tracked = after([{ kind: "write", manager: "u", content: {} }, ...acts]);
        tracked.apply("before", {});
        const before = tracked.live;
        if (carryOut(tracked, { kind: "apply", manager: "new", content: config }) === "conflict") return;
        tracked.apply("new", {});
        expect(unordered(contentOf(tracked.live))).toEqual(unordered(contentOf(before)));
        expect(tracked.live.metadata.managedFields).toEqual(before.metadata.managedFields);
      }),
      runs,
    );
  });

  test("touches nothing that neither this nor the earlier configuration names", () => {
    fc.assert(
      fc.property(history, act, (acts, last) => {
        const tracked = after([{ kind: "write", manager: "u", content: {} }, ...acts]);
        const before = tracked.live;
        if (carryOut(tracked, { ...last, kind: "force" }) === "conflict") return;
        const { removed, modified, added } = compare(widgets.shape, before, tracked.live);
        const given = appliedFields(widgets.shape, last.content);
        const named = union(given, ownedBy(before, "Apply", last.manager));
        const change = union(removed, union(modified, added));
        // An applier that gives up an item or entry without other owners removes all of it.
        const has = membershipOf(named);
        const isNamed = (path: readonly string[]) => path.some((_step, index) => has(path.slice(0, index + 1)));
        expect(leavesOf(change).filter((path) => !isNamed(path))).toEqual([]);
      }),
      runs,
    );
  });

  test("without force takes no field from another manager", () => {
    fc.assert(
      fc.property(history, content, (acts, config) => {
        const tracked = after([{ kind: "write", manager: "u", content: {} }, ...acts]);
        const before = tracked.live;
        if (carryOut(tracked, { kind: "apply", manager: "z", content: config }) === "conflict") {
          expect(tracked.live).toBe(before);
        } else {
          for (const { operation, manager, fieldsV1 } of entriesOf(before)) {
            expect(ownedBy(tracked.live, operation, manager)).toEqual(fieldsV1);
          }
        }
      }),
      runs,
    );
  });
});
