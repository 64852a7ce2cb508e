/**
 * Server-side apply: the resulting object, and the owners of its fields.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { contentOf, ownersOf, sealed, second, timesOf, Tracked, widget, type Owners } from "./support.ts";

type Act = (tracked: Tracked) => Tracked;

const write = (manager: string, content: JsonObject): Act => {
  return (tracked) => tracked.write(manager, content);
};
const apply = (manager: string, config: JsonObject): Act => {
  return (tracked) => tracked.apply(manager, config);
};
const force = (manager: string, config: JsonObject): Act => {
  return (tracked) => tracked.apply(manager, config, { force: true });
};
const port = (number: number, more: JsonObject = {}) => ({ port: number, protocol: "TCP", ...more });

interface Case {
  readonly why: string;
  readonly acts: readonly Act[];
  readonly want: JsonObject;
  readonly owners: Owners;
}

const cases: readonly Case[] = [
  {
    why: "applying to nothing creates what the configuration says, owned by its applier alone",
    acts: [apply("a", { data: { x: "1" }, spec: { size: 3 } })],
    want: { data: { x: "1" }, spec: { size: 3 } },
    owners: { "Apply a": [".data.x", ".spec.size"] },
  },
  {
    why: "appliers of different fields live side by side",
    acts: [apply("a", { data: { x: "1" } }), apply("b", { data: { y: "2" } })],
    want: { data: { x: "1", y: "2" } },
    owners: { "Apply a": [".data.x"], "Apply b": [".data.y"] },
  },
  {
    why: "the same value from two appliers belongs to both",
    acts: [apply("a", { data: { x: "1" } }), apply("b", { data: { x: "1" } })],
    want: { data: { x: "1" } },
    owners: { "Apply a": [".data.x"], "Apply b": [".data.x"] },
  },
  {
    why: "an applier who drops a field that another shares gives up its ownership, not the field",
    acts: [apply("a", { data: { x: "1" } }), apply("b", { data: { x: "1" } }), apply("a", { data: { z: "1" } })],
    want: { data: { x: "1", z: "1" } },
    owners: { "Apply a": [".data.z"], "Apply b": [".data.x"] },
  },
  {
    why: "an applier that drops a field without other owners removes it",
    acts: [apply("a", { data: { x: "1", y: "2" } }), apply("a", { data: { y: "2" } })],
    want: { data: { y: "2" } },
    owners: { "Apply a": [".data.y"] },
  },
  {
    why: "a field that an update changed is no longer the applier's to remove",
    acts: [apply("a", { data: { x: "1" } }), write("u", { data: { x: "2" } }), apply("a", {})],
    want: { data: { x: "2" } },
    owners: { "Update u": [".data.x"] },
  },
  {
    why: "force takes a field from the one who owned it",
    acts: [apply("a", { data: { x: "1", y: "1" } }), write("u", { data: { x: "2", y: "1" } }), force("b", { data: { x: "3", y: "3" } })],
    want: { data: { x: "3", y: "3" } },
    owners: { "Apply b": [".data.x", ".data.y"] },
  },
  {
    why: "an object is removed with the last owned field in it",
    acts: [apply("a", { spec: { nested: { x: "1" } } }), apply("a", { spec: { size: 1 } })],
    want: { spec: { size: 1 } },
    owners: { "Apply a": [".spec.size"] },
  },
  {
    why: "an object stays while another owns a field in it",
    acts: [apply("a", { spec: { nested: { x: "1" } } }), apply("b", { spec: { nested: { y: "2" } } }), apply("a", {})],
    want: { spec: { nested: { y: "2" } } },
    owners: { "Apply b": [".spec.nested.y"] },
  },
  {
    why: "a list that is merged takes items by key, absent keys have their default",
    acts: [apply("a", { spec: { ports: [port(80, { name: "http" })] } }), apply("b", { spec: { ports: [{ port: 80 }, { port: 443 }] } })],
    want: { spec: { ports: [{ name: "http", port: 80, protocol: "TCP" }, { port: 443 }] } },
    owners: {
      "Apply a": [
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].name',
        '.spec.ports[port=80,protocol="TCP"].port',
        '.spec.ports[port=80,protocol="TCP"].protocol',
      ],
      "Apply b": [
        '.spec.ports[port=443,protocol="TCP"]',
        '.spec.ports[port=443,protocol="TCP"].port',
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].port',
      ],
    },
  },
  {
    why: "one port number with two protocols is two items",
    acts: [apply("a", { spec: { ports: [port(53), { port: 53, protocol: "UDP" }] } }), apply("a", { spec: { ports: [port(53)] } })],
    want: { spec: { ports: [port(53)] } },
    owners: {
      "Apply a": [
        '.spec.ports[port=53,protocol="TCP"]',
        '.spec.ports[port=53,protocol="TCP"].port',
        '.spec.ports[port=53,protocol="TCP"].protocol',
      ],
    },
  },
  {
    why: "lists in items of lists are merged as well",
    acts: [
      apply("a", { spec: { ports: [port(80, { rules: [{ host: "a", weight: 1 }] })] } }),
      apply("b", { spec: { ports: [port(80, { rules: [{ host: "b", weight: 2 }] })] } }),
      apply("a", { spec: { ports: [port(80)] } }),
    ],
    want: { spec: { ports: [port(80, { rules: [{ host: "b", weight: 2 }] })] } },
    owners: {
      "Apply a": [
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].port',
        '.spec.ports[port=80,protocol="TCP"].protocol',
      ],
      "Apply b": [
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].port',
        '.spec.ports[port=80,protocol="TCP"].protocol',
        '.spec.ports[port=80,protocol="TCP"].rules[host="b"]',
        '.spec.ports[port=80,protocol="TCP"].rules[host="b"].host',
        '.spec.ports[port=80,protocol="TCP"].rules[host="b"].weight',
      ],
    },
  },
  {
    why: "a set takes items by value and loses those that are given up",
    acts: [apply("a", { spec: { tags: ["x", "y"] } }), apply("b", { spec: { tags: ["y", "z"] } }), apply("a", { spec: { tags: [] } })],
    want: { spec: { tags: ["y", "z"] } },
    owners: { "Apply b": ['.spec.tags[="y"]', '.spec.tags[="z"]'] },
  },
  {
    why: "finalizers are a set, owner references go by uid",
    acts: [
      apply("a", { metadata: { finalizers: ["x/a"], ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "1" }] } }),
      apply("b", { metadata: { finalizers: ["x/b"], ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "q", uid: "2" }] } }),
      apply("a", {}),
    ],
    want: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "q", uid: "2" }], finalizers: ["x/b"] } },
    owners: {
      "Apply b": [
        '.metadata.finalizers[="x/b"]',
        ...["", ".apiVersion", ".kind", ".name", ".uid"].map((rest) => `.metadata.ownerReferences[uid="2"]${rest}`),
      ],
    },
  },
  {
    why: "any other list is one value",
    acts: [apply("a", { spec: { rows: [{ a: "1" }, { a: "2" }] } }), force("b", { spec: { rows: [{ b: "3" }] } })],
    want: { spec: { rows: [{ b: "3" }] } },
    owners: { "Apply b": [".spec.rows"] },
  },
  {
    why: "keys of maps may have dots, slashes and brackets",
    acts: [
      apply("a", { metadata: { annotations: { "a.example.com/x": "1", 'b["c"].d': "2", __proto__x: "3" } } }),
      apply("a", { metadata: { annotations: { "a.example.com/x": "1" } } }),
    ],
    want: { metadata: { annotations: { "a.example.com/x": "1" } } },
    owners: { "Apply a": [".metadata.annotations.a.example.com/x"] },
  },
  {
    why: "entries of a map of objects are owned as such",
    acts: [apply("a", { spec: { byName: { one: { x: "1" } } } }), apply("b", { spec: { byName: { one: { y: "2" } } } }), apply("a", {})],
    want: { spec: { byName: { one: { y: "2" } } } },
    owners: { "Apply b": [".spec.byName.one", ".spec.byName.one.y"] },
  },
  {
    why: "what the kind does not describe merges by members, its lists are one value",
    acts: [apply("a", { spec: { free: { p: { q: 1 }, l: [1] } } }), apply("b", { spec: { free: { p: { r: 2 } } } }), apply("a", {})],
    want: { spec: { free: { p: { r: 2 } } } },
    owners: { "Apply b": [".spec.free.p", ".spec.free.p.r"] },
  },
  {
    why: "an empty map is owned and takes nothing away",
    acts: [apply("a", { data: { x: "1" } }), apply("b", { data: {}, spec: { nested: {} } })],
    want: { data: { x: "1" }, spec: { nested: {} } },
    owners: { "Apply a": [".data.x"], "Apply b": [".data", ".spec.nested"] },
  },
  {
    why: "an object that is given up but for itself stays, empty",
    acts: [apply("a", { spec: { nested: { x: "1" } } }), apply("a", { spec: { nested: {} } })],
    want: { spec: { nested: {} } },
    owners: { "Apply a": [".spec.nested"] },
  },
  {
    why: "null removes a value without other owners, and a null map counts as an empty one",
    acts: [
      apply("a", { spec: { title: "t", nested: {}, tags: ["t"] }, data: { x: "1" } }),
      apply("a", { spec: { title: null, nested: null, tags: null }, data: null }),
    ],
    want: { spec: {} },
    owners: { "Apply a": [".data", ".spec.nested", ".spec.tags", ".spec.title"] },
  },
  {
    why: "fields that the kind does not have are not owned",
    acts: [apply("a", { data: { x: "1" }, extra: 1, spec: { unknown: { deep: 1 }, size: 1, ports: [{ port: 1, more: 1 }] } })],
    want: { data: { x: "1" }, spec: { size: 1, ports: [{ port: 1 }] } },
    owners: {
      "Apply a": [".data.x", '.spec.ports[port=1,protocol="TCP"]', '.spec.ports[port=1,protocol="TCP"].port', ".spec.size"],
    },
  },
  {
    why: "identity and housekeeping have no owner",
    acts: [apply("a", { metadata: { uid: "u", resourceVersion: "1", generation: 3, labels: { l: "1" } } })],
    want: { metadata: { uid: "u", resourceVersion: "1", generation: 3, labels: { l: "1" } } },
    owners: { "Apply a": [".metadata.labels.l"] },
  },
  {
    why: "an applier of nothing is not a manager",
    acts: [apply("a", { data: { x: "1" } }), apply("b", {})],
    want: { data: { x: "1" } },
    owners: { "Apply a": [".data.x"] },
  },
  {
    why: "the status is out of reach of an applier of the object",
    acts: [apply("a", { data: { x: "1" }, status: { phase: "Done" } })],
    want: { data: { x: "1" } },
    owners: { "Apply a": [".data.x"] },
  },
  {
    why: "an applier of the status reaches the status and labels, and is another manager than the same name elsewhere",
    acts: [
      apply("a", { data: { x: "1" } }),
      (tracked) =>
        tracked.apply("a", { data: { x: "2" }, metadata: { finalizers: ["x/y"] }, status: { phase: "Done" } }, { subresource: "status" }),
    ],
    want: { data: { x: "1" }, status: { phase: "Done" } },
    owners: { "Apply a": [".data.x"], "Apply a/status": [".status.phase"] },
  },
  {
    why: "all fields of an untracked object belong to one manager",
    acts: [
      write("u", { data: { x: "1" } }),
      (tracked) => tracked.write("u", { data: { x: "1" } }, { requested: [] }),
      apply("a", { data: { x: "1" } }),
    ],
    want: { data: { x: "1" } },
    owners: { "Apply a": [".data.x"], "Update before-first-apply": [".data", ".data.x"] },
  },
];

describe("apply", () => {
  test.each(cases)("$why", ({ acts, want, owners }) => {
    const { live } = acts.reduce((tracked, act) => act(tracked), new Tracked());
    expect(contentOf(live)).toEqual(contentOf(sealed(widget(want))));
    expect(ownersOf(live)).toEqual(owners);
  });

  test("takes over what the applier applied in another version", () => {
    const entry = { manager: "a", operation: "Apply", fieldsType: "FieldsV1", fieldsV1: { "f:data": { "f:x": {} } } };
    const tracked = new Tracked().write("u", { data: { x: "1" } });
    tracked.write("u", { data: { x: "1" } }, { requested: [{ ...entry, apiVersion: "test/v0" }] }).apply("a", { data: { x: "1" } });
    expect(tracked.live.metadata.managedFields).toEqual([{ ...entry, apiVersion: "test/v1", time: second(3).text }]);
  });

  test("leaves no owner for a field that is removed with its last part", () => {
    const tracked = new Tracked().write("u", { data: { x: "1" }, spec: { size: 1 } });
    tracked.apply("a", { data: { x: "2" } }, { force: true }).apply("a", {});
    expect(ownersOf(tracked.live)).toEqual({ "Update u": [".spec", ".spec.size"] });
  });

  test("without metadata leaves the object its identity", () => {
    const tracked = new Tracked().apply("a", { metadata: { labels: { l: "1" } } });
    tracked.apply("a", {}, { config: { apiVersion: "test/v1", kind: "Widget" } });
    expect(tracked.live.metadata).toEqual({ name: "w", namespace: "shop" });
  });

  test("gives up with an object what the server had filled in beside it", () => {
    const complete = ({ spec, ...rest }: KubeObject) => {
      const { nested } = spec as { nested?: object };
      return sealed({ ...rest, spec: { size: 7, ...(nested && { nested: { y: "filled in", ...nested } }) } });
    };
    const tracked = new Tracked();
    const apply = (spec: JsonObject) => {
      tracked.apply("a", { spec }, { complete });
      tracked.object = complete(tracked.live);
    };
    apply({ nested: { x: "1" } });
    expect(tracked.live["spec"]).toEqual({ size: 7, nested: { x: "1", y: "filled in" } });
    apply({ size: 7 });
    expect(tracked.live["spec"]).toEqual({ size: 7 });
  });

  test("keeps the applied order, and unnamed items where they were", () => {
    const ports = (...numbers: number[]) => ({ spec: { ports: numbers.map((number) => port(number)) } });
    const order = (tracked: Tracked) => (tracked.live["spec"] as { ports: { port: number }[] }).ports.map((item) => item.port);
    const start = () => new Tracked().apply("a", ports(1, 2, 3));
    expect(order(start().apply("b", ports(9, 2)))).toEqual([1, 9, 2, 3]);
    expect(order(start().apply("b", ports(3, 1)))).toEqual([2, 3, 1]);
    expect(order(start().apply("b", ports(8, 9)))).toEqual([1, 2, 3, 8, 9]);
    expect(order(start().apply("a", ports(3, 2, 1)))).toEqual([3, 2, 1]);
  });

  test("takes texts of a fixed form in the server's spelling", () => {
    const first = { spec: { since: "2026-01-01T00:00:00Z" }, secret: { k: "YWJj" } };
    const same = { spec: { since: "2026-01-01T01:00:00+01:00" }, secret: { k: "YW\nJj" } };
    const { live } = new Tracked().apply("a", first).apply("b", same);
    expect(Object.keys(ownersOf(live))).toEqual(["Apply a", "Apply b"]);
  });

  test("does not modify what it is given", () => {
    const config = Object.freeze(widget({ spec: Object.freeze({ ports: Object.freeze([Object.freeze(port(1))]) }) }));
    const before = new Tracked().apply("a", config).live;
    const text = JSON.stringify(before);
    new Tracked().apply("a", config);
    const tracked = new Tracked();
    tracked.object = before;
    tracked.apply("a", { spec: { ports: [port(2)] } });
    expect(JSON.stringify(before)).toBe(text);
  });
});

describe("an entry's time", () => {
  const start = () => new Tracked().apply("a", { data: { x: "1", y: "1" } });

  test.each<{ why: string; act: Act; moves: boolean }>([
    { why: "moves when a field is added", act: apply("a", { data: { x: "1", y: "1", z: "1" } }), moves: true },
    { why: "moves when a value changes", act: apply("a", { data: { x: "2", y: "1" } }), moves: true },
    { why: "moves when a field is removed", act: apply("a", { data: { x: "1" } }), moves: true },
    { why: "stays when nothing changes", act: apply("a", { data: { y: "1", x: "1" } }), moves: false },
    { why: "stays when another takes a field over", act: force("b", { data: { x: "2" } }), moves: false },
    { why: "stays when another comes to share a field", act: apply("b", { data: { x: "1" } }), moves: false },
    { why: "stays when an update changes a field", act: write("u", { data: { x: "2", y: "1" } }), moves: false },
  ])("$why", ({ act, moves }) => {
    const tracked = act(start());
    expect(timesOf(tracked.live)["Apply a"]).toBe(second(moves ? 2 : 1).text);
  });

  test("is given to one who comes to share a field without changing the object", () => {
    expect(timesOf(start().apply("b", { data: { x: "1" } }).live)).toEqual({ "Apply a": second(1).text, "Apply b": second(2).text });
  });

  test("alone makes no change", () => {
    const { live } = start();
    const tracked = new Tracked();
    tracked.object = live;
    tracked.seconds = 7;
    expect(tracked.apply("a", { data: { x: "1", y: "1" } }, { complete: (merged) => ({ ...merged }) }).live.metadata.managedFields).toBe(
      live.metadata.managedFields,
    );
  });
});
