import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonEqual } from "../../../src/base/json.ts";
import type { Direction, PatchDefinition, ReferenceDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import type { OnError, Outcome } from "../../../src/engine/patch/types.ts";
import { compilePath, parseConcrete, type PathStep } from "../../../src/engine/path/path.ts";
import { formatKind, isMarkerKey } from "../../../src/engine/translate/markers.ts";
import { createMapping } from "../../../src/engine/translate/mapping.ts";
import { createNameRules } from "../../../src/engine/patch/names.ts";
import { SECRETS } from "../../../src/kube/object/resource.ts";
import { valueAt } from "../path/support.ts";
import { dnsLabel } from "../translate/arbitrary.ts";
import { objectWith, run, translator } from "./setting.ts";

const MARKERS = { "sync.platform/object-uid": "u", "sync.platform/managed-by": "vcluster" };
const text = fc.string({ maxLength: 6 });
const key = fc.constantFrom("a", "b", "team", "example.com/x", "x.io/y");
/** JSON data that survives being written and read: -0 does not. */
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const labelValue = fc.constantFrom("", "a", "blue", "x-1");

const subset = fc.record({
  addresses: fc.array(fc.record({ ip: text, hostname: text }, { requiredKeys: ["ip"] }), { maxLength: 3 }),
  ports: fc.array(fc.record({ port: fc.nat(9) }), { maxLength: 2 }),
});

/** Objects as patches meet them, frozen all the way down; with and without markers. */
const objects: fc.Arbitrary<KubeObject> = fc
  .record({
    annotations: fc.option(fc.dictionary(key, text, { maxKeys: 4 }), { nil: undefined }),
    labels: fc.option(fc.dictionary(key, labelValue, { maxKeys: 3 }), { nil: undefined }),
    subsets: fc.array(subset, { maxLength: 3 }),
    spec: fc.dictionary(fc.constantFrom("a", "b", "name", "0", "__proto__"), json, { maxKeys: 4 }),
    marked: fc.boolean(),
  })
  .map(({ annotations, labels, subsets, spec, marked }) => {
    const metadata = {
      uid: "u-1",
      finalizers: ["a/b"],
      ...((annotations || marked) && { annotations: { ...annotations, ...(marked && MARKERS) } }),
      ...(labels && { labels }),
    };
    return frozen(objectWith({ metadata, subsets, spec }));
  });

function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

const PATHS = [
  "metadata.annotations[*]",
  "metadata.annotations",
  'metadata.annotations["example.com/x"]',
  "metadata.labels[*]",
  "metadata.labels",
  "metadata[*]",
  "metadata.finalizers[*]",
  "metadata.name",
  "[*]",
  "[*].name",
  "kind",
  "subsets",
  "subsets[*]",
  "subsets[*].addresses[*].ip",
  "subsets[0].addresses[-1]",
  "subsets[*].ports[*][*]",
  "spec",
  "spec[*]",
  "spec.a[*]",
  "spec.name",
  'spec["__proto__"]',
  "spec.absent.name",
];
const path = fc.constantFrom(...PATHS);
const direction = fc.constantFrom<Direction>("toHost", "toTenant");
const onError = fc.constantFrom<OnError>("keep-last", "skip-patch", "block-object");

/** Expressions that return anything, change a little, delete or fail. */
const expression = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((value) => `(${JSON.stringify(value)})`),
  fc.constantFrom(
    "value",
    "null",
    "value.no.such",
    "undefined",
    "value + 'x'",
    "Array.isArray(value) ? value.slice(1) : value",
    "typeof value === 'object' && value ? {...value, a: 'x', 'sync.platform/object-uid': 'forged', name: 'forged', labels: {b: 'y'}} : value",
    "context.path.length % 2 ? value : null",
    "context.path.length % 2 ? value : value.no.such",
  ),
);

function patchFor(way: Direction, where: string, what: string): PatchDefinition {
  return way === "toHost" ? { path: where, expression: what } : { path: where, reverseExpression: what };
}

const situations = fc.record({
  object: objects,
  direction,
  onError,
  patches: fc.array(fc.tuple(path, expression), { maxLength: 4 }),
  last: fc.option(fc.jsonValue()),
});

describe("any patches on any object", () => {
  test("leave protected fields and markers alone", () => {
    fc.assert(
      fc.property(situations, ({ object, direction, onError, patches, last }) => {
        const definitions = patches.map(([where, what]) => patchFor(direction, where, what));
        const got = run(definitions, object, { direction, onError, lastWritten: () => ({ value: last }) }).object;
        expect([got.apiVersion, got.kind, got.metadata.name, got.metadata.namespace, got.metadata.uid]).toEqual([
          "v1",
          "Endpoints",
          object.metadata.name,
          "vcluster-ns",
          "u-1",
        ]);
        expect(got.metadata.finalizers).toEqual(["a/b"]);
        expect(got.metadata).not.toHaveProperty("ownerReferences");
        for (const field of ["labels", "annotations"] as const) expect(markersOf(got, field)).toEqual(markersOf(object, field));
      }),
      { numRuns: 600 },
    );
  });

  test("leave labels and annotations maps of strings, and none that is empty", () => {
    fc.assert(
      fc.property(situations, ({ object, direction, onError, patches, last }) => {
        const definitions = patches.map(([where, what]) => patchFor(direction, where, what));
        const got = run(definitions, object, { direction, onError, lastWritten: () => ({ value: last }) }).object;
        for (const field of ["labels", "annotations"] as const) {
          const map = got.metadata[field];
          if (map !== undefined) expect(Object.values(map).every((value) => typeof value === "string")).toBe(true);
          if (map !== undefined && got !== object) expect(Object.keys(map)).not.toEqual([]);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("have records whose counts agree", () => {
    fc.assert(
      fc.property(situations, ({ object, direction, onError, patches }) => {
        const definitions = patches.map(([where, what]) => patchFor(direction, where, what));
        const { outcomes, blocked } = run(definitions, object, { direction, onError });
        expect(outcomes.map(({ patch }) => patch)).toEqual(
          direction === "toHost" ? [...definitions.keys()] : [...definitions.keys()].reverse(),
        );
        outcomes.forEach(expectConsistent);
        expect(blocked).toBe(onError === "block-object" && outcomes.some(({ outcome }) => outcome === "error"));
      }),
      { numRuns: 400 },
    );
  });

  test("give the same answer every time", () => {
    fc.assert(
      fc.property(situations, ({ object, direction, onError, patches }) => {
        const definitions = patches.map(([where, what]) => patchFor(direction, where, what));
        expect(run(definitions, object, { direction, onError })).toEqual(run(definitions, object, { direction, onError }));
      }),
      { numRuns: 100 },
    );
  });
});

function markersOf(object: KubeObject, field: "labels" | "annotations"): [string, string][] {
  return Object.entries(object.metadata[field] ?? {}).filter(([name]) => isMarkerKey("sync.platform/", name));
}

function expectConsistent({ outcome, matches, changed, fuel, failures = [], code, message, place }: Outcome): void {
  const errors = failures.filter((failure) => failure.code !== "PROTECTED_FIELD");
  expect(changed + errors.length).toBeLessThanOrEqual(matches);
  // The plain engine takes one unit of fuel for every evaluation.
  expect(fuel).toBe(matches);
  expect([code, message, place]).toEqual([failures[0]?.code, failures[0]?.message, failures[0]?.place]);
  if (errors.length > 0) expect(outcome).toBe("error");
  else if (failures.length > 0) expect(outcome).toBe("denied");
  else if (matches === 0) expect(outcome).toBe("noMatch");
  else expect(outcome).toBe(changed > 0 ? "applied" : "noChange");
}

describe("one patch", () => {
  test("changes nothing but what its path matched", () => {
    const result = fc.jsonValue({ maxDepth: 1 }).filter((value) => value !== null);
    fc.assert(
      fc.property(objects, path, result, direction, (object, where, value, way) => {
        // Absent labels and annotations are there for patches, as empty ones.
        const opened = { ...object, metadata: { labels: {}, annotations: {}, ...object.metadata } };
        const matches = compilePath(where)
          .find(opened)
          .map((match) => parseConcrete(match.path));
        const got = run([patchFor(way, where, `(${JSON.stringify(value)})`)], object, { direction: way, onError: "skip-patch" }).object;
        expectSameOutside(object, got, matches);
        expectSameOutside(got, object, matches);
      }),
      { numRuns: 600 },
    );
  });

  test("that returns equal values gives back the very object", () => {
    const equal = fc.constantFrom(
      "value",
      "typeof value === 'object' && value && !Array.isArray(value) ? {...value} : value",
      "Array.isArray(value) ? [...value] : value",
    );
    fc.assert(
      fc.property(objects, path, equal, direction, onError, (object, where, what, way, policy) => {
        fc.pre(
          compilePath(where)
            .find(object)
            .every(({ value }) => value !== null),
        );
        const { object: got, outcomes } = run([patchFor(way, where, what)], object, { direction: way, onError: policy });
        expect(got).toBe(object);
        expect(["noChange", "noMatch"]).toContain(outcomes[0]!.outcome);
      }),
      { numRuns: 400 },
    );
  });
});

/** Every leaf of `one` that is not at or below a match, and not above one, is in `other`. Empty maps of metadata count as absent. */
function expectSameOutside(one: unknown, other: unknown, matches: readonly PathStep[][]): void {
  for (const { steps, value } of leaves(one)) {
    if (matches.some((match) => match.every((step, index) => step === steps[index]))) continue;
    if (matches.some((match) => steps.every((step, index) => step === match[index]))) continue;
    if (steps[0] === "metadata" && jsonEqual(value, {})) continue;
    expect(valueAt(other, steps), steps.join(".")).toEqual({ found: true, value });
  }
}

function leaves(node: unknown, steps: readonly PathStep[] = []): { steps: readonly PathStep[]; value: unknown }[] {
  if (typeof node !== "object" || node === null || Object.keys(node).length === 0) return [{ steps, value: node }];
  if (Array.isArray(node)) return node.flatMap((item, index) => leaves(item, [...steps, index]));
  return Object.entries(node).flatMap(([name, value]) => leaves(value, [...steps, name]));
}

describe("inverse expressions", () => {
  const PAIRS: readonly { path: string; expression: string; reverseExpression: string }[] = [
    { path: "metadata.annotations[*]", expression: "'my-' + value", reverseExpression: "value.slice(3)" },
    { path: "metadata.annotations.team", expression: "[...value].reverse().join('')", reverseExpression: "[...value].reverse().join('')" },
    { path: "metadata.annotations", expression: "({...value, added: 'x'})", reverseExpression: "(({ added, ...rest }) => rest)(value)" },
    { path: "subsets[*].addresses[*].ip", expression: "value + '!'", reverseExpression: "value.slice(0, -1)" },
    { path: "subsets[*].ports[*].port", expression: "value + 1000", reverseExpression: "value - 1000" },
    { path: "subsets[*].addresses", expression: "value.toReversed()", reverseExpression: "value.toReversed()" },
    { path: "spec", expression: "({ wrapped: value })", reverseExpression: "value.wrapped" },
    { path: "subsets", expression: "[value, []]", reverseExpression: "value[0]" },
  ];

  test("cancel each other, any number of them in any order", () => {
    fc.assert(
      fc.property(objects, fc.subarray([...PAIRS]), fc.boolean(), (object, pairs, turned) => {
        const definitions = turned ? pairs.toReversed() : pairs;
        const there = run(definitions, object);
        const here = run(definitions, there.object, { direction: "toTenant" });
        expect([...there.outcomes, ...here.outcomes].filter(({ outcome }) => outcome === "error" || outcome === "denied")).toEqual([]);
        expect(withoutEmptyMaps(here.object)).toEqual(withoutEmptyMaps(object));
      }),
      { numRuns: 300 },
    );
  });

  function withoutEmptyMaps(object: KubeObject): KubeObject {
    const metadata = Object.entries(object.metadata).filter(([, value]) => !jsonEqual(value, {}));
    return { ...object, metadata: Object.fromEntries(metadata) };
  }
});

describe("references", () => {
  const secret: ReferenceDefinition = { apiVersion: "v1", kind: "Secret", namePath: "name", namespacePath: "namespace" };
  const refs = fc.array(
    fc.record({ name: fc.oneof(dnsLabel, fc.constant("")), namespace: dnsLabel, key: text }, { requiredKeys: ["name"] }),
    { maxLength: 4 },
  );

  test("come back as they were while the mapping lasts", () => {
    fc.assert(
      fc.property(refs, (list) => {
        const mapping = createMapping();
        const names = createNameRules({ translator, mapping, kinds: [SECRETS] });
        const before = objectWith({ volumes: list });
        const patch = { path: "volumes[*]", reference: secret };
        const there = run([patch], before, { names });
        const recorded = there.references.map((found) => mapping.record(formatKind(found), found.tenant, found.host));
        // Two names that meet in one host name are refused by the mapping; the syncer reports the second one.
        fc.pre(recorded.every((result) => result === "recorded"));
        const here = run([patch], there.object, { names, direction: "toTenant" });
        expect(here.object).toEqual(before);
        expect(there.references).toHaveLength(list.filter(({ name }) => name !== "").length);
        expect(here.references).toEqual(there.references);
      }),
      { numRuns: 300 },
    );
  });
});
