import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import type { Operation } from "../../../src/engine/reconcile/plan-types.ts";
import { planReferenceCopy } from "../../../src/engine/reconcile/references/reference-copy.ts";
import type { ReferenceInput } from "../../../src/engine/reconcile/references/reference-rules.ts";
import { readMarkers } from "../../../src/engine/translate/markers.ts";
import { MAPS_TO_TENANT, referenceInput, secret, SECRETS_TO_TENANT, testReferenceRules } from "../../support/references.ts";
import { stored } from "../../support/rules.ts";

const rules = testReferenceRules();
const SOURCE = secret("shop", "db");

/** The copy that a plan makes of a source, as the API server stores it. */
function copyOf(source: KubeObject, options: Partial<ReferenceInput> = {}): KubeObject {
  const [operation] = planReferenceCopy(rules, referenceInput({ source, ...options })).operations;
  return stored((operation as Extract<Operation, { action: "create" }>).object, "20");
}

const COPY = copyOf(SOURCE);
const withLabels = (object: KubeObject, labels: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
});
const without = (object: KubeObject, annotation: string): KubeObject => {
  const { [annotation]: _gone, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
};
const TERMINATING = { ...COPY, metadata: { ...COPY.metadata, deletionTimestamp: "2020-01-01T00:00:00Z" } };

describe("what is done about a referenced object", () => {
  const cases: readonly {
    why: string;
    input: Partial<ReferenceInput>;
    state: string;
    does?: readonly string[];
    notes?: readonly string[];
  }[] = [
    { why: "no copy yet", input: { source: SOURCE }, state: "copied", does: ["create host"] },
    { why: "a deleted copy, its source known from a cache alone", input: { source: SOURCE, known: COPY }, state: "stale" },
    {
      why: "a deleted copy, though its source was read live",
      input: { source: SOURCE, known: COPY, sourceConfirmed: true },
      state: "copied",
      does: ["create host"],
    },
    { why: "a copy that says the same", input: { source: SOURCE, target: COPY }, state: "copied" },
    {
      why: "another value",
      input: { source: secret("shop", "db", { value: "dHdv" }), target: COPY },
      state: "copied",
      does: ["update host"],
    },
    { why: "a new label", input: { source: withLabels(SOURCE, { a: "b" }), target: COPY }, state: "copied", does: ["update host"] },
    {
      why: "a label that is gone",
      input: { source: SOURCE, target: copyOf(withLabels(SOURCE, { a: "b" })) },
      state: "copied",
      does: ["update host"],
    },
    { why: "a foreign label on the copy", input: { source: SOURCE, target: withLabels(COPY, { by: "me" }) }, state: "copied" },
    {
      why: "a base that was removed",
      input: { source: withLabels(SOURCE, { a: "b" }), target: without(copyOf(withLabels(SOURCE, { a: "b" })), "sync.platform/base") },
      state: "copied",
      does: ["update host"],
    },
    {
      why: "a source recreated",
      input: { source: secret("shop", "db", { uid: "another", resourceVersion: "30" }), target: COPY },
      state: "copied",
      does: ["update host"],
    },
    {
      why: "a newer version that says the same",
      input: { source: secret("shop", "db", { resourceVersion: "99" }), target: COPY },
      state: "copied",
    },
    {
      why: "an excluded annotation",
      input: { source: secret("shop", "db", { annotations: { "kubectl.kubernetes.io/x": "y" } }), target: COPY },
      state: "copied",
    },
    {
      why: "a cache that is older than the copy",
      input: { source: secret("shop", "db", { value: "b2xk", resourceVersion: "9" }), target: COPY },
      state: "stale",
    },
    {
      why: "a cluster that went back in time",
      input: { source: secret("shop", "db", { value: "b2xk", resourceVersion: "9" }), target: COPY, sourceConfirmed: true },
      state: "copied",
      does: ["update host"],
    },
    {
      why: "another type",
      input: { source: { ...SOURCE, type: "example.com/own" }, target: COPY },
      state: "copied",
      does: ["delete host"],
    },
    {
      why: "an immutable copy of another value",
      input: { source: secret("shop", "db", { value: "dHdv" }), target: { ...COPY, immutable: true } },
      state: "copied",
      does: ["delete host"],
    },
    {
      why: "a source that becomes immutable",
      input: { source: { ...SOURCE, immutable: true }, target: COPY },
      state: "copied",
      does: ["update host"],
    },
    { why: "a copy on its way out", input: { source: SOURCE, target: TERMINATING }, state: "waiting" },
    { why: "no source", input: {}, state: "waiting", notes: ["REFERENCE_MISSING"] },
    {
      why: "a source that is gone",
      input: { target: COPY },
      state: "waiting",
      does: ["delete host if the source is absent"],
      notes: ["REFERENCE_MISSING"],
    },
    {
      why: "no source, and a foreign object",
      input: { target: secret("vc", "db-x-shop-x-blue") },
      state: "waiting",
      notes: ["REFERENCE_MISSING"],
    },
    {
      why: "a foreign object",
      input: { source: SOURCE, target: secret("vc", "db-x-shop-x-blue", { value: "dHdv" }) },
      state: "refused",
      notes: ["REFERENCE_FOREIGN"],
    },
    {
      why: "a foreign object with the same content",
      input: { source: SOURCE, target: secret("vc", "db-x-shop-x-blue", { labels: { own: "x" } }) },
      state: "left",
    },
    {
      why: "the copy of another object",
      input: { source: secret("other", "db"), key: { namespace: "other", name: "db" }, target: COPY },
      state: "refused",
      notes: ["NAME_COLLISION"],
    },
    {
      why: "a token of a service account",
      input: { source: { ...SOURCE, type: "kubernetes.io/service-account-token" } },
      state: "refused",
      notes: ["REFERENCE_REFUSED"],
    },
    {
      why: "a token that has a copy from before",
      input: { source: { ...SOURCE, type: "bootstrap.kubernetes.io/token" }, target: COPY },
      state: "refused",
      does: ["delete host"],
      notes: ["REFERENCE_REFUSED"],
    },
    {
      why: "no reference to it, for less than ten minutes",
      input: { source: SOURCE, target: COPY, unusedMs: 599_999 },
      state: "copied",
    },
    {
      why: "no reference to it, for ten minutes",
      input: { source: SOURCE, target: COPY, unusedMs: 600_000 },
      state: "absent",
      does: ["delete host if unreferenced"],
    },
    { why: "no reference to it, and no copy", input: { source: SOURCE, unusedMs: 0 }, state: "absent" },
    {
      why: "no reference to it, and a foreign object",
      input: { source: SOURCE, target: secret("vc", "db-x-shop-x-blue"), unusedMs: 1e9 },
      state: "absent",
    },
    {
      why: "no reference to it, and a copy that is being deleted",
      input: { source: SOURCE, target: TERMINATING, unusedMs: 1e9 },
      state: "absent",
    },
    {
      why: "a copy from the other direction in place of the source",
      input: { kind: SECRETS_TO_TENANT, source: COPY, target: SOURCE },
      state: "waiting",
      does: ["delete host"],
      notes: ["REFERENCE_MISSING"],
    },
  ];
  test.each(cases)("$why: $state $does $notes", ({ input, state, does = [], notes = [] }) => {
    const planned = planReferenceCopy(rules, referenceInput(input));
    const words = planned.operations.map((operation) => {
      const absent = operation.action === "delete" && operation.confirm === "absent" ? " if the source is absent" : "";
      return `${operation.action} ${operation.side}${absent}${planned.confirmUnused ? " if unreferenced" : ""}`;
    });
    expect([planned.state, words, planned.notes.map(({ code }) => code)]).toEqual([state, does, notes]);
  });

  test("says what copies the tenant's object where the host's is missing", () => {
    const message = (input: Parameters<typeof referenceInput>[0]) => planReferenceCopy(rules, referenceInput(input)).notes[0]?.message;
    expect(message({ kind: SECRETS_TO_TENANT })).toMatch(
      /does not exist on the host, from which the configuration copies it\. To copy the tenant's Secret, set sync\.toHost\.secrets\.enabled: true$/,
    );
    expect(message({})).toMatch(/does not exist in the tenant cluster$/);
  });

  test("looks again for a copy that is known and missing, as long as it would have stayed, and deletes what was known", () => {
    const at = (unusedMs: number, known: KubeObject | undefined, copyConfirmed?: boolean) =>
      planReferenceCopy(rules, referenceInput({ source: SOURCE, unusedMs, known, ...(copyConfirmed !== undefined && { copyConfirmed }) }));
    expect([at(1_000, COPY), at(1_000, undefined)].map(({ againInMs }) => againInMs)).toEqual([599_000, undefined]);
    expect(at(600_000, undefined).operations).toEqual([]);
    // The cluster is asked first.
    expect(at(600_000, COPY)).toMatchObject({ restsOnCopy: true, operations: [] });
    expect(at(600_000, COPY, false)).toMatchObject({
      confirmUnused: true,
      operations: [{ action: "delete", preconditions: { uid: "uid-host", resourceVersion: "20" } }],
    });
  });

  test("deletes exactly the object that was looked at", () => {
    const [operation] = planReferenceCopy(rules, referenceInput({ target: COPY })).operations;
    expect(operation).toMatchObject({
      key: { namespace: "vc", name: "db-x-shop-x-blue" },
      preconditions: { uid: "uid-host", resourceVersion: "20" },
    });
  });

  test("names no host name to the tenant", () => {
    const foreign = secret("vc", "db-x-shop-x-blue", { value: "dHdv" });
    const notes = [{ source: SOURCE, target: foreign }, {}, { kind: SECRETS_TO_TENANT }].flatMap(
      (input) => planReferenceCopy(rules, referenceInput(input)).notes,
    );
    expect(notes.length).toBe(3);
    expect(JSON.stringify(notes)).not.toContain("-x-");
  });
});

describe("a copy", () => {
  test("says whose it is and what it is of, and no word about its data", () => {
    expect(readMarkers("sync.platform/", COPY)).toEqual({
      vcluster: "blue",
      vclusterNamespace: "vc",
      kind: "v1/Secret",
      namespace: "shop",
      name: "db",
      uid: "uid-shop",
      hostName: "db-x-shop-x-blue",
      hostNamespace: "vc",
      resourceVersion: "10",
    });
    expect(COPY.metadata.annotations?.["sync.platform/base"]).toBe("{}");
  });

  test("belongs to the virtual cluster on the host, and has no owner in the tenant", () => {
    const owner = { apiVersion: "v1", kind: "Service", name: "blue", uid: "1" };
    expect(copyOf(SOURCE, { owner }).metadata.ownerReferences).toEqual([owner]);
    expect(copyOf(SOURCE, { owner, kind: MAPS_TO_TENANT }).metadata.ownerReferences).toBeUndefined();
  });

  test("has its labels under the keys of the other side, and neither markers nor excluded keys of its source", () => {
    const marked = secret("shop", "db", {
      labels: { release: "one" },
      annotations: { "sync.platform/pause": "true", "kubectl.kubernetes.io/x": "y", note: "n" },
    });
    const { labels, annotations } = copyOf(marked).metadata;
    expect(labels).toMatchObject({ "sync.platform/label-blue-x-a4d451ec23": "one" });
    expect(labels).not.toHaveProperty("release");
    expect(annotations).toMatchObject({ note: "n" });
    expect(annotations).not.toHaveProperty(["sync.platform/pause"]);
    expect(annotations).not.toHaveProperty(["kubectl.kubernetes.io/x"]);
  });

  test("keeps the status that its cluster gave it", () => {
    const target = { ...COPY, status: { ready: true } };
    const [operation] = planReferenceCopy(
      rules,
      referenceInput({ source: { ...SOURCE, immutable: true, status: { ready: false } }, target }),
    ).operations;
    expect((operation as Extract<Operation, { action: "update" }>).object).toMatchObject({ status: { ready: true }, immutable: true });
  });

  test("counts as edited when it differs from what was written of this very version", () => {
    const edited = { ...COPY, data: { password: "ZWRpdA==" } };
    const restores = (writtenFrom: string | undefined) => {
      const [operation] = planReferenceCopy(rules, referenceInput({ source: SOURCE, target: edited, writtenFrom })).operations;
      return (operation as Extract<Operation, { action: "update" }>).restores;
    };
    expect(restores("uid-shop/10")).toBe(true);
    expect(restores("uid-shop/9")).toBeUndefined();
    expect(restores(undefined)).toBeUndefined();
  });
});

describe("for every source and every copy", () => {
  const text = fc.constantFrom("one", "two", "three");
  const map = fc.dictionary(fc.constantFrom("a", "b", "release", "kubectl.kubernetes.io/x", "sync.platform/managed-by"), text, {
    maxKeys: 3,
    noNullPrototype: true,
  });
  const sources = fc
    .record({
      labels: map,
      annotations: map,
      value: text,
      immutable: fc.boolean(),
      rv: fc.integer({ min: 10, max: 12 }),
      toHost: fc.boolean(),
    })
    .map(({ value, immutable, rv, toHost, ...meta }) => ({
      kind: toHost ? undefined : SECRETS_TO_TENANT,
      source: { ...secret("shop", "db", { ...meta, value, resourceVersion: String(rv) }), ...(immutable && { immutable }) },
    }));

  test("what was written is as it should be, and a second plan is empty", () => {
    fc.assert(
      fc.property(sources, sources, ({ kind, source }, { source: earlier }) => {
        // An object that names another virtual cluster is never brought into a tenant.
        const isNamed = [source, earlier].some(({ metadata }) => metadata.labels?.["sync.platform/managed-by"] !== undefined);
        fc.pre(kind === undefined || !isNamed);
        const base = referenceInput({ source: earlier, ...(kind && { kind }) });
        let target: KubeObject | undefined = stored(creation(base), "20");
        for (let round = 0; round < 3; round++) {
          const input: ReferenceInput = { ...base, source, target, sourceConfirmed: true };
          const operation: Operation | undefined = planReferenceCopy(rules, input).operations[0];
          if (operation === undefined) return;
          target = operation.action === "delete" ? undefined : stored(operation.object, String(21 + round));
        }
        throw new Error("Three plans in a row had something to do");
      }),
      { numRuns: 500 },
    );
  });

  function creation(input: ReferenceInput): KubeObject {
    return (planReferenceCopy(rules, input).operations[0] as Extract<Operation, { action: "create" }>).object;
  }
});
