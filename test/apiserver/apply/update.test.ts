import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { applyUpdate, withoutIdleTimes } from "../../../src/apiserver/apply/update.ts";
import { configMaps } from "../../../src/cluster/kinds/config-maps.ts";
import { ownersOf, sealed, second, timesOf, Tracked, widget, widgets, type Owners } from "./support.ts";

interface Case {
  readonly why: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly owners: Owners;
}

const cases: readonly Case[] = [
  {
    why: "a value that changes is its writer's",
    before: { data: { x: "1", y: "1" } },
    after: { data: { x: "2", y: "1" } },
    owners: { "Update a": [".data", ".data.y"], "Update b": [".data.x"] },
  },
  {
    why: "what is added as a whole is owned with everything in it",
    before: { data: { x: "1" } },
    after: { data: { x: "1" }, metadata: { labels: { l: "1" } }, spec: { nested: { x: "1" }, tags: ["t"] } },
    owners: {
      "Update a": [".data", ".data.x"],
      "Update b": [".metadata.labels", ".metadata.labels.l", ".spec", ".spec.nested", ".spec.nested.x", ".spec.tags", '.spec.tags[="t"]'],
    },
  },
  {
    why: "removed fields have no owner",
    before: { data: { x: "1", y: "1" }, spec: { size: 1 } },
    after: { data: { x: "1" } },
    owners: { "Update a": [".data", ".data.x"] },
  },
  {
    why: "who only takes away owns nothing",
    before: { data: { x: "1" } },
    after: {},
    owners: {},
  },
  {
    why: "an item that changes stays an item of its owner",
    before: { spec: { ports: [{ port: 80, name: "a" }] } },
    after: { spec: { ports: [{ port: 80, name: "b" }] } },
    owners: {
      "Update a": [".spec", ".spec.ports", ...["", ".port"].map((rest) => `.spec.ports[port=80,protocol="TCP"]${rest}`)],
      "Update b": ['.spec.ports[port=80,protocol="TCP"].name'],
    },
  },
  {
    why: "another order of items is not a change",
    before: { spec: { tags: ["x", "y"] } },
    after: { spec: { tags: ["y", "x"] } },
    owners: { "Update a": [".spec", ".spec.tags", '.spec.tags[="x"]', '.spec.tags[="y"]'] },
  },
  {
    why: "a list in one piece changes in one piece",
    before: { spec: { rows: [{ a: "1" }, { a: "2" }] } },
    after: { spec: { rows: [{ a: "1" }] } },
    owners: { "Update a": [".spec"], "Update b": [".spec.rows"] },
  },
  {
    why: "a value that turns from text to object belongs to its writer with its parts",
    before: { spec: { free: { v: "text", w: { k: 1 } } } },
    after: { spec: { free: { v: { k: 1 }, w: "text" } } },
    owners: { "Update a": [".spec", ".spec.free"], "Update b": [".spec.free.v", ".spec.free.v.k", ".spec.free.w"] },
  },
  {
    why: "default fields and housekeeping have no owner",
    before: {},
    after: { metadata: { uid: "u", resourceVersion: "7", generation: 2, creationTimestamp: "2026-01-01T00:00:00Z" } },
    owners: {},
  },
];

describe("an update", () => {
  test.each(cases)("$why", ({ before, after, owners }) => {
    expect(ownersOf(new Tracked().write("a", before).write("b", after).live)).toEqual(owners);
  });

  test("by the same manager adds to its entry, by the same name at a subresource to another", () => {
    const tracked = new Tracked().write("a", { data: { x: "1" } }).write("a", { data: { x: "1", y: "1" } });
    tracked.write("a", { data: { x: "1", y: "1" }, status: { phase: "Up" } }, { subresource: "status" });
    expect(ownersOf(tracked.live)).toEqual({
      "Update a": [".data", ".data.x", ".data.y"],
      "Update a/status": [".status", ".status.phase"],
    });
  });

  test("that changes nothing keeps the very list", () => {
    const { live } = new Tracked().write("a", { data: { x: "1" } });
    const again = applyUpdate({
      definition: widgets,
      before: live,
      after: sealed(widget({ data: { x: "1" } })),
      manager: "b",
      now: second(9).ms,
    });
    expect(again.metadata.managedFields).toBe(live.metadata.managedFields);
  });

  test("writes entries as Kubernetes does, in order of operation and time", () => {
    const tracked = new Tracked()
      .write("b", { data: { x: "1" } })
      .write("a", { data: { x: "1", y: "1" } })
      .apply("c", { data: { x: "1" } });
    const entry = (manager: string, operation: string, at: number, fieldsV1: unknown) => ({
      manager,
      operation,
      apiVersion: "test/v1",
      time: second(at).text,
      fieldsType: "FieldsV1",
      fieldsV1,
    });
    expect(tracked.live.metadata.managedFields).toEqual([
      entry("c", "Apply", 3, { "f:data": { "f:x": {} } }),
      entry("b", "Update", 1, { "f:data": { ".": {}, "f:x": {} } }),
      entry("a", "Update", 2, { "f:data": { "f:y": {} } }),
    ]);
  });

  test("shows the version of a core kind without a group", () => {
    const after = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { a: "1" } };
    const { metadata } = applyUpdate({ definition: configMaps, before: undefined, after, manager: "m", now: 0 });
    expect(metadata.managedFields).toMatchObject([{ apiVersion: "v1", time: "1970-01-01T00:00:00Z" }]);
  });

  test("answers a frozen object", () => {
    const { live } = new Tracked().write("a", { data: { x: "1" } });
    const [entry] = live.metadata.managedFields as { fieldsV1: object }[];
    expect([live, live.metadata, live.metadata.managedFields, entry, entry!.fieldsV1].every(Object.isFrozen)).toBe(true);
  });

  test.each<{ why: string; after: JsonObject; moves: boolean }>([
    { why: "moves its time when a field is added", after: { data: { x: "1", y: "1", z: "1" } }, moves: true },
    { why: "moves its time when a value changes", after: { data: { x: "2", y: "1" } }, moves: true },
    { why: "moves its time when a field of its own is removed", after: { data: { x: "1" } }, moves: true },
    { why: "leaves its time when nothing changes", after: { data: { x: "1", y: "1" } }, moves: false },
  ])("$why", ({ after, moves }) => {
    const tracked = new Tracked().write("a", { data: { x: "1", y: "1" } }).write("a", after);
    expect(timesOf(tracked.live)).toEqual({ "Update a": second(moves ? 2 : 1).text });
  });

  test("keeps the time of managers that lose fields, in value or altogether", () => {
    const tracked = new Tracked().write("a", { data: { x: "1", y: "1", z: "1" } }).write("b", { data: { x: "2", z: "1" } });
    expect(timesOf(tracked.live)).toEqual({ "Update a": second(1).text, "Update b": second(2).text });
  });

  test("does not move its time for taking away what was never its own", () => {
    const tracked = new Tracked()
      .write("a", { data: { x: "1" } })
      .write("b", { data: { x: "1", y: "1" } })
      .write("b", { data: { y: "1" } });
    expect(timesOf(tracked.live)["Update b"]).toBe(second(2).text);
  });
});

describe("managers of updates", () => {
  const crowd = (count: number) => {
    const tracked = new Tracked().apply("applier", { metadata: { labels: { l: "1" } } });
    const data: Record<string, string> = {};
    for (let index = 0; index < count; index += 1) {
      data[`k${index}`] = "1";
      tracked.write(`m${index}`, { metadata: { labels: { l: "1" } }, data: { ...data } });
    }
    return tracked.live;
  };

  test("are ten at most; appliers do not count", () => {
    expect(Object.keys(ownersOf(crowd(10)))).toHaveLength(11);
    expect(Object.keys(ownersOf(crowd(30)))).toHaveLength(11);
  });

  test("beyond that are joined, oldest first, and lose nothing", () => {
    const live = crowd(13);
    expect(ownersOf(live)["Update ancient-changes"]).toEqual([".data", ".data.k0", ".data.k1", ".data.k2", ".data.k3"]);
    expect(Object.keys(ownersOf(live)).slice(1)).toEqual([
      "Update ancient-changes",
      ...[4, 5, 6, 7, 8, 9, 10, 11, 12].map((index) => `Update m${index}`),
    ]);
    expect(timesOf(live)["Update ancient-changes"]).toBe(second(5).text);
  });

  test("join an entry of the joined that is there, wherever it stands", () => {
    const entry = (manager: string, index: number, subresource = "") => ({
      manager,
      operation: "Update",
      apiVersion: "test/v1",
      time: second(index).text,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
      ...(subresource !== "" && { subresource }),
    });
    const middle = [entry("m0", 0), entry("m1", 1), entry("ancient-changes", 2)];
    const requested = [
      ...middle,
      ...Array.from({ length: 9 }, (_, index) => entry(`m${index + 3}`, index + 3, index === 0 ? "status" : "")),
    ];
    const tracked = new Tracked().write("a", { data: { x: "1" } });
    tracked.seconds = 100;
    tracked.write("a", { data: { x: "2" } }, { requested });
    const owners = ownersOf(tracked.live);
    expect(Object.keys(owners)).toHaveLength(10);
    expect(owners["Update ancient-changes"]).toEqual([".data.k0", ".data.k1", ".data.k2", ".data.k3"]);
  });

  test("of different versions are not joined with each other", () => {
    const entry = (index: number, apiVersion: string) => ({
      manager: `m${index}`,
      operation: "Update",
      apiVersion,
      time: second(index).text,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
    });
    const requested = Array.from({ length: 11 }, (_, index) => entry(index, index % 2 === 0 ? "test/v1" : "test/v2"));
    const tracked = new Tracked().write("a", { data: { x: "1" } });
    tracked.seconds = 100;
    tracked.write("a", { data: { x: "2" } }, { requested });
    const versions = (tracked.live.metadata.managedFields as { manager: string; apiVersion: string }[]).filter(
      ({ manager }) => manager === "ancient-changes",
    );
    expect(versions.map(({ apiVersion }) => apiVersion)).toEqual(["test/v1", "test/v2"]);
    expect(tracked.live.metadata.managedFields).toHaveLength(10);
  });
});

describe("a request's own list of managers", () => {
  const entry = {
    manager: "z",
    operation: "Apply",
    apiVersion: "test/v1",
    time: second(0).text,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { "f:x": {} } },
  };
  const start = () => new Tracked().write("a", { data: { x: "1" } });

  test("takes the place of the stored one, and the change is on top of it", () => {
    const tracked = start().write("b", { data: { x: "1", y: "1" } }, { requested: [entry] });
    expect(ownersOf(tracked.live)).toEqual({ "Apply z": [".data.x"], "Update b": [".data.y"] });
  });

  test("is a change of its own", () => {
    const { live } = start().write("b", { data: { x: "1" } }, { requested: [entry] });
    expect(live.metadata.managedFields).toEqual([entry]);
  });

  test("is none when it is the stored one, in whatever objects", () => {
    const { live } = start();
    const requested = structuredClone(live.metadata.managedFields);
    const again = applyUpdate({
      definition: widgets,
      before: live,
      after: sealed(widget({ data: { x: "1" } })),
      manager: "b",
      requested,
      now: 0,
    });
    expect(again.metadata.managedFields).toBe(live.metadata.managedFields);
  });

  test.each([
    { why: "null keeps the stored one", requested: null, want: ["Update a"] },
    { why: "[] empties it", requested: [], want: [] },
    { why: "[{}] empties it", requested: [{}], want: [] },
    { why: "entries without fields are none", requested: [{ ...entry, fieldsV1: {} }], want: [] },
    {
      why: "of two entries of one manager there is one",
      requested: [entry, { ...entry, fieldsV1: { "f:data": { "f:y": {} } } }],
      want: ["Apply z"],
    },
  ])("$why", ({ requested, want }) => {
    expect(Object.keys(ownersOf(start().write("b", { data: { x: "1" } }, { requested }).live))).toEqual(want);
  });

  test("does not reach through a subresource", () => {
    const tracked = start().write("b", { data: { x: "1" } }, { requested: [], subresource: "status" });
    expect(Object.keys(ownersOf(tracked.live))).toEqual(["Update a"]);
  });

  test("once emptied, is empty until the next apply", () => {
    const tracked = start()
      .write("b", { data: { x: "1" } }, { requested: [] })
      .write("b", { data: { x: "2" } });
    expect(tracked.live.metadata.managedFields).toBeUndefined();
    expect(Object.keys(ownersOf(tracked.apply("c", { data: { x: "2" } }).live))).toEqual(["Apply c", "Update before-first-apply"]);
  });

  test("is not a list to keep while there is nothing to own", () => {
    const tracked = new Tracked().write("a", {}).write("b", { data: { x: "1" } });
    expect(ownersOf(tracked.live)).toEqual({ "Update b": [".data", ".data.x"] });
    expect(ownersOf(tracked.write("c", {}).write("d", { data: { x: "1" } }).live)).toEqual({ "Update d": [".data", ".data.x"] });
  });

  test("can come with a creation", () => {
    expect(ownersOf(new Tracked().write("b", { data: { x: "1" } }, { requested: [entry] }).live)).toEqual({
      "Update b": [".data", ".data.x"],
    });
  });

  test.each([
    {
      why: "an operation that is none",
      fault: { operation: "Delete" },
      field: "operation",
      detail: '"Delete": must be `Apply` or `Update`',
    },
    { why: "no operation", fault: { operation: undefined }, field: "operation", detail: '"": must be `Apply` or `Update`' },
    { why: "another type of fields", fault: { fieldsType: "FieldsV2" }, field: "fieldsType", detail: '"FieldsV2": must be `FieldsV1`' },
    { why: "fields that are none", fault: { fieldsV1: { "f:a": 1 } }, field: "fieldsV1", detail: '{"f:a":1}: must be a set of fields' },
    {
      why: "a manager with control characters",
      fault: { manager: "a\n" },
      field: "manager",
      detail: '"a\\n": must be at most 128 printable characters',
    },
    { why: "no version", fault: { apiVersion: "" }, field: "apiVersion", detail: '"": must not be empty' },
    { why: "a time that is none", fault: { time: "yesterday" }, field: "time", detail: '"yesterday": must be a time in RFC 3339 format' },
    { why: "a time in the year 10000", fault: { time: "9999-12-31T23:59:59-01:00" }, field: "time", detail: '"9999-12-31T23:59:59-01:00": must be a time in RFC 3339 format' }, // prettier-ignore
    { why: "a subresource that is a number", fault: { subresource: 1 }, field: "subresource", detail: "1: must be at most 256 characters" },
  ])("with $why is 422", ({ fault, field, detail }) => {
    const call = () => start().write("b", { data: { x: "2" } }, { requested: [entry, { ...entry, ...fault }] });
    expect(call).toThrow(`Widget.test "w" is invalid: metadata.managedFields[1].${field}: Invalid value: ${detail}`);
    expect(call).toThrow(expect.objectContaining({ code: "API_INVALID" }));
  });

  test.each([
    { why: "no list", requested: "none" },
    { why: "entries that are no objects", requested: ["a"] },
    { why: "a manager of 129 characters", requested: [{ ...entry, manager: "m".repeat(129) }] },
    { why: "a subresource of 257 characters", requested: [{ ...entry, subresource: "s".repeat(257) }] },
  ])("with $why is 422", ({ requested }) => {
    expect(() => start().write("b", {}, { requested })).toThrow(expect.objectContaining({ code: "API_INVALID" }));
  });

  test("accepts the longest manager and subresource, null for what may be missing, and times in any zone", () => {
    const requested = [
      { ...entry, manager: "m".repeat(128), subresource: "s".repeat(256), time: "2026-01-01T01:00:00.5+01:00" },
      { ...entry, time: null, subresource: null },
    ];
    const { live } = start().write("b", { data: { x: "1" } }, { requested });
    expect(live.metadata.managedFields).toMatchObject([{ manager: "z" }, { time: second(0).text }]);
  });
});

describe("a crowd of managers that a client made up", () => {
  const COUNT = 20_000;
  const crowd = (operation: "Apply" | "Update") =>
    Array.from({ length: COUNT }, (_, index) => ({
      manager: `m${index}`,
      operation,
      apiVersion: "test/v1",
      time: second(index).text,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
    }));

  test("of updates is joined", () => {
    const { live } = new Tracked().write("a", { data: { x: "1" } }).write("a", { data: { x: "2" } }, { requested: crowd("Update") });
    expect(live.metadata.managedFields).toHaveLength(10);
  });

  test("of appliers stays, and lets others apply", () => {
    const tracked = new Tracked().write("a", { data: { x: "1" } }).write("a", { data: { x: "2" } }, { requested: crowd("Apply") });
    tracked.apply("m0", { data: { y: "1" } }).apply("m0", { data: { z: "1" } });
    expect(tracked.live["data"]).toEqual({ x: "2", z: "1" });
    expect(tracked.live.metadata.managedFields).toHaveLength(COUNT + 1);
  });
});

describe("times alone", () => {
  const { live } = new Tracked().write("a", { data: { x: "1" } });
  const later = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: {
      ...object.metadata,
      managedFields: (object.metadata.managedFields as object[]).map((entry) => ({ ...entry, time: second(9).text })),
    },
  });

  test("are not a change", () => {
    expect(withoutIdleTimes(live, later(live)).metadata.managedFields).toBe(live.metadata.managedFields);
  });

  test("are kept beside another change", () => {
    const changed = later({ ...live, data: { x: "2" } });
    expect(withoutIdleTimes(live, changed)).toBe(changed);
  });

  test("are kept beside another owner", () => {
    const changed = later({ ...live, metadata: { ...live.metadata, managedFields: [] } });
    expect(withoutIdleTimes(live, changed)).toBe(changed);
  });
});
